/** Errors of ACCP's parser, with what to do about them; and the error of its printer. */
import { type ParseErrorDetails, PrintError } from '../text/errors.js';
import { characterAt, type Expectation, expectedButFound, phrasesOf } from '../text/refusals.js';
import type { Span } from '../text/span.js';

/** PARSE_ERROR: the text is not a frame (draft-benzing-accp-00, section 3.6). */
export const PARSE_ERROR = 'E1001';
/** INVALID_TYPE: a tree holds what a frame cannot say (section 3.6). */
const INVALID_TYPE = 'E1004';

const DELIMITERS = '@>:{}[]|$,~\\';

/** A text that is well-formed but holds a key twice in one list. */
export function duplicateKey(text: string, message: string, span: Span): ParseErrorDetails {
  const help = 'keep one of the two';
  return { code: PARSE_ERROR, reason: 'duplicate-key', text, span, message: `${message}.`, help };
}

/** @param expectations what the grammar expects at `offset`; asked for when somebody reads the error's words */
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
      const expected = readable(phrasesOf(expectations()), text, offset);
      const message = expectedButFound(expected, found);
      return { message, expected, found, help: syntaxHelp(text, offset, expected, lenient) };
    },
  };
}

export function unprintable(path: string, message: string): PrintError {
  return new PrintError({ code: INVALID_TYPE, path, message });
}

/** What the grammar expects, in words that say no more than a reader needs. */
function readable(phrases: readonly string[], text: string, offset: number): string[] {
  // Escapes go without saying where text is expected.
  const rest = phrases.filter((phrase) => phrase !== '"\\"');
  // All that can begin a value is one word.
  if (rest.includes('boolean')) return [...rest.filter((phrase) => !VALUE_STARTS.has(phrase)), 'a value'];
  // A number or keyword is read to its end; the grammar does not tell that it could have gone on as text.
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

/** Whether a plain lexeme (no reference, no mention) ends at `offset`. */
function endsLexeme(text: string, offset: number): boolean {
  let start = offset;
  while (start > 0 && SAFE_CHAR.test(text[start - 1]!)) start--;
  return start < offset && ':,['.includes(text[start - 1] ?? '');
}

const SAFE_CHAR = /[!-#%-+\--9;-=?A-Z^-z]/;

/** What to do about it, where we know. */
function syntaxHelp(text: string, offset: number, expected: readonly string[], lenient: boolean): string | undefined {
  const found = text[offset];
  const expects = (phrase: string): boolean => expected.includes(phrase);

  if (expects('delimiter')) return `a backslash stands only before one of ${[...DELIMITERS].join(' ')}`;
  if (found === undefined) return offset === 0 ? 'the text is empty' : 'the frame is cut off here';
  if (offset === 0 && /^[A-Z][A-Z0-9_-]*\|/.test(text)) return 'this looks like an AACP packet';
  if (' \t\r\n'.includes(found)) {
    if (offset === 0 || expects('end of input')) return 'a frame is one line without white space around it';
    if (offset < bodyStart(text)) return 'a frame holds no white space';
    return 'a frame holds no white space; in a value, write "_" or another visible character for a space';
  }
  if (found < ' ' || found === '\x7f') return 'a frame holds no control characters';
  if (found > '~') return 'only visible ASCII can stand in a frame';
  if (offset < bodyStart(text)) return undefined;
  if (expects('end of input')) return 'a text is one frame; nothing can follow it';
  if (expects('key') && found === ':') return 'a key is missing before the colon';
  if (expects('a value')) {
    if (found === '@') return mentionHelp(text, offset, lenient);
    if ('}|,]'.includes(found)) return 'a value cannot be empty: leave the key out, or write "~" for null';
  }
  if (found === ',' && expects('"|"')) return 'parameters are parted by "|"; inside a value, write "\\,"';
  if (found === '|' && expects('","') && expects('"]"')) return 'metadata and array items are parted by ","';
  if (found === ':' && expects('","') && expects('"]"') && !lenient) {
    return 'escape the colon ("\\:") or read with the lenient dialect, which knows keyed items';
  }
  if ('@>:$~{['.includes(found)) return `inside a value, write "\\${found}"`;
  return undefined;
}

/** Where the payload begins; beyond the text when it never does. */
function bodyStart(text: string): number {
  const at = text.indexOf('{');
  return at < 0 ? text.length : at;
}

/** A mention in the strict dialect: what would be read elsewhere is told as such. */
function mentionHelp(text: string, offset: number, lenient: boolean): string {
  const [mention] = /^@[A-Za-z0-9_-]+(?::[A-Za-z0-9_]+)?(?=[|},\]])/.exec(text.slice(offset, offset + 80)) ?? [];
  if (mention === undefined || lenient) return 'inside a value, write "\\@"';
  return `escape it ("${mention.replace(/[@:]/g, '\\$&')}") or read with the lenient dialect`;
}
