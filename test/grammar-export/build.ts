/** Builders for patterns and grammars. */
import { joined } from '../../src/fuzz/grammar/classes.js';
import type {
  Approximation,
  CodePointRange,
  ContextFreeGrammar,
  Pattern,
} from '../../src/grammar-export/context-free.js';

type Piece = Pattern | string;

/** A text is a literal. */
function pattern(piece: Piece): Pattern {
  return typeof piece === 'string' ? { kind: 'literal', text: piece, ignoreCase: false } : piece;
}

export function anyCase(text: string): Pattern {
  return { kind: 'literal', text, ignoreCase: true };
}

/** Characters by pairs of first and last ones: `set('az', '__')`. */
export function set(...pairs: readonly string[]): Pattern {
  const ranges = pairs.map((pair): CodePointRange => {
    const [first = '', last = first] = [...pair];
    return [first.codePointAt(0)!, last.codePointAt(0)!];
  });
  return { kind: 'set', ranges: joined(ranges) };
}

export function all(...items: readonly Piece[]): Pattern {
  return { kind: 'sequence', items: items.map(pattern) };
}

export function any(...items: readonly Piece[]): Pattern {
  return { kind: 'choice', items: items.map(pattern) };
}

export function times(item: Piece, min: number, max: number | null): Pattern {
  return { kind: 'repeat', item: pattern(item), min, max };
}

export const some = (item: Piece): Pattern => times(item, 1, null);
export const many = (item: Piece): Pattern => times(item, 0, null);
export const maybe = (item: Piece): Pattern => times(item, 0, 1);

export function rule(name: string): Pattern {
  return { kind: 'rule', name };
}

/** `item (separator item)*` */
export function listOf(item: Piece, separator: string): Pattern {
  return all(item, many(all(separator, item)));
}

/** The first rule is the start rule. */
export function grammar(
  rules: Readonly<Record<string, Piece>>,
  approximations: readonly Approximation[] = [],
  name = 'small',
): ContextFreeGrammar {
  const entries = Object.entries(rules).map(([key, piece]): [string, Pattern] => [key, pattern(piece)]);
  return { name, startRule: entries[0]![0], rules: new Map(entries), approximations };
}
