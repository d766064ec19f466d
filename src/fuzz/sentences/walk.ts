/** One random walk through a grammar, which writes a text down. Whether the text is a sentence is for the parser to say. */

import type { ast } from 'peggy';
import type { Random } from '../../text/random.js';
import { type Goal, goalsOf } from '../coverage/tracker.js';
import { type CharacterRange, holds, rangesOf } from '../grammar/classes.js';
import { boundsOf, type Expression, partsOf, rulesByName } from '../grammar/expressions.js';
import type { Grammar } from '../grammar/grammar.js';
import { FAILS, matcherOf, UNKNOWN } from './match.js';

/** Writes a rule's text in the place of the walk; `walk` gives what the walk would have written. */
export type Hook = (context: { readonly random: Random; readonly generate: () => string }) => string;

interface WalkOptions {
  readonly random: Random;
  /** Code units that the text should not exceed: from there on, the walk takes the shortest way out. */
  readonly room: number;
  readonly weights: Readonly<Record<string, number>>;
  readonly hooks: Readonly<Record<string, Hook>>;
  readonly hits: readonly number[];
}

/** The walk has come to where nothing can follow. */
class DeadEnd extends Error {}

/** Attempts at what follows a lookahead, before the walk gives up. */
const MAX_TRIES = 8;
/** Rules within each other, from where on the walk takes the shortest way out. */
const MAX_DEPTH = 200;
/** How much more often a way is taken that leads to something new. */
const NEW = 8;
/** The chance that a repetition goes on, where there is no reason to stop; and that of one which is to be long. */
const ONE_MORE = 0.62;
const MANY_MORE = 0.95;
/** The share of texts in which one repetition is to be long, and the chance of each that it is this one. */
const LONG = 0.15;
const THIS_ONE = 0.2;

interface Pending {
  readonly node: Expression;
  readonly at: number;
}

/** @returns a function that writes one text, or null where the walk has run into a dead end */
export function walkerOf(grammar: Grammar): (options: WalkOptions) => string | null {
  const rules = rulesByName(grammar.ast);
  const sizeOf = sizesOf(grammar.ast);
  const match = matcherOf(grammar.ast);
  const goals = goalsOf(grammar);
  const { numberOf } = grammar.points;

  return (options) => {
    const { random, room, weights, hooks, hits } = options;
    let text = '';
    let depth = 0;
    // Lookaheads that what is written so far does not settle.
    let pending: Pending[] = [];
    let isLongDue = random.next() < LONG;
    const isNew = ({ number }: Goal): boolean => hits[number] === 0;
    const news = hits.includes(0) ? newsIn(grammar.ast, (node) => newGoals(node).length > 0) : null;

    function newGoals(node: Expression): readonly Goal[] {
      switch (node.type) {
        case 'choice':
          return node.alternatives.flatMap((one) => goals.ofPoint(numberOf(one, 'alternative')).filter(isNew));
        case 'class':
          return goals.ofPoint(numberOf(node, 'character')).filter(isNew);
        case 'optional':
        case 'zero_or_more':
        case 'one_or_more':
        case 'repeated':
          return goals.ofPoint(numberOf(node, 'repetition')).filter(isNew);
        default:
          return [];
      }
    }

    function write(node: Expression): void {
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

    /** Writes an element so that the lookaheads before it hold, as far as it settles them. */
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

    /** @returns false where a lookahead does not hold */
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
      const wanted = newGoals(node);
      if (wanted.length > 0 && random.next() < 0.7) text += String.fromCodePoint(random.pick(wanted).value as number);
      else {
        const character = pickCharacter(node, random, pairs);
        if (character === null) throw new DeadEnd();
        text += character;
      }
    }

    /** Rules that match nothing could go on within each other for ever. */
    function left(): number {
      return depth > MAX_DEPTH ? 0 : room - text.length;
    }

    function pickAlternative({ alternatives }: ast.Choice): Expression {
      const wanted = alternatives.filter((one) => weightOf(one) > 0);
      const allowed = wanted.length === 0 ? alternatives : wanted;
      const fitting = allowed.filter((one) => sizeOf(one) <= left());
      if (fitting.length === 0) return smallest(allowed);
      return pickWeighted(fitting, (one) => {
        const weight = weightOf(one);
        const own = goals.ofPoint(numberOf(one, 'alternative')).some(isNew);
        return own || news?.(one) ? weight * NEW : weight;
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
      const wanted = newGoals(node).map(({ value }) => (value === 'more' ? min + 2 : (value as number)));
      const goal = wanted.length > 0 && random.next() < 0.6 ? random.pick(wanted) : null;
      const delimiter = node.type === 'repeated' ? node.delimiter : null;
      const plain = inner(node.expression);
      const isLong = limit > 1 && isLongDue && random.next() < THIS_ONE;
      if (isLong) isLongDue = false;
      const more = isLong ? MANY_MORE : ONE_MORE;
      for (let count = 0; count < limit; count++) {
        if (count >= min && !goesOn(count, goal, size, node.expression, more)) return;
        if (count > 0 && delimiter !== null) writeElement(delimiter);
        if (plain !== null) {
          const before = text.length;
          writeCharacter(plain, count + 2 <= limit);
          count += text.length - before - 1;
        } else writeElement(node.expression);
      }
    }

    function goesOn(count: number, goal: number | null, size: number, node: Expression, more: number): boolean {
      if (depth > MAX_DEPTH) return false;
      if (goal !== null) return count < goal;
      if (size > left()) return false;
      return random.next() < (count === 0 && news?.(node) ? 0.9 : more);
    }

    try {
      writeRule(grammar.startRule);
    } catch (thrown) {
      // A way that goes on and on is a dead end, too.
      if (thrown instanceof DeadEnd || thrown instanceof RangeError) return null;
      throw thrown;
    }
    return text;
  };
}

/** A class or any character that is repeated as it stands: a pair of surrogates may then stand for two items. */
function inner(node: Expression): ast.CharacterClass | ast.Any | null {
  if (node.type === 'group' || node.type === 'labeled') return inner(node.expression);
  return node.type === 'class' || node.type === 'any' ? node : null;
}

function anyCase(text: string, random: Random): string {
  return [...text].map((one) => (random.next() < 0.5 ? one.toLowerCase() : one.toUpperCase())).join('');
}

function newsIn(grammar: ast.Grammar, isNew: (node: Expression) => boolean): (node: Expression) => boolean {
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

/** What readers stumble over: controls, blanks that are none, letters beyond ASCII, look-alikes, the last code unit. */
const UNUSUAL = [
  ...[0, 9, 10, 13, 0x1b, 0x7f, 0x80, 0xa0, 0xdf, 0xe9, 0x130, 0x301, 0x3c3, 0x430, 0x2028, 0x202e, 0xfeff, 0xff1a],
];

/** Emoji and what else lies beyond U+FFFF. */
const BEYOND = [0x10000, 0x1f600, 0x1d7d8, 0x10ffff];

/** One character that the node matches, without halves of surrogate pairs, or null. */
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

/** Ranges in turn, so that a single character comes as often as a range; within one, its ends more often than their share. */
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
