/** A change of spelling, by its name in loss reports. A space is U+0020 only. */
export type Normalisation =
  | 'upper-case'
  | 'lower-case'
  | 'space-to-hyphen'
  | 'space-to-underscore'
  | 'hyphen-to-underscore';

const NORMALISATIONS: readonly Normalisation[] = [
  'upper-case',
  'lower-case',
  'space-to-hyphen',
  'space-to-underscore',
  'hyphen-to-underscore',
];

export function isNormalisation(name: unknown): name is Normalisation {
  return NORMALISATIONS.includes(name as Normalisation);
}

export function normalised(text: string, normalisation: Normalisation): string {
  switch (normalisation) {
    case 'upper-case':
      return text.toUpperCase();
    case 'lower-case':
      return text.toLowerCase();
    case 'space-to-hyphen':
      return replaced(text, ' ', '-');
    case 'space-to-underscore':
      return replaced(text, ' ', '_');
    case 'hyphen-to-underscore':
      return replaced(text, '-', '_');
  }
}

/** Faster than `replaceAll` for single characters in short texts. */
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
