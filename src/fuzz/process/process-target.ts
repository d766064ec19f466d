import { within } from '../../async/abort.js';
import { after } from '../../async/timers.js';
import { type Failure, type Request, type Target, TargetError } from '../differential/target.js';
import { type CommandOptions, type Run, type RunHandlers, type RunLimits, startRun } from './adapter-run.js';
import { createSchedule } from './schedule.js';

/** The options of {@link processTarget}. */
export interface ProcessOptions extends CommandOptions {
  /** The name for reports. @default the command */
  readonly name?: string | undefined;
  /** The number of requests that may be unanswered at the same time. @default 64 */
  readonly maxInFlight?: number | undefined;
  /** Milliseconds for one text, measured from when all texts before it are answered; `Infinity` for no limit. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds from the start of the program until its first answer; `Infinity` for no limit. @default 30000 */
  readonly startTimeoutMs?: number | undefined;
  /** Bytes of resident memory for the program and its children. Not enforced on Windows. @default 1073741824 (1 GiB) */
  readonly maxMemoryBytes?: number | undefined;
  /** Bytes of one answer. @default 67108864 (64 MiB) */
  readonly maxLineBytes?: number | undefined;
}

const MEBIBYTE = 2 ** 20;
/** Milliseconds that a program may take to end by itself after its input has ended. */
const CLOSE_GRACE_MS = 1000;

/**
 * Makes a target of a program: an *adapter*, which reads one request per line and writes one answer per line. The
 * protocol is in `src/fuzz/README.md`.
 *
 * The program is started at the first `read()`, and again after each failure. Its memory is measured four times a
 * second, so it may exceed the limit for a moment. Close the target when you are done: it keeps this process alive.
 *
 * @param command a shell command, with arguments
 * @throws TypeError if a limit is not a positive number
 * @example
 * const target = processTarget('python3 adapter.py', { timeoutMs: 2000 });
 * const outcome = await target.read({ input: '@a>req:x{}', dialect: 'strict' });
 * await target.close();
 */
export function processTarget(command: string, options: ProcessOptions = {}): Target {
  const limits = limitsOf(options);
  const schedule = createSchedule(positive('maxInFlight', options.maxInFlight, 64));
  const running = new Set<Run>();
  let run: Run | null = null;
  let starting = false;
  /** `true` while the program's input buffer is full. */
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
      // One at a time: two would share the machine and the files that they write.
      await Promise.all([...running].map(({ ended }) => ended));
      if (broken !== null) return;
      const probes = known === null ? [EMPTY, ...schedule.ahead(2)] : [known];
      const started = await startAdapter({ command, options, limits, probes, onRun, handlers });
      run = started.run;
      known = started.probe;
      full = false;
    } catch (error) {
      giveUp(
        error instanceof TargetError
          ? error
          : new TargetError(`The target "${command}" cannot be started: ${String(error)}`),
      );
    }
    starting = false;
    pump();
  };
  const onRun = (started: Run): void => {
    running.add(started);
    void started.ended.then(() => running.delete(started));
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
    giveUp(new TargetError('The target is closed; create a new one'));
    for (const one of running) one.endInput();
    await within(CLOSE_GRACE_MS, Promise.all([...running].map(({ ended }) => ended)));
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
    timeoutMs: positive('timeoutMs', options.timeoutMs, 5000),
    startTimeoutMs: positive('startTimeoutMs', options.startTimeoutMs, 30_000),
    maxMemoryBytes: positive('maxMemoryBytes', options.maxMemoryBytes, 1024 * MEBIBYTE),
    memoryIntervalMs: 250,
    maxLineBytes: positive('maxLineBytes', options.maxLineBytes, 64 * MEBIBYTE),
  };
}

function positive(name: string, value: number | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (typeof value === 'number' && value > 0) return value;
  throw new TypeError(`${name} must be a positive number; got ${String(value)}`);
}

