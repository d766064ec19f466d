/** Counts which goals of a grammar texts have reached. */
import { characterAt } from '../grammar/classes.js';
import type { Expression } from '../grammar/expressions.js';
import type { Derivation, Grammar } from '../grammar/grammar.js';
import { type Goal, goalsOf } from './goals.js';

export interface Tracker {
  readonly grammar: Grammar;
  /** Texts that were derived, and texts that were refused. */
  readonly texts: number;
  readonly refused: number;
  /** How often each goal was reached, by its number. */
  readonly hits: readonly number[];
  /** How many goals were never reached. */
  readonly missing: number;
  /** Counts a text, and tells whether it was derived. Goals that it reaches many times count each time. */
  readonly add: (text: string) => boolean;
  /** The same for a text whose derivation is known. @returns how many goals were reached for the first time */
  readonly addDerived: (text: string, derivation: Derivation) => number;
}

function characterOf(node: Expression, text: string, at: number): number | undefined {
  return node.type === 'class' || node.type === 'any' ? characterAt(node, text, at) : undefined;
}

export function createTracker(grammar: Grammar): Tracker {
  const goals = goalsOf(grammar);
  const hits = goals.list.map(() => 0);
  const { list: points } = grammar.points;
  let texts = 0;
  let refused = 0;
  let missing = hits.length;
  let fresh = 0;

  const hit = ({ number }: Goal): void => {
    hits[number]!++;
    if (hits[number] === 1) {
      missing--;
      fresh++;
    }
  };

  const count = (text: string, { point, start, children }: Derivation): void => {
    const { kind, node } = points[point]!;
    for (const goal of goals.ofPoint(point)) {
      if (kind === 'character') {
        if (goal.value === characterOf(node, text, start)) hit(goal);
      } else if (kind === 'repetition') {
        if (isReached(goal, itemsIn(children))) hit(goal);
      } else hit(goal);
    }
    for (const [index, child] of children.entries()) {
      // A delimiter behind the last item was read in vain, and given back.
      const inVain = points[child.point]!.kind === 'delimiter' && index === children.length - 1;
      if (!inVain) count(text, child);
    }
  };

  const itemsIn = (children: readonly Derivation[]): number =>
    children.filter((child) => points[child.point]!.kind === 'item').length;

  const isReached = (goal: Goal, items: number): boolean => {
    if (goal.value !== 'more') return goal.value === items;
    const before = goals.ofPoint(goal.point.number).map(({ value }) => (typeof value === 'number' ? value : -1));
    return items > Math.max(...before);
  };

  const addDerived = (text: string, derivation: Derivation): number => {
    texts++;
    fresh = 0;
    count(text, derivation);
    return fresh;
  };

  return {
    grammar,
    get texts() {
      return texts;
    },
    get refused() {
      return refused;
    },
    get missing() {
      return missing;
    },
    hits,
    addDerived,
    add: (text) => {
      const derivation = grammar.derive(text);
      if (derivation === null) refused++;
      else addDerived(text, derivation);
      return derivation !== null;
    },
  };
}
