/** Places in a line of JSON. */
import { keyTable } from '../../accp/message/abbreviations.js';
import { pathText } from '../../accp/message/message.js';
import type { Span } from '../../text/span.js';

/** JSON tokens. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[-+.0-9A-Za-z]+|[{}[\],:]/g;

/** More levels than any path has. */
const MAX_LEVELS = 20;

interface Level {
  readonly start: number;
  /** A key, an index, or `undefined` before the first key. */
  step: string | number | undefined;
}

interface JsonPlace extends Span {
  readonly isKey: boolean;
  /** The enclosing objects and arrays, updated as the walk continues; the step of the last one is the key or index of the place. */
  readonly levels: readonly Level[];
}

/** Walks through valid JSON. Yields each key before its value, and each value at its end. */
export function* jsonPlaces(text: string): Generator<JsonPlace> {
  const levels: Level[] = [];
  let isKey = false;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const end = index + token.length;
    const level = levels.at(-1);
    if (token === '{' || token === '[') {
      levels.push({ start: index, step: token === '[' ? 0 : undefined });
      isKey = token === '{';
    } else if (token === '}' || token === ']') {
      yield { isKey: false, levels, start: levels.pop()!.start, end };
      isKey = false;
    } else if (token === ',') {
      if (typeof level!.step === 'number') level!.step++;
      else isKey = true;
    } else if (token === ':') isKey = false;
    else {
      if (isKey) level!.step = JSON.parse(token) as string;
      yield { isKey, levels, start: index, end };
    }
  }
}

/** Finds the value at a path such as `payload.args.q[2]`, or its nearest ancestor if it is missing; `null` without a path. */
export function jsonPlaceOf(path: string | undefined, text: string): Span | null {
  if (path === undefined || !/^\s*\{/.test(text)) return null;
  let around: Span | null = null;
  for (const { isKey, levels, start, end } of jsonPlaces(text)) {
    // The path of an invalid key points to the key itself.
    if (isKey ? /^[A-Za-z0-9_]+$/.test(String(levels.at(-1)!.step)) : levels.length > MAX_LEVELS) continue;
    const here = pathOf(levels);
    if (here === path) return { start, end };
    // The longest prefix of the path is the nearest ancestor.
    if (!isKey && here !== '' && (path.startsWith(`${here}.`) || path.startsWith(`${here}[`))) around = { start, end };
  }
  return around;
}

/** Formats a path as errors do: payload keys in full, `[0]` for an index. */
function pathOf(levels: readonly Level[]): string {
  const [first, ...steps] = levels.flatMap(({ step }) => (step === undefined ? [] : [step]));
  if (first === undefined) return '';
  if (first !== 'payload') return [first, ...steps].join('.');
  const [key, ...inner] = steps;
  return pathText(key === undefined ? [] : [typeof key === 'string' ? keyTable(undefined).expand(key) : key, ...inner]);
}
