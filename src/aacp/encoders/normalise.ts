/** A change of spelling, by the name that loss reports use. A space is U+0020 only. */
export type Normalisation =
  | 'upper-case'
  | 'lower-case'
  | 'space-to-hyphen'
  | 'space-to-underscore'
  | 'hyphen-to-underscore';

const CHANGES: Readonly<Record<Normalisation, (text: string) => string>> = {
  'upper-case': (text) => text.toUpperCase(),
  'lower-case': (text) => text.toLowerCase(),
  'space-to-hyphen': (text) => replaced(text, ' ', '-'),
  'space-to-underscore': (text) => replaced(text, ' ', '_'),
  'hyphen-to-underscore': (text) => replaced(text, '-', '_'),
};

export function isNormalisation(name: unknown): name is Normalisation {
  return typeof name === 'string' && Object.hasOwn(CHANGES, name);
}

export function normalised(text: string, normalisation: Normalisation): string {
  return CHANGES[normalisation](text);
}

/** Replaces single characters, faster than `replaceAll` in short texts. */
function replaced(text: string, from: string, to: string): string {
  let at = text.indexOf(from);
  if (at < 0) return text;
  let result = '';
  let start = 0;
  for (; at >= 0; at = text.indexOf(from, start)) {
    result += text.slice(start, at) + to;
    start = at + 1;
  }
  return result + text.slice(start);
}
