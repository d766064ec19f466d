/** The characters of camel text, see `camel-text.ts`: what each is in a text, and what it lets follow once it is written. */

/** Small letters, which capitals and digits can follow without a space being written. */
export const SMALL = 1;
export const CAPITAL = 2;
export const DIGIT = 3;
/** Has a meaning in camel text, and is escaped. */
export const ESCAPED = 4;
/** Changes places with another one. */
export const SWAPPED = 5;
export const SPACE = 6;
/** Nothing that a frame can hold: controls, and all beyond ASCII. */
export const FOREIGN = 7;
/** The rest of visible ASCII. */
export const PLAIN = 0;

/** What was written before a character: nothing that counts, a small letter, ... */
export const NOTHING = 0;
/** A digit, or a mark that a word may come after. */
export const CLOSING = 2;
/** A mark that ends a sentence, and that a capital may come after. */
export const STOP = 3;

export const HYPHEN = 0x2d;

/** The comma and the colon, which a frame would escape, for characters that are rarer and need no escape. */
export const SWAPS: Readonly<Record<string, string>> = { ',': ';', ';': ',', ':': '<', '<': ':' };

/** For each capital and digit, what it reads as after what joins: a space, and itself or its small letter. */
export const JOINED: readonly string[] = spaced((character) => character.toLowerCase());
/** For each capital, what it reads as after the end of a sentence. */
export const BEGUN: readonly string[] = spaced((character) => character);

function spaced(spelled: (character: string) => string): string[] {
  return Array.from({ length: 0x80 }, (_, code) => ` ${spelled(String.fromCharCode(code))}`);
}

const KINDS = table(PLAIN, [
  ['abcdefghijklmnopqrstuvwxyz', SMALL],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', CAPITAL],
  ['0123456789', DIGIT],
  ['=-', ESCAPED],
  [',;:<', SWAPPED],
  [' ', SPACE],
]);
KINDS.fill(FOREIGN, 0, 0x20);
KINDS[0x7f] = FOREIGN;

const TRACES = table(NOTHING, [
  ['abcdefghijklmnopqrstuvwxyz', SMALL],
  ['0123456789%,;<)', CLOSING],
  ['.!?', STOP],
]);

/** What a character is in a text. */
export function kindOf(code: number): number {
  return code < 0x80 ? KINDS[code]! : FOREIGN;
}

/** What a written character is to the one after it. */
export function traceOf(code: number): number {
  return code < 0x80 ? TRACES[code]! : NOTHING;
}

function table(rest: number, groups: readonly (readonly [string, number])[]): Uint8Array {
  const kinds = new Uint8Array(0x80).fill(rest);
  for (const [characters, kind] of groups) {
    for (let at = 0; at < characters.length; at++) kinds[characters.charCodeAt(at)] = kind;
  }
  return kinds;
}
