/** Random texts for a grammar: mutated samples, and sequences of its parts. */
import fc from 'fast-check';
import peggy from 'peggy';
import type { Grammar } from './grammars.js';

/** Characters that a compiler could confuse with others, or lose. */
const STRANGE = [
  ...['\0', '\x01', '\t', '\n', '\r\n', '\x1f', ' ', '\x7f', '\x80', '\xa0', '\xff', '\u0100', '\u07ff', '\u0800'],
  ...['\u0130', '\u0131', '\u017f', '\u03c2', '\u1e9e', '\u2028', '\u212a', '\ufeff', '\ufffd', '\uffff', '\u00e9'],
  ...['e\u0301', '\ud800', '\udbff', '\udc00', '\udfff', '\ude00\ud83d', '\u{10000}', '\u{1f600}', '\u{10ffff}'],
];

/** Samples of this length are whole files. */
const LONG = 1000;

interface Edit {
  readonly kind: 'delete' | 'insert' | 'replace' | 'swap' | 'duplicate' | 'splice' | 'truncate';
  readonly place: number;
  readonly length: number;
  readonly piece: string;
  readonly other: string;
  readonly otherPlace: number;
}

/** Random texts for one start rule of a grammar. */
export function mutants(grammar: Grammar, rule: string): fc.Arbitrary<string> {
  const pieces = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...piecesOf(grammar)) },
    { weight: 1, arbitrary: fc.constantFrom(...STRANGE) },
  );
  const samples = seedsOf(grammar, rule);
  const edit: fc.Arbitrary<Edit> = fc.record({
    kind: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom('delete', 'insert', 'replace', 'swap', 'duplicate', 'splice') },
      { weight: 1, arbitrary: fc.constant('truncate') },
    ),
    place: fc.nat(9_999),
    length: fc.integer({ min: 1, max: 5 }),
    piece: pieces,
    other: samples,
    otherPlace: fc.nat(9_999),
  });
  const mutated = fc
    .tuple(samples, fc.array(edit, { minLength: 1, maxLength: 2, size: 'max' }))
    .map(([text, edits]) => edits.reduce(edited, text));
  const heap = fc.array(pieces, { maxLength: 6, size: 'max' }).map((list) => list.join(''));
  const pair = fc.tuple(samples, samples).map(([first, second]) => first + second);
  return fc.oneof(
    { weight: 8, arbitrary: mutated },
    { weight: 2, arbitrary: heap },
    { weight: 1, arbitrary: pair },
    // Unchanged, for the options that no sample is meant for.
    { weight: 1, arbitrary: samples },
  );
}

/** Texts to mutate: mostly accepted ones; the paragraphs of long ones, because whole ones would take too long. */
function seedsOf(grammar: Grammar, rule: string): fc.Arbitrary<string> {
  const { accept, refuse } = grammar.rules[rule]!;
  const kinds = [
    { weight: 12, texts: accept.filter(({ length }) => length <= LONG) },
    { weight: 2, texts: accept.filter(({ length }) => length > LONG).flatMap(paragraphs) },
    { weight: 4, texts: refuse },
  ];
  const present = kinds.filter(({ texts }) => texts.length > 0);
  return fc.oneof(...present.map(({ weight, texts }) => ({ weight, arbitrary: fc.constantFrom(...texts) })));
}

function paragraphs(text: string): readonly string[] {
  return text.split(/\n\n+/).filter(({ length }) => length <= LONG / 3);
}

function edited(text: string, { kind, place, length, piece, other, otherPlace }: Edit): string {
  const at = place % (text.length + 1);
  const before = text.slice(0, at);
  const part = text.slice(at, at + length);
  const after = text.slice(at + length);
  switch (kind) {
    case 'delete':
      return before + after;
    case 'insert':
      return before + piece + part + after;
    case 'replace':
      return before + piece + after;
    case 'swap':
      return before + after.slice(0, length) + part + after.slice(length);
    case 'duplicate':
      return before + part + part + after;
    case 'splice':
      return before + other.slice(otherPlace % (other.length + 1));
    case 'truncate':
      return before;
  }
}

/** The pieces of grammars, since all rules of a grammar have the same. */
const PIECES = new WeakMap<Grammar, readonly string[]>();

/** The parts of a grammar: its literals, in both cases and in part; members of its classes, and their neighbors. */
export function piecesOf(grammar: Grammar): readonly string[] {
  const known = PIECES.get(grammar) ?? collectPieces(grammar);
  PIECES.set(grammar, known);
  return known;
}

function collectPieces(grammar: Grammar): readonly string[] {
  const pieces = new Set<string>(['a', '']);
  const add = (code: number): void => {
    if (code >= 0 && code <= 0x10ffff) pieces.add(String.fromCodePoint(code));
  };
  const visit = peggy.compiler.visitor.build({
    literal({ value }) {
      for (const text of [value, value.toUpperCase(), value.toLowerCase(), value.slice(0, -1)]) pieces.add(text);
    },
    class({ parts }) {
      for (const part of parts) {
        // Properties of characters have no listed members.
        if (typeof part === 'object' && !Array.isArray(part)) continue;
        const [from, to] = Array.isArray(part) ? [part[0]!, part[1]!] : [part, part];
        for (const code of [from.codePointAt(0)!, to.codePointAt(0)!]) for (const by of [-1, 0, 1]) add(code + by);
        pieces.add(from.toUpperCase());
      }
    },
  });
  for (const { text } of grammar.sources) visit(peggy.parser.parse(text, { reservedWords: [] }));
  // A grammar of thousands of characters would leave nothing else to draw.
  return [...pieces].filter((_piece, at, all) => all.length < 400 || at % Math.ceil(all.length / 400) === 0);
}
