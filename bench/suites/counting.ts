/** Counting tokens: its share of reading a message, and the cost of a tokenizer. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { parseFrame } from '../../src/accp/index.js';
import { zodAccp } from '../../src/bench/candidates/plain.js';
import { plainFrame } from '../../src/bench/plain.js';
import type { RaceSection } from '../../src/bench/result.js';
import { flat, handling } from '../../src/bench/workload.js';
import { createRandom } from '../../src/text/random.js';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import { messageSamples } from '../corpus/messages.js';
import { type RaceTiming, type RunnerGroup, runRaces } from './contest.js';

const TOKENIZER = 'gpt-tokenizer';
/** The frames of a session, enough to evict identifiers from any cache. */
const SESSION = 2048;

export async function counting(timing: RaceTiming): Promise<RaceSection[]> {
  const frames = messageSamples().map(({ text }) => text);
  return [
    await runRaces(
      {
        ...{ id: 'counting', title: 'Counting tokens of ACCP frames (o200k_base)', unit: 'frame', anchor: TOKENIZER },
        note: 'In comparison, reading the same messages.',
      },
      [
        await countingGroup('the same frames again', frames),
        await countingGroup('a session: new identifiers and times in every frame', sessionOf(frames)),
      ],
      timing,
    ),
  ];
}

async function countingGroup(name: string, texts: readonly string[]): Promise<RunnerGroup> {
  const { count } = await loadTokenCounter('o200k_base');
  const noSpecial = { disallowedSpecial: new Set<string>() };
  const documents = texts.map((text) => flat(JSON.stringify(plainFrame(parseFrame(text)))));
  return {
    name,
    units: texts.length,
    characters: texts.reduce((sum, { length }) => sum + length, 0),
    runners: [
      handling(TOKENIZER, (text) => countTokens(text, noSpecial), texts),
      handling('pegwire count', count, texts),
      handling('pegwire parseFrame', (text) => parseFrame(text), texts),
      handling('JSON.parse', (text) => JSON.parse(text), documents),
      handling('JSON.parse + zod', await zodAccp.prepare(), documents),
    ],
  };
}

/** Repeats the frames with other identifiers, numbers and times. */
function sessionOf(frames: readonly string[]): string[] {
  const random = createRandom(1);
  const hex = (): string => [...Array(12).keys()].map(() => random.integer(0, 15).toString(16)).join('');
  return [...Array(SESSION).keys()].map((sequence) =>
    flat(
      frames[sequence % frames.length]!.replace(/mid:\w+/, () => `mid:${hex()}`)
        .replace(/cid:\w+/, () => `cid:${hex()}`)
        .replace(/seq:\d+/, `seq:${sequence + 1}`)
        .replace(/ts:\d+/, `ts:${1_775_466_037 + 7 * sequence}`),
    ),
  );
}
