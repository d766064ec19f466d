import { anyText } from '../../text/visible.js';
import { checkAnswer } from './adapter-lines.js';
import type { Answer, Outcome, Request, Target } from './target.js';

export interface FunctionOptions {
  /** Milliseconds for an answer that is promised. @default 5000 */
  readonly timeLimit?: number | undefined;
}

/**
 * A function as an implementation under test. `true` and `false` stand for answers that say no more than that. What it throws
 * is a crash, what is no answer is garbage. A promise that is not kept within
 * the time limit is a hang; a function that does not return is not stopped: that takes a program of its own.
 *
 * @example
 * functionTarget('split', ({ input }) => input.split('|').length > 1)
 */
export function functionTarget(
  name: string,
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
  { timeLimit = 5_000 }: FunctionOptions = {},
): Target {
  if (typeof fn !== 'function') throw new TypeError(`The target ${name} is no function`);
  return { name, read: (request) => inTime(outcomeOf(fn, request), timeLimit), close: async () => {} };
}

/** A promise that is not kept in time is a hang; what comes of it later is dropped. */
async function inTime(outcome: Promise<Outcome>, limit: number): Promise<Outcome> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'hang', limit }), limit);
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function outcomeOf(
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
  request: Request,
): Promise<Outcome> {
  let given: unknown;
  try {
    given = await fn(request);
  } catch (thrown) {
    return { kind: 'crash', detail: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : anyText(thrown) };
  }
  const reading = checkAnswer(typeof given === 'boolean' ? { ok: given } : given);
  return 'problem' in reading
    ? { kind: 'garbage', detail: reading.problem }
    : { kind: 'answer', answer: reading.answer };
}
