import { PegwireError } from '../text/errors.js';
import { visible } from '../text/visible.js';

/** What JSON.parse has against a line, with its place where the engine tells it. */
export function notJson(thrown: SyntaxError, text: string, help: string): PegwireError {
  const position = /position ([0-9]+)/.exec(thrown.message);
  const at = position === null ? null : Number(position[1]);
  return new PegwireError({
    code: 'not-json',
    message: `The line is no JSON: ${visible(thrown.message)}`,
    help,
    text,
    span: at === null ? null : { start: at, end: at + 1 },
  });
}
