/** Merges lookaheads for one code unit into the expression after them: `![a-c] [a-z]+` becomes `[d-z] [a-z]*`. */
import { complementOf, joined } from '../../fuzz/grammar/classes.js';
import { caseVariants, intersectionOf, LAST_UNIT, type Ranges, unionOf } from '../characters.js';
import { isNullable, mapRules, type Peg, type PegRules } from '../context-free.js';

const NEVER: Peg = { kind: 'choice', items: [] };

/** The number of references that are followed to find the beginning of a rule, and expanded if its beginning must change. */
const DEPTH = 4;

export function withoutSimpleLookaheads(rules: PegRules, isRuleNullable: (name: string) => boolean): PegRules {
  const context: Context = { rules, nullable: (peg) => isNullable(peg, isRuleNullable) };
  return mapRules(rules, (peg) => simplified(peg, context));
}

interface Context {
  readonly rules: PegRules;
  readonly nullable: (peg: Peg) => boolean;
}

function simplified(peg: Peg, context: Context): Peg {
  if (peg.kind === 'repeat' || peg.kind === 'lookahead') return { ...peg, item: simplified(peg.item, context) };
  if (peg.kind === 'choice') return { ...peg, items: peg.items.map((item) => simplified(item, context)) };
  if (peg.kind !== 'sequence') return peg;
  const items: Peg[] = [];
  for (const item of peg.items.map((one) => simplified(one, context)).reverse()) {
    const allowed = item.kind === 'lookahead' ? allowedNext(item, context) : null;
    const rest = allowed === null ? null : beginningIn({ kind: 'sequence', items }, allowed, context, DEPTH);
    if (rest === null) items.unshift(item);
    else items.splice(0, items.length, ...(rest.kind === 'sequence' ? rest.items : [rest]));
  }
  return { kind: 'sequence', items };
}

/** The code units that a lookahead allows next; null if it reads more than one. */
function allowedNext(lookahead: Extract<Peg, { kind: 'lookahead' }>, context: Context): Ranges | null {
  const set = setOf(lookahead.item, context, DEPTH);
  if (set === null) return null;
  return lookahead.negative ? complementOf(set, LAST_UNIT) : set;
}

/** The code units of an expression that matches exactly one; null for others. For a repetition, the first one counts. */
function setOf(peg: Peg, context: Context, depth: number): Ranges | null {
  switch (peg.kind) {
    case 'set':
      return peg.ranges;
    case 'literal':
      return peg.text.length === 1 ? firstOf(peg) : null;
    case 'rule':
      return depth === 0 ? null : setOf(context.rules.get(peg.name)!, context, depth - 1);
    case 'sequence':
      return peg.items.length === 1 ? setOf(peg.items[0]!, context, depth) : null;
    case 'repeat':
      return peg.min === 1 ? setOf(peg.item, context, depth) : null;
    case 'choice': {
      const sets = peg.items.map((item) => setOf(item, context, depth));
      return sets.some((set) => set === null) ? null : unionOf(...sets.map((set) => set!));
    }
    default:
      return null;
  }
}

function firstOf({ text, ignoreCase }: Extract<Peg, { kind: 'literal' }>): Ranges {
  const first = text.charCodeAt(0);
  return joined((ignoreCase ? caseVariants(first) : [first]).map((one) => [one, one]));
}

/** The matches of an expression that begin with one of some code units; null if it may match nothing, or is unclear. */
function beginningIn(peg: Peg, allowed: Ranges, context: Context, depth: number): Peg | null {
  switch (peg.kind) {
    case 'set':
      return { kind: 'set', ranges: intersectionOf(peg.ranges, allowed) };
    case 'literal':
      return beginningLiteral(peg, allowed);
    case 'rule': {
      if (depth === 0) return null;
      const body = context.rules.get(peg.name)!;
      const restricted = beginningIn(body, allowed, context, depth - 1);
      if (restricted === null) return null;
      // The rule keeps its name if it begins that way anyhow.
      return JSON.stringify(restricted) === JSON.stringify(body) ? peg : restricted;
    }
    case 'choice': {
      const items = peg.items.map((item) => beginningIn(item, allowed, context, depth));
      return items.some((item) => item === null) ? null : { kind: 'choice', items: items.map((item) => item!) };
    }
    case 'sequence':
      return beginningSequence(peg.items, allowed, context, depth);
    case 'repeat': {
      if (peg.min === 0 || context.nullable(peg.item)) return null;
      const first = beginningIn(peg.item, allowed, context, depth);
      if (first === null) return null;
      if (JSON.stringify(first) === JSON.stringify(peg.item)) return peg;
      const further: Peg = { ...peg, min: peg.min - 1, max: peg.max === null ? null : peg.max - 1 };
      return { kind: 'sequence', items: [first, further] };
    }
    default:
      return null;
  }
}

function beginningLiteral(peg: Extract<Peg, { kind: 'literal' }>, allowed: Ranges): Peg | null {
  // A character of two halves stays in one piece.
  if (peg.text === '' || peg.text.codePointAt(0)! > LAST_UNIT) return null;
  const first = firstOf(peg);
  const restricted = intersectionOf(first, allowed);
  if (restricted.length === 0) return NEVER;
  if (JSON.stringify(restricted) === JSON.stringify(first)) return peg;
  const rest = peg.text.slice(String.fromCodePoint(peg.text.codePointAt(0)!).length);
  return {
    kind: 'sequence',
    items: [
      { kind: 'set', ranges: restricted },
      { ...peg, text: rest },
    ],
  };
}

function beginningSequence(items: readonly Peg[], allowed: Ranges, context: Context, depth: number): Peg | null {
  // A part that may match nothing stays as it is. Two lookaheads in a row are handled: the inner one is already part of
  // the rest.
  const [first, ...rest] = items;
  if (first === undefined) return null;
  if (first.kind === 'lookahead' || first.kind === 'code') {
    const restricted = beginningSequence(rest, allowed, context, depth);
    return restricted === null ? null : { kind: 'sequence', items: [first, restricted] };
  }
  const restricted = context.nullable(first) ? null : beginningIn(first, allowed, context, depth);
  return restricted === null ? null : { kind: 'sequence', items: [restricted, ...rest] };
}
