/** A random walk through a grammar that writes a text. The parser decides afterwards if the text is valid. */

import type { ast } from 'peggy';
import type { Random } from '../../text/random.js';
import { type Goal, goalsOf } from '../coverage/tracker.js';
import { type CharacterRange, holds, rangesOf } from '../grammar/classes.js';
import { boundsOf, type Expression, partsOf, rulesByName } from '../grammar/expressions.js';
import type { Grammar } from '../grammar/grammar.js';
import { FAILS, matcherOf, UNKNOWN } from './match.js';

/** Writes the text of a rule. `generate()` returns a text that the generator would write. */
export type Hook = (context: { readonly random: Random; readonly generate: () => string }) => string;

interface WalkOptions {
  readonly random: Random;
  /** The code units that the text should not exceed. Beyond them, the walk takes the shortest way to an end. */
  readonly room: number;
  readonly weights: Readonly<Record<string, number>>;
  readonly hooks: Readonly<Record<string, Hook>>;
  readonly hits: readonly number[];
}

/** The error thrown if nothing can follow. */
class DeadEnd extends Error {}

/** Attempts at the expression after a lookahead before the walk gives up. */
const MAX_TRIES = 8;
/** The nesting of rules beyond which the walk takes the shortest way to an end. */
const MAX_DEPTH = 200;
/** The maximum number of steps of one walk, including those of the lookaheads that it checks. A walk that needs more is given up. */
const MAX_STEPS = 200_000;
/** The factor by which an alternative is preferred that leads to an unreached goal. */
const UNSEEN_FACTOR = 8;
/** The probability that a repetition continues if nothing limits it; and that of a long repetition. */
const CONTINUE_CHANCE = 0.62;
const LONG_CONTINUE_CHANCE = 0.95;
/** The share of texts with one long repetition, and the probability that a given repetition is the long one. */
const LONG_SHARE = 0.15;
const LONG_CHANCE = 0.2;

interface Pending {
  readonly node: Expression;
  readonly at: number;
}

