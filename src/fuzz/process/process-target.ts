import { within } from '../../async/abort.js';
import { after } from '../../async/timers.js';
import { type Failure, type Request, type Target, TargetError } from '../differential/target.js';
import { type CommandOptions, type Run, type RunHandlers, type RunLimits, startRun } from './adapter-run.js';
import { createSchedule } from './schedule.js';

/** How a program is run, and what it may take. */
export interface ProcessOptions extends CommandOptions {
  /** For reports. @default the command */
  readonly name?: string | undefined;
  /** Requests that are sent before the first of them is answered. @default 64 */
  readonly maxInFlight?: number | undefined;
  /** Milliseconds for one text, from when all before it are answered. @default 5000 */
  readonly timeLimitMs?: number | undefined;
  /** Milliseconds from a start to the first answer. @default 30000 */
  readonly startLimitMs?: number | undefined;
  /** Bytes of resident memory, of the program and all that it has started. Not watched on Windows. @default 1 GiB */
  readonly memoryLimitBytes?: number | undefined;
  /** Bytes of one answer. @default 64 MiB */
  readonly lineLimitBytes?: number | undefined;
}

const MEBIBYTE = 2 ** 20;
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
 * const target = processTarget('python3 adapter.py', { timeLimitMs: 2000 });
 * const outcome = await target.read({ input: '@a>req:x{}', dialect: 'strict' });
 * await target.close();
 */
export function processTarget(command: string, options: ProcessOptions = {}): Target {
  const limits = limitsOf(options);
  const schedule = createSchedule(positive('maxInFlight', options.maxInFlight, 64));
  const running = new Set<Run>();
  let run: Run | null = null;
  let starting = false;
  /** Whether the program's input has to be emptied first. */
  let full = false;
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
  const handlers: RunHandlers = {
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
    timeLimitMs: positive('timeLimitMs', options.timeLimitMs, 5000),
    startLimitMs: positive('startLimitMs', options.startLimitMs, 30_000),
    memoryLimitBytes: positive('memoryLimitBytes', options.memoryLimitBytes, 1024 * MEBIBYTE),
    memoryIntervalMs: 250,
    lineLimitBytes: positive('lineLimitBytes', options.lineLimitBytes, 64 * MEBIBYTE),
  };
}

function positive(name: string, given: number | undefined, byDefault: number): number {
  const value = given ?? byDefault;
  if (typeof value === 'number' && value > 0) return value;
  throw new TypeError(`${name} must be a positive number; got ${String(value)}`);
}

/** How often an adapter is started before it is given up. */
const STARTS = 3;
/** How many of these may run into the time limit. */
const SLOW_STARTS = 2;
/** Milliseconds for an adapter to empty its buffers, once its input has ended. */
const FLUSH_GRACE = 1000;
/** Milliseconds after an answer, in which a second one that nothing had asked for would come. */
const SECOND_ANSWER = 10;

interface Start {
  readonly command: string;
  readonly options: CommandOptions;
  readonly limits: RunLimits;
  readonly probes: readonly Request[];
  /** Told of each run that is begun, also of one that comes to nothing. */
  readonly onRun: (run: Run) => void;
  readonly handlers: RunHandlers;
}

const EMPTY: Request = { input: '' };

/**
 * Starts an adapter and asks it for a text twice: the first answer shows that it is ready and does not buffer, the
 * second that it goes on. Each start asks for the next of the probes.
 * @throws TargetError when no start succeeds
 */
async function startAdapter(start: Start): Promise<{ readonly run: Run; readonly probe: Request }> {
  let slow = 0;
  for (let starts = 1; ; starts++) {
    const probe = start.probes[Math.min(starts, start.probes.length) - 1]!;
    const begun = await startOnce(start, probe);
    if ('run' in begun) return { run: begun.run, probe };
    if (begun.slow) slow++;
    if (begun.final || starts === STARTS || slow === SLOW_STARTS) {
      throw new TargetError(`The target "${start.command}" cannot be used: ${begun.why}${attempts(starts)}`);
    }
  }
}

function attempts(starts: number): string {
  return starts === 1 ? '' : ` (started ${starts} times)`;
}

/** A run, or why there is none: `final` if it would be the same again, `slow` if the time ran out. */
type Begun = { readonly run: Run } | { readonly why: string; readonly final?: true; readonly slow?: boolean };

function startOnce({ command, options, limits, onRun, handlers }: Start, probe: Request): Promise<Begun> {
  return new Promise((resolve) => {
    let answers = 0;
    let flushing = false;
    let settled = false;
    const settle = (begun: Begun): void => {
      settled = true;
      cancelFlush();
      resolve(begun);
    };
    const goOn = (): void => {
      // It may have failed meanwhile.
      if (settled) return;
      if (answers === 1) run.send(probe);
      else settle({ run });
    };
    const run = startRun(command, options, limits, {
      onDrain: handlers.onDrain,
      onAnswer: (answer) => {
        if (settled) handlers.onAnswer(answer);
        else if (flushing) {
          void run.kill();
          settle({ why: tooLate(limits.startLimitMs), final: true });
        } else {
          answers++;
          setTimeout(goOn, SECOND_ANSWER);
        }
      },
      onEnd: (failure) => {
        if (settled) handlers.onEnd(failure);
        else settle({ why: whyNot(failure, answers, run.banner()), slow: failure?.kind === 'hang' });
      },
    });
    // A little before the time is out, the input ends: whoever keeps answers in a buffer gives them away now.
    const cancelFlush = after(limits.startLimitMs - Math.min(FLUSH_GRACE, limits.startLimitMs / 2), () => {
      flushing = true;
      run.endInput();
    });
    // Killed from outside, it tells nothing more.
    void run.ended.then(() => settle({ why: 'it was stopped', final: true }));
    onRun(run);
    run.send(probe);
  });
}

function tooLate(limit: number): string {
  return (
    'it answers only once its input has ended: it has to flush its output after each line ' +
    `(or it takes more than ${limit / 1000} s to start)`
  );
}

function whyNot(failure: Failure | null, answers: number, banner: readonly string[]): string {
  const written = banner.length === 0 ? '' : `; it wrote: ${banner.join('\n')}`;
  const [before, goesOn] =
    answers === 0 ? ['before it had answered', ''] : ['after one answer', '; an adapter reads on until its input ends'];
  switch (failure?.kind) {
    case undefined:
      return `it ended ${before}${goesOn}`;
    case 'crash':
      return `it ended ${before}${goesOn}: ${failure.detail}${written}`;
    case 'hang':
      return `it did not answer within ${failure.limitMs / 1000} s${written}`;
    case 'memory':
      return `it took more than ${failure.limitBytes} bytes of memory ${before}`;
    case 'garbage':
      return `it wrote ${failure.detail}`;
  }
}
