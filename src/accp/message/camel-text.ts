/**
 * Any text in visible ASCII, in about as many tokens as the text itself: spaces go, and the words after them are capitalized.
 *
 * `Refresh token, not revoked. See RFC 6749.` is written `RefreshToken;NotRevoked.See-RFC-6749.`
 *
 * | written                                               | reads as                           |
 * | ----------------------------------------------------- | ---------------------------------- |
 * | a capital after a small letter, a digit or `% , ; < )` | a space and the small letter       |
 * | a capital after `. ! ?`                               | a space and the capital            |
 * | a digit after a small letter                          | a space and the digit              |
 * | `-`                                                   | a space                            |
 * | `;` `,` `<` `:`                                       | `,` `;` `:` `<`                    |
 * | `=n` `=t`                                             | a line feed, a tab                 |
 * | `=(e9)` `=(4f1a8bdd)`                                 | the characters of these code units |
 * | `=` and any other character                           | that character                     |
 *
 * Everything else reads as itself. "After" is about what is written, not about what it reads as; an escape other than that of
 * a digit lets nothing follow.
 */
import {
  BEGUN,
  CAPITAL,
  CLOSING,
  DIGIT,
  ESCAPED,
  FOREIGN,
  HYPHEN,
  JOINED,
  kindOf,
  NOTHING,
  PLAIN,
  SMALL,
  SPACE,
  STOP,
  SWAPPED,
  SWAPS,
  traceOf,
} from './camel-kinds.js';
import { fromHex, toHex } from './hex.js';

/** A text that cannot be read as camel text. */
export class BadCamelText extends Error {}

/** Any text, lone surrogates and the empty one included, as visible ASCII. */
export function toCamelText(text: string): string {
  let out = '';
  /** From here on nothing was changed yet. */
  let start = 0;
  let before = NOTHING;
  for (let at = 0, end = 0; at < text.length; at = end) {
    const code = text.charCodeAt(at);
    end = at + 1;
    let written: string;
    switch (kindOf(code)) {
      case CAPITAL:
        if (before === NOTHING) continue;
        written = `=${text[at]}`;
        before = NOTHING;
        break;
      case DIGIT:
        if (before !== SMALL) {
          before = CLOSING;
          continue;
        }
        written = `=${text[at]}`;
        before = CLOSING;
        break;
      case ESCAPED:
        written = `=${text[at]}`;
        before = NOTHING;
        break;
      case SWAPPED:
        written = SWAPS[text[at]!]!;
        before = traceOf(written.charCodeAt(0));
        break;
      case SPACE: {
        const joined = joins(before, kindOf(text.charCodeAt(end)));
        written = joined ? text[end]!.toUpperCase() : '-';
        before = joined ? traceOf(written.charCodeAt(0)) : NOTHING;
        if (joined) end++;
        break;
      }
      case FOREIGN:
        end = endOfForeign(text, at);
        written = escapeOf(text.slice(at, end));
        before = NOTHING;
        break;
      default:
        before = traceOf(code);
        continue;
    }
    out += text.slice(start, at) + written;
    start = end;
  }
  return start === 0 ? text : out + text.slice(start);
}

/** Whether a space before a character of this kind need not be written. */
function joins(before: number, next: number): boolean {
  if (next === SMALL) return before === SMALL || before === CLOSING;
  return next === CAPITAL ? before === STOP : next === DIGIT && before === SMALL;
}

/** Line feeds and tabs stand alone; other foreign characters together, with single spaces between them. */
function endOfForeign(text: string, start: number): number {
  let end = start + 1;
  if (isBreak(text.charCodeAt(start))) return end;
  for (;;) {
    const next = text.charCodeAt(end) === 0x20 ? end + 1 : end;
    if (next >= text.length || isBreak(text.charCodeAt(next)) || kindOf(text.charCodeAt(next)) !== FOREIGN) return end;
    end = next + 1;
  }
}

function escapeOf(run: string): string {
  if (run === '\n') return '=n';
  return run === '\t' ? '=t' : `=(${toHex(run)})`;
}

function isBreak(code: number): boolean {
  return code === 0x0a || code === 0x09;
}

/**
 * What {@link toCamelText} was given. It reads more than that writes, wherever there is one way to read it.
 *
 * @param from where it begins in `text`
 * @throws BadCamelText on an escape that is cut off, or has bad digits
 */
export function fromCamelText(text: string, from = 0): string {
  let out = '';
  /** From here on nothing was changed yet. */
  let start = from;
  let before = NOTHING;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    // Most characters are small letters, and stand for themselves.
    if (kind === SMALL || kind === PLAIN) {
      before = traceOf(code);
      continue;
    }
    let read: string;
    let last = at;
    switch (kind) {
      case CAPITAL:
        if (before === NOTHING) continue;
        read = before === STOP ? BEGUN[code]! : JOINED[code]!;
        before = NOTHING;
        break;
      case DIGIT:
        if (before !== SMALL) {
          before = CLOSING;
          continue;
        }
        read = JOINED[code]!;
        before = CLOSING;
        break;
      case SWAPPED:
        read = SWAPS[text[at]!]!;
        before = traceOf(code);
        break;
      case ESCAPED:
        before = NOTHING;
        if (code === HYPHEN) {
          read = ' ';
          break;
        }
        last = endOfEscape(text, at) - 1;
        read = unescaped(text, at + 1, last + 1);
        if (kindOf(read.charCodeAt(0)) === DIGIT) before = CLOSING;
        break;
      default:
        before = NOTHING;
        continue;
    }
    out += text.slice(start, at) + read;
    start = last + 1;
    at = last;
  }
  return out + text.slice(start);
}

function endOfEscape(text: string, equals: number): number {
  if (equals + 1 >= text.length) throw new BadCamelText('an escape is cut off at the end of the text');
  if (text[equals + 1] !== '(') return equals + 2;
  const closing = text.indexOf(')', equals);
  if (closing < 0) throw new BadCamelText('an escape has no closing parenthesis');
  return closing + 1;
}

/** What an escape reads as, from behind its `=` on. */
function unescaped(text: string, start: number, end: number): string {
  if (end - start > 1) {
    const run = fromHex(text.slice(start + 1, end - 1));
    if (run === null) throw new BadCamelText('an escape holds bad hexadecimal digits');
    return run;
  }
  const character = text[start]!;
  if (character === 'n') return '\n';
  return character === 't' ? '\t' : character;
}
