/** Parses packets. This is the only file that imports the generated AACP parser. */
import { SyntaxError as ParserError, recognize, tryParse } from '../../generated/aacp.js';
import type { ParseError, ParseErrorDetails, Result } from '../text/errors.js';
import { type Limits, resolveChoice, resolveLimits } from '../text/limits.js';
import { attempt, limitError, type ParserErrors } from '../text/parser-errors.js';
import type { Packet } from './ast.js';
import { syntaxError } from './errors.js';

/**
 * A dialect of the parser. `strict` accepts only what a v1.1 implementation may emit: no empty slots, fields without a colon, control
 * characters, or white space around tokens. `tolerant`, which the validator uses, accepts any text: it splits it into slots and trims
 * them. Both keep repeated keys.
 */
export type Dialect = 'strict' | 'tolerant';

/** Options of `parsePacket`, `tryParsePacket`, `isPacket` and `findPackets`. */
export interface ParseOptions extends Pick<Limits, 'maxLength' | 'maxItems'> {
  /** The dialect to parse with. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** If true, the packet and its fields have a `span` in UTF-16 offsets. @default false */
  readonly spans?: boolean | undefined;
}

/**
 * Parses one packet. A packet that parses is not necessarily valid; see `validatePacket`. Source: draft-mackay-aacp-01, section 4.
 *
 * @throws ParseError with a code of the validator, or with `bad-task`, `bad-dom` or `bad-key`
 * @throws TypeError if an option is invalid
 * @example
 * parsePacket('FETCH|HR|return:HR-Agent|p:1|aacp:1.1').fields[0].value // 'HR-Agent'
 */
export function parsePacket(text: string, options?: ParseOptions): Packet {
  const result = tryParsePacket(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/** Parses one packet like {@link parsePacket}, but returns the error instead of throwing it. @throws TypeError if an option is invalid */
export function tryParsePacket(text: string, options?: ParseOptions): Result<Packet, ParseError> {
  return attempt(text, settingsOf(options), tryParse, ERRORS);
}

/**
 * Returns whether `tryParsePacket` would succeed, without building a tree. Returns `false` for values that are not strings.
 *
 * @throws TypeError if an option is invalid
 */
export function isPacket(text: unknown, options?: ParseOptions): boolean {
  const settings = settingsOf(options);
  return typeof text === 'string' && text.length <= settings.maxLength && recognize(text, settings);
}

/** Parses strictly, but returns `null` instead of an error: the caller then parses tolerantly. */
export function readStrictly(text: string, settings: Settings = DEFAULTS): Packet | null {
  if (text.length > settings.maxLength) return null;
  const result = tryParse(text, settings);
  return result.ok ? result.value : null;
}

export function readTolerantly(
  text: string,
  { maxLength, maxItems }: Settings = DEFAULTS,
  spans = false,
): Result<Packet, ParseError> {
  const settings: Settings = { maxLength, maxItems, dialect: 'tolerant', spans };
  return attempt(text, settings, tryParse, ERRORS);
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

const ERRORS: ParserErrors<Settings> = { notAStringCode: 'not-a-packet', limitCode: 'limit', convert: errorDetails };

function errorDetails(thrown: unknown, text: string): ParseErrorDetails | null {
  if (!(thrown instanceof ParserError)) return null;
  const { start, end } = thrown.location;
  if (thrown.reason === 'limit') {
    return limitError('limit', text, thrown.message, { start: start.offset, end: end.offset });
  }
  return syntaxError(text, start.offset, () => thrown.expected ?? []);
}
