/** The place in a line of JSON that an error names by its path. */

import { keyTable } from '../../accp/message/abbreviations.js';
import { pathText } from '../../accp/message/message.js';
import type { Span } from '../../text/span.js';

/** A string, a number, a word or a sign of valid JSON. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[-+.0-9A-Za-z]+|[{}[\],:]/g;

/** More steps than a path has. */
const MAX_LEVELS = 20;

/** An array or object around the place. */
interface Level {
  readonly start: number;
  /** The step to the current value: a key, an index, or nothing before the first key. */
  step: string | number | undefined;
}

/**
 * Finds the value that a path such as `payload.args.q[2]` or `envelope.ttl` names, in one pass over the text.
 *
 * @returns `null` when the path is missing or leads nowhere: for what is absent from a message, its nearest surrounding value
 */
export function jsonPlaceOf(path: string | undefined, text: string): Span | null {
  if (path === undefined || !/^\s*\{/.test(text)) return null;
  const levels: Level[] = [];
  let around: Span | null = null;
  const arrive = (start: number, end: number): boolean => {
    // Errors name no deeper places.
    if (levels.length > MAX_LEVELS) return false;
    const here = pathOf(levels);
    if (here === path) return true;
    // A longer path is nearer; the message itself is around everything.
    if (here !== '' && (path.startsWith(`${here}.`) || path.startsWith(`${here}[`))) around = { start, end };
    return false;
  };
  let isKey = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const end = index + token.length;
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      levels.push({ start: index, step: token === '[' ? 0 : undefined });
      isKey = token === '{';
    } else if (token === '}' || token === ']') {
      const { start } = levels.pop()!;
      if (arrive(start, end)) return { start, end };
      isKey = false;
    } else if (token === ',') {
      if (typeof level!.step === 'number') level!.step++;
      else isKey = true;
    } else if (token === ':') isKey = false;
    else if (isKey) {
      level!.step = JSON.parse(token) as string;
      // What is wrong with a key is named by the key itself.
      if (!/^[A-Za-z0-9_]+$/.test(level!.step) && pathOf(levels) === path) return { start: index, end };
    } else if (arrive(index, end)) return { start: index, end };
  }
  return around;
}

/** The path as errors spell it: keys of a payload in full, `[0]` for an index. */
function pathOf(levels: readonly Level[]): string {
  const [first, ...steps] = levels.flatMap(({ step }) => (step === undefined ? [] : [step]));
  if (first === undefined) return '';
  if (first !== 'payload') return [first, ...steps].join('.');
  const [key, ...inner] = steps;
  return pathText(key === undefined ? [] : [typeof key === 'string' ? keyTable(undefined).expand(key) : key, ...inner]);
}