/** Returns a function that writes one text, or returns null if the walk reaches a dead end. */
export function walkerOf(grammar: Grammar): (options: WalkOptions) => string | null {
  const rules = rulesByName(grammar.ast);
  const sizeOf = sizesOf(grammar.ast);
  let steps = 0;
  const match = matcherOf(grammar.ast, (count) => {
    steps += count;
  });
  const goals = goalsOf(grammar);
  const { numberOf } = grammar.points;

  return (options) => {
    const { random, room, weights, hooks, hits } = options;
    let text = '';
    let depth = 0;
    steps = 0;
    // Lookaheads that the text so far does not decide.
    let pending: Pending[] = [];
    let isLongDue = random.next() < LONG_SHARE;
    const isUnseen = ({ number }: Goal): boolean => hits[number] === 0;
    const leadsToGoal = hits.includes(0) ? leadsToUnseen(grammar.ast, (node) => unseenGoals(node).length > 0) : null;

    function unseenGoals(node: Expression): readonly Goal[] {
      switch (node.type) {
        case 'choice':
          return node.alternatives.flatMap((one) => goals.ofPoint(numberOf(one, 'alternative')).filter(isUnseen));
        case 'class':
          return goals.ofPoint(numberOf(node, 'character')).filter(isUnseen);
        case 'optional':
        case 'zero_or_more':
        case 'one_or_more':
        case 'repeated':
          return goals.ofPoint(numberOf(node, 'repetition')).filter(isUnseen);
        default:
          return [];
      }
    }

    function write(node: Expression): void {
      if (++steps > MAX_STEPS) throw new DeadEnd();
      switch (node.type) {
        case 'choice':
          write(pickAlternative(node));
          return;
        case 'sequence':
          for (const element of node.elements) writeElement(element);
          return;
        case 'optional':
        case 'zero_or_more':
        case 'one_or_more':
        case 'repeated':
          repeat(node);
          return;
        case 'rule_ref':
          writeRule(node.name);
          return;
        case 'literal':
          text += node.ignoreCase ? anyCase(node.value, random) : node.value;
          return;
        case 'class':
        case 'any':
          writeCharacter(node, false);
          return;
        case 'simple_and':
        case 'simple_not':
          pending.push({ node, at: text.length });
          return;
        case 'semantic_and':
        case 'semantic_not':
          return;
        case 'library_ref':
          throw new DeadEnd();
        default:
          write(node.expression);
      }
    }

    /** Writes an element so that the lookaheads before it hold, as far as it decides them. */
    function writeElement(element: Expression): void {
      const before = { text, pending };
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        text = before.text;
        pending = [...before.pending];
        write(element);
        if (settle()) return;
      }
      throw new DeadEnd();
    }

    /** Checks the pending lookaheads. @returns false if one of them fails */
    function settle(): boolean {
      if (pending.length === 0) return true;
      const open: Pending[] = [];
      for (const one of pending) {
        const end = match(one.node, text, one.at);
        if (end === FAILS) return false;
        if (end === UNKNOWN || one.at === text.length) open.push(one);
      }
      pending = open;
      return true;
    }

    function writeRule(name: string): void {
      const rule = rules.get(name);
      if (rule === undefined) throw new DeadEnd();
      const hook = hooks[name];
      if (hook === undefined) {
        depth++;
        write(rule.expression);
        depth--;
        return;
      }
      const before = { text, pending };
      const generate = (): string => {
        text = before.text;
        pending = [...before.pending];
        write(rule.expression);
        return text.slice(before.text.length);
      };
      const own = hook({ random, generate });
      text = before.text + own;
      pending = [...before.pending];
    }

    function writeCharacter(node: ast.CharacterClass | ast.Any, pairs: boolean): void {
      const unseen = unseenGoals(node);
      if (unseen.length > 0 && random.next() < 0.7) text += String.fromCodePoint(random.pick(unseen).value as number);
      else {
        const character = pickCharacter(node, random, pairs);
        if (character === null) throw new DeadEnd();
        text += character;
      }
    }

    /** The room that is left. Rules that match the empty text could nest without end, so their depth counts, too. */
    function remaining(): number {
      return depth > MAX_DEPTH ? 0 : room - text.length;
    }

    function pickAlternative({ alternatives }: ast.Choice): Expression {
      const weighted = alternatives.filter((one) => weightOf(one) > 0);
      const allowed = weighted.length === 0 ? alternatives : weighted;
      const fitting = allowed.filter((one) => sizeOf(one) <= remaining());
      if (fitting.length === 0) return smallest(allowed);
      return pickWeighted(fitting, (one) => {
        const weight = weightOf(one);
        const own = goals.ofPoint(numberOf(one, 'alternative')).some(isUnseen);
        return own || leadsToGoal?.(one) ? weight * UNSEEN_FACTOR : weight;
      });
    }

    function weightOf(node: Expression): number {
      if (node.type === 'rule_ref') return weights[node.name] ?? 1;
      const [only, ...others] = partsOf(node);
      return node.type !== 'choice' && only !== undefined && others.length === 0 ? weightOf(only) : 1;
    }

    function pickWeighted(list: readonly Expression[], weigh: (node: Expression) => number): Expression {
      const all = list.map(weigh);
      let place = random.next() * all.reduce((sum, one) => sum + one, 0);
      for (const [index, weight] of all.entries()) {
        place -= weight;
        if (place < 0) return list[index]!;
      }
      return smallest(list);
    }

    function smallest(list: readonly Expression[]): Expression {
      return list.reduce((best, one) => (sizeOf(one) < sizeOf(best) ? one : best));
    }

    function repeat(node: Expression & { readonly expression: Expression }): void {
      const { min, max } = boundsOf(node)!;
      const limit = max ?? Number.POSITIVE_INFINITY;
      const size = sizeOf(node.expression);
      const counts = unseenGoals(node).map(({ value }) => (value === 'more' ? min + 2 : (value as number)));
      const goal = counts.length > 0 && random.next() < 0.6 ? random.pick(counts) : null;
      const delimiter = node.type === 'repeated' ? node.delimiter : null;
      const plain = inner(node.expression);
      const isLong = limit > 1 && isLongDue && random.next() < LONG_CHANCE;
      if (isLong) isLongDue = false;
      const more = isLong ? LONG_CONTINUE_CHANCE : CONTINUE_CHANCE;
      for (let count = 0; count < limit; count++) {
        if (count >= min && !continues(count, goal, size, node.expression, more)) return;
        if (count > 0 && delimiter !== null) writeElement(delimiter);
        if (plain !== null) {
          const before = text.length;
          writeCharacter(plain, count + 2 <= limit);
          count += text.length - before - 1;
        } else writeElement(node.expression);
      }
    }

    function continues(count: number, goal: number | null, size: number, node: Expression, more: number): boolean {
      if (depth > MAX_DEPTH) return false;
      if (goal !== null) return count < goal;
      if (size > remaining()) return false;
      return random.next() < (count === 0 && leadsToGoal?.(node) ? 0.9 : more);
    }

    try {
      writeRule(grammar.startRule);
    } catch (thrown) {
      // Endless recursion is a dead end, too.
      if (thrown instanceof DeadEnd || thrown instanceof RangeError) return null;
      throw thrown;
    }
    return text;
  };
}

/** A class or `.` that is repeated as it is. A pair of surrogates may then count as two items. */
function inner(node: Expression): ast.CharacterClass | ast.Any | null {
  if (node.type === 'group' || node.type === 'labeled') return inner(node.expression);
  return node.type === 'class' || node.type === 'any' ? node : null;
}

