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
import { type Spread, spreadOf } from '../../src/bench/statistics.js';
import { createRandom, type Random } from '../../src/text/random.js';
import { entryOf, type Known, known } from './instructions.js';

export type Store = 'memory' | 'sqlite';

/** The month that entries are stored with, and from which other instructions differ. */
const AUGUST = 7;
/** Instructions that are asked for again and again, where there are so many. */
const ASKED = 200;
/** Other years, so that no two patterned instructions are the same for a long time. */
const YEARS = 60;

/** What is asked of a registry. `repeat`: what is known, letter by letter; `pattern`: the same with another date. */
export type Question = 'repeat' | 'pattern';

export interface Line {
  readonly store: Store;
  readonly size: number;
  readonly question: Question;
  /** Asks once, and checks the answer. */
  readonly ask: () => Promise<void>;
}

export interface HitRate {
  readonly store: Store;
  readonly size: number;
  readonly question: Question;
  /** Hits per second of processor time. */
  readonly rate: Spread;
  /** Against the smallest size of the same store and question, round by round. */
  readonly ratio: Spread;
}

export interface Lines {
  readonly lines: readonly Line[];
  readonly close: () => Promise<void>;
}

/** Fills a registry of each size and opens encoders on them. Nobody is asked but the registry. */
export async function openLines(stores: readonly Store[], sizes: readonly number[], rules?: null): Promise<Lines> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-bench-registry-'));
  const registries: Registry[] = [];
  const encoders: FallbackEncoder[] = [];
  const lines: Line[] = [];
  for (const size of sizes) {
    const opened = await Promise.all(
      stores.map((store) =>
        store === 'memory'
          ? memoryRegistry({ maxEntries: 1e6 })
          : sqliteRegistry(path.join(folder, `${size}.db`), { maxEntries: 1e6 }),
      ),
    );
    for (let number = 0; number < size; number++) {
      const entry = entryOf(known(number, AUGUST));
      for (const registry of opened) registry.put(entry);
    }
    for (const [index, registry] of opened.entries()) {
      const encoder = createFallbackEncoder({ registry, model: null, ...(rules === null ? { rules } : {}) });
      registries.push(registry);
      encoders.push(encoder);
      for (const question of ['repeat', 'pattern'] as const) {
        lines.push({ store: stores[index]!, size, question, ask: asking(encoder, size, question) });
      }
    }
  }
  return {
    lines,
    async close() {
      for (const encoder of encoders) await encoder.close();
      for (const registry of registries) registry.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function asking(encoder: FallbackEncoder, size: number, question: Question): () => Promise<void> {
  const random = createRandom(size);
  const numbers = Array.from({ length: Math.min(ASKED, size) }, () => random.integer(0, size - 1));
  const repeated = numbers.map((number) => known(number, AUGUST));
  const tier = question === 'repeat' ? 'cache' : 'pattern';
  return async () => {
    const asked = question === 'repeat' ? random.pick(repeated) : another(random, random.pick(numbers));
    const result = await encoder.encode(asked.instruction, { domain: asked.domain });
    if (result.packet !== asked.packet || result.tier !== tier) {
      throw new Error(`${asked.instruction} was answered from tier ${result.tier} by ${result.packet}`);
    }
  };
}

/** The same for another month. */
function another(random: Random, number: number): Known {
  return known(number, random.pick([0, 2, 3, 9, 10, 11]), 1990 + random.integer(0, YEARS));
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
  return lines.map(({ store, size, question }, index) => {
    const alike = lines.flatMap((line, at) => (line.store === store && line.question === question ? [at] : []));
    const smallest = alike.reduce((a, b) => (lines[a]!.size <= lines[b]!.size ? a : b));
    return {
      ...{ store, size, question, rate: spreadOf(rates[index]!) },
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
