import type { ast } from 'peggy';
import { type CharacterRange, characterAt, holds, partsOfClass, rangesOf } from '../grammar/classes.js';
import { boundsOf, type Expression, rulesByName, visitExpression } from '../grammar/expressions.js';
import type { Derivation, Grammar, Point } from '../grammar/grammar.js';

/** What there is to see of a grammar: rules, alternatives, edges of character classes, bounds of repetitions. */
export const GOAL_KINDS = ['rule', 'alternative', 'character', 'repetition'] as const;
export type GoalKind = (typeof GOAL_KINDS)[number];

export interface Goal {
  readonly number: number;
  readonly kind: GoalKind;
  readonly point: Point;
  /** Of a character: its code; of a repetition: how often, or `more` than the one before. */
  readonly value?: number | 'more';
  /** For people: `value, alternative 3 of 6`. */
  readonly name: string;
}

export interface Goals {
  readonly list: readonly Goal[];
  readonly ofPoint: (point: number) => readonly Goal[];
}

const known = new WeakMap<Grammar, Goals>();

/** The goals of a grammar, in its order. What only a negative lookahead holds never becomes part of a text, and is left out. */
export function goalsOf(grammar: Grammar): Goals {
  const found = known.get(grammar) ?? collect(grammar);
  known.set(grammar, found);
  return found;
}

function collect(grammar: Grammar): Goals {
  const reachable = reachableNodes(grammar.ast, grammar.startRule);
  const list: Goal[] = [];
  const byPoint = new Map<number, Goal[]>();
  for (const point of grammar.points.list) {
    if (!reachable.has(point.node)) continue;
    const own = goalsAt(point).map((goal, index) => ({ ...goal, point, number: list.length + index }));
    list.push(...own);
    byPoint.set(point.number, own);
  }
  return { list, ofPoint: (point) => byPoint.get(point) ?? [] };
}

type Draft = Pick<Goal, 'kind' | 'value' | 'name'>;

function goalsAt({ kind, rule, node, index, total }: Point): readonly Draft[] {
  switch (kind) {
    case 'rule':
      return [{ kind: 'rule', name: rule }];
    case 'alternative':
      return [{ kind: 'alternative', name: `${rule}, alternative ${index! + 1} of ${total}` }];
    case 'character':
      return node.type === 'class'
        ? edgesOf(node).map((value) => ({ kind: 'character', value, name: `${rule}, ${shownUnit(value)}` }))
        : [];
    case 'repetition':
      return countsOf(node).map((value) => ({ kind: 'repetition', value, name: `${rule}, ${shownCount(value)}` }));
    default:
      return [];
  }
}

/** The first and last character of each part of a class, or those beside what an inverted one excludes. */
function edgesOf(node: ast.CharacterClass): readonly number[] {
  const ranges = rangesOf(node);
  const edges = node.inverted
    ? ranges.flatMap(([first, last], at) => [...(at === 0 ? [] : [first]), ...(at === ranges.length - 1 ? [] : [last])])
    : partsOfClass(node).flat();
  const some = edges.length === 0 ? ranges.slice(0, 1).flat() : edges;
  return [...new Set(some)].filter((unit) => isSendable(unit, ranges));
}

/** Halves of surrogate pairs are no characters, and most programs cannot even be sent one. */
function isSendable(code: number, ranges: readonly CharacterRange[]): boolean {
  return (code < 0xd800 || code > 0xdfff) && holds(ranges, code);
}

function countsOf(node: Expression): readonly (number | 'more')[] {
  const { min, max } = boundsOf(node)!;
  if (max !== null) return [...new Set([min, max])];
  return min === 0 ? [0, 1, 'more'] : [min, 'more'];
}

function shownUnit(unit: number): string {
  const shown =
    unit > 0x20 && unit < 0x7f ? `"${String.fromCharCode(unit)}"` : `U+${unit.toString(16).padStart(4, '0')}`;
  return `character ${shown}`;
}

function shownCount(value: number | 'more'): string {
  if (value === 'more') return 'more often';
  return value === 1 ? 'once' : `${value} times`;
}

function reachableNodes(grammar: ast.Grammar, startRule: string): ReadonlySet<Expression> {
  const rules = rulesByName(grammar);
  const reached = new Set<Expression>();
  const hidden = new Set<Expression>();
  const reach = (node: Expression): void => {
    visitExpression(node, (part) => {
      if (part.type === 'simple_not') visitExpression(part.expression, (inner) => hidden.add(inner));
      if (hidden.has(part) || reached.has(part)) return;
      reached.add(part);
      const rule = part.type === 'rule_ref' ? rules.get(part.name) : undefined;
      if (rule !== undefined && !reached.has(rule.expression)) reach(rule.expression);
    });
  };
  const start = rules.get(startRule);
  if (start !== undefined) reach(start.expression);
  return reached;
}

export interface Tracker {
  readonly grammar: Grammar;
  /** Texts that were derived, and texts that were refused. */
  readonly texts: number;
  readonly rejected: number;
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
    get rejected() {
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
