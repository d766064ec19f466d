/**
 * The interleaved race: runners take turns in one process, so that disturbances slow all of them. Only the ratio to the anchor within one
 * round repeats; times do not.
 */
import { type Spread, spreadOf } from './statistics.js';

/** `pass` does the whole work once; its result keeps it from being optimised away. */
export interface Runner {
  readonly name: string;
  readonly pass: () => unknown;
  /** Called before a turn, unmeasured, with its number of passes. */
  readonly prepare?: (passes: number) => void;
}

export interface RaceOptions {
  /** The runner to compare with. */
  readonly anchor: string;
  /** @default 61 */
  readonly rounds?: number;
  /** Milliseconds of a turn, at least one pass. Many short turns give steadier ratios than few long ones. @default 2 */
  readonly turn?: number;
  /** Milliseconds. @default 150 */
  readonly warmUp?: number;
  /** Milliseconds. */
  readonly now?: () => number;
  /** Called before each round, and at the end. */
  readonly onRound?: (done: number, rounds: number) => void | Promise<void>;
}

export interface Standing {
  readonly name: string;
  /** Of one pass. */
  readonly nanoseconds: Spread;
  /** Speed relative to the anchor, by round: 2 is twice as fast. */
  readonly ratio: Spread;
  /** Per turn. */
  readonly passes: number;
}

/** Results that are never read could be optimised away. */
let sink: unknown;

/** Compares all runners with the anchor. @throws RangeError if the anchor is missing */
export async function race(runners: readonly Runner[], options: RaceOptions): Promise<Standing[]> {
  const { anchor, rounds = 61, turn = 2, warmUp = 150, now = () => performance.now(), onRound } = options;
  const anchorIndex = runners.findIndex(({ name }) => name === anchor);
  if (anchorIndex < 0) throw new RangeError(`the anchor "${anchor}" is none of the runners`);

  const passes = runners.map((runner) => calibrate(runner, turn, warmUp, now));
  const times = runners.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    await onRound?.(round, rounds);
    for (const index of turns(round, runners.length))
      times[index]!.push(timed(runners[index]!, passes[index]!, now) / passes[index]!);
  }
  await onRound?.(rounds, rounds);
  return standings(runners, times, passes, anchorIndex);
}

/** Rotates the first runner, and reverses every second round, so that neighbors change. */
function turns(round: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => ((round % 2 === 0 ? place : count - 1 - place) + round) % count);
}

/** @param times milliseconds of one pass, by runner and round */
function standings(
  runners: readonly { readonly name: string }[],
  times: readonly (readonly number[])[],
  passes: readonly number[],
  anchorIndex: number,
): Standing[] {
  return runners.map(({ name }, index) => ({
    name,
    nanoseconds: spreadOf(times[index]!.map((time) => time * 1e6)),
    ratio: spreadOf(times[index]!.map((time, round) => times[anchorIndex]![round]! / time)),
    passes: passes[index]!,
  }));
}

export interface AsyncRunner {
  readonly name: string;
  readonly pass: () => Promise<void>;
}

/** The same for asynchronous work: one pass is one turn, and should take some milliseconds. @throws RangeError */
export async function raceAsync(
  runners: readonly AsyncRunner[],
  options: Pick<RaceOptions, 'anchor' | 'rounds' | 'now' | 'onRound'> & { readonly warmUpPasses?: number },
): Promise<Standing[]> {
  const { anchor, rounds = 31, warmUpPasses = 5, now = () => performance.now(), onRound } = options;
  const anchorIndex = runners.findIndex(({ name }) => name === anchor);
  if (anchorIndex < 0) throw new RangeError(`the anchor "${anchor}" is none of the runners`);
  for (const { pass } of runners) for (let done = 0; done < warmUpPasses; done++) await pass();
  const times = runners.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    await onRound?.(round, rounds);
    for (const index of turns(round, runners.length)) {
      const start = now();
      await runners[index]!.pass();
      times[index]!.push(now() - start);
    }
  }
  await onRound?.(rounds, rounds);
  const once = runners.map(() => 1);
  return standings(runners, times, once, anchorIndex);
}

/** Warms up, and returns the passes that fill a turn. */
function calibrate(runner: Runner, turn: number, warmUp: number, now: () => number): number {
  const start = now();
  let passes = 1;
  let time = timed(runner, passes, now);
  while (now() - start < warmUp || time < turn / 4) {
    if (time < turn / 2) passes *= 2;
    time = timed(runner, passes, now);
  }
  return Math.max(1, Math.round((passes * turn) / time));
}

function timed({ pass, prepare }: Runner, passes: number, now: () => number): number {
  prepare?.(passes > 1 ? passes + 1 : passes);
  // One unmeasured pass fills the caches.
  if (passes > 1) sink = pass();
  const start = now();
  for (let done = 0; done < passes; done++) sink = pass();
  return now() - start;
}

export function lastResult(): unknown {
  return sink;
}
