/** Proofs that a part of a grammar matches the same texts without order, greediness and lookahead. */
import type { Alphabet } from '../automata/alphabet.js';
import { reachedFrom } from '../automata/dfa.js';
import type { Peg, PegRules } from '../context-free.js';
import type { Facts } from './facts.js';
import { type Column, isOut, isSure, type Machine, machineOf, type Place } from './machine.js';
import { ANYTHING, BOUNDARY, type Cells, compileQuestions, DEPTHS, type Question, TooLarge } from './matcher.js';
import type { Tails } from './tails.js';

/** The budget of one proof, and of all of them: one for each answer of a cell, `VISIT` for each state and each pair seen. */
const MAX_EFFORT = 5_000_000;
const TOTAL_EFFORT = 12_000_000;
const VISIT = 40;

/** All answers are safe: false if a proof fails or takes too long. */
export interface Prover {
  /** Returns `true` if a regular part matches each of its texts, and nothing of the text after it. */
  readonly takesItsTexts: (part: Peg) => boolean;
  /** Returns `true` if an alternative never hides a text of a later one of the same choice. */
  readonly neverHides: (earlier: Peg, later: Peg, choice: Peg) => boolean;
  /** Returns `true` if an expression matches nothing that can follow a part. */
  readonly failsBehind: (expression: Peg, part: Peg) => boolean;
  /**
   * Returns `true` if a repetition of single characters need not consume more of the text after it. It may consume what
   * an adjacent repetition would have consumed.
   */
  readonly mayStopBehind: (repetition: Extract<Peg, { kind: 'repeat' }>) => boolean;
  /** Returns `true` if an expression matches everything that can follow a part. */
  readonly matchesBehind: (expression: Peg, part: Peg) => boolean;
  /** The machine for a regular part, and its columns at all boundaries; null if it is too large. */
  readonly boundariesOf: (part: Peg) => Boundaries | null;
}

export interface Boundaries {
  readonly machine: Machine;
  readonly root: number;
  readonly columns: readonly Column[];
}

export function proverOf(rules: PegRules, facts: Facts, alphabet: Alphabet, tails: Tails): Prover {
  let left = TOTAL_EFFORT;
  const search = (state: number, machine: Machine, visit: Visit): Found => {
    const { found, effort } = explore(tails, state, machine, visit, Math.min(MAX_EFFORT, left));
    left -= effort;
    return found;
  };

  const compile = (questions: readonly Question[], depth: number): Cells | null =>
    left > 0 ? compiledOr(() => compileQuestions(questions, rules, facts, alphabet, depth)) : null;

  /** Returns `true` if something holds at the beginning of all texts from a state, whatever the number of rules to follow. */
  const holds = (
    questions: readonly Question[],
    start: () => number,
    test: (column: Column, roots: readonly number[]) => boolean,
  ): boolean => {
    const depths = questions.every(({ peg }) => facts.isRegular(peg)) ? [0] : DEPTHS;
    for (const depth of depths) {
      const compiled = compile(questions, depth);
      if (compiled === null) return false;
      const size = tails.graph.size();
      const machine = machineOf(compiled, alphabet.size);
      const state = start();
      const found = search(state, machine, (at, column) => at !== state || test(column, compiled.roots));
      tails.graph.shrink(size);
      if (found === 'all') return true;
    }
    return false;
  };

  return {
    takesItsTexts: (part) =>
      holds(
        [{ peg: part, goal: BOUNDARY, trusting: true }],
        () => tails.matchOf(part, part),
        (column, [root]) => isSure(column, root!),
      ),
    neverHides: (earlier, later, choice) =>
      holds(
        [
          { peg: earlier, goal: ANYTHING, trusting: false },
          { peg: earlier, goal: BOUNDARY, trusting: true },
        ],
        () => tails.matchOf(later, choice),
        (column, [any, exact]) => isOut(column, any!) || isSure(column, exact!),
      ),
    failsBehind: (expression, part) =>
      holds(
        [{ peg: expression, goal: ANYTHING, trusting: false }],
        () => tails.behind(part),
        (column, [root]) => isOut(column, root!),
      ),
    mayStopBehind: (repetition) =>
      facts.isSingle(repetition.item) &&
      repetition.max === null &&
      holds(
        [{ peg: repetition.item, goal: ANYTHING, trusting: false }],
        () => tails.behindUnlessAgain(repetition),
        (column, [root]) => isOut(column, root!),
      ),
    matchesBehind: (expression, part) =>
      holds(
        [{ peg: expression, goal: ANYTHING, trusting: true }],
        () => tails.behind(part),
        (column, [root]) => isSure(column, root!),
      ),
    boundariesOf: (part) => {
      const questions = [{ peg: part, goal: BOUNDARY, trusting: true }];
      const compiled = compile(questions, 0);
      if (compiled === null) return null;
      const machine = machineOf(compiled, alphabet.size);
      const state = tails.behind(part);
      const columns = new Set<Column>();
      const found = search(state, machine, (at, _column, place) => {
        if (at === state && place !== null) columns.add(place.boundary);
        return true;
      });
      return found === 'all' ? { machine, root: compiled.roots[0]!, columns: [...columns] } : null;
    },
  };
}

