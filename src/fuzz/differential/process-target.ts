/** Other programs as implementations under test. */
import { within } from '../../async/abort.js';
import { LONGEST_TIMER } from '../../async/timers.js';
import type { CommandOptions, Run, RunLimits } from './adapter-run.js';
import { createSchedule } from './schedule.js';
import { EMPTY, startAdapter } from './start-adapter.js';
import type { Request, Target } from './target.js';
import { TargetError } from './target-error.js';

/** How a program is run, and what it may take. */
export interface ProcessOptions extends CommandOptions {
  /** For reports. @default the command */
  readonly name?: string | undefined;
  /** Requests that are sent before the first of them is answered. @default 64 */
  readonly window?: number | undefined;
  /** Milliseconds for one text, from when all before it are answered. @default 5000 */
  readonly timeLimit?: number | undefined;
  /** Milliseconds from a start to the first answer. @default 30000 */
  readonly startLimit?: number | undefined;
  /** Bytes of resident memory, of the program and all that it has started. Not watched on Windows. @default 1 GiB */
  readonly memoryLimit?: number | undefined;
  /** Bytes of one answer. @default 64 MiB */
  readonly lineLimit?: number | undefined;
}

const MEBIBYTE = 2 ** 20;
/** The longest that a timer can wait, in milliseconds. */
/** Milliseconds that a program may take to end by itself once its input has ended. */
const CLOSE_GRACE = 1000;

/**
 * A program as an implementation under test: an *adapter* that reads a request a line and answers each with a line. The README
 * of this folder describes the protocol.
 *
 * The program is started at the first `read()`, and again whenever it fails. The memory is looked at four times a second, so a
 * program may be somewhat above the limit for a moment. A target that is not closed keeps this process from ending.
 *
 * @param command for the shell, so it may hold arguments
 * @throws TypeError on limits that are no positive numbers
 * @example
 * const target = processTarget('python3 adapter.py', { timeLimit: 2000 });
 * const outcome = await target.read({ input: '@a>req:x{}', dialect: 'strict' });
 * await target.close();
 */
export function processTarget(command: string, options: ProcessOptions = {}): Target {
  const limits = limitsOf(options);
  const schedule = createSchedule(positive('window', options.window, 64));
  /** All that have not ended yet. */
  const running = new Set<Run>();
  /** The one that is asked. */
  let run: Run | null = null;
  let starting = false;
  /** Whether the program's input has to be emptied first. */
  let full = false;
  /** What it is known to answer. */
  let known: Request | null = null;
  let broken: TargetError | null = null;
  let closing: Promise<void> | null = null;

  const pump = (): void => {
    if (broken !== null) return;
    if (run === null) {
      if (!starting && schedule.hasWork()) void start();
      return;
    }
    while (!full) {
      const request = schedule.next();
      if (request === undefined) return;
      full = !run.send(request);
    }
  };
  const giveUp = (error: TargetError): void => {
    broken ??= error;
    schedule.rejectAll(error);
  };
  const start = async (): Promise<void> => {
    starting = true;
    try {
      // One at a time: two would share the machine, and what they write to.
      await Promise.all([...running].map(({ ended }) => ended));
      if (broken !== null) return;
      const probes = known === null ? [EMPTY, ...schedule.ahead(2)] : [known];
      const started = await startAdapter({ command, options, limits, probes, onRun, handlers });
      run = started.run;
      known = started.probe;
      full = false;
    } catch (error) {
      giveUp(error instanceof TargetError ? error : new TargetError(`The target cannot be started: ${String(error)}`));
    }
    starting = false;
    pump();
  };
  const onRun = (begun: Run): void => {
    running.add(begun);
    void begun.ended.then(() => running.delete(begun));
  };
  const handlers: Parameters<typeof startAdapter>[0]['handlers'] = {
    onAnswer: (answer) => {
      schedule.answered(answer);
      pump();
    },
    onDrain: () => {
      full = false;
      pump();
    },
    onEnd: (failure) => {
      run = null;
      schedule.ended(failure);
      pump();
    },
  };
  const close = async (): Promise<void> => {
    giveUp(new TargetError('The target is closed'));
    for (const one of running) one.endInput();
    await within(CLOSE_GRACE, Promise.all([...running].map(({ ended }) => ended)));
    await Promise.all([...running].map((one) => one.kill()));
  };

  return {
    name: options.name ?? command,
    command,
    read: (request) =>
      new Promise((resolve, reject) => {
        if (broken !== null) return reject(broken);
        schedule.add({ request, resolve, reject });
        pump();
      }),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

function limitsOf(options: ProcessOptions): RunLimits {
  return {
    timeLimit: Math.min(positive('timeLimit', options.timeLimit, 5000), LONGEST_TIMER),
    startLimit: Math.min(positive('startLimit', options.startLimit, 30_000), LONGEST_TIMER),
    memoryLimit: positive('memoryLimit', options.memoryLimit, 1024 * MEBIBYTE),
    memoryInterval: 250,
    lineLimit: positive('lineLimit', options.lineLimit, 64 * MEBIBYTE),
  };
}

function positive(name: string, given: number | undefined, byDefault: number): number {
  const value = given ?? byDefault;
  if (typeof value === 'number' && value > 0) return value;
  throw new TypeError(`${name} is a number above 0, not ${String(value)}`);
}
