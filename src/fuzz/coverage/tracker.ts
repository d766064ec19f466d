import type { ast } from 'peggy';
import { type CharacterRange, characterAt, holds, partsOfClass, rangesOf } from '../grammar/classes.js';
import { boundsOf, type Expression, rulesByName, visitExpression } from '../grammar/expressions.js';
import type { Derivation, Grammar, Point } from '../grammar/grammar.js';

/** The kinds of goals: rules, alternatives, the edges of character classes, and the bounds of repetitions. */
export const GOAL_KINDS = ['rule', 'alternative', 'character', 'repetition'] as const;
/** One of {@link GOAL_KINDS}. */
export type GoalKind = (typeof GOAL_KINDS)[number];

/** Something in a grammar that a text can reach. */
export interface Goal {
  /** The index of the goal in {@link Goals.list}, and of its count in {@link Tracker.hits}. */
  readonly number: number;
  /** The kind of goal. */
  readonly kind: GoalKind;
  /** The point of the grammar that the goal belongs to. */
  readonly point: Point;
  /** For a character, its code; for a repetition, the number of items, where `'more'` is more than the other goals of it. */
  readonly value?: number | 'more';
  /** A name for display, such as `value, alternative 3 of 6`. */
  readonly name: string;
}

/** The goals of a grammar. */
export interface Goals {
  /** All goals, in the order of the grammar. */
  readonly list: readonly Goal[];
  /** Returns the goals of a point, by the number of the point. */
  readonly ofPoint: (point: number) => readonly Goal[];
}

const known = new WeakMap<Grammar, Goals>();

/**
 * Lists the goals of a grammar, in its order. Parts that occur only inside a negative lookahead never match as part of
 * a text and are left out.
 */
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

/** The first and last character of each part of a class; for an inverted class, the neighbors of the excluded characters. */
function edgesOf(node: ast.CharacterClass): readonly number[] {
  const ranges = rangesOf(node);
  const edges = node.inverted
    ? ranges.flatMap(([first, last], at) => [...(at === 0 ? [] : [first]), ...(at === ranges.length - 1 ? [] : [last])])
    : partsOfClass(node).flat();
  const some = edges.length === 0 ? ranges.slice(0, 1).flat() : edges;
  return [...new Set(some)].filter((unit) => isSendable(unit, ranges));
}

/** Excludes surrogates: they are not characters on their own, and most programs cannot receive them. */
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

/** Counts how often texts reach each goal of a grammar. */
export interface Tracker {
  /** The grammar that the tracker counts for. */
  readonly grammar: Grammar;
  /** The number of texts that the grammar accepted. */
  readonly texts: number;
  /** The number of texts that the grammar rejected. */
  readonly rejected: number;
  /** The number of times that each goal was reached, by the number of the goal. */
  readonly hits: readonly number[];
  /** The number of goals that no text has reached. */
  readonly missing: number;
  /** Counts a text. A goal that the text reaches several times counts each time. Returns `true` if the grammar accepts the text. */
  readonly add: (text: string) => boolean;
  /** Counts a text whose derivation is known. @returns the number of goals that it is the first to reach */
  readonly addDerived: (text: string, derivation: Derivation) => number;
}

function characterOf(node: Expression, text: string, at: number): number | undefined {
  return node.type === 'class' || node.type === 'any' ? characterAt(node, text, at) : undefined;
}

/** Creates a tracker in which no goal has been reached. */
export function createTracker(grammar: Grammar): Tracker {
  const goals = goalsOf(grammar);
  const hits = goals.list.map(() => 0);
  const { list: points } = grammar.points;
  let texts = 0;
  let rejected = 0;
  let missing = hits.length;
  let firstHits = 0;

  const hit = ({ number }: Goal): void => {
    hits[number]!++;
    if (hits[number] === 1) {
      missing--;
      firstHits++;
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
      // The parser reads a delimiter after the last item and backtracks over it.
      const isDiscarded = points[child.point]!.kind === 'delimiter' && index === children.length - 1;
      if (!isDiscarded) count(text, child);
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
    firstHits = 0;
    count(text, derivation);
    return firstHits;
  };

  return {
    grammar,
    get texts() {
      return texts;
    },
    get rejected() {
      return rejected;
    },
    get missing() {
      return missing;
    },
    hits,
    addDerived,
    add: (text) => {
      const derivation = grammar.derive(text);
      if (derivation === null) rejected++;
      else addDerived(text, derivation);
      return derivation !== null;
    },
  };
}
