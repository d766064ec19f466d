/**
 * The texts that may follow each part of a grammar, as paths of a graph. The paths spell at least the texts that the
 * grammar allows there, ignoring lookaheads and code, and may spell more.
 */
import type { Alphabet } from '../automata/alphabet.js';
import { closureOf, createGraph, type Graph } from '../automata/dfa.js';
import type { Peg, PegRules } from '../context-free.js';
import type { Facts } from './facts.js';

/** Repetitions are counted up to this number. */
const COUNTED = 8;

/** The number of states beyond which rules are no longer expanded where they are called. */
const MANY_STATES = 2_000;

/** The number of states beyond which repetitions are no longer counted: nested counts multiply. */
const TOO_MANY_TO_COUNT = 10_000;

export interface Tails {
  readonly graph: Graph;
  readonly end: number;
  /** A state from which the texts that may follow a part of a rule are spelled. */
  readonly behind: (part: Peg) => number;
  /** The same, without texts that begin with one more item of a repetition of single characters. */
  readonly behindUnlessAgain: (part: Peg) => number;
  /** A state from which a part is spelled, a boundary, and then the texts that may follow `where`. */
  readonly matchOf: (part: Peg, where: Peg) => number;
}

export function tailsOf(rules: PegRules, startRule: string, facts: Facts, alphabet: Alphabet): Tails {
  const graph = createGraph();
  const starts = new Map([...rules.keys()].map((name) => [name, graph.state()]));
  const tails = new Map([...rules.keys()].map((name) => [name, graph.state()]));
  const exits = new Map<Peg, number>();

  const free = (from: number, to: number): void => graph.add(from, { kind: 'free', to });

  /** Spells a part, from the returned state to `exit`. `visit` gets the parts that are in the rule itself. */
  const spell = (peg: Peg, exit: number, visit: ((part: Peg, exit: number) => void) | null): number => {
    visit?.(peg, exit);
    switch (peg.kind) {
      case 'set':
        return step(alphabet.symbolsOf(peg.ranges), exit);
      case 'literal':
        return alphabet.spelled(peg).reduceRight((to, symbols) => step(symbols, to), exit);
      case 'sequence':
        return peg.items.reduceRight((to, item) => spell(item, to, visit), exit);
      case 'choice': {
        const from = graph.state();
        for (const item of peg.items) free(from, spell(item, exit, visit));
        return from;
      }
      case 'repeat':
        return spellRepeat(peg, exit, visit);
      case 'rule':
        return call(peg.name, exit, visit !== null);
      default:
        return exit;
    }
  };

  // `true` while the item of an unbounded repetition is spelled.
  let again = false;
  const step = (symbols: readonly number[], to: number): number => {
    const from = graph.state();
    graph.add(from, { kind: 'symbols', to, symbols, again });
    return from;
  };

  const call = (name: string, exit: number, returns: boolean): number => {
    if (returns) free(tails.get(name)!, exit);
    const rule = rules.get(name)!;
    if (graph.size() < MANY_STATES && facts.isRegular({ kind: 'rule', name })) return spell(rule, exit, null);
    const from = graph.state();
    free(from, starts.get(name)!);
    return from;
  };

  const spellRepeat = (
    { item, min, max }: Extract<Peg, { kind: 'repeat' }>,
    exit: number,
    visit: ((part: Peg, exit: number) => void) | null,
  ): number => {
    const counts = graph.size() < TOO_MANY_TO_COUNT;
    let to = exit;
    if (counts && max !== null && max <= COUNTED) {
      for (let i = min; i < max; i++) {
        const from = graph.state();
        free(from, exit);
        free(from, spell(item, to, visit));
        to = from;
      }
    } else {
      const head = graph.state();
      free(head, exit);
      again = max === null && facts.isSingle(item);
      const from = spell(item, head, visit);
      free(head, from);
      again = false;
      if (!counts) return min === 0 ? head : from;
      to = head;
    }
    for (let i = 0; i < Math.min(min, COUNTED); i++) to = spell(item, to, visit);
    return to;
  };

  const remember = (part: Peg, exit: number): void => {
    let known = exits.get(part);
    if (known === undefined) {
      known = graph.state();
      exits.set(part, known);
    }
    free(known, exit);
  };

  for (const [name, peg] of rules) free(starts.get(name)!, spell(peg, tails.get(name)!, remember));
  const end = graph.state();
  free(tails.get(startRule)!, end);

  return {
    graph,
    end,
    behind: (part) => exits.get(part)!,
    behindUnlessAgain: (part) => {
      const from = graph.state();
      for (const state of closureOf(graph, [exits.get(part)!])) {
        if (state === end) free(from, end);
        for (const edge of graph.edgesOf(state)) if (edge.kind === 'symbols' && !edge.again) graph.add(from, edge);
      }
      return from;
    },
    matchOf: (part, where) => {
      const boundary = graph.state();
      graph.add(boundary, { kind: 'boundary', to: exits.get(where)! });
      return spell(part, boundary, null);
    },
  };
}
