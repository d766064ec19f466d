/** Refusals that every parser knows, whatever its language: no text, too long a text, a limit that was reached. */
import { ParseError } from './errors.js';
import type { Span } from './span.js';

const LIMIT_HELP = 'the limits can be raised for senders that are trusted';

export function notAString(code: string, value: unknown): ParseError {
  const found = value === null ? 'null' : typeof value;
  return new ParseError({ code, reason: 'not-a-string', message: `Expected a string, found ${found}.` });
}

/** A text beyond `maxLength`, which was not looked at. */
export function tooLong(code: string, text: string, maxLength: number): ParseError {
  const message = `The text has ${text.length} characters; at most ${maxLength} are read`;
  return beyondLimit(code, text, message, { start: maxLength, end: text.length });
}

/** @param message one sentence, without its full stop */
export function beyondLimit(code: string, text: string, message: string, span: Span, help = LIMIT_HELP): ParseError {
  return new ParseError({ code, reason: 'limit', text, span, message: `${message}.`, help });
}
