/** Rejecting invalid frames: an error with its code and offset, compared with `JSON.parse` throwing on equally invalid JSON. */
import { tryParseFrame } from '../../src/accp/index.js';
import { mixedFrames } from '../../src/bench/corpus/accp.js';
import type { Half } from '../../src/bench/corpus/texts.js';
import type { Runner } from '../../src/bench/race.js';
import type { RaceSection } from '../../src/bench/result.js';
import { handling } from '../../src/bench/workload.js';
import { parseByHand } from '../candidates/hand-accp.js';
import { compileStock } from '../candidates/stock-peggy.js';
import { type BadSample, badFrames } from '../corpus/bad.js';
import { type RaceTiming, type RunnerGroup, runRaces, sizeOf } from './contest.js';

const ANCHOR = 'JSON.parse';

/** Reads the code and the offset of an error. */
function refusal(text: string): number {
  const result = tryParseFrame(text);
  if (result.ok) throw new RangeError('a bad frame was accepted');
  return result.error.code.length + (result.error.span?.start ?? 0);
}

/** Reads everything that an error reports. */
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

/** The two runners that the gate compares. */
export function rejectingRunners(half: Half): Runner[] {
  const samples = badFrames(mixedFrames(half));
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

export async function rejecting(timing: RaceTiming): Promise<RaceSection[]> {
  const samples = badFrames(mixedFrames());
  const stock = await compileStock('accp');
  const group = (name: string, some: readonly BadSample[]): RunnerGroup => {
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
    await runRaces(
      {
        ...{ id: 'rejecting', title: 'Rejecting invalid frames', unit: 'frame', anchor: ANCHOR },
        note: 'JSON.parse accepts repeated keys and deep nesting; there the JSON has a stray character in the middle.',
      },
      [
        group('all', samples),
        ...faults.map((name) =>
          group(
            name,
            samples.filter(({ fault, place }) => `${fault}, ${place}` === name),
          ),
        ),
      ],
      timing,
    ),
  ];
}
