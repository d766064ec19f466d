/** Hits of registries of several sizes, in turns, in one process. */
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
import { entryOf, type Known, known } from './instructions.js';

export type Store = 'memory' | 'sqlite';

/** The month that entries are stored with, and from which other instructions differ. */
const AUGUST = 7;
/** Instructions that are asked for again and again, where there are so many. */
const ASKED = 200;
/**
 * Other years. With the days of half a year each, there are far more dates than anything remembers of instructions: where there is
 * but one entry, too, nearly every patterned instruction is a new one, as it is where there are many.
 */
const YEARS = { first: 1950, last: 2099 };

/** What is asked of a registry. `repeat`: what is known, letter by letter; `pattern`: the same with another date. */
export type Question = 'repeat' | 'pattern';

/** Which entries are asked for: a few of them again and again, or all of them alike. */
export type Asked = 'few' | 'all';

export interface Line {
  readonly store: Store;
  readonly size: number;
  readonly question: Question;
  readonly asked: Asked;
  /** Asks once, and checks the answer. */
  readonly ask: () => Promise<void>;
}

export interface HitRate {
  readonly store: Store;
  readonly size: number;
  readonly question: Question;
  readonly asked: Asked;
  /** Hits per second of processor time. */
  readonly rate: Spread;
  /** Against the smallest size of the same store and question, asked in the same way, round by round. */
  readonly ratio: Spread;
}

export interface Lines {
  readonly lines: readonly Line[];
  readonly close: () => Promise<void>;
}

/** Entries that are made, and put in, at a time. */
const SLICE = 1000;

/** Fills a registry of each size and opens encoders on them. Nobody is asked but the registry. */
export async function openLines(
  stores: readonly Store[],
  sizes: readonly number[],
  asked: readonly Asked[] = ['few'],
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
        for (const which of asked) {
          lines.push({ store, size, question, asked: which, ask: asking(encoder, size, question, which) });
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

/** Puts the first entries into each registry, as many as it is to have. Each is made once: to read it takes the longest. */
function fill(sized: readonly { readonly registry: Registry; readonly size: number }[]): void {
  const most = Math.max(...sized.map(({ size }) => size));
  for (let start = 0; start < most; start += SLICE) {
    const slice = Array.from({ length: Math.min(SLICE, most - start) }, (_, at) => entryOf(known(start + at, AUGUST)));
    for (const { registry, size } of sized) registry.putAll(slice.slice(0, Math.max(0, size - start)));
  }
}

function asking(encoder: FallbackEncoder, size: number, question: Question, which: Asked): () => Promise<void> {
  const random = createRandom(size);
  const numbers = Array.from({ length: Math.min(ASKED, size) }, () => random.integer(0, size - 1));
  const repeated = numbers.map((number) => known(number, AUGUST));
  const anyNumber = (): number => (which === 'few' ? random.pick(numbers) : random.integer(0, size - 1));
  const again = (): Known => (which === 'few' ? random.pick(repeated) : known(anyNumber(), AUGUST));
  const tier = question === 'repeat' ? 'cache' : 'pattern';
  return async () => {
    const asked = question === 'repeat' ? again() : another(random, anyNumber());
    const result = await encoder.encode(asked.instruction, { domain: asked.domain });
    if (result.packet !== asked.packet || result.tier !== tier) {
      throw new Error(`${asked.instruction} was answered from tier ${result.tier} by ${result.packet}`);
    }
  };
}

/** The same for a day of another month. */
function another(random: Random, number: number): Known {
  return known(
    number,
    random.pick([0, 2, 3, 9, 10, 11]),
    random.integer(YEARS.first, YEARS.last),
    random.integer(1, 28),
  );
}

export interface Timing {
  readonly rounds: number;
  /** Milliseconds of processor time in one turn. */
  readonly turn: number;
  /** Milliseconds, as a running clock of the processor. */
  readonly now: () => number;
}

/** Lets all lines take turns; the first turn of each is not counted. */
export async function hitRates(lines: readonly Line[], { rounds, turn, now }: Timing): Promise<HitRate[]> {
  const rates = lines.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (let place = 0; place < lines.length; place++) {
      const index = (place + round) % lines.length;
      const rate = await rateOf(lines[index]!, turn, now);
      if (round > 0) rates[index]!.push(rate);
    }
  }
  return lines.map(({ store, size, question, asked }, index) => {
    const isAlike = (line: Line): boolean => line.store === store && line.question === question && line.asked === asked;
    const alike = lines.flatMap((line, at) => (isAlike(line) ? [at] : []));
    const smallest = alike.reduce((a, b) => (lines[a]!.size <= lines[b]!.size ? a : b));
    return {
      ...{ store, size, question, asked, rate: spreadOf(rates[index]!) },
      ratio: spreadOf(rates[index]!.map((rate, round) => rate / rates[smallest]![round]!)),
    };
  });
}

/** Questions between two looks at the clock, which takes as long as some answers. */
const BATCH: Readonly<Record<Question, number>> = { repeat: 128, pattern: 8 };

async function rateOf({ ask, question }: Line, turn: number, now: () => number): Promise<number> {
  // Once without the clock: the caches are full of what another line needed.
  await ask();
  const start = now();
  let asked = 0;
  let time = 0;
  while (time < turn) {
    for (let count = 0; count < BATCH[question]; count++) await ask();
    asked += BATCH[question];
    time = now() - start;
  }
  return (asked * 1000) / time;
}
