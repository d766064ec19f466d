/** Glushkov automata of regular patterns: one state for each character set of the pattern. */
import { alphabetOf, type Budget, subsetsOf } from './automata/alphabet.js';
import { spelledOut } from './characters.js';
import type { CodePointRange, Pattern } from './context-free.js';

export interface Automaton {
  /** The character set of each state. */
  readonly sets: readonly (readonly CodePointRange[])[];
  /** The states that the first character may enter. */
  readonly starts: readonly number[];
  /** For each state, the states that the next character may enter. */
  readonly next: readonly (readonly number[])[];
  /** For each state, `true` if a match may end there. */
  readonly accepts: readonly boolean[];
  readonly nullable: boolean;
  /**
   * `true` if the pattern leads from one state to the next, or to the end, in two ways, as `(a*)*` does. A backtracking
   * engine tries both.
   */
  readonly hasParallels: boolean;
}

/** The default for the most states. Comparing two automata takes their product. */
const MAX_STATES = 1000;
/** The maximum number of edges, and entries of the lists that lead to them. */
const MAX_EFFORT = 500_000;

interface Part {
  readonly first: readonly number[];
  readonly last: readonly number[];
  readonly nullable: boolean;
}

const EMPTY_PART: Part = { first: [], last: [], nullable: true };

/** Builds the automaton of a pattern. Returns null if the pattern is recursive, has more than `maxStates` states, or takes too long. */
export function automatonOf(
  pattern: Pattern,
  rules: ReadonlyMap<string, Pattern>,
  maxStates = MAX_STATES,
): Automaton | null {
  const sets: (readonly CodePointRange[])[] = [];
  const next: Set<number>[] = [];
  const open = new Set<string>();
  let hasParallels = false;
  let effort = 0;

  const both = (before: Part, after: Part): Part | null => {
    effort += before.last.length * after.first.length;
    if (before.nullable) effort += before.first.length + after.first.length;
    if (after.nullable) effort += before.last.length + after.last.length;
    if (effort > MAX_EFFORT) return null;
    for (const state of before.last) {
      for (const follower of after.first) {
        hasParallels ||= next[state]!.has(follower);
        next[state]!.add(follower);
      }
    }
    return {
      first: before.nullable ? [...before.first, ...after.first] : before.first,
      last: after.nullable ? [...before.last, ...after.last] : after.last,
      nullable: before.nullable && after.nullable,
    };
  };
  const inSequence = (items: readonly Pattern[]): Part | null => {
    let whole: Part | null = EMPTY_PART;
    for (const item of items) {
      const part = partOf(item);
      whole = part && both(whole, part);
      if (whole === null) return null;
    }
    return whole;
  };
  const repeated = (item: Pattern, min: number, max: number | null): Part | null => {
    // From the last copy to the first: an optional copy is missing together with all after it.
    let whole: Part | null = EMPTY_PART;
    const copies = max ?? Math.max(1, min);
    for (let copy = copies; copy >= 1; copy--) {
      const part = partOf(item);
      if (part === null) return null;
      hasParallels ||= part.nullable && (max === null || copy > min);
      if (max === null && copy === copies && both(part, part) === null) return null;
      whole = both(part, whole);
      if (whole === null) return null;
      if (copy > min) whole = { ...whole, nullable: true };
    }
    return whole;
  };
  const partOf = (one: Pattern): Part | null => {
    switch (one.kind) {
      case 'set': {
        if (sets.length === maxStates) return null;
        const state = sets.push(one.ranges) - 1;
        next.push(new Set());
        return { first: [state], last: [state], nullable: false };
      }
      case 'literal':
        return one.ignoreCase ? inSequence([spelledOut(one.text)]) : inSequence(charactersOf(one.text));
      case 'sequence':
        return inSequence(one.items);
      case 'choice': {
        const parts: Part[] = [];
        for (const item of one.items) {
          const part = partOf(item);
          if (part === null) return null;
          parts.push(part);
        }
        hasParallels ||= parts.filter((part) => part.nullable).length > 1;
        return {
          first: parts.flatMap((part) => part.first),
          last: parts.flatMap((part) => part.last),
          nullable: parts.some((part) => part.nullable),
        };
      }
      case 'repeat':
        return repeated(one.item, one.min, one.max);
      case 'rule': {
        const body = rules.get(one.name);
        if (body === undefined || open.has(one.name)) return null;
        open.add(one.name);
        const part = partOf(body);
        open.delete(one.name);
        return part;
      }
    }
  };

  const whole = partOf(pattern);
  if (whole === null) return null;
  const last = new Set(whole.last);
  return {
    sets,
    starts: [...new Set(whole.first)],
    next: next.map((followers) => [...followers]),
    accepts: sets.map((_, state) => last.has(state)),
    nullable: whole.nullable,
    hasParallels,
  };
}

function charactersOf(text: string): Pattern[] {
  return [...text].map((character) => {
    const code = character.codePointAt(0)!;
    return { kind: 'set', ranges: [[code, code]] };
  });
}

