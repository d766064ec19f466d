import { anyText } from '../../text/visible.js';
import { checkAnswer } from './adapter-lines.js';
import type { Answer, Outcome, Request, Target } from './target.js';

/**
 * A function as an implementation under test. `true` and `false` stand for answers that say no more than that. What it throws
 * is a crash, what is no answer is garbage. One that never returns is not stopped: that takes a program of its own.
 *
 * @example
 * functionTarget('split', ({ input }) => input.split('|').length > 1)
 */
export function functionTarget(
  name: string,
  fn: (request: Request) => Answer | boolean | Promise<Answer | boolean>,
): Target {
  return { name, read: (request) => outcomeOf(fn, request), close: async () => {} };
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
