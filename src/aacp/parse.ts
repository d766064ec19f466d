/** Parses packets. The only importer of the generated AACP parser. */
import { parse, SyntaxError as Refusal, recognize } from '../../generated/aacp.js';
import type { ParseError, ParseErrorDetails, Result } from '../text/errors.js';
import { type Limits, resolveChoice, resolveLimits } from '../text/limits.js';
import { attempt, attemptWithoutStackTrace, limitError, type ParserErrors } from '../text/parser-errors.js';
import type { Packet } from './ast.js';
import { syntaxError } from './errors.js';

/**
 * `strict` is what a v1.1 writer may emit: no empty slots, fields without a colon, control characters, or white space
 * around tokens. `tolerant`, which the validator uses, splits any text into slots and trims them. Both keep repeated keys.
 */
export type Dialect = 'strict' | 'tolerant';

export interface ParseOptions extends Pick<Limits, 'maxLength' | 'maxItems'> {
  /** @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** Put a `span` (UTF-16 offsets) on the packet and its fields. @default false */
  readonly spans?: boolean | undefined;
}

/**
 * Parses one packet. A parsed packet is not yet valid; see `validatePacket`. Source: draft-mackay-aacp-01, section 4.
 *
 * @throws ParseError with a code of the validator, or `bad-task`, `bad-dom`, `bad-key`
 * @throws TypeError if an option is invalid
 * @example
 * parsePacket('FETCH|HR|return:HR-Agent|p:1|aacp:1.1').fields[0].value // 'HR-Agent'
 */
export function parsePacket(text: string, options?: ParseOptions): Packet {
  const result = tryParsePacket(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/** Like {@link parsePacket}, but returns the error. @throws TypeError if an option is invalid */
export function tryParsePacket(text: string, options?: ParseOptions): Result<Packet, ParseError> {
  return attempt(text, settingsOf(options), parse, REFUSALS);
}

/**
 * Returns whether `tryParsePacket` would succeed, without building a tree; `false` for other types than strings. @throws
 * TypeError if an option is invalid
 */
export function isPacket(text: unknown, options?: ParseOptions): boolean {
  const settings = settingsOf(options);
  return typeof text === 'string' && text.length <= settings.maxLength && recognize(text, settings);
}

/** Returns `null` instead of an error, for callers that then read tolerantly. */
export function readStrictly(text: string, settings: Settings = DEFAULTS): Packet | null {
  if (text.length > settings.maxLength) return null;
  const result = attemptWithoutStackTrace(text, settings, parse);
  return result.ok ? result.value : null;
}

export function readTolerantly(
  text: string,
  { maxLength, maxItems }: Settings = DEFAULTS,
  spans = false,
): Result<Packet, ParseError> {
  const settings: Settings = { maxLength, maxItems, dialect: 'tolerant', spans };
  return attempt(text, settings, parse, REFUSALS);
}

export interface Settings {
  readonly maxLength: number;
  readonly maxItems: number;
  readonly dialect: Dialect;
  readonly spans: boolean;
}

const DEFAULTS = settingsOf({});

export function settingsOf(options: ParseOptions | undefined): Settings {
  if (options === undefined) return DEFAULTS;
  const { maxLength, maxItems } = resolveLimits(options);
  const dialect = resolveChoice('dialect', options.dialect, ['strict', 'tolerant']);
  return { maxLength, maxItems, dialect, spans: options.spans === true };
}

const REFUSALS: ParserErrors<Settings> = { notAStringCode: 'not-a-packet', limitCode: 'limit', convert: retold };

function retold(thrown: unknown, text: string): ParseErrorDetails | null {
  if (!(thrown instanceof Refusal)) return null;
  const { start, end } = thrown.location;
  if (thrown.reason === 'limit') {
    return limitError('limit', text, thrown.message, { start: start.offset, end: end.offset });
  }
  return syntaxError(text, start.offset, () => thrown.expected ?? []);
}
