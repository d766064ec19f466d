/** The choice of the shapes that save most tokens in a sample. */
import { isCode, whyNotWord } from '../registry/definition.js';
import { type Costs, isName, type Occurrence } from './occurrences.js';
import { ABSENT, bySpelling } from './spelling.js';
import type { Shape } from './tables.js';

/** Equal occurrences. */
interface Use extends Omit<Occurrence, 'rows'> {
  readonly isTable: boolean;
  count: number;
  rows: number;
}

interface Candidate {
  readonly keys: readonly string[];
  /** The number of occurrences that must save tokens. */
  readonly least: number;
}

/** In a place with this many occurrences, keys that occur together once are an exception. */
const FREQUENT = 10;
/** The maximum numbers of different occurrences, and of shapes, that are compared, of one operation or of all maps: those that occur most. */
const MAX_USES = 512;
const MAX_CANDIDATES = 512;
/** More keys are data. */
const MAX_KEYS = 256;
/** A number of usual length, and a value. */
const NUMBER = 50;
const VALUE = 'x';

/**
 * Returns shapes, first those of maps.
 *
 * @param base the shapes that the registry has without them
 */
export function chooseShapes(
  occurrences: Iterable<Occurrence>,
  base: readonly Shape[],
  costs: Costs,
): readonly Shape[] {
  const { tokens } = costs;
  const groups = grouped(occurrences);
  return [...groups]
    .sort(([a], [b]) => Number(b === MAPS) - Number(a === MAPS))
    .flatMap(([, uses]) => {
      const { operation, schema } = uses[0]!;
      const ranked = uses.toSorted((a, b) => b.count - a.count).slice(0, MAX_USES);
      const own = base.filter((shape) => shape.schema === schema && (shape.operation ?? operation) === operation);
      const before = ranked.map((use) =>
        Math.min(plainCost(use, tokens), ...own.map((shape) => cost(use, shape, tokens))),
      );
      const shapes = candidatesOf(ranked).map((one) => ({ ...one, operation, schema }));
      return cheapest(shapes, ranked, before, costs);
    });
}

const MAPS = '|';

function grouped(occurrences: Iterable<Occurrence>): ReadonlyMap<string, readonly Use[]> {
  const groups = new Map<string, Map<string, Use>>();
  for (const { rows, ...occurrence } of occurrences) {
    const { operation, schema, place, keys } = occurrence;
    if (operation !== null && whyNotWord(operation) !== null) continue;
    if ((schema !== null && !isCode(schema)) || keys.length > MAX_KEYS) continue;
    const name = `${operation ?? ''}|${schema ?? ''}`;
    const group = groups.get(name) ?? new Map<string, Use>();
    groups.set(name, group);
    const isTable = rows !== null;
    const key = `${place}|${isTable}|${keys.join('|')}`;
    const use = group.get(key) ?? { ...occurrence, isTable, count: 0, rows: 0 };
    group.set(key, use);
    use.count++;
    use.rows += rows ?? 1;
  }
  return new Map([...groups].map(([name, group]) => [name, [...group.values()]]));
}

/** Returns the keys of each use, and the most frequent keys of each place and of all payloads, without repetition. */
function candidatesOf(uses: readonly Use[]): readonly Candidate[] {
  const places = new Map<string, Use[]>();
  for (const use of uses) places.set(use.place, [...(places.get(use.place) ?? []), use]);
  const isMap = uses[0]!.operation === null;
  const counts = countsOf(uses);
  const order = new Map(orderOf(uses).map((key, index) => [key, index]));
  const rank = isMap ? bySpelling : (a: string, b: string) => order.get(a)! - order.get(b)!;
  // Keys of one message that are no names are data.
  const isUsable = (key: string): boolean => whyNotWord(key) === null && (counts.get(key)! > 1 || isName(key));
  const candidates = new Map<string, Candidate>();
  const add = (unsorted: readonly string[], least: number): void => {
    if (unsorted.length > MAX_KEYS || !unsorted.every(isUsable)) return;
    const keys = unsorted.toSorted(rank);
    const name = keys.join('|');
    const known = candidates.get(name);
    if (known === undefined || known.least > least) candidates.set(name, { keys, least });
  };
  const addUnions = (some: readonly Use[]): void => {
    const keys = byFrequency(countsOf(some));
    const ends = new Map(keys.map((key, index) => [key, index + 1]));
    // Keys that always occur together are added together.
    const lengths = new Set(some.map((use) => use.keys.reduce((most, key) => Math.max(most, ends.get(key)!), 0)));
    for (const length of lengths) add(keys.slice(0, length), 1);
  };
  for (const some of places.values()) {
    const total = some.reduce((sum, { count }) => sum + count, 0);
    for (const { keys } of some) add(keys, total < FREQUENT ? 1 : 2);
    addUnions(some);
  }
  if (!isMap) addUnions(uses);
  return [...candidates.values()].slice(0, MAX_CANDIDATES);
}

