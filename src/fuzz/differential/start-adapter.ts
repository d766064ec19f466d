/** Starting an adapter: it counts as started once it has answered twice. */
import {
  type CommandOptions,
  type Failure,
  type Run,
  type RunHandlers,
  type RunLimits,
  startRun,
} from './adapter-run.js';
import type { Request } from './target.js';
import { TargetError } from './target-error.js';

/** How often an adapter is started before it is given up. */
const STARTS = 3;
/** How many of these may run into the time limit. */
const SLOW_STARTS = 2;
/** Milliseconds for an adapter to empty its buffers, once its input has ended. */
const FLUSH_GRACE = 1000;
/** Milliseconds after an answer, in which a second one that nothing had asked for would come. */
const SECOND_ANSWER = 10;

/** What is needed to start an adapter. */
export interface Start {
  readonly command: string;
  readonly options: CommandOptions;
  readonly limits: RunLimits;
  /** What to ask first, start after start; at least one. */
  readonly probes: readonly Request[];
  /** Told of each run that is begun, also of one that comes to nothing. */
  readonly onRun: (run: Run) => void;
  /** Get what comes after the second answer. */
  readonly handlers: RunHandlers;
}

/** What every adapter is asked first. */
export const EMPTY: Request = { input: '' };

/** A run that answers, and what it was asked to show that. */
export interface Started {
  readonly run: Run;
  readonly probe: Request;
}

/**
 * Starts an adapter. It is asked for a text twice, one request after the other: the first answer shows that it is ready and keeps
 * nothing back in a buffer, the second that it goes on after the first. What it answers does not matter. A program may fail on
 * one text and be fine otherwise, so each start asks for the next of the probes.
 *
 * @throws TargetError when no start succeeds
 */
export async function startAdapter(start: Start): Promise<Started> {
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
      clearTimeout(flush);
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
          settle({ why: tooLate(limits.startLimit), final: true });
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
    const flush = setTimeout(
      () => {
        flushing = true;
        run.endInput();
      },
      limits.startLimit - Math.min(FLUSH_GRACE, limits.startLimit / 2),
    );
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
      return `it did not answer within ${failure.limit / 1000} s${written}`;
    case 'memory':
      return `it took more than ${failure.limit} bytes of memory ${before}`;
    case 'garbage':
      return `it wrote ${failure.detail}`;
  }
}
