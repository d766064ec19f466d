import type { Frame } from './ast.js';
import { tryParseFrame } from './parse.js';
import { printFrame } from './print.js';
import { unprintable } from './syntax-error.js';

const UNLIMITED = {
  maxLength: Number.POSITIVE_INFINITY,
  maxDepth: Number.POSITIVE_INFINITY,
  maxItems: Number.POSITIVE_INFINITY,
  maxDigits: Number.POSITIVE_INFINITY,
};

/**
 * Returns the canonical tree of a frame, that of its canonical text: map entries and metadata sorted, numbers rounded and without `text`
 * where not needed, no spans. The payload keeps its order. Depth and number of digits are not limited.
 *
 * Source: draft-benzing-accp-00, sections 3.1.1 and 3.5.
 *
 * @throws PrintError with code `E1004` and the path if the tree cannot be printed
 */
export function canonicalizeFrame(frame: Frame): Frame {
  const result = tryParseFrame(printFrame(frame, UNLIMITED), UNLIMITED);
  // The printer needs less of the call stack than the parser.
  if (!result.ok) throw unprintable('frame', 'is nested too deeply or is too long');
  return result.value;
}
