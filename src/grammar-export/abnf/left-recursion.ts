/** Rules that can begin with themselves: parsers that descend never come to an end in them. */
import type { AbnfElement, AbnfRule } from './ast.js';
import { emptyRules } from './empty.js';
import { foldedName } from './walk.js';

/** The folded names of such rules; in linear time. Rules that are referred to and not given are taken not to be empty. */
export function leftRecursiveRules(rules: readonly AbnfRule[]): ReadonlySet<string> {
  const empty = emptyRules(rules);
  const starts = new Map<string, Set<string>>();
  for (const { name, alternatives } of rules) {
    const own = starts.get(foldedName(name)) ?? new Set<string>();
    starts.set(foldedName(name), own);
    for (const { element } of alternatives) addStarts(element, own, empty);
  }
  return onCycles(starts);
}

/** Adds the rules that an element can begin with. Returns whether it can be empty, so that what follows it comes first, too. */
function addStarts(element: AbnfElement, starts: Set<string>, empty: ReadonlySet<string>): boolean {
  switch (element.kind) {
    case 'alternation':
      return element.items.map((item) => addStarts(item, starts, empty)).includes(true);
    case 'concatenation':
      return element.items.every((item) => addStarts(item, starts, empty));
    case 'repetition':
      return element.max === 0 || addStarts(element.item, starts, empty) || element.min === 0;
    case 'option':
      addStarts(element.item, starts, empty);
      return true;
    case 'reference': {
      const name = foldedName(element.name);
      starts.add(name);
      return empty.has(name);
    }
    case 'string':
      return element.text === '';
    default:
      return false;
  }
}

/** A name that is being looked at, with those of its successors that are still to come. */
interface Visit {
  readonly name: string;
  readonly rest: Iterator<string>;
  readonly number: number;
  /** The lowest number that can be reached from it, among names that are not settled. */
  lowest: number;
}

/**
 * The names that lead back to themselves: Tarjan's strongly connected components, with a stack of its own instead of calls, since
 * a chain of rules may be long.
 */
function onCycles(graph: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> {
  const cyclic = new Set<string>();
  const numbers = new Map<string, number>();
  const settled = new Set<string>();
  const open: string[] = [];
  const visits: Visit[] = [];

  const enter = (name: string): void => {
    const number = numbers.size;
    numbers.set(name, number);
    open.push(name);
    visits.push({ name, rest: (graph.get(name) ?? new Set<string>()).values(), number, lowest: number });
  };
  const leave = ({ name, number, lowest }: Visit): void => {
    visits.pop();
    const caller = visits.at(-1);
    if (caller !== undefined) caller.lowest = Math.min(caller.lowest, lowest);
    if (lowest < number) return;
    const component = open.splice(open.lastIndexOf(name));
    for (const member of component) settled.add(member);
    if (component.length > 1 || graph.get(name)?.has(name) === true) for (const one of component) cyclic.add(one);
  };

  for (const root of graph.keys()) {
    if (!numbers.has(root)) enter(root);
    for (let visit = visits.at(-1); visit !== undefined; visit = visits.at(-1)) {
      const next = visit.rest.next();
      if (next.done === true) leave(visit);
      else if (!numbers.has(next.value)) enter(next.value);
      else if (!settled.has(next.value)) visit.lowest = Math.min(visit.lowest, numbers.get(next.value)!);
    }
  }
  return cyclic;
}