/**
 * Returns `true` if each character enters at most one state, in one way. A backtracking engine then finds the longest
 * match without backtracking.
 */
export function isDeterministic({ sets, starts, next, hasParallels }: Automaton): boolean {
  return (
    !hasParallels &&
    [starts, ...next].every((states) => {
      const ranges = states.flatMap((state) => sets[state]!).sort(([a], [b]) => a - b);
      return ranges.every(([first], index) => index === 0 || ranges[index - 1]![1] < first);
    })
  );
}

/** The maximum number of moves between sets of states, and pairs of states, that are visited to decide if an automaton is unambiguous. */
const MAX_MOVES = 1_000_000;
const MAX_PAIRS = 2_000_000;

/**
 * Returns `true` if each text leads to the same state in one way only; `false` also if that takes too long to decide. A
 * backtracking engine then takes at most states times characters steps.
 */
export function isUnambiguous(automaton: Automaton, effort: Budget = { left: Number.POSITIVE_INFINITY }): boolean {
  const { starts, next, accepts, hasParallels } = automaton;
  if (hasParallels || effort.left <= 0) return false;
  const symbols = symbolsOfStates([automaton])[0]!;
  // An additional state before the first character.
  const followersOf = (state: number): readonly number[] => (state < 0 ? starts : next[state]!);
  const moves = (state: number): (readonly [number, number])[] =>
    followersOf(state).flatMap((to) => symbols[to]!.map((symbol) => [symbol, to] as const));
  // The states that the same text leads to are in one set. For adjacent words, this is faster than pairs.
  const budget = { left: MAX_MOVES };
  const subsets = subsetsOf([-1], moves, budget);
  effort.left -= MAX_MOVES - budget.left;
  if (subsets === null) {
    effort.left -= MAX_PAIRS;
    return hasNoAmbiguousPair(automaton);
  }
  return subsets.every((states) => {
    const followers = [...states].flatMap(followersOf);
    return new Set(followers).size === followers.length && [...states].filter((state) => accepts[state]).length <= 1;
  });
}

/** Returns `true` if no two states that the same text leads to have a common successor; `false` if there are too many pairs to decide. */
function hasNoAmbiguousPair({ sets, starts, next, accepts }: Automaton): boolean {
  const seen = new Set<number>();
  const open: [number, number][] = [];
  let left = MAX_PAIRS;
  const meet = (a: readonly number[], b: readonly number[]): boolean => {
    const others = new Set(b);
    return a.some((state) => others.has(state));
  };
  const enter = (some: readonly number[], others: readonly number[]): void => {
    left -= some.length * others.length;
    if (left < 0) return;
    for (const a of some) {
      for (const b of others) {
        const key = Math.min(a, b) * sets.length + Math.max(a, b);
        if (a === b || seen.has(key) || !overlap(sets[a]!, sets[b]!)) continue;
        seen.add(key);
        open.push([a, b]);
      }
    }
  };
  for (const states of [starts, ...next]) enter(states, states);
  for (let pair = open.pop(); pair !== undefined && left >= 0; pair = open.pop()) {
    const [a, b] = pair;
    if ((accepts[a] && accepts[b]) || meet(next[a]!, next[b]!)) return false;
    enter(next[a]!, next[b]!);
  }
  return left >= 0;
}

function symbolsOfStates(automata: readonly Automaton[]): readonly (readonly (readonly number[])[])[] {
  const sets = automata.flatMap((one) => one.sets.map((ranges): Pattern => ({ kind: 'set', ranges })));
  const { symbolsOf } = alphabetOf(sets, 'code-point');
  return automata.map((one) => one.sets.map(symbolsOf));
}

/** Returns, for each automaton, the others that match a prefix of one of its texts; null if the budget is exceeded. */
export function beginningsOf(automata: readonly Automaton[], budget: Budget): readonly ReadonlySet<number>[] | null {
  // The states of all automata in a row, each automaton's initial state first.
  const states = automata.flatMap(({ starts, next, accepts, nullable }, owner) => [
    { owner, followers: starts, accepts: nullable },
    ...next.map((followers, state) => ({ owner, followers, accepts: accepts[state]! })),
  ]);
  const offsets: number[] = [];
  let offset = 0;
  for (const { sets } of automata) {
    offsets.push(offset);
    offset += sets.length + 1;
  }
  const symbols = symbolsOfStates(automata).flatMap((own) => [[], ...own]);
  const moves = (at: number): (readonly [number, number])[] => {
    const { owner, followers } = states[at]!;
    const targets = followers.map((state) => offsets[owner]! + 1 + state);
    return targets.flatMap((to) => symbols[to]!.map((symbol) => [symbol, to] as const));
  };
  const subsets = subsetsOf(offsets, moves, budget);
  const found = automata.map(() => new Set<number>());
  for (const subset of subsets ?? []) {
    const members = [...subset].map((at) => states[at]!);
    const ending = new Set(members.filter(({ accepts }) => accepts).map(({ owner }) => owner));
    budget.left -= ending.size * members.length;
    if (budget.left < 0) return null;
    for (const { owner } of members) for (const other of ending) if (other !== owner) found[owner]!.add(other);
  }
  return subsets && found;
}

