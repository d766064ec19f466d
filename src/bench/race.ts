/**
 * The interleaved race: runners take turns in one process, so that a disturbance slows all of them. Only the ratio to
 * the anchor within one round is repeatable; absolute times are not.
 */
/** Quartiles are stable for times, which have long tails; means are not. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: quantile(values, 0.5), low: quantile(values, 0.25), high: quantile(values, 0.75) };
}

/** Interpolates linearly. @param share from 0 (smallest) to 1 (largest) @throws RangeError if the list is empty */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new RangeError('the list of values must not be empty');
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place - Math.floor(place));
}

/** `pass` does the whole work once. Its result prevents the optimizer from removing it. */
export interface Runner {
  readonly name: string;
  readonly pass: () => unknown;
  /** Called before a turn, outside of the measured time, with the number of passes. */
  readonly prepare?: (passes: number) => void;
}

export interface RaceOptions {
  /** The name of the runner to compare with. */
  readonly anchor: string;
  /** The number of rounds. @default 61 */
  readonly rounds?: number;
  /** Milliseconds per turn, with at least one pass. Many short turns give steadier ratios than a few long ones. @default 2 */
  readonly turnMs?: number;
  /** Milliseconds of warm-up per runner. @default 150 */
  readonly warmUpMs?: number;
  /** The clock, in milliseconds. @default performance.now */
  readonly now?: () => number;
  /** Called before each round, and at the end. */
  readonly onRound?: (done: number, rounds: number) => void | Promise<void>;
}

export interface RunnerResult {
  readonly name: string;
  /** The time of one pass. */
  readonly nanoseconds: Spread;
  /** The speed relative to the anchor, by round: 2 is twice as fast. */
  readonly ratio: Spread;
  /** The number of passes per turn. */
  readonly passes: number;
}

/** Stores results, so that the optimizer cannot remove the work. */
export let sink: unknown;

/** Compares all runners with the anchor. @throws RangeError if the anchor is not a runner */
export async function race(runners: readonly Runner[], options: RaceOptions): Promise<RunnerResult[]> {
  const { anchor, rounds = 61, turnMs = 2, warmUpMs = 150, now = () => performance.now(), onRound } = options;
  checkAnchor(runners, anchor);
  const passes = runners.map((runner) => calibrate(runner, turnMs, warmUpMs, now));
  const turnOf = (index: number): number => timed(runners[index]!, passes[index]!, now) / passes[index]!;
  const times = await takeTurns(runners.length, turnOf, rounds, onRound);
  return resultsOf(runners, times, passes, anchor);
}

function checkAnchor(runners: readonly { readonly name: string }[], anchor: string): void {
  if (runners.some(({ name }) => name === anchor)) return;
  throw new RangeError(`the anchor "${anchor}" is not one of the runners`);
}

/** Lets all runners take turns. @returns the times by runner and round */
async function takeTurns(
  count: number,
  turn: (index: number) => number | Promise<number>,
  rounds: number,
  onRound: RaceOptions['onRound'],
): Promise<readonly (readonly number[])[]> {
  const times = Array.from({ length: count }, (): number[] => []);
  for (let round = 0; round < rounds; round++) {
    await onRound?.(round, rounds);
    for (const index of turns(round, count)) {
      const time = turn(index);
      times[index]!.push(typeof time === 'number' ? time : await time);
    }
  }
  await onRound?.(rounds, rounds);
  return times;
}

/** Rotates the first runner, and reverses every second round, so that neighbors change. */
function turns(round: number, count: number): number[] {
  return Array.from({ length: count }, (_, place) => ((round % 2 === 0 ? place : count - 1 - place) + round) % count);
}

/** @param times milliseconds of one pass, by runner and round */
function resultsOf(
  runners: readonly { readonly name: string }[],
  times: readonly (readonly number[])[],
  passes: readonly number[],
  anchor: string,
): RunnerResult[] {
  const anchorTimes = times[runners.findIndex(({ name }) => name === anchor)]!;
  return runners.map(({ name }, index) => ({
    name,
    nanoseconds: spreadOf(times[index]!.map((time) => time * 1e6)),
    ratio: spreadOf(times[index]!.map((time, round) => anchorTimes[round]! / time)),
    passes: passes[index]!,
  }));
}

export interface AsyncRunner {
  readonly name: string;
  readonly pass: () => Promise<void>;
}

/**
 * Compares asynchronous runners. One pass is one turn, and should take some milliseconds. @throws RangeError if the
 * anchor is not a runner
 */
export async function raceAsync(
  runners: readonly AsyncRunner[],
  options: Pick<RaceOptions, 'anchor' | 'rounds' | 'now' | 'onRound'> & { readonly warmUpPasses?: number },
): Promise<RunnerResult[]> {
  const { anchor, rounds = 31, warmUpPasses = 5, now = () => performance.now(), onRound } = options;
  checkAnchor(runners, anchor);
  for (const { pass } of runners) for (let done = 0; done < warmUpPasses; done++) await pass();
  const turnOf = async (index: number): Promise<number> => {
    const start = now();
    await runners[index]!.pass();
    return now() - start;
  };
  const times = await takeTurns(runners.length, turnOf, rounds, onRound);
  const passes = runners.map(() => 1);
  return resultsOf(runners, times, passes, anchor);
}

/** Warms up, and returns the number of passes that fill a turn. */
function calibrate(runner: Runner, turnMs: number, warmUpMs: number, now: () => number): number {
  const start = now();
  let passes = 1;
  let time = timed(runner, passes, now);
  while (now() - start < warmUpMs || time < turnMs / 4) {
    if (time < turnMs / 2) passes *= 2;
    time = timed(runner, passes, now);
  }
  return Math.max(1, Math.round((passes * turnMs) / time));
}

function timed({ pass, prepare }: Runner, passes: number, now: () => number): number {
  prepare?.(passes > 1 ? passes + 1 : passes);
  // One pass outside of the measured time fills the caches.
  if (passes > 1) sink = pass();
  const start = now();
  for (let done = 0; done < passes; done++) sink = pass();
  return now() - start;
}
