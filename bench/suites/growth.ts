/** The growth of the work: texts of 1 KB to 1 MB, per character. At the largest sizes, moving the tree in memory dominates. */
import { parse } from '../../generated/accp.js';
import { parseFrame } from '../../src/accp/index.js';
import { GROWTH_LENGTHS, GROWTH_SHAPES } from '../../src/bench/corpus/accp.js';
import { plainFrame } from '../../src/bench/plain.js';
import type { RaceSection } from '../../src/bench/result.js';
import { flat, handling } from '../../src/bench/workload.js';
import { type RaceTiming, type RunnerGroup, runRaces } from './contest.js';

const UNLIMITED = {
  ...{ maxLength: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY },
  ...{ maxDigits: Number.POSITIVE_INFINITY },
};

/** The characters that each runner reads in one pass, in as many texts as needed. */
const CHARACTERS = GROWTH_LENGTHS.at(-1)!;

const CONTEST = { unit: 'character', anchor: label(GROWTH_LENGTHS[0]!) };
const SHAPES = Object.entries(GROWTH_SHAPES);

export async function growth(timing: RaceTiming): Promise<RaceSection[]> {
  // One pass is long; the usual number of rounds would take minutes.
  const few = { ...timing, rounds: Math.min(timing.rounds, 9) };
  return [
    await readingGrowth(few),
    await runRaces(
      { ...CONTEST, id: 'growth-json', title: 'The same with JSON.parse of the equivalent messages' },
      SHAPES.map(([name, make]) => group(name, JSON.parse, (length) => jsonOf(make(length)))),
      few,
    ),
  ];
}

export async function readingGrowth(timing: RaceTiming): Promise<RaceSection> {
  return runRaces(
    {
      ...{ ...CONTEST, id: 'growth', title: 'Reading frames of increasing length, speed per character' },
      note: 'Relative to 1 KB; below 1, longer texts are slower.',
    },
    SHAPES.map(([name, make]) => group(name, (text) => parse(text, UNLIMITED), make)),
    timing,
  );
}

function group(name: string, read: (text: string) => unknown, make: (length: number) => string): RunnerGroup {
  const runners = GROWTH_LENGTHS.map((length) => {
    const text = flat(make(length));
    return handling(label(length), read, new Array<string>(CHARACTERS / length).fill(text));
  });
  return { name, units: CHARACTERS, characters: CHARACTERS, runners };
}

function jsonOf(text: string): string {
  return JSON.stringify(plainFrame(parseFrame(text, UNLIMITED)));
}

function label(length: number): string {
  return length < 1_000_000 ? `${length / 1000} KB` : `${length / 1_000_000} MB`;
}