function anyCase(text: string, random: Random): string {
  return [...text].map((one) => (random.next() < 0.5 ? one.toLowerCase() : one.toUpperCase())).join('');
}

function leadsToUnseen(grammar: ast.Grammar, isNew: (node: Expression) => boolean): (node: Expression) => boolean {
  const rules = new Set<string>();
  const leads = (node: Expression): boolean => {
    if (isNew(node)) return true;
    if (node.type === 'rule_ref') return rules.has(node.name);
    return node.type !== 'simple_not' && partsOf(node).some(leads);
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (const { name, expression } of grammar.rules) {
      if (!rules.has(name) && leads(expression)) {
        rules.add(name);
        changed = true;
      }
    }
  }
  const known = new Map<Expression, boolean>();
  return (node) => {
    const found = known.get(node) ?? leads(node);
    known.set(node, found);
    return found;
  };
}

const SURROGATES: CharacterRange = [0xd800, 0xdfff];
const PRINTABLE: CharacterRange = [0x20, 0x7e];

/** Characters that readers often mishandle: control characters, unusual spaces, letters beyond ASCII, look-alikes. */
const UNUSUAL = [
  ...[0, 9, 10, 13, 0x1b, 0x7f, 0x80, 0xa0, 0xdf, 0xe9, 0x130, 0x301, 0x3c3, 0x430, 0x2028, 0x202e, 0xfeff, 0xff1a],
];

/** Characters beyond U+FFFF. */
const BEYOND = [0x10000, 0x1f600, 0x1d7d8, 0x10ffff];

/** Picks a character that the node matches, but no single surrogate; null if there is none. */
function pickCharacter(node: ast.CharacterClass | ast.Any, random: Random, pairs: boolean): string | null {
  const ranges = rangesOf(node);
  if (ranges.length === 0) return null;
  const isWide = ranges.some(([first, last]) => first <= SURROGATES[0] && SURROGATES[1] <= last);
  if (isWide) {
    const turn = random.next();
    if (turn < 0.02 && pairs) return String.fromCodePoint(random.pick(BEYOND));
    if (turn < 0.06) {
      const unusual = random.pick(UNUSUAL);
      if (holds(ranges, unusual)) return String.fromCodePoint(unusual);
    }
    const plain = random.integer(...PRINTABLE);
    if (turn < 0.95 && holds(ranges, plain)) return String.fromCodePoint(plain);
  }
  return String.fromCodePoint(pickFrom(ranges, random));
}

/** Picks a range first, so that a single character is as likely as a range; within a range, its ends are preferred. */
function pickFrom(ranges: readonly CharacterRange[], random: Random): number {
  for (let tries = 0; tries < 20; tries++) {
    const [first, last] = random.pick(ranges);
    const turn = random.next();
    const code = turn < 0.1 ? first : turn < 0.2 ? last : random.integer(first, last);
    if (!holds([SURROGATES], code)) return code;
  }
  return ranges[0]![0];
}

type Size = (node: Expression) => number;

export function sizesOf(grammar: ast.Grammar): Size {
  const rules = new Map(grammar.rules.map(({ name }) => [name, Number.POSITIVE_INFINITY]));
  const known = new Map<Expression, number>();
  const size = (node: Expression): number => {
    switch (node.type) {
      case 'choice':
        return Math.min(...node.alternatives.map(size));
      case 'sequence':
        return node.elements.reduce((sum, element) => sum + size(element), 0);
      case 'optional':
      case 'zero_or_more':
        return 0;
      case 'one_or_more':
        return size(node.expression);
      case 'repeated': {
        const { min } = boundsOf(node)!;
        if (min === 0) return 0;
        return min * size(node.expression) + (node.delimiter === null ? 0 : (min - 1) * size(node.delimiter));
      }
      case 'rule_ref':
        return 1 + (rules.get(node.name) ?? Number.POSITIVE_INFINITY);
      case 'literal':
        return node.value.length;
      case 'class':
        return node.parts.length === 0 && !node.inverted ? Number.POSITIVE_INFINITY : 1;
      case 'any':
        return 1;
      case 'simple_and':
      case 'simple_not':
      case 'semantic_and':
      case 'semantic_not':
        return 0;
      case 'library_ref':
        return Number.POSITIVE_INFINITY;
      default:
        return size(node.expression);
    }
  };
  for (let changed = true; changed; ) {
    changed = false;
    for (const { name, expression } of grammar.rules) {
      const found = size(expression);
      if (found < rules.get(name)!) {
        rules.set(name, found);
        changed = true;
      }
    }
  }
  return (node) => {
    const found = known.get(node) ?? size(node);
    known.set(node, found);
    return found;
  };
}
