/** Finds the place in a line of JSON that the path of an error names. */

import { keyTable } from '../../accp/message/abbreviations.js';
import { pathText } from '../../accp/message/message.js';
import type { Span } from '../../text/span.js';

/** JSON tokens. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[-+.0-9A-Za-z]+|[{}[\],:]/g;

/** More steps than any path has. */
const MAX_LEVELS = 20;

interface Level {
  readonly start: number;
  /** A key, an index, or `undefined` before the first key. */
  step: string | number | undefined;
}

/** Finds the value at a path such as `payload.args.q[2]`; its nearest ancestor if it is missing; `null` without a path. */
export function jsonPlaceOf(path: string | undefined, text: string): Span | null {
  if (path === undefined || !/^\s*\{/.test(text)) return null;
  const levels: Level[] = [];
  let around: Span | null = null;
  const arrive = (start: number, end: number): boolean => {
    if (levels.length > MAX_LEVELS) return false;
    const here = pathOf(levels);
    if (here === path) return true;
    // The longest prefix of the path wins.
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
      // An invalid key is named itself.
      if (!/^[A-Za-z0-9_]+$/.test(level!.step) && pathOf(levels) === path) return { start: index, end };
    } else if (arrive(index, end)) return { start: index, end };
  }
  return around;
}

/** Spells the path as errors do: payload keys in full, `[0]` for an index. */
function pathOf(levels: readonly Level[]): string {
  const [first, ...steps] = levels.flatMap(({ step }) => (step === undefined ? [] : [step]));
  if (first === undefined) return '';
  if (first !== 'payload') return [first, ...steps].join('.');
  const [key, ...inner] = steps;
  return pathText(key === undefined ? [] : [typeof key === 'string' ? keyTable(undefined).expand(key) : key, ...inner]);
}
