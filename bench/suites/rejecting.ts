/** Refusing bad frames: an error with its code and offset, against `JSON.parse` throwing on JSON that is as bad. */
import { tryParseFrame } from '../../src/accp/index.js';
import { mixedFrames } from '../../src/bench/corpus/accp.js';
import type { Runner } from '../../src/bench/race.js';
import type { RaceSection } from '../../src/bench/result.js';
import { handling } from '../../src/bench/workload.js';
import { parseByHand } from '../candidates/hand-accp.js';
import { compileStock } from '../candidates/stock-peggy.js';
import { type BadSample, badFrames } from '../corpus/bad.js';
import { type Heat, holdRaces, type Pace, sizeOf } from './contest.js';

const ANCHOR = 'JSON.parse';

/** What is asked of an error: what went wrong, and where. */
function refusal(text: string): number {
  const result = tryParseFrame(text);
  if (result.ok) throw new RangeError('a bad frame was accepted');
  return result.error.code.length + (result.error.span?.start ?? 0);
}

/** Everything that an error has to tell, once somebody wants to read it. */
function explanation(text: string): number {
  const result = tryParseFrame(text);
  if (result.ok) throw new RangeError('a bad frame was accepted');
  return result.error.format().length;
}

function thrown(parse: (text: string) => unknown): (text: string) => unknown {
  return (text) => {
    try {
      parse(text);
    } catch (error) {
      return error;
    }
    throw new RangeError('a bad message was accepted');
  };
}

/** The two that the gate compares. */
export function rejectingRunners(): Runner[] {
  const samples = badFrames(mixedFrames());
  return [
    handling(
      ANCHOR,
      thrown(JSON.parse),
      samples.map(({ json }) => json),
    ),
    handling(
      'code and offset',
      refusal,
      samples.map(({ text }) => text),
    ),
  ];
}

export async function rejecting(pace: Pace): Promise<RaceSection[]> {
  const samples = badFrames(mixedFrames());
  const stock = await compileStock('accp');
  const heat = (name: string, some: readonly BadSample[]): Heat => {
    const texts = some.map(({ text }) => text);
    return {
      name,
      ...sizeOf(some),
      runners: [
        handling(
          ANCHOR,
          thrown(JSON.parse),
          some.map(({ json }) => json),
        ),
        handling('tryParseFrame, code and offset', refusal, texts),
        handling('tryParseFrame, message and code frame', explanation, texts),
        handling('hand-written', thrown(parseByHand), texts),
        handling('stock Peggy', thrown(stock), texts),
      ],
    };
  };
  const faults = [...new Set(samples.map(({ fault, place }) => `${fault}, ${place}`))];
  return [
    await holdRaces(
      {
        ...{ id: 'rejecting', title: 'Refusing bad frames', unit: 'frame', anchor: ANCHOR },
        note: 'JSON that repeats a key or nests deep is fine for JSON.parse; there it gets a stray character in the middle.',
      },
      [
        heat('all', samples),
        ...faults.map((name) =>
          heat(
            name,
            samples.filter(({ fault, place }) => `${fault}, ${place}` === name),
          ),
        ),
      ],
      pace,
    ),
  ];
}
