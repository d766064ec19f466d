/** From text to tree. The only importer of the generated AACP parser. */
import { parse, SyntaxError as Refusal } from '../../generated/aacp.js';
import { resolveChoice } from '../text/choice.js';
import type { ParseError } from '../text/errors.js';
import { type Limits, resolveLimits } from '../text/limits.js';
import { beyondLimit, notAString, tooLong } from '../text/refusals.js';
import type { Result } from '../text/result.js';
import type { Packet } from './ast.js';
import { syntaxError } from './errors.js';

/**
 * `strict` is what a v1.1 writer may emit: no empty slots, no fields without a colon, no control characters, no white space
 * around tokens. `tolerant` splits any text into slots and trims them; the validator reads with it. Repeated keys stay in
 * the tree in both.
 */
export type Dialect = 'strict' | 'tolerant';

export interface ParseOptions extends Pick<Limits, 'maxLength' | 'maxItems'> {
  /** @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** Put a `span` (UTF-16 offsets) on the packet and its fields. @default false */
  readonly spans?: boolean | undefined;
}

/**
 * Reads one packet. A packet that parses is not yet valid: `validatePacket` checks what the draft demands of its fields.
 *
 * Source: draft-mackay-aacp-01, section 4.
 *
 * @throws ParseError with a code of the validator's (`empty-field`, `malformed-field`, `whitespace`, ...), or `bad-task`,
 *   `bad-dom`, `bad-key`
 * @throws TypeError on options that are none
 * @example
 * parsePacket('FETCH|HR|return:HR-Agent|p:1|aacp:1.1').fields[0].value // 'HR-Agent'
 */
export function parsePacket(text: string, options: ParseOptions = {}): Packet {
  const result = tryParsePacket(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Like {@link parsePacket}, but returns the error.
 *
 * @throws TypeError on options that are none
 * @example
 * const result = tryParsePacket(line, { dialect: 'tolerant' });
 */
export function tryParsePacket(text: string, options: ParseOptions = {}): Result<Packet, ParseError> {
  const { maxLength, maxItems } = resolveLimits(options);
  const dialect = resolveChoice('dialect', options.dialect, ['strict', 'tolerant']);
  if (typeof text !== 'string') return { ok: false, error: notAString('not-a-packet', text) };
  if (text.length > maxLength) return { ok: false, error: tooLong('limit', text, maxLength) };
  try {
    return { ok: true, value: parse(text, { dialect, maxItems, spans: options.spans === true }) };
  } catch (thrown) {
    return { ok: false, error: explained(thrown, text) };
  }
}

/** The generated parser's error as one of ours. Anything else that it throws is a defect, and passes through. */
function explained(thrown: unknown, text: string): ParseError {
  if (!(thrown instanceof Refusal)) throw thrown;
  const { start, end } = thrown.location;
  if (thrown.expected !== null) return syntaxError(text, start.offset, thrown.expected);
  return beyondLimit('limit', text, thrown.message, { start: start.offset, end: end.offset });
}
