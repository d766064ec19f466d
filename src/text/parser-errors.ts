/** Errors common to all parsers, and the conversion of the errors of a generated parser. */
import { ParseError, type ParseErrorDetails, type Result } from './errors.js';
import type { Span } from './span.js';
import { codePointName, visibleCodePoint } from './visible.js';

function limitHelp(message: string): string {
  const [subject = ''] = /^Nes|digits|items|fields/.exec(message) ?? [];
  const option = { Nes: 'Depth', digits: 'Digits', items: 'Items', fields: 'Items' }[subject] ?? 'Length';
  return `raise max${option} if you trust the sender`;
}

function tooLong(code: string, text: string, maxLength: number): ParseErrorDetails {
  const message = `The text has ${text.length} characters; the limit is ${maxLength}`;
  return limitError(code, text, message, { start: maxLength, end: text.length });
}

/** Creates the details of an error with reason `limit`. @param message one sentence, without its full stop */
export function limitError(
  code: string,
  text: string,
  message: string,
  span: Span,
  help = limitHelp(message),
): ParseErrorDetails {
  return { code, reason: 'limit', text, span, message: `${message}.`, help };
}

/** The errors of one language. */
export interface ParserErrors<Settings> {
  /** The code for a value that is not a string. */
  readonly notAStringCode: string;
  /** The code for a text that is too long. */
  readonly limitCode: string;
  /** Converts the error of the generated parser; `null` for anything else. */
  readonly convert: (error: unknown, text: string, settings: Settings) => ParseErrorDetails | null;
}

/** Calls a parser within its limits, and converts its errors. Anything else that it throws is a defect, and is thrown again. */
export function attempt<Tree, Settings extends { readonly maxLength: number }>(
  text: string,
  settings: Settings,
  tryParse: (text: string, settings: Settings) => Result<Tree, unknown>,
  errors: ParserErrors<Settings>,
): Result<Tree, ParseError> {
  let details: ParseErrorDetails | null;
  if (typeof text !== 'string') {
    const found = text === null ? 'null' : typeof text;
    details = { code: errors.notAStringCode, reason: 'not-a-string', message: `Expected a string, found ${found}.` };
  } else if (text.length > settings.maxLength) details = tooLong(errors.limitCode, text, settings.maxLength);
  else {
    let error: unknown;
    try {
      const result = tryParse(text, settings);
      if (result.ok) return result;
      error = result.error;
    } catch (thrown) {
      error = thrown;
    }
    details = errors.convert(error, text, settings);
    if (details === null) throw error;
  }
  // Created here, where the stack is shallow: each frame adds to the time.
  return { ok: false, error: new ParseError(details) };
}

/** An alternative that a generated parser expected, in Peggy's terms. */
export interface Expectation {
  readonly type: 'literal' | 'class' | 'any' | 'end' | 'other';
  readonly text?: string;
  readonly description?: string;
}

/** Converts expectations to unique, sorted phrases: quoted literals first, then names. */
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

/** Returns the character at `offset`, or `null` at the end. */
export function characterAt(text: string, offset: number): string | null {
  const code = text.codePointAt(offset);
  return code === undefined ? null : String.fromCodePoint(code);
}

/** Formats a message: `Expected "|", "}" or text, found ":".` */
export function expectedButFound(expected: readonly string[], found: string | null): string {
  return `Expected ${oneOf(expected)}, found ${characterName(found)}.`;
}

/** Joins phrases: `a, b or c`. */
export function oneOf(phrases: readonly string[]): string {
  if (phrases.length <= 1) return phrases[0] ?? 'something else';
  return `${phrases.slice(0, -1).join(', ')} or ${phrases.at(-1)}`;
}

/** Returns a character in quotes, with its code point if its glyph is ambiguous. */
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
