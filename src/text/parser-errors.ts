/** Errors common to all parsers, and the step from a generated parser, which throws, to a result. */
import { ParseError, type ParseErrorDetails, type Result } from './errors.js';
import type { Span } from './span.js';
import { codePointName, visibleCodePoint } from './visible.js';

function limitHelp(message: string): string {
  const [what = ''] = /^Nes|digits|items|fields/.exec(message) ?? [];
  const option = { Nes: 'Depth', digits: 'Digits', items: 'Items', fields: 'Items' }[what] ?? 'Length';
  return `raise max${option} for senders that are trusted`;
}

function tooLong(code: string, text: string, maxLength: number): ParseErrorDetails {
  const message = `The text has ${text.length} characters; at most ${maxLength} are read`;
  return limitError(code, text, message, { start: maxLength, end: text.length });
}

/** @param message one sentence, without its full stop */
export function limitError(
  code: string,
  text: string,
  message: string,
  span: Span,
  help = limitHelp(message),
): ParseErrorDetails {
  return { code, reason: 'limit', text, span, message: `${message}.`, help };
}

export interface ParserErrors<Settings> {
  readonly notAStringCode: string;
  readonly limitCode: string;
  /** Converts the error of the generated parser; `null` for anything else. */
  readonly convert: (thrown: unknown, text: string, settings: Settings) => ParseErrorDetails | null;
}

export function attemptWithoutStackTrace<Tree, Settings>(
  text: string,
  settings: Settings,
  read: (text: string, settings: Settings) => Tree,
): Result<Tree, unknown> {
  // The parser's error is never shown, and most of its cost is the stack trace.
  const stackTraceLimit = setStackTraceLimit(0);
  try {
    return { ok: true, value: read(text, settings) };
  } catch (error) {
    return { ok: false, error };
  } finally {
    setStackTraceLimit(stackTraceLimit);
  }
}

/** Also converts errors. Anything else that is thrown is a defect, and passes through. */
export function attempt<Tree, Settings extends { readonly maxLength: number }>(
  text: string,
  settings: Settings,
  read: (text: string, settings: Settings) => Tree,
  refusals: ParserErrors<Settings>,
): Result<Tree, ParseError> {
  let refusal: ParseErrorDetails | null;
  if (typeof text !== 'string') {
    const found = text === null ? 'null' : typeof text;
    refusal = { code: refusals.notAStringCode, reason: 'not-a-string', message: `Expected a string, found ${found}.` };
  } else if (text.length > settings.maxLength) refusal = tooLong(refusals.limitCode, text, settings.maxLength);
  else {
    const result = attemptWithoutStackTrace(text, settings, read);
    if (result.ok) return result;
    refusal = refusals.convert(result.error, text, settings);
    // Run again to throw the defect with its stack trace.
    if (refusal === null) return { ok: true, value: read(text, settings) };
  }
  // Created here, since each call on the stack adds to the time.
  return { ok: false, error: new ParseError(refusal) };
}

const errors = Error as { stackTraceLimit?: unknown };
let isLimitWritable = typeof errors.stackTraceLimit === 'number';

/** Sets the stack trace limit and returns the one before. Does nothing where engines or hosts forbid it. */
function setStackTraceLimit(limit: unknown): unknown {
  const before = errors.stackTraceLimit;
  try {
    if (isLimitWritable) errors.stackTraceLimit = limit;
  } catch {
    isLimitWritable = false;
  }
  return before;
}

/** What a generated parser says it could have read, in Peggy's terms. */
export interface Expectation {
  readonly type: 'literal' | 'class' | 'any' | 'end' | 'other';
  readonly text?: string;
  readonly description?: string;
}

/** Sorted and unique, quoted literals before names. */
export function expectedPhrases(expectations: readonly Expectation[]): string[] {
  const phrases = new Set<string>();
  for (const { type, text, description } of expectations) {
    if (type === 'literal') phrases.add(`"${text}"`);
    else if (type === 'other') phrases.add(description!);
    else if (type === 'end') phrases.add('end of input');
  }
  return [...phrases].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function rank(phrase: string): number {
  if (phrase.startsWith('"')) return 0;
  return phrase === 'end of input' ? 2 : 1;
}

/** The code point at `offset`; `null` at the end. */
export function characterAt(text: string, offset: number): string | null {
  const code = text.codePointAt(offset);
  return code === undefined ? null : String.fromCodePoint(code);
}

/** `Expected "|", "}" or text, found ":".` */
export function expectedButFound(expected: readonly string[], found: string | null): string {
  return `Expected ${oneOf(expected)}, found ${characterName(found)}.`;
}

/** `a, b or c` */
export function oneOf(phrases: readonly string[]): string {
  if (phrases.length <= 1) return phrases[0] ?? 'something else';
  return `${phrases.slice(0, -1).join(', ')} or ${phrases.at(-1)}`;
}

/** Names a character: quoted, with its number if its looks are ambiguous. */
export function characterName(character: string | null): string {
  if (character === null) return 'end of input';
  if (character === ' ') return 'a space';
  if (character === '\t') return 'a tab';
  if (character === '\n' || character === '\r') return 'a line end';
  const code = character.codePointAt(0)!;
  if (code > 0x20 && code < 0x7f) return `"${character}"`;
  const shown = visibleCodePoint(code);
  return shown === character ? `"${character}" (${codePointName(code)})` : codePointName(code);
}
