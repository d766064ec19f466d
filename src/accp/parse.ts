/** Parsing of frames. No other file imports the generated ACCP parser. */
import { SyntaxError as GrammarError, recognize, tryParse } from '../../generated/accp.js';
import type { ParseError, ParseErrorDetails, Result } from '../text/errors.js';
import { type Limits, type ResolvedLimits, resolveChoice, resolveLimits } from '../text/limits.js';
import { attempt, limitError, type ParserErrors } from '../text/parser-errors.js';
import type { Frame, FrameEnvelope } from './ast.js';
import { duplicateKey, PARSE_ERROR, syntaxError } from './syntax-error.js';

/**
 * `strict` is the grammar of draft-benzing-accp-00, section 3.1. `lenient` adds the mentions (`nx:@strategy:plan`) and keyed
 * array items (`[rev:-12%]`) of the draft's examples; both read as strings.
 */
export type Dialect = 'strict' | 'lenient';

/** Options of the parser. */
export interface ParseOptions extends Limits {
  /** The grammar to parse with. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** If true, every node has a `span` of UTF-16 offsets. @default false */
  readonly spans?: boolean | undefined;
}

/**
 * Parses one frame. The text must be the frame alone, without white space around it.
 *
 * Source: draft-benzing-accp-00, sections 3.1 and 9.
 *
 * @throws ParseError with code `E1001`; its `reason` is `syntax`, `duplicate-key`, `limit` or `not-a-string`
 * @throws TypeError if an option is invalid
 * @example
 * parseFrame('@planner>req:schedule{task:impl_auth|pri:high}').payload[0].key // 'task'
 */
export function parseFrame(text: string, options?: ParseOptions): Frame {
  const result = tryParseFrame(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Parses one frame like {@link parseFrame}, but returns the error instead of throwing it.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const result = tryParseFrame(line);
 * if (!result.ok) console.error(result.error.format());
 */
export function tryParseFrame(text: string, options?: ParseOptions): Result<Frame, ParseError> {
  return attempt(text, settingsOf(options), tryParseWhole, PARSER_ERRORS);
}

/**
 * Parses the header and metadata of one frame, for routing. The payload is validated, with the same errors, but no tree is built.
 *
 * Source: draft-benzing-accp-00, sections 3.1 and 3.5.
 *
 * @throws ParseError with code `E1001`, like {@link parseFrame}
 * @throws TypeError if an option is invalid
 * @example
 * parseFrameEnvelope('@planner>req:schedule{task:impl_auth}[mid:m1]').agent // 'planner'
 */
export function parseFrameEnvelope(text: string, options?: ParseOptions): FrameEnvelope {
  const result = tryParseFrameEnvelope(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Parses one envelope like {@link parseFrameEnvelope}, but returns the error instead of throwing it.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const result = tryParseFrameEnvelope(line);
 * if (result.ok && result.value.intent === 'req') queue.push(line);
 */
export function tryParseFrameEnvelope(text: string, options?: ParseOptions): Result<FrameEnvelope, ParseError> {
  return attempt(text, settingsOf(options), tryParseEnvelope, PARSER_ERRORS);
}

/**
 * Returns `true` if `tryParseFrame` would succeed, without building a tree; `false` if `text` is not a string.
 *
 * @throws TypeError if an option is invalid
 * @example
 * lines.filter((line) => isFrame(line, { dialect: 'lenient' }))
 */
export function isFrame(text: unknown, options?: ParseOptions): boolean {
  const settings = settingsOf(options);
  if (typeof text !== 'string' || text.length > settings.maxLength) return false;
  try {
    return recognize(text, settings);
  } catch (thrown) {
    // The call stack was too small, as in `toParseError`.
    if (thrown instanceof RangeError) return false;
    throw thrown;
  }
}

interface Settings extends ResolvedLimits {
  readonly dialect: Dialect;
  readonly spans: boolean;
}

const DEFAULTS = settingsOf({});

function settingsOf(options: ParseOptions | undefined): Settings {
  if (options === undefined) return DEFAULTS;
  const { maxLength, maxDepth, maxItems, maxDigits } = resolveLimits(options);
  const dialect = resolveChoice('dialect', options.dialect, ['strict', 'lenient']);
  return { maxLength, maxDepth, maxItems, maxDigits, dialect, spans: options.spans === true };
}

function tryParseWhole(text: string, settings: Settings): Result<Frame, unknown> {
  return tryParse(text, settings);
}

function tryParseEnvelope(text: string, settings: Settings): Result<FrameEnvelope, unknown> {
  return tryParse(text, { ...settings, startRule: 'envelope' });
}

const PARSER_ERRORS: ParserErrors<Settings> = {
  notAStringCode: PARSE_ERROR,
  limitCode: PARSE_ERROR,
  convert: toParseError,
};

function toParseError(thrown: unknown, text: string, { dialect }: Settings): ParseErrorDetails | null {
  if (thrown instanceof RangeError) {
    const message = 'Nesting is deeper than the call stack allows';
    return limitError(PARSE_ERROR, text, message, { start: 0, end: text.length }, 'lower maxDepth');
  }
  if (!(thrown instanceof GrammarError)) return null;
  const { start, end } = thrown.location;
  const span = { start: start.offset, end: end.offset };
  if (thrown.reason === 'limit') return limitError(PARSE_ERROR, text, thrown.message, span);
  if (thrown.reason === 'duplicate-key') return duplicateKey(text, thrown.message, span);
  return syntaxError(text, span.start, () => thrown.expected ?? [], dialect === 'lenient');
}
