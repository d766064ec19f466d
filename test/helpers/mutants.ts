/** Random mutants of texts, most of which are invalid. */
import fc from 'fast-check';

/** Characters that are invalid in both languages, or look like valid ones. */
const STRANGE = [
  ...['\0', '\t', '\n', '\r\n', '\x1b[2J', '\x7f', ' ', '  ', '\u00a0', '\u2028', '\u202e', '\ufeff'],
  ...['\u00e9', 'e\u0301', '\u{1f600}', '\ud800', '\udc00'],
  // Full-width @ > : | { } [ ] , 0 A a
  ...[
    '\uff20',
    '\uff1e',
    '\uff1a',
    '\uff5c',
    '\uff5b',
    '\uff5d',
    '\uff3b',
    '\uff3d',
    '\uff0c',
    '\uff10',
    '\uff21',
    '\uff41',
  ],
];

interface Edit {
  readonly kind: 'insert' | 'delete' | 'replace' | 'swap' | 'duplicate' | 'truncate';
  readonly place: number;
  readonly length: number;
  readonly piece: string;
}

/** Applies one to three edits to each text, which insert pieces of the language or other characters. */
export function mutants(texts: fc.Arbitrary<string>, pieces: readonly string[]): fc.Arbitrary<string> {
  const edits: fc.Arbitrary<Edit> = fc.record({
    kind: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom('insert', 'delete', 'replace', 'swap', 'duplicate') },
      { weight: 1, arbitrary: fc.constant('truncate') },
    ),
    place: fc.nat(9_999),
    length: fc.integer({ min: 1, max: 6 }),
    piece: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.constantFrom(...STRANGE) },
    ),
  });
  return fc
    .tuple(texts, fc.array(edits, { minLength: 1, maxLength: 3 }))
    .map(([text, list]) => list.reduce(edited, text));
}

function edited(text: string, { kind, place, length, piece }: Edit): string {
  const at = place % (text.length + 1);
  const before = text.slice(0, at);
  const part = text.slice(at, at + length);
  const after = text.slice(at + length);
  switch (kind) {
    case 'insert':
      return before + piece + part + after;
    case 'delete':
      return before + after;
    case 'replace':
      return before + piece + after;
    case 'swap':
      return before + after.slice(0, length) + part + after.slice(length);
    case 'duplicate':
      return before + part + part + after;
    case 'truncate':
      return before;
  }
}
