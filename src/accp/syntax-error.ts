/** The errors of the parser, with hints, and the error of the printer. */
import { type ParseErrorDetails, PrintError } from '../text/errors.js';
import { characterAt, type Expectation, expectedButFound, expectedPhrases } from '../text/parser-errors.js';
import type { Span } from '../text/span.js';

/** PARSE_ERROR (draft-benzing-accp-00, section 3.6). */
export const PARSE_ERROR = 'E1001';
/** INVALID_TYPE (section 3.6). */
const INVALID_TYPE = 'E1004';

const DELIMITERS = '@>:{}[]|$,~\\';

export function duplicateKey(text: string, message: string, span: Span): ParseErrorDetails {
  const help = 'remove one of the two';
  return { code: PARSE_ERROR, reason: 'duplicate-key', text, span, message: `${message}.`, help };
}

/** @param expectations the tokens expected at `offset`, computed when the message is read */
export function syntaxError(
  text: string,
  offset: number,
  expectations: () => readonly Expectation[],
  lenient: boolean,
): ParseErrorDetails {
  const found = characterAt(text, offset);
  return {
    code: PARSE_ERROR,
    reason: 'syntax',
    text,
    span: { start: offset, end: offset + (found?.length ?? 0) },
    explain: () => {
      const expected = readable(expectedPhrases(expectations()), text, offset);
      const message = expectedButFound(expected, found);
      return { message, expected, found, help: syntaxHelp(text, offset, expected, lenient) };
    },
  };
}

export function unprintable(path: string, message: string): PrintError {
  return new PrintError({ code: INVALID_TYPE, path, message });
}

function readable(phrases: readonly string[], text: string, offset: number): string[] {
  // Escapes are implied by text.
  const rest = phrases.filter((phrase) => phrase !== '"\\"');
  // One phrase replaces all tokens that can begin a value.
  if (rest.includes('boolean')) return [...rest.filter((phrase) => !VALUE_STARTS.has(phrase)), 'a value'];
  // The lexer ends a number or keyword where it could continue as text.
  if (
    rest.some((phrase) => phrase === '"}"' || phrase === '"]"') &&
    !rest.includes('text') &&
    endsLexeme(text, offset)
  ) {
    return [...rest, 'text'];
  }
  return rest;
}

const VALUE_STARTS: ReadonlySet<string> = new Set([
  ...['"$"', '"["', '"{"', '"~"', '"@"'],
  ...['boolean', 'number', 'text'],
]);

/** Returns `true` if a plain lexeme, not a reference or mention, ends at `offset`. */
function endsLexeme(text: string, offset: number): boolean {
  let start = offset;
  while (start > 0 && SAFE_CHAR.test(text[start - 1]!)) start--;
  return start < offset && ':,['.includes(text[start - 1] ?? '');
}

const SAFE_CHAR = /[!-#%-+\--9;-=?A-Z^-z]/;

function syntaxHelp(text: string, offset: number, expected: readonly string[], lenient: boolean): string | undefined {
  const found = text[offset];
  const expects = (phrase: string): boolean => expected.includes(phrase);

  if (expects('delimiter')) return `write a backslash only before one of ${[...DELIMITERS].join(' ')}`;
  if (found === undefined) return offset === 0 ? 'the text is empty' : 'the frame ends too early';
  if (offset === 0 && /^[A-Z][A-Z0-9_-]*\|/.test(text)) return 'this looks like an AACP packet';
  if (' \t\r\n'.includes(found)) {
    if (offset === 0 || expects('end of input')) return 'a frame is one line without white space around it';
    if (offset < bodyStart(text)) return 'a frame cannot contain white space';
    return 'a frame cannot contain white space; in a value, write "_" or another visible character for a space';
  }
  if (found < ' ' || found === '\x7f') return 'a frame cannot contain control characters';
  if (found > '~') return 'a frame can contain visible ASCII only';
  if (offset < bodyStart(text)) return undefined;
  if (expects('end of input')) return 'parse one frame at a time; nothing can follow it';
  if (expects('key') && found === ':') return 'a key is missing before the colon';
  if (expects('a value')) {
    if (found === '@') return mentionHelp(text, offset, lenient);
    if ('}|,]'.includes(found)) return 'a value cannot be empty: omit the key, or write "~" for null';
  }
  if (found === ',' && expects('"|"')) return 'separate parameters by "|"; inside a value, write "\\,"';
  if (found === '|' && expects('","') && expects('"]"')) return 'separate metadata and array items by ","';
  if (found === ':' && expects('","') && expects('"]"') && !lenient) {
    return 'escape the colon ("\\:") or parse in the lenient dialect, which allows keyed items';
  }
  if ('@>:$~{['.includes(found)) return `inside a value, write "\\${found}"`;
  return undefined;
}

/** Returns the start of the payload, or an offset beyond the text. */
function bodyStart(text: string): number {
  const at = text.indexOf('{');
  return at < 0 ? text.length : at;
}

/** Returns the hint for a mention in the strict dialect. */
function mentionHelp(text: string, offset: number, lenient: boolean): string {
  const [mention] = /^@[A-Za-z0-9_-]+(?::[A-Za-z0-9_]+)?(?=[|},\]])/.exec(text.slice(offset, offset + 80)) ?? [];
  if (mention === undefined || lenient) return 'inside a value, write "\\@"';
  return `escape it ("${mention.replace(/[@:]/g, '\\$&')}") or parse in the lenient dialect`;
}