/** Returns the keys in the order of the most frequent uses: a list has the parameters of a payload in their order. */
function orderOf(uses: readonly Use[]): readonly string[] {
  const order: string[] = [];
  const known = new Set<string>();
  for (const { keys } of uses) {
    let at = 0;
    for (const key of keys) {
      if (known.has(key)) at = order.indexOf(key) + 1;
      else {
        order.splice(at++, 0, key);
        known.add(key);
      }
    }
  }
  return order;
}

function countsOf(uses: readonly Use[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { keys, count } of uses) for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + count);
  return counts;
}

/** Returns the keys, the most frequent first, equally frequent ones as in the uses. */
function byFrequency(counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts.keys()].sort((a, b) => counts.get(b)! - counts.get(a)!);
}

/** Adds the shape that saves most, until none saves more than it costs. */
function cheapest<T extends Candidate & Shape>(
  candidates: readonly T[],
  uses: readonly Use[],
  before: readonly number[],
  { tokens, entryCost }: Costs,
): readonly Shape[] {
  const least = [...before];
  const rest = candidates.map(({ operation, schema, keys, least: needed }) => {
    const shape = { operation, schema, keys };
    const costs = uses.map((use, at) => ({ at, count: use.count, cost: cost(use, shape, tokens) }));
    const own = entryCost([operation, schema, ...keys].filter((text) => text !== null));
    return { shape, needed, own, costs: costs.filter(({ at, cost }) => cost < before[at]!) };
  });
  const chosen: Shape[] = [];
  for (;;) {
    let most = 0;
    let best = -1;
    for (const [index, { needed, own, costs }] of rest.entries()) {
      let saved = -own;
      let occurrences = 0;
      for (const { at, count, cost } of costs) {
        if (cost >= least[at]!) continue;
        saved += least[at]! - cost;
        occurrences += count;
      }
      if (occurrences < needed || saved <= most) continue;
      most = saved;
      best = index;
    }
    if (best < 0) return trimmed(chosen, uses, before, tokens);
    const { shape, costs } = rest[best]!;
    chosen.push(shape);
    for (const { at, cost } of costs) least[at] = Math.min(least[at]!, cost);
  }
}

/** Omits keys that are absent wherever a shape is the best one: a shape that was chosen later may have them. */
function trimmed(
  shapes: readonly Shape[],
  uses: readonly Use[],
  before: readonly number[],
  tokens: Costs['tokens'],
): readonly Shape[] {
  const needed = shapes.map((): Set<string> | null => null);
  for (const [at, use] of uses.entries()) {
    const costs = shapes.map((shape) => cost(use, shape, tokens));
    const least = Math.min(...costs);
    if (least >= before[at]!) continue;
    const best = costs.indexOf(least);
    needed[best] = new Set([...(needed[best] ?? []), ...use.keys]);
  }
  return shapes.flatMap((shape, at) => {
    const keys = needed[at];
    return keys === null || keys === undefined ? [] : [{ ...shape, keys: shape.keys.filter((key) => keys.has(key)) }];
  });
}

/** Returns the tokens of all occurrences with their keys. */
function plainCost({ operation, schema, keys, isTable, count }: Use, tokens: Costs['tokens']): number {
  if (isTable) return count * tokens(`{0:[[${keys.join(',')}],`);
  const params = keys.map((key) => `${key}:${VALUE}`);
  if (operation === null) return count * tokens(`{${params.join(',')}}`);
  return count * tokens(`${operation}{${[...params, ...(schema === null ? [] : [`schema:${schema}`])].join('|')}}`);
}

/** Returns the tokens of all occurrences as lists of a shape; `Infinity` if it lacks a key. */
function cost({ operation, keys, isTable, count, rows }: Use, shape: Shape, tokens: Costs['tokens']): number {
  // Without values, other shapes are not used.
  if (keys.length === 0) return shape.keys.length === 0 ? count * tokens(`${NUMBER}{}`) : Number.POSITIVE_INFINITY;
  const own = new Set(keys);
  const items: string[] = [];
  let found = 0;
  for (const key of shape.keys) {
    if (found === own.size) break;
    const isPresent = own.has(key);
    if (isPresent) found++;
    items.push(isPresent ? VALUE : ABSENT);
  }
  if (found < own.size) return Number.POSITIVE_INFINITY;
  const list = `[${items.join(',')}]`;
  if (isTable) {
    const full = `[${keys.map(() => VALUE).join(',')}]`;
    return count * tokens(`{${NUMBER}:[`) + rows * (tokens(list) - tokens(full));
  }
  if (operation === null) return count * tokens(`{${NUMBER}:${list}}`);
  return count * tokens(shape.operation === null ? `${operation}{${NUMBER}:${list}}` : `${NUMBER}{0:${list}}`);
}
