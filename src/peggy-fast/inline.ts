/** Decides which rules are inlined at their calls. */
import { callsIn, type Facts, weightOf } from './facts.js';
import { nodesOf, type Program } from './ir.js';

/** The greatest weight of a rule that is inlined, by the number of its callers. */
interface Limits {
  /** Moved to its only caller: beyond this weight, the result is harder to read than a call. */
  readonly one: number;
  /** Copied to both callers, unless it contains a repetition, whose calls are few compared with those of its items. */
  readonly two: number;
  readonly more: number;
}

const BUILDING: Limits = { one: 70, two: 8, more: 8 };
/** Functions that build nothing spend much of their time on calls, and V8 inlines only small functions. */
const MATCHING: Limits = { one: 32, two: 70, more: 8 };
/** The same for large grammars, where copies add up, and gain little. */
const BUILDING_LARGE: Limits = { one: 70, two: 4, more: 3 };
const MATCHING_LARGE: Limits = { one: 32, two: 16, more: 4 };
/** The second scan of an invalid text runs once: small code is better. */
const EXPECTING: Limits = { one: 70, two: 2, more: 2 };

export interface Inlined {
  readonly building: ReadonlySet<string>;
  readonly matching: ReadonlySet<string>;
  readonly expecting: ReadonlySet<string>;
}

export function rulesToInline(program: Program, facts: Facts): Inlined {
  return {
    building: choose(program, facts, facts.isLarge ? BUILDING_LARGE : BUILDING),
    matching: choose(program, facts, facts.isLarge ? MATCHING_LARGE : MATCHING),
    expecting: choose(program, facts, EXPECTING),
  };
}

function choose(program: Program, facts: Facts, limits: Limits): ReadonlySet<string> {
  const callers = new Map<string, number>();
  for (const { node } of program.rules.values()) {
    for (const name of callsIn(node)) callers.set(name, (callers.get(name) ?? 0) + 1);
  }
  const inlined = new Set<string>();
  const weights = new Map<string, number>();
  const limitOf = (name: string): number => {
    const count = callers.get(name);
    if (count === 1) return limits.one;
    return count === 2 && !holdsList(program, facts, name) ? limits.two : limits.more;
  };
  const decide = (name: string): number => {
    const known = weights.get(name);
    if (known !== undefined) return known;
    weights.set(name, Number.POSITIVE_INFINITY);
    const { node } = program.rules.get(name)!;
    let weight = weightOf(node);
    for (const called of callsIn(node)) {
      const more = decide(called);
      if (inlined.has(called)) weight += more;
    }
    weights.set(name, weight);
    // One of several mutually recursive rules must stay a function.
    const isCircle = reach(program, name, inlined).has(name);
    if (weight <= limitOf(name) && !isCircle && !repeatsItself(program, name)) inlined.add(name);
    return weight;
  };
  for (const name of program.rules.keys()) decide(name);
  return inlined;
}

function holdsList(program: Program, facts: Facts, name: string): boolean {
  for (const node of nodesOf(program.rules.get(name)!.node)) {
    if (node.type === 'repeat' && (node.delimiter !== null || facts.singleOf(node.item) === null)) return true;
  }
  return false;
}

/** Returns `true` for a repetition that may contain itself: calls are few there, and the frames of deep recursion should stay small. */
function repeatsItself(program: Program, name: string): boolean {
  for (const node of nodesOf(program.rules.get(name)!.node)) {
    if (node.type !== 'repeat') continue;
    for (const called of callsIn(node)) if (called === name || reach(program, called).has(name)) return true;
  }
  return false;
}

function reach(program: Program, from: string, by?: ReadonlySet<string>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const called of callsIn(program.rules.get(name)!.node)) {
      if (reached.has(called)) continue;
      reached.add(called);
      if (by === undefined || by.has(called)) open.push(called);
    }
  }
  return reached;
}
