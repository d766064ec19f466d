/**
 * Converts parsing expressions to patterns: unchanged if that is proved to be equal, as exact patterns if those can be
 * computed, otherwise unchanged with a note.
 */

import { patternOf } from '../automata/algebra.js';
import type { Alphabet } from '../automata/alphabet.js';
import { createGraph, determinized, type Graph, minimized } from '../automata/dfa.js';
import {
  type Approximation,
  choice,
  EMPTY,
  mapRules,
  type Pattern,
  type Peg,
  type PegRules,
  referencesOf,
  repeat,
  sequence,
  withoutConditions,
} from '../context-free.js';
import type { Facts } from './facts.js';
import { type Column, isOut, isSure } from './machine.js';
import type { Boundaries, Prover } from './prover.js';

interface Lowered {
  readonly rules: ReadonlyMap<string, Pattern>;
  readonly approximations: readonly Approximation[];
}

type Code = Approximation['code'];

interface PatternAnalysis {
  readonly pattern: Pattern;
  readonly notes: ReadonlySet<Code>;
  /** Rules that must be examined on their own. */
  readonly needs: ReadonlySet<string>;
}

const MESSAGES: Partial<Record<Code, string>> = {
  order: 'the parser tries alternatives in order and takes the first match; here, any may match',
  repetition: 'the parser repeats as often as possible; here, fewer repetitions may match, too',
  lookahead: 'a lookahead of the grammar is omitted',
};

export function toPatterns(
  rules: PegRules,
  startRule: string,
  prover: Prover,
  facts: Facts,
  alphabet: Alphabet,
): Lowered {
  const analyses = new Map<string, PatternAnalysis>();
  const ofRule = (name: string): PatternAnalysis => {
    let verdict = analyses.get(name);
    if (verdict === undefined) {
      verdict = analyse(rules.get(name)!);
      analyses.set(name, verdict);
    }
    return verdict;
  };

  const analyse = (peg: Peg): PatternAnalysis => {
    if (peg.kind === 'set' || peg.kind === 'literal') return plain(peg);
    if (!facts.isRegular(peg)) return inParts(peg);
    if (prover.takesItsTexts(peg)) return plain(peg);
    const verdict = inParts(peg);
    if (isClean(verdict)) return verdict;
    const boundaries = prover.boundariesOf(peg);
    const exact = boundaries === null ? null : exactPattern(boundaries, alphabet);
    return exact === null ? verdict : { pattern: exact, notes: new Set(), needs: new Set() };
  };

  /** Returns `true` if a regular part needs no notes, including those of the rules that it needs. */
  const isClean = ({ notes, needs }: PatternAnalysis): boolean =>
    notes.size === 0 && [...needs].every((name) => isClean(ofRule(name)));

  const inParts = (peg: Peg): PatternAnalysis => {
    switch (peg.kind) {
      case 'rule':
        return { pattern: peg, notes: new Set(), needs: new Set([peg.name]) };
      case 'sequence':
        return together(peg.items.map(analyse), sequence, []);
      case 'choice':
        return together(peg.items.map(analyse), choice, hidesNothing(peg) ? [] : ['order']);
      case 'repeat': {
        const stops = peg.min === peg.max || prover.failsBehind(peg.item, peg) || prover.mayStopBehind(peg);
        return together([analyse(peg.item)], ([item]) => repeat(item!, peg.min, peg.max), stops ? [] : ['repetition']);
      }
      case 'lookahead': {
        const holds = peg.negative ? prover.failsBehind(peg.item, peg) : prover.matchesBehind(peg.item, peg);
        return { pattern: EMPTY, notes: new Set(holds ? [] : ['lookahead']), needs: new Set() };
      }
      default:
        return plain(peg);
    }
  };

  const hidesNothing = (peg: Extract<Peg, { kind: 'choice' }>): boolean => {
    // Alternatives that begin with different characters need no proof. Only the others are examined.
    const bySymbol = new Map<number, Peg[]>();
    const empty: Peg[] = [];
    return peg.items.every((later, at) => {
      const symbols = [...facts.first(later)];
      const isNullable = facts.nullable(later);
      const alike = symbols.flatMap((symbol) => bySymbol.get(symbol) ?? []);
      const earlier = isNullable ? peg.items.slice(0, at) : new Set([...empty, ...alike]);
      for (const one of earlier) if (!prover.neverHides(one, later, peg)) return false;
      for (const symbol of symbols) {
        const known = bySymbol.get(symbol);
        if (known === undefined) bySymbol.set(symbol, [later]);
        else known.push(later);
      }
      if (isNullable) empty.push(later);
      return true;
    });
  };

  const judged = new Set<string>();
  const open = [startRule];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (judged.has(name)) continue;
    judged.add(name);
    open.push(...ofRule(name).needs);
  }
  const approximations = [...rules.keys()]
    .filter((name) => judged.has(name))
    .flatMap((rule) =>
      [...ofRule(rule).notes].map((code): Approximation => ({ code, rule, message: MESSAGES[code]! })),
    );
  const patterns = [...rules].map(([name, peg]): [string, Pattern] => [
    name,
    judged.has(name) ? ofRule(name).pattern : withoutConditions(peg),
  ]);
  return { rules: new Map(patterns), approximations };
}