/**
 * Returns the largest number of ways in which the automaton matches one text; null if it exceeds `limit` or is too
 * expensive to compute.
 */
export function maxAmbiguity(automaton: Automaton, limit: number): number | null {
  const { starts, next, hasParallels } = automaton;
  if (hasParallels) return null;
  const symbols = symbolsOfStates([automaton])[0]!;
  let most = 1;
  let left = MAX_MOVES;
  const seen = new Set<string>();
  const open: (readonly (readonly [state: number, ways: number])[])[] = [];
  const enter = (followers: ReadonlyMap<number, number>): void => {
    const targets = new Map<number, [state: number, ways: number][]>();
    for (const [state, ways] of followers) {
      for (const symbol of symbols[state]!) {
        if (left-- <= 0) return;
        const known = targets.get(symbol);
        if (known === undefined) targets.set(symbol, [[state, ways]]);
        else known.push([state, ways]);
      }
    }
    for (const read of targets.values()) {
      const key = read.sort(([a], [b]) => a - b).join(';');
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(read);
      most = Math.max(
        most,
        read.reduce((sum, [, ways]) => sum + ways, 0),
      );
    }
  };
  enter(new Map(starts.map((state) => [state, 1])));
  for (let read = open.pop(); read !== undefined; read = open.pop()) {
    if (most > limit || seen.size > MAX_STATES * 10 || left < 0) return null;
    const followers = new Map<number, number>();
    for (const [state, ways] of read) {
      for (const follower of next[state]!) followers.set(follower, (followers.get(follower) ?? 0) + ways);
    }
    enter(followers);
  }
  return left < 0 ? null : most;
}

export function sharesText(a: Automaton, b: Automaton): boolean {
  if (a.nullable && b.nullable) return true;
  return somePair(a, b, (inA, inB) => a.accepts[inA]! && b.accepts[inB]!);
}

/** Returns `true` if a match of `a` is a prefix of a longer match of `b` whose next character is in `following`. */
export function continuesBeyond(a: Automaton, b: Automaton, following: readonly CodePointRange[]): boolean {
  const isFollowing = (state: number): boolean => overlap(b.sets[state]!, following);
  if (a.nullable && b.starts.some(isFollowing)) return true;
  return somePair(a, b, (inA, inB) => a.accepts[inA]! && b.next[inB]!.some(isFollowing));
}

/** Returns `true` if `b` matches a text of which `a` matches only a prefix; `false` if it takes too long to decide. */
export function cutsShort(a: Automaton, b: Automaton, budget: Budget): boolean {
  const seen = new Set<string>();
  const open: { readonly inB: number; readonly inA: readonly number[]; readonly cut: boolean }[] = [];
  const enter = (followersInB: readonly number[], followersInA: readonly number[], cut: boolean): void => {
    for (const inB of followersInB) {
      for (const character of samples(b.sets[inB]!, followersInA, a)) {
        budget.left -= followersInA.length;
        if (budget.left < 0) return;
        const inA = followersInA.filter((state) => overlap(a.sets[state]!, [[character, character]]));
        const key = `${inB} ${inA} ${cut}`;
        if (seen.has(key) || seen.size > MAX_STATES * 10) continue;
        seen.add(key);
        open.push({ inB, inA, cut });
      }
    }
  };
  enter(b.starts, a.starts, a.nullable);
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const { inB, inA, cut } = place;
    const matches = inA.some((state) => a.accepts[state]);
    if (cut && !matches && b.accepts[inB]) return true;
    enter(
      b.next[inB]!,
      [...new Set(inA.flatMap((state) => a.next[state]!))].sort((x, y) => x - y),
      cut || matches,
    );
  }
  return false;
}

/** One character of the set for each combination of sets that contain it. */
function samples(set: readonly CodePointRange[], states: readonly number[], { sets }: Automaton): number[] {
  const edges = states.flatMap((state) => sets[state]!.flatMap(([first, last]) => [first, last + 1]));
  const within = edges.filter((edge) => overlap(set, [[edge, edge]]));
  return [...new Set([...set.map(([first]) => first), ...within])];
}

function somePair(a: Automaton, b: Automaton, test: (inA: number, inB: number) => boolean): boolean {
  const seen = new Set<number>();
  const open: [number, number][] = [];
  const enter = (inA: readonly number[], inB: readonly number[]): void => {
    for (const x of inA) {
      for (const y of inB) {
        const key = x * b.sets.length + y;
        if (seen.has(key) || !overlap(a.sets[x]!, b.sets[y]!)) continue;
        seen.add(key);
        open.push([x, y]);
      }
    }
  };
  enter(a.starts, b.starts);
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [x, y] = pair;
    if (test(x, y)) return true;
    enter(a.next[x]!, b.next[y]!);
  }
  return false;
}

export function overlap(a: readonly CodePointRange[], b: readonly CodePointRange[]): boolean {
  return a.some(([first, last]) => b.some((other) => first <= other[1] && other[0] <= last));
}
