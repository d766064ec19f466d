/** Words that two instructions share, and words that only one has. */
import type { Analysis } from './analysis.js';
import { isSoft } from './order.js';

/** How telling words are: 0 says nothing. */
const WEIGHTS = { action: 2, word: 1, relation: 1, light: 0.15, slot: 1 } as const;

export interface Overlap {
  /** 0 to 1: the weight of what both have, of all that either has. */
  readonly score: number;
  readonly shared: readonly string[];
  /** In the instruction alone. */
  readonly extra: readonly string[];
  /** In the pattern alone. */
  readonly missing: readonly string[];
  /** Of these, the ones that tell something. */
  readonly telling: { readonly extra: readonly string[]; readonly missing: readonly string[] };
}

/** Before actions, so that "list" the verb is not "list" the noun. */
const ACTION = '!';

type Bag = Map<string, { count: number; readonly weight: number }>;

export function overlapOf(pattern: Analysis, instruction: Analysis): Overlap {
  const one = bagOf(pattern);
  const other = bagOf(instruction);
  let both = 0;
  let all = 0;
  const shared: string[] = [];
  const extra: string[] = [];
  const missing: string[] = [];
  const telling: { readonly extra: string[]; readonly missing: string[] } = { extra: [], missing: [] };
  for (const key of new Set([...one.keys(), ...other.keys()])) {
    const inOne = one.get(key)?.count ?? 0;
    const inOther = other.get(key)?.count ?? 0;
    const weight = (one.get(key) ?? other.get(key))!.weight;
    both += Math.min(inOne, inOther) * weight;
    all += Math.max(inOne, inOther) * weight;
    const word = key.startsWith(ACTION) && key.length > 1 ? key.slice(1) : key;
    if (inOne > 0 && inOther > 0) shared.push(word);
    const [list, tells] = inOne < inOther ? [extra, telling.extra] : [missing, telling.missing];
    if (inOne === inOther) continue;
    list.push(word);
    if (weight >= 1) tells.push(word);
  }
  return { score: all === 0 ? 0 : both / all, shared, extra, missing, telling };
}

const bags = new WeakMap<Analysis, Bag>();

function bagOf(analysis: Analysis): Bag {
  const known = bags.get(analysis);
  if (known !== undefined) return known;
  const { actions, contents, slots, relations } = analysis;
  const bag: Bag = new Map();
  bags.set(analysis, bag);
  for (const action of actions) put(bag, `${ACTION}${action}`, WEIGHTS.action);
  for (const { key, light } of contents) put(bag, key, light ? WEIGHTS.light : WEIGHTS.word);
  for (const relation of relations) put(bag, relation, isSoftIn(relation, actions) ? WEIGHTS.light : WEIGHTS.relation);
  for (const { slot } of slots) put(bag, `{${slot.kind}}`, WEIGHTS.slot);
  return bag;
}

/** A relation that every action allows to be left out. */
function isSoftIn(relation: string, actions: readonly string[]): boolean {
  return actions.length > 0 && actions.every((action) => isSoft(relation, action));
}

function put(bag: Bag, key: string, weight: number): void {
  const found = bag.get(key);
  if (found === undefined) bag.set(key, { count: 1, weight });
  else found.count++;
}

/** The words that have to be the same, in one order whatever theirs: what makes two instructions candidates of each other. */
export function tellingWords({ actions, contents, slots, relations }: Analysis): readonly string[] {
  return [
    ...actions.map((action) => `!${action}`),
    ...contents.filter(({ light }) => !light).map(({ key }) => key),
    ...relations.filter((relation) => !isSoftIn(relation, actions)).map((relation) => `>${relation}`),
    ...slots.map(({ slot }) => `{${slot.kind}}`),
  ].sort();
}
