/** What writing the values of one message carries along. */
import { resolveLimits } from '../../text/limits.js';
import { AccpError } from '../errors/accp-error.js';
import type { Json } from './json.js';
import type { Loss } from './message.js';
import { pathText, type Step } from './path.js';

/**
 * What becomes of values that the grammar cannot write (draft-benzing-accp-00, section 3.1): empty strings, spaces, controls
 * and other characters beyond visible ASCII, strings that would read back as another kind, keys beyond letters, digits and
 * `_`, and nesting beyond the limit.
 *
 * `transliterate`: a reversible spelling, which the reader has to know of. `reject`: an error with the path. `externalize`: a
 * reference stands for the value, which is kept where both ends can read it.
 */
export type TextPolicy = 'transliterate' | 'reject' | 'externalize';

export interface WritingOptions {
  readonly text: TextPolicy;
  /** For `externalize`: keeps the value, gives the path of the reference that stands for it. */
  readonly externalize?: ((value: Json, path: string) => string) | undefined;
  /**
   * Whether the reader undoes transliteration though this writer may not use it yet: what it would take for a spelling is
   * refused then. @default false
   */
  readonly undone?: boolean | undefined;
  /** Deepest nesting inside one parameter's value. @default 5 */
  readonly maxDepth?: number | undefined;
  /** Most digits of one number. @default 1000 */
  readonly maxDigits?: number | undefined;
  /** Most parameters, map entries and array items of all that is written, taken together. @default 100000 */
  readonly maxItems?: number | undefined;
}

export interface Writing {
  /** What could not be said exactly so far. */
  readonly losses: Loss[];
  readonly text: TextPolicy;
  readonly externalize: (value: Json, path: string) => string;
  readonly undone: boolean;
  readonly maxDepth: number;
  readonly maxDigits: number;
  readonly maxItems: number;
  /** The steps down to the value that is being written. */
  readonly path: Step[];
  /** The arrays and maps around it. */
  readonly open: object[];
  /** How many items were written. */
  items: number;
}

/** @throws TypeError on bad limits, or `externalize` without its function */
export function createWriting(options: WritingOptions): Writing {
  const { maxDepth, maxDigits, maxItems } = resolveLimits(options);
  const { text, externalize } = options;
  if (text === 'externalize' && externalize === undefined) throw new TypeError('externalize needs its function');
  return {
    losses: [],
    text,
    externalize: externalize ?? notExternalized,
    undone: options.undone ?? false,
    maxDepth,
    maxDigits,
    maxItems,
    path: [],
    open: [],
    items: 0,
  };
}

function notExternalized(): never {
  throw new TypeError('nothing is externalized under this policy');
}

/** An E1004 about the value that is being written. */
export function unwritable(writing: Writing, message: string, help?: string): AccpError {
  return new AccpError({ code: 'E1004', message, path: pathText(writing.path), help });
}

export function lose(writing: Writing, kind: Loss['kind'], from: string, to: string): void {
  writing.losses.push({ path: pathText(writing.path), kind, from, to });
}

/** @throws AccpError E1004 when there are more items than the limit allows */
export function countItems(writing: Writing, count: number): void {
  writing.items += count;
  if (writing.items <= writing.maxItems) return;
  throw unwritable(writing, `the message has more than ${writing.maxItems} items`, 'split it into several messages');
}