function compiledOr<T>(compile: () => T): T | null {
  try {
    return compile();
  } catch (thrown) {
    if (thrown instanceof TooLarge) return null;
    throw thrown;
  }
}

/** Returns false to end the search. Before the boundary, `place` is null. */
type Visit = (state: number, column: Column, place: Place | null) => boolean;

/** `stopped` if `visit` returned false, `unknown` if the budget was exceeded. */
type Found = 'all' | 'stopped' | 'unknown';

/** Runs a machine backwards over all texts from a state to the end, and visits each pair of a state and a column once. */
function explore(
  { graph, end }: Tails,
  start: number,
  machine: Machine,
  visit: Visit,
  mostEffort: number,
): { readonly found: Found; readonly effort: number } {
  const reached = reachedFrom(graph, start);
  if (!reached.has(end)) return { found: 'all', effort: reached.size * VISIT };
  const kindsOf = kindsOfEdges(machine);
  const seen = new Set<number>();
  // Short texts first: they mostly contain a reason to stop.
  const open: Pair[][] = [];
  let nearest = 0;
  const reach = (state: number, column: Column, place: Place | null): void => {
    const key = (state * 2 ** 20 + (place === null ? column.id : place.id)) * 2 + (place === null ? 1 : 0);
    if (seen.has(key)) return;
    seen.add(key);
    const { distance } = reached.get(state)!;
    open[distance] ??= [];
    open[distance].push({ state, place, column });
    nearest = Math.min(nearest, distance);
  };
  reach(end, machine.end.plain, machine.end);
  for (; nearest < open.length; nearest++) {
    for (let pair = open[nearest]?.pop(); pair !== undefined; pair = open[nearest]?.pop()) {
      const { state, place, column } = pair;
      const effort = (reached.size + seen.size) * VISIT + machine.effort();
      if (!visit(state, column, place)) return { found: 'stopped', effort };
      if (effort > mostEffort) return { found: 'unknown', effort };
      for (const { edge, from } of reached.get(state)!.into) {
        if (edge.kind === 'free') reach(from, column, place);
        // A second boundary does not count: each text has one.
        else if (edge.kind === 'boundary') {
          if (place !== null) reach(from, place.boundary, null);
        } else {
          for (const kind of kindsOf(edge.symbols)) {
            const before = machine.step(column, kind);
            reach(from, before.plain, place === null ? null : before);
          }
        }
      }
    }
  }
  return { found: 'all', effort: (reached.size + seen.size) * VISIT + machine.effort() };
}

interface Pair {
  readonly state: number;
  readonly place: Place | null;
  readonly column: Column;
}

function kindsOfEdges(machine: Machine): (symbols: readonly number[]) => readonly number[] {
  const known = new Map<readonly number[], readonly number[]>();
  return (symbols) => {
    let kinds = known.get(symbols);
    if (kinds === undefined) {
      kinds = [...new Set(symbols.map(machine.kindOf))];
      known.set(symbols, kinds);
    }
    return kinds;
  };
}
