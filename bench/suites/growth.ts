/** How the work grows: texts of 1 KB to 1 MB, per character. In the end the tree is what costs: it has to be moved about. */
import { parse } from '../../generated/accp.js';
import { parseFrame } from '../../src/accp/index.js';
import { GROWTH_LENGTHS, GROWTH_SHAPES } from '../../src/bench/corpus/accp.js';
import { plainFrame } from '../../src/bench/plain.js';
import type { RaceSection } from '../../src/bench/result.js';
import { flat, handling } from '../../src/bench/workload.js';
import { type Heat, holdRaces, type Pace } from './contest.js';

const UNLIMITED = {
  ...{ maxLength: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY },
  ...{ maxDigits: Number.POSITIVE_INFINITY },
};

/** Characters that each runner reads in one pass, in as many texts as that takes. */
const CHARACTERS = GROWTH_LENGTHS.at(-1)!;

export async function growth(pace: Pace): Promise<RaceSection[]> {
  const pegwire = (text: string): unknown => parse(text, UNLIMITED);
  // One pass is long, and as many rounds as elsewhere would take minutes.
  const few = { ...pace, rounds: Math.min(pace.rounds, 9) };
  const contest = { unit: 'character', anchor: label(GROWTH_LENGTHS[0]!) };
  const shapes = Object.entries(GROWTH_SHAPES);
  return [
    await holdRaces(
      {
        ...{ ...contest, id: 'growth', title: 'Reading longer and longer frames, speed per character' },
        note: 'As fast as at 1 KB is 1; below, longer texts are slower.',
      },
      shapes.map(([name, make]) => heat(name, pegwire, make)),
      few,
    ),
    await holdRaces(
      { ...contest, id: 'growth-json', title: 'The same with JSON.parse of the equivalent messages' },
      shapes.map(([name, make]) => heat(name, JSON.parse, (length) => jsonOf(make(length)))),
      few,
    ),
  ];
}

function heat(name: string, read: (text: string) => unknown, make: (length: number) => string): Heat {
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