/** Starts of an adapter before it is given up. */
const MAX_STARTS = 3;
/** Starts that may run into the time limit. */
const MAX_SLOW_STARTS = 2;
/** Milliseconds for an adapter to flush its buffers after its input has ended. */
const FLUSH_GRACE_MS = 1000;
/** Milliseconds after an answer in which a second answer to the same request would arrive. */
const SPURIOUS_ANSWER_MS = 10;

interface Start {
  readonly command: string;
  readonly options: CommandOptions;
  readonly limits: RunLimits;
  readonly probes: readonly Request[];
  /** Called with each run that is started, whether it succeeds or not. */
  readonly onRun: (run: Run) => void;
  readonly handlers: RunHandlers;
}

const EMPTY: Request = { input: '' };

/**
 * Starts an adapter and sends it one text twice. The first answer shows that it is ready and flushes its output, the
 * second that it continues to read. Each attempt uses the next of the probes.
 *
 * @throws TargetError if no attempt succeeds
 */
async function startAdapter(start: Start): Promise<{ readonly run: Run; readonly probe: Request }> {
  let slow = 0;
  for (let starts = 1; ; starts++) {
    const probe = start.probes[Math.min(starts, start.probes.length) - 1]!;
    const result = await startOnce(start, probe);
    if ('run' in result) return { run: result.run, probe };
    if (result.slow) slow++;
    if (result.final || starts === MAX_STARTS || slow === MAX_SLOW_STARTS) {
      throw new TargetError(`The target "${start.command}" cannot be used: ${result.why}${attemptsNote(starts)}`);
    }
  }
}

function attemptsNote(starts: number): string {
  return starts === 1 ? '' : ` (started ${starts} times)`;
}

/** A run, or the reason that there is none: `final` if another attempt would fail in the same way, `slow` if the time limit was reached. */
type StartResult = { readonly run: Run } | { readonly why: string; readonly final?: true; readonly slow?: boolean };

function startOnce({ command, options, limits, onRun, handlers }: Start, probe: Request): Promise<StartResult> {
  return new Promise((resolve) => {
    let answers = 0;
    let flushing = false;
    let settled = false;
    const settle = (result: StartResult): void => {
      settled = true;
      cancelFlush();
      resolve(result);
    };
    const proceed = (): void => {
      // The run may have failed in the meantime.
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
          settle({ why: unflushedOutput(limits.startTimeoutMs), final: true });
        } else {
          answers++;
          setTimeout(proceed, SPURIOUS_ANSWER_MS);
        }
      },
      onEnd: (failure) => {
        if (settled) handlers.onEnd(failure);
        else settle({ why: startFailure(failure, answers, run.banner()), slow: failure?.kind === 'hang' });
      },
    });
    // The input ends shortly before the time limit: an adapter that buffers its answers now writes them.
    const cancelFlush = after(limits.startTimeoutMs - Math.min(FLUSH_GRACE_MS, limits.startTimeoutMs / 2), () => {
      flushing = true;
      run.endInput();
    });
    // A run that is killed reports nothing.
    void run.ended.then(() => settle({ why: 'it was closed', final: true }));
    onRun(run);
    run.send(probe);
  });
}

function unflushedOutput(limit: number): string {
  return (
    'it answers only after its input has ended. Flush the output after each line ' +
    `(or it needs more than ${limit / 1000} s to start; raise startTimeoutMs)`
  );
}

function startFailure(failure: Failure | null, answers: number, banner: readonly string[]): string {
  const written = banner.length === 0 ? '' : `; it wrote: ${banner.join('\n')}`;
  const [before, expectation] =
    answers === 0
      ? ['before its first answer', '']
      : ['after one answer', '; an adapter must read until its input ends'];
  switch (failure?.kind) {
    case undefined:
      return `it ended ${before}${expectation}`;
    case 'crash':
      return `it ended ${before}${expectation}: ${failure.detail}${written}`;
    case 'hang':
      return `it did not answer within ${failure.timeoutMs / 1000} s${written}`;
    case 'memory':
      return `it used more than ${failure.maxBytes} bytes of memory ${before}`;
    case 'garbage':
      return `it wrote an invalid answer: ${failure.detail}`;
  }
}
