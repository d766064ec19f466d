/** Codes of currencies (ISO 4217). */

const SHAPE = /^[A-Z]{3}$/;

let known: ReadonlySet<string> | null = null;

/** Whether a text is a code that the platform knows; where it has no list, one of three capital letters. */
export function isCurrency(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  known ??= new Set(typeof Intl.supportedValuesOf === 'function' ? Intl.supportedValuesOf('currency') : []);
  return known.size === 0 || known.has(text);
}
