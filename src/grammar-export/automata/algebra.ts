import { joined } from '../../fuzz/grammar/classes.js';
import type { Ranges } from '../characters.js';
import {
  type CodePointRange,
  choice,
  EMPTY,
  isEmpty,
  isNothing,
  NOTHING,
  type Pattern,
  partsOf,
  repeat,
  sequence,
} from '../context-free.js';
import type { Dfa } from './dfa.js';

function isSame(a: Pattern, b: Pattern): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

export function sizeOf(pattern: Pattern): number {
  return 1 + partsOf(pattern).reduce((sum, part) => sum + sizeOf(part), 0);
}

export function itemsOf(pattern: Pattern): readonly Pattern[] {
  return pattern.kind === 'sequence' ? pattern.items : [pattern];
}

export function charactersOf(pattern: Pattern): Ranges | null {
  if (pattern.kind === 'set') return pattern.ranges;
  if (pattern.kind !== 'literal' || pattern.ignoreCase || [...pattern.text].length !== 1) return null;
  const codePoint = pattern.text.codePointAt(0)!;
  return [[codePoint, codePoint]];
}

export function unionOfPatterns(items: readonly Pattern[]): Pattern {
  const flat = items.flatMap((item) => (item.kind === 'choice' ? item.items : [item]));
  const kept: Pattern[] = [];
  const seen = new Set<string>();
  const characters: CodePointRange[] = [];
  let at = -1;
  for (const item of flat) {
    const ranges = charactersOf(item);
    if (ranges !== null) {
      if (ranges.length === 0) continue;
      if (at < 0) at = kept.push(item) - 1;
      for (const range of ranges) characters.push(range);
      continue;
    }
    const key = JSON.stringify(item);
    if (seen.has(key)) continue;
    seen.add(key);
    kept.push(item);
  }
  if (at >= 0) kept[at] = { kind: 'set', ranges: joined(characters) };
  return choice(kept);
}

/** Combines alternatives as above, and factors out common prefixes and suffixes. */
export function either(a: Pattern, b: Pattern): Pattern {
  if (isNothing(a) || isSame(a, b)) return b;
  if (isNothing(b)) return a;
  if (isEmpty(a) || isEmpty(b)) {
    const rest = isEmpty(a) ? b : a;
    if (rest.kind === 'repeat' && rest.min <= 1) return repeat(rest.item, 0, rest.max);
    return choice([rest, EMPTY]);
  }
  const [left, right] = [itemsOf(a), itemsOf(b)];
  const front = alike(left, right);
  if (front > 0) {
    return sequence([...left.slice(0, front), either(sequence(left.slice(front)), sequence(right.slice(front)))]);
  }
  const back = alike(left.toReversed(), right.toReversed());
  if (back > 0) {
    const [before, other] = [left.slice(0, -back), right.slice(0, -back)];
    return sequence([either(sequence(before), sequence(other)), ...left.slice(-back)]);
  }
  return unionOfPatterns([a, b]);
}

function alike(a: readonly Pattern[], b: readonly Pattern[]): number {
  let count = 0;
  while (count < a.length && count < b.length && isSame(a[count]!, b[count]!)) count++;
  return count;
}

export function concatenated(items: readonly Pattern[]): Pattern {
  const flat = items.flatMap(itemsOf);
  if (flat.some(isNothing)) return NOTHING;
  const made: Pattern[] = [];
  for (const item of flat) {
    made.push(item);
    for (let again = true; again; ) again = absorb(made);
  }
  return sequence(made);
}

function absorb(items: Pattern[]): boolean {
  const last = items.at(-1)!;
  if (last.kind === 'repeat' && last.max === null) {
    const unit = itemsOf(last.item);
    const before = items.slice(-1 - unit.length, -1);
    if (before.length === unit.length && unit.every((one, at) => isSame(one, before[at]!))) {
      items.splice(-1 - unit.length, unit.length + 1, repeat(last.item, last.min + 1, null));
      return true;
    }
  }
  const other = items.at(-2);
  if (last.kind === 'repeat' && other?.kind === 'repeat' && isSame(other.item, last.item)) {
    const max = other.max === null || last.max === null ? null : other.max + last.max;
    items.splice(-2, 2, repeat(last.item, other.min + last.min, max));
    return true;
  }
  if (other?.kind === 'repeat' && other.max === null && isSame(other.item, last)) {
    items.splice(-2, 2, repeat(last, other.min + 1, null));
    return true;
  }
  return false;
}

export function starOf(item: Pattern): Pattern {
  if (isEmpty(item) || isNothing(item)) return EMPTY;
  if (item.kind === 'repeat' && item.min <= 1) return repeat(item.item, 0, null);
  return repeat(item, 0, null);
}

/** The default for the most states. Larger patterns are unreadable. */
const MAX_STATES = 24;

type Edges = Map<number, Map<number, Pattern>>;

/**
 * Returns a pattern for the language of a minimal automaton; null if the automaton has more than `mostStates` states or
 * the pattern more than `limit` parts.
 */
export function patternOf(
  dfa: Dfa,
  rangesOf: (symbols: Iterable<number>) => Ranges,
  limit: number,
  mostStates = MAX_STATES,
): Pattern | null {
  if (dfa.next.length > mostStates) return null;
  const before = dfa.next.length;
  const behind = before + 1;
  const edges: Edges = new Map([[before, new Map([[dfa.start, EMPTY]])]]);
  dfa.next.forEach((moves, from) => {
    const symbols = new Map<number, number[]>();
    for (const [symbol, to] of moves) symbols.set(to, [...(symbols.get(to) ?? []), symbol]);
    const out = new Map(
      [...symbols].map(([to, all]): [number, Pattern] => [to, { kind: 'set', ranges: rangesOf(all) }]),
    );
    if (dfa.accepting[from]) out.set(behind, EMPTY);
    edges.set(from, out);
  });
  const open = new Set(dfa.next.keys());
  while (open.size > 0) {
    const state = cheapest(open, edges);
    open.delete(state);
    leaveOut(state, edges);
    for (const out of edges.values()) for (const pattern of out.values()) if (sizeOf(pattern) > limit) return null;
  }
  return edges.get(before)!.get(behind) ?? NOTHING;
}

/** The state with the fewest and shortest paths through it. */
function cheapest(open: ReadonlySet<number>, edges: Edges): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  for (const state of open) {
    const out = [...edges.get(state)!].filter(([to]) => to !== state);
    const into = [...edges].filter(([from, targets]) => from !== state && targets.has(state));
    const weight = (patterns: readonly Pattern[]): number => patterns.reduce((sum, one) => sum + sizeOf(one), 0);
    const loop = edges.get(state)!.get(state);
    const cost =
      weight(out.map(([, pattern]) => pattern)) * into.length +
      weight(into.map(([, targets]) => targets.get(state)!)) * out.length +
      (loop === undefined ? 0 : sizeOf(loop) * into.length * out.length);
    if (cost < least) [best, least] = [state, cost];
  }
  return best;
}

function leaveOut(state: number, edges: Edges): void {
  const out = edges.get(state)!;
  edges.delete(state);
  const loop = out.get(state);
  const middle = loop === undefined ? EMPTY : starOf(loop);
  for (const targets of edges.values()) {
    const into = targets.get(state);
    if (into === undefined) continue;
    targets.delete(state);
    for (const [to, pattern] of out) {
      if (to === state) continue;
      const way = concatenated([into, middle, pattern]);
      targets.set(to, either(targets.get(to) ?? NOTHING, way));
    }
  }
}
