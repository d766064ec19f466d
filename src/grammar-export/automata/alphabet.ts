import { joined } from '../../fuzz/grammar/classes.js';
import { caseVariants, type Ranges } from '../characters.js';
import { type CodePointRange, type Peg, partsOf } from '../context-free.js';

export interface Alphabet {
  readonly size: number;
  readonly symbolsOf: (ranges: Ranges) => readonly number[];
  readonly spelled: (literal: Extract<Peg, { kind: 'literal' }>) => readonly (readonly number[])[];
  readonly rangesOf: (symbols: Iterable<number>) => Ranges;
}

/** The elements of a text. */
type Element = 'code-unit' | 'code-point';

export function alphabetOf(pegs: Iterable<Peg>, element: Element): Alphabet {
  const sets = new Map<string, Ranges>();
  for (const peg of pegs) collect(peg, sets, element);
  const pieces = piecesOf([...sets.values()]);
  const pieceAt = new Map(pieces.map(({ first }, index) => [first, index]));
  const known = new Map<string, readonly number[]>();
  const symbolsOf = (ranges: Ranges): readonly number[] => {
    const key = ranges.join(';');
    let found = known.get(key);
    if (found === undefined) {
      found = symbolsIn(ranges, pieces, pieceAt);
      known.set(key, found);
    }
    return found;
  };
  return {
    size: Math.max(0, ...pieces.map(({ symbol }) => symbol + 1)),
    symbolsOf,
    spelled: (literal) => setsOfLiteral(literal, element).map(symbolsOf),
    rangesOf: (symbols) => {
      const wanted = new Set(symbols);
      return joined(
        pieces.flatMap(({ symbol, first, last }): CodePointRange[] => (wanted.has(symbol) ? [[first, last]] : [])),
      );
    },
  };
}

/** The set of each element of a literal. For case-insensitive ones, no character takes two units: see `read.ts`. */
function setsOfLiteral({ text, ignoreCase }: Extract<Peg, { kind: 'literal' }>, element: Element): readonly Ranges[] {
  const elements = element === 'code-unit' ? text.split('') : [...text];
  return elements.map((one) => {
    const number = one.codePointAt(0)!;
    return joined((ignoreCase ? caseVariants(number) : [number]).map((variant) => [variant, variant]));
  });
}

function collect(peg: Peg, sets: Map<string, Ranges>, element: Element): void {
  if (peg.kind === 'set') sets.set(peg.ranges.join(';'), peg.ranges);
  if (peg.kind === 'literal') for (const set of setsOfLiteral(peg, element)) sets.set(set.join(';'), set);
  for (const part of partsOf(peg)) collect(part, sets, element);
}

interface Piece {
  readonly first: number;
  readonly last: number;
  readonly symbol: number;
}

function piecesOf(sets: readonly Ranges[]): readonly Piece[] {
  // Each set begins or ends at some code points; all characters between two such points are in the same sets.
  const changes = new Map<number, number[]>();
  const change = (at: number, set: number): void => {
    const known = changes.get(at);
    if (known === undefined) changes.set(at, [set]);
    else known.push(set);
  };
  sets.forEach((ranges, set) => {
    for (const [first, last] of ranges) {
      change(first, set);
      change(last + 1, set);
    }
  });
  const symbols = new Map<string, number>();
  const inside = new Set<number>();
  const points = [...changes.keys()].sort((a, b) => a - b);
  return points.flatMap((first, index): Piece[] => {
    for (const set of changes.get(first)!) if (!inside.delete(set)) inside.add(set);
    if (inside.size === 0) return [];
    const key = [...inside].sort((a, b) => a - b).join();
    const symbol = symbols.get(key) ?? symbols.size;
    symbols.set(key, symbol);
    return [{ first, last: points[index + 1]! - 1, symbol }];
  });
}

function symbolsIn(ranges: Ranges, pieces: readonly Piece[], pieceAt: ReadonlyMap<number, number>): readonly number[] {
  const found = new Set<number>();
  for (const [first, last] of ranges) {
    const from = pieceAt.get(first);
    if (from === undefined) throw new RangeError('The set is not one of the alphabet');
    for (let at = from; at < pieces.length && pieces[at]!.first <= last; at++) found.add(pieces[at]!.symbol);
  }
  return [...found].sort((a, b) => a - b);
}

/** The successors of a state, each with a symbol that leads there. */
type Moves = (state: number) => Iterable<readonly [symbol: number, to: number]>;

/** The remaining budget of a computation. It is counted down. */
export interface Budget {
  left: number;
}

/** Returns the sets of states that texts lead to; null if the budget is exceeded. */
export function subsetsOf(
  starts: Iterable<number>,
  movesOf: Moves,
  budget: Budget,
): readonly ReadonlySet<number>[] | null {
  const found = new Map<string, ReadonlySet<number>>();
  const enter = (states: ReadonlySet<number>): void => {
    const key = [...states].sort((a, b) => a - b).join();
    if (!found.has(key)) found.set(key, states);
  };
  enter(new Set(starts));
  for (const states of found.values()) {
    const targets = new Map<number, Set<number>>();
    for (const state of states) {
      for (const [symbol, to] of movesOf(state)) {
        if (budget.left-- <= 0) return null;
        const known = targets.get(symbol);
        if (known === undefined) targets.set(symbol, new Set([to]));
        else known.add(to);
      }
    }
    for (const target of targets.values()) enter(target);
  }
  return [...found.values()];
}
