/**
 * The interleaved race: several ways of doing the same work take turns in one process, so that whatever slows the machine
 * slows all of them. What counts is the ratio to the anchor within one round; times alone do not repeat.
 */
import { type Spread, spreadOf } from './statistics.js';

/** One entrant: `pass` does the whole work once and gives something that depends on it, so that it cannot be left out. */
export interface Runner {
  readonly name: string;
  readonly pass: () => unknown;
  /** Called before so many passes, outside of what is measured: for work that can be done only once. */
  readonly prepare?: (passes: number) => void;
}

export interface RaceOptions {
  /** The runner that the others are held against. */
  readonly anchor: string;
  /** How often each runner has its turn. @default 61 */
  readonly rounds?: number;
  /**
   * How long one turn is to take, in milliseconds; it is one pass at least. On a busy machine many short turns give steadier
   * ratios than few long ones: what disturbs one turn seldom spans a round. @default 2
   */
  readonly turn?: number;
  /** How long each runner runs before anything counts, in milliseconds. @default 150 */
  readonly warmUp?: number;
  /** In milliseconds; another one is for tests. */
  readonly now?: () => number;
  /** Called before each round; `done` goes from 0 to `rounds`. May give way to other work. */
  readonly onRound?: (done: number, rounds: number) => void | Promise<void>;
}

export interface Standing {
  readonly name: string;
  /** Nanoseconds of one pass, over the rounds. */
  readonly nanoseconds: Spread;
  /** How many times as fast as the anchor, round by round: 2 is twice as fast. */
  readonly ratio: Spread;
  /** Passes in one turn. */
  readonly passes: number;
}

/** Where results go: what is never read may be optimised away. */
let sink: unknown;

/**
 * Runs all runners in turns and compares them with the anchor.
 *
 * @throws RangeError when the anchor is none of the runners
 */
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

/** Who runs when: another first one in each round, and every second round backwards, so that nobody always runs after the same neighbor. */
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

/** One entrant whose work ends later: over streams, sockets, and the like. */
export interface AsyncRunner {
  readonly name: string;
  /** Does the whole work once. */
  readonly pass: () => Promise<void>;
}

/**
 * The same race for work that takes turns with the event loop: one pass is one turn, so it should take some milliseconds at least.
 *
 * @throws RangeError when the anchor is none of the runners
 */
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

/** Warms a runner up and finds how many passes fill a turn. */
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
  // Once without the clock, where that costs little: the caches are full of what the runner before needed.
  if (passes > 1) sink = pass();
  const start = now();
  for (let done = 0; done < passes; done++) sink = pass();
  return now() - start;
}

/** What the last pass gave. */
export function lastResult(): unknown {
  return sink;
}
