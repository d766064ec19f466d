/**
 * Parsing expressions as machines that read a text backwards. At each place, the machine knows for every part of the
 * expression if it matches from there, so order, greediness and lookahead are exact. For recursive rules and code, each
 * answer is a pair: may match, and must match.
 */
import type { Alphabet } from '../automata/alphabet.js';
import type { Peg, PegRules } from '../context-free.js';
import type { Facts } from './facts.js';

/** The error thrown if an expression would make too large a machine. */
export class TooLarge extends Error {}

/** The maximum number of questions that one machine answers. More take too long. */
const MAX_CELLS = 1_500;

export type Cell =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'boundary' }
  | { readonly kind: 'symbol'; readonly symbols: readonly number[]; readonly next: number }
  /** The first, or the second if the guard does not match. */
  | { readonly kind: 'choice'; readonly first: number; readonly guard: number; readonly second: number }
  | { readonly kind: 'lookahead'; readonly negative: boolean; readonly item: number; readonly next: number }
  /** Unknown, but it consumes one of the symbols or, if possible, nothing. */
  | { readonly kind: 'unknown'; readonly symbols: readonly number[]; readonly next: number | null };

export interface Cells {
  readonly cells: readonly Cell[];
  readonly order: readonly number[];
  readonly roots: readonly number[];
}

/** The predefined continuations. */
export const ANYTHING = 0;
export const BOUNDARY = 1;
const NOTHING = 2;

/**
 * The number of references that are followed, from the outside in, for rules that are not regular. More are more
 * precise and take longer.
 */
export const DEPTHS = [0, 1, 2, 6];

export interface Question {
  readonly peg: Peg;
  /** The condition at the end of the match: `ANYTHING` or `BOUNDARY`. */
  readonly goal: number;
  /** If true, conditions in code are assumed to hold; otherwise they may or may not. */
  readonly trusting: boolean;
}

interface Place {
  /** The rules on the path here that are not regular; null within those that are. */
  readonly open: ReadonlySet<string> | null;
  readonly depth: number;
  readonly memo: Map<Peg, Map<number, number>>;
}

/** @throws TooLarge if the machine would be too large */
export function compileQuestions(
  questions: readonly Question[],
  rules: PegRules,
  facts: Facts,
  alphabet: Alphabet,
  depth: number,
): Cells {
  const cells: Cell[] = [{ kind: 'constant', value: true }, { kind: 'boundary' }, { kind: 'constant', value: false }];
  const regular: Place = { open: null, depth: 0, memo: new Map() };

  const reserve = (): number => {
    if (cells.length >= MAX_CELLS) throw new TooLarge();
    return cells.push(cells[NOTHING]!) - 1;
  };
  const add = (cell: Cell): number => {
    const at = reserve();
    cells[at] = cell;
    return at;
  };

  const compile = (peg: Peg, next: number, trusting: boolean, place: Place): number => {
    let known = place.memo.get(peg);
    if (known === undefined) {
      known = new Map();
      place.memo.set(peg, known);
    }
    const key = next * 2 + (trusting ? 1 : 0);
    const before = known.get(key);
    if (before !== undefined) return before;
    const made = make(peg, next, trusting, place);
    known.set(key, made);
    return made;
  };

  const make = (peg: Peg, next: number, trusting: boolean, place: Place): number => {
    switch (peg.kind) {
      case 'set':
        return add({ kind: 'symbol', symbols: alphabet.symbolsOf(peg.ranges), next });
      case 'literal':
        return alphabet.spelled(peg).reduceRight((to, symbols) => add({ kind: 'symbol', symbols, next: to }), next);
      case 'sequence':
        return peg.items.reduceRight((to, item) => compile(item, to, trusting, place), next);
      case 'choice':
        return peg.items.reduceRight((second, item) => either(item, second, next, trusting, place), NOTHING);
      case 'repeat':
        return repeated(peg, next, trusting, place);
      case 'lookahead': {
        const item = compile(peg.item, ANYTHING, trusting && !peg.negative, place);
        return add({ kind: 'lookahead', negative: peg.negative, item, next });
      }
      case 'code':
        return trusting ? next : add({ kind: 'unknown', symbols: [], next });
      case 'rule':
        return reference(peg, next, trusting, place);
    }
  };

  const either = (item: Peg, second: number, next: number, trusting: boolean, place: Place): number => {
    if (second === NOTHING) return compile(item, next, trusting, place);
    return preferred(item, next, second, trusting, place);
  };

  const repeated = (
    { item, min, max }: Extract<Peg, { kind: 'repeat' }>,
    next: number,
    trusting: boolean,
    place: Place,
  ): number => {
    let to = next;
    if (max === null) {
      to = reserve();
      const first = compile(item, to, trusting, place);
      cells[to] = { kind: 'choice', first, guard: compile(item, ANYTHING, false, place), second: next };
    } else {
      for (let i = min; i < max; i++) to = preferred(item, to, next, trusting, place);
    }
    for (let i = 0; i < min; i++) to = compile(item, to, trusting, place);
    return to;
  };

  const preferred = (item: Peg, next: number, second: number, trusting: boolean, place: Place): number => {
    const first = compile(item, next, trusting, place);
    return add({ kind: 'choice', first, guard: compile(item, ANYTHING, false, place), second });
  };

  const reference = (peg: Extract<Peg, { kind: 'rule' }>, next: number, trusting: boolean, place: Place): number => {
    const { name } = peg;
    const body = rules.get(name)!;
    if (facts.isRegular(peg)) return compile(body, next, trusting, regular);
    if (place.open !== null && !place.open.has(name) && place.depth < depth) {
      const inner: Place = { open: new Set([...place.open, name]), depth: place.depth + 1, memo: new Map() };
      return compile(body, next, trusting, inner);
    }
    return add({ kind: 'unknown', symbols: [...facts.first(peg)], next: facts.nullable(peg) ? next : null });
  };

  const outside: Place = { open: new Set(), depth: 0, memo: new Map() };
  const roots = questions.map(({ peg, goal, trusting }) =>
    compile(peg, goal, trusting, facts.isRegular(peg) ? regular : outside),
  );
  return { cells, order: orderOf(cells), roots };
}

function orderOf(cells: readonly Cell[]): readonly number[] {
  const order: number[] = [];
  const state = new Uint8Array(cells.length);
  const visit = (at: number): void => {
    if (state[at] === 2) return;
    // A cell that depends on itself without a symbol in between is endless.
    if (state[at] === 1) throw new TooLarge();
    state[at] = 1;
    for (const other of dependenciesOf(cells[at]!)) visit(other);
    state[at] = 2;
    order.push(at);
  };
  for (let at = 0; at < cells.length; at++) visit(at);
  return order;
}

function dependenciesOf(cell: Cell): readonly number[] {
  switch (cell.kind) {
    case 'choice':
      return [cell.first, cell.guard, cell.second];
    case 'lookahead':
      return [cell.item, cell.next];
    case 'unknown':
      return cell.next === null ? [] : [cell.next];
    default:
      return [];
  }
}