function plain(peg: Peg): PatternAnalysis {
  return { pattern: withoutConditions(peg), notes: new Set(), needs: new Set() };
}

function together(
  analyses: readonly PatternAnalysis[],
  make: (patterns: readonly Pattern[]) => Pattern,
  notes: readonly Code[],
): PatternAnalysis {
  return {
    pattern: make(analyses.map(({ pattern }) => pattern)),
    notes: new Set([...analyses.flatMap((one) => [...one.notes]), ...notes]),
    needs: new Set(analyses.flatMap((one) => [...one.needs])),
  };
}

/** The maximum number of sets of columns that are visited. */
const MAX_SETS = 300;

/** The maximum number of parts of a pattern that is still readable. */
const LARGEST = 120;

/** A pattern for the exact texts of a part; null if they depend on the text after it, or the pattern is too large. */
function exactPattern({ machine, root, columns }: Boundaries, alphabet: Alphabet): Pattern | null {
  // Texts are read backwards. A state is a set of columns, one for each way in which a text may continue.
  const sets: (readonly Column[])[] = [];
  const numbers = new Map<string, number>();
  const graph: Graph = createGraph();
  const numberOf = (found: Iterable<Column>): number => {
    const set = [...new Set(found)].sort((a, b) => a.id - b.id);
    const key = set.map(({ id }) => id).join();
    let number = numbers.get(key);
    if (number === undefined) {
      number = sets.push(set) - 1;
      numbers.set(key, number);
      graph.state();
    }
    return number;
  };
  const start = numberOf(columns);
  const taken: number[] = [];
  for (let state = 0; state < sets.length; state++) {
    if (sets.length > MAX_SETS) return null;
    const set = sets[state]!;
    const takes = set.filter((column) => isSure(column, root)).length;
    const refuses = set.filter((column) => isOut(column, root)).length;
    if (takes !== set.length && refuses !== set.length) return null;
    if (takes > 0) taken.push(state);
    for (let kind = 0; kind < machine.kinds; kind++) {
      const before = numberOf(set.map((column) => machine.step(column, kind).plain));
      // Edges are reversed: the pattern is read forwards.
      graph.add(before, { kind: 'symbols', to: state, symbols: [kind], again: false });
    }
  }
  const dfa = determinized(graph, taken, start, MAX_SETS);
  if (dfa === null) return null;
  const symbols = Array.from({ length: alphabet.size }, (_, symbol) => symbol);
  return patternOf(
    minimized(dfa),
    (kinds) => {
      const wanted = new Set(kinds);
      return alphabet.rangesOf(symbols.filter((symbol) => wanted.has(machine.kindOf(symbol))));
    },
    LARGEST,
  );
}

export function withRuns(rules: PegRules, isRegular: (peg: Peg) => boolean): PegRules {
  const grouped = (peg: Peg): Peg => {
    if (peg.kind === 'repeat' || peg.kind === 'lookahead') return { ...peg, item: grouped(peg.item) };
    if (peg.kind === 'choice') return { ...peg, items: peg.items.map(grouped) };
    if (peg.kind !== 'sequence') return { ...peg };
    const items = peg.items.map(grouped);
    // If all items are regular, the sequence is one such part on its own.
    return {
      kind: 'sequence',
      items: referencesOf(peg).length > 0 && !isRegular(peg) ? runsOf(items, isRegular) : items,
    };
  };
  return mapRules(rules, grouped);
}

function runsOf(items: readonly Peg[], isRegular: (peg: Peg) => boolean): readonly Peg[] {
  const made: Peg[] = [];
  let run: Peg[] = [];
  const close = (): void => {
    if (run.length > 0) made.push(run.length === 1 ? run[0]! : { kind: 'sequence', items: run });
    run = [];
  };
  for (const item of items) {
    if (isRegular(item)) {
      run.push(item);
    } else {
      close();
      made.push(item);
    }
  }
  close();
  return made;
}
