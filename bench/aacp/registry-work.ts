/** Measures hits of registries of several sizes, in turns, in one process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createFallbackEncoder,
  type FallbackEncoder,
  memoryRegistry,
  type Registry,
  sqliteRegistry,
} from '../../src/aacp/fallback/index.js';
import { type Spread, spreadOf } from '../../src/bench/race.js';
import { createRandom, type Random } from '../../src/text/random.js';
import { entryOf, type KnownInstruction, known } from './instructions.js';

export type Store = 'memory' | 'sqlite';

/** The month of the stored instructions. Other instructions differ from it. */
const AUGUST = 7;
/** The number of instructions that are requested repeatedly, if there are enough. */
const FREQUENT_ENTRIES = 200;
/**
 * Other years. With half a year of days each, there are far more dates than any cache of instructions holds: with a
 * single entry, too, nearly every patterned instruction is new, as it is with many entries.
 */
const YEARS = { first: 1950, last: 2099 };

/** The kind of requests to a registry. `repeat`: stored instructions, unchanged; `pattern`: the same with another date. */
export type Question = 'repeat' | 'pattern';

/** The requested entries: a few of them repeatedly, or all of them equally often. */
export type Selection = 'few' | 'all';

export interface Line {
  readonly store: Store;
  readonly size: number;
  readonly question: Question;
  readonly selection: Selection;
  /** Requests once, and checks the answer. */
  readonly ask: () => Promise<void>;
}

export interface HitRate {
  readonly store: Store;
  readonly size: number;
  readonly question: Question;
  readonly selection: Selection;
  /** Hits per second of processor time. */
  readonly rate: Spread;
  /** The rate relative to the smallest size of the same store and kind of requests, by round. */
  readonly ratio: Spread;
}

export interface Lines {
  readonly lines: readonly Line[];
  readonly close: () => Promise<void>;
}

/** The number of entries that are generated and stored at a time. */
const SLICE = 1000;

/** Fills a registry of each size and opens encoders on them. The encoders have no model. */
export async function openLines(
  stores: readonly Store[],
  sizes: readonly number[],
  selections: readonly Selection[] = ['few'],
): Promise<Lines> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-registry-'));
  const registries: Registry[] = [];
  const encoders: FallbackEncoder[] = [];
  const lines: Line[] = [];
  const sized: { readonly registry: Registry; readonly size: number }[] = [];
  for (const size of sizes) {
    for (const store of stores) {
      const registry =
        store === 'memory'
          ? memoryRegistry({ maxEntries: 1e6 })
          : await sqliteRegistry(path.join(folder, `${size}.db`), { maxEntries: 1e6 });
      sized.push({ registry, size });
      const encoder = createFallbackEncoder({ registry, model: null });
      registries.push(registry);
      encoders.push(encoder);
      for (const question of ['repeat', 'pattern'] as const) {
        for (const which of selections) {
          lines.push({ store, size, question, selection: which, ask: requester(encoder, size, question, which) });
        }
      }
    }
  }
  fill(sized);
  return {
    lines,
    async close() {
      for (const encoder of encoders) await encoder.close();
      for (const registry of registries) registry.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Stores the first entries in each registry, up to its size. Each entry is generated once, because that takes the longest. */
function fill(sized: readonly { readonly registry: Registry; readonly size: number }[]): void {
  const most = Math.max(...sized.map(({ size }) => size));
  for (let start = 0; start < most; start += SLICE) {
    const slice = Array.from({ length: Math.min(SLICE, most - start) }, (_, at) => entryOf(known(start + at, AUGUST)));
    for (const { registry, size } of sized) registry.putAll(slice.slice(0, Math.max(0, size - start)));
  }
}

function requester(encoder: FallbackEncoder, size: number, question: Question, which: Selection): () => Promise<void> {
  const random = createRandom(size);
  const numbers = Array.from({ length: Math.min(FREQUENT_ENTRIES, size) }, () => random.integer(0, size - 1));
  const repeated = numbers.map((number) => known(number, AUGUST));
  const anyNumber = (): number => (which === 'few' ? random.pick(numbers) : random.integer(0, size - 1));
  const again = (): KnownInstruction => (which === 'few' ? random.pick(repeated) : known(anyNumber(), AUGUST));
  const tier = question === 'repeat' ? 'cache' : 'pattern';
  return async () => {
    const requested = question === 'repeat' ? again() : another(random, anyNumber());
    const result = await encoder.encode(requested.instruction, { domain: requested.domain });
    if (result.packet !== requested.packet || result.tier !== tier) {
      throw new Error(`${requested.instruction} was answered from tier ${result.tier} by ${result.packet}`);
    }
  };
}

/** The same instruction for a day of another month. */
function another(random: Random, number: number): KnownInstruction {
  return known(
    number,
    random.pick([0, 2, 3, 9, 10, 11]),
    random.integer(YEARS.first, YEARS.last),
    random.integer(1, 28),
  );
}

export interface Timing {
  readonly rounds: number;
  /** Milliseconds of processor time per turn. */
  readonly turnMs: number;
  /** The clock: milliseconds of processor time. */
  readonly now: () => number;
}

/** Lets all lines take turns. The first turn of each does not count. */
export async function hitRates(lines: readonly Line[], { rounds, turnMs, now }: Timing): Promise<HitRate[]> {
  const rates = lines.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (let place = 0; place < lines.length; place++) {
      const index = (place + round) % lines.length;
      const rate = await rateOf(lines[index]!, turnMs, now);
      if (round > 0) rates[index]!.push(rate);
    }
  }
  return lines.map(({ store, size, question, selection }, index) => {
    const isAlike = (line: Line): boolean =>
      line.store === store && line.question === question && line.selection === selection;
    const alike = lines.flatMap((line, at) => (isAlike(line) ? [at] : []));
    const smallest = alike.reduce((a, b) => (lines[a]!.size <= lines[b]!.size ? a : b));
    return {
      ...{ store, size, question, selection, rate: spreadOf(rates[index]!) },
      ratio: spreadOf(rates[index]!.map((rate, round) => rate / rates[smallest]![round]!)),
    };
  });
}

/** Requests between two readings of the clock, which takes as long as some requests. */
const BATCH: Readonly<Record<Question, number>> = { repeat: 128, pattern: 8 };

async function rateOf({ ask, question }: Line, turnMs: number, now: () => number): Promise<number> {
  // Once outside of the measured time: the caches contain what another line needed.
  await ask();
  const start = now();
  let requests = 0;
  let time = 0;
  while (time < turnMs) {
    for (let count = 0; count < BATCH[question]; count++) await ask();
    requests += BATCH[question];
    time = now() - start;
  }
  return (requests * 1000) / time;
}
