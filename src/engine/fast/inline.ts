/** Which rules are written out where they are called, instead of becoming a function of their own. */
import { callsIn, weightOf } from './facts.js';
import { nodesOf, type Program } from './ir.js';

/** Rules of at most this weight are copied to each of their callers. */
const SMALL = 8;
/** Rules with one caller are moved there up to this weight: beyond it, reading the result is harder than stepping into it. */
const ONE_CALLER = 140;

/** @returns the names of the rules that are written out in place */
export function rulesToInline(program: Program): ReadonlySet<string> {
  const callers = new Map<string, number>();
  for (const { node } of program.rules.values()) {
    for (const name of callsIn(node)) callers.set(name, (callers.get(name) ?? 0) + 1);
  }
  const inlined = new Set<string>();
  const weights = new Map<string, number>();
  /** A rule's weight with what is written out in it. Those that it calls are decided on first. */
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
    // Of rules that call each other in a circle, one has to stay a function.
    const isCircle = reach(program, name, inlined).has(name);
    const limit = callers.get(name) === 1 ? ONE_CALLER : SMALL;
    if (weight <= limit && !isCircle && !repeatsItself(program, name)) inlined.add(name);
    return weight;
  };
  for (const name of program.rules.keys()) decide(name);
  return inlined;
}

/** Lists of what may hold such lists again: calls are few there, and frames of deep recursion should stay small. */
function repeatsItself(program: Program, name: string): boolean {
  for (const node of nodesOf(program.rules.get(name)!.node)) {
    if (node.type !== 'repeat') continue;
    for (const called of callsIn(node)) if (called === name || reach(program, called).has(name)) return true;
  }
  return false;
}

/** What a rule calls, and what those call; only by way of certain rules, if they are given. */
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
