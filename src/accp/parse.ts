/** From text to tree. The only importer of the generated ACCP parser. */
import { parse, SyntaxError as Refusal } from '../../generated/accp.js';
import { resolveChoice } from '../text/choice.js';
import type { ParseError } from '../text/errors.js';
import { type Limits, resolveLimits } from '../text/limits.js';
import { beyondLimit, notAString, tooLong } from '../text/refusals.js';
import type { Result } from '../text/result.js';
import type { Frame } from './ast.js';
import { duplicateKey, PARSE_ERROR, syntaxError } from './errors.js';

/**
 * `strict` is the grammar of draft-benzing-accp-00, section 3.1. `lenient` adds the mentions (`nx:@strategy:plan`) and keyed
 * array items (`[rev:-12%]`) that the draft's examples use; both read as ordinary strings.
 */
export type Dialect = 'strict' | 'lenient';

export interface ParseOptions extends Limits {
  /** @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** Put a `span` (UTF-16 offsets) on every node. @default false */
  readonly spans?: boolean | undefined;
}

/**
 * Reads one frame. The whole text has to be the frame: no white space around it, no line end after it.
 *
 * Source: draft-benzing-accp-00, sections 3.1 and 9.
 *
 * @throws ParseError with code `E1001`; its `reason` tells bad syntax, a repeated key and an exceeded limit apart
 * @throws TypeError on options that are none
 * @example
 * parseFrame('@planner>req:schedule{task:impl_auth|pri:high}').payload[0].key // 'task'
 */
export function parseFrame(text: string, options: ParseOptions = {}): Frame {
  const result = tryParseFrame(text, options);
  if (result.ok) return result.value;
  throw result.error;
}

/**
 * Like {@link parseFrame}, but returns the error.
 *
 * @throws TypeError on options that are none
 * @example
 * const result = tryParseFrame(line);
 * if (!result.ok) console.error(result.error.format());
 */
export function tryParseFrame(text: string, options: ParseOptions = {}): Result<Frame, ParseError> {
  const { maxLength, ...limits } = resolveLimits(options);
  const dialect = resolveChoice('dialect', options.dialect, ['strict', 'lenient']);
  if (typeof text !== 'string') return { ok: false, error: notAString(PARSE_ERROR, text) };
  if (text.length > maxLength) return { ok: false, error: tooLong(PARSE_ERROR, text, maxLength) };
  try {
    return { ok: true, value: parse(text, { ...limits, dialect, spans: options.spans === true }) };
  } catch (thrown) {
    return { ok: false, error: explained(thrown, text, dialect) };
  }
}

/** The generated parser's error as one of ours. Anything else that it throws is a defect, and passes through. */
function explained(thrown: unknown, text: string, dialect: Dialect): ParseError {
  if (thrown instanceof RangeError) {
    const message = 'Nesting is deeper than the call stack allows';
    return beyondLimit(PARSE_ERROR, text, message, { start: 0, end: text.length }, 'lower maxDepth');
  }
  if (!(thrown instanceof Refusal)) throw thrown;
  const { start, end } = thrown.location;
  if (thrown.expected !== null) return syntaxError(text, start.offset, thrown.expected, dialect === 'lenient');
  const span = { start: start.offset, end: end.offset };
  if (thrown.reason === 'limit') return beyondLimit(PARSE_ERROR, text, thrown.message, span);
  return duplicateKey(text, thrown.message, span);
}
