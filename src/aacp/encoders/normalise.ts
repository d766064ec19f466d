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
      return text.replaceAll(' ', '-');
    case 'space-to-underscore':
      return text.replaceAll(' ', '_');
    case 'hyphen-to-underscore':
      return text.replaceAll('-', '_');
  }
}
