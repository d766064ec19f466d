/**
 * Values as JSON text inside of a string, for what nests too deep for a frame. JSON has no big integers and no references: they
 * are strings that begin with `#` and `$`, and a string that would begin so begins with `=` besides.
 */
import type { Json } from './json.js';
import { plainCopy } from './plain-copy.js';
import { Reference } from './reference.js';
import { MOST_NESTING } from './values.js';
import type { Writing } from './writing.js';

/** @throws AccpError E1004 with the path on what is no JSON */
export function toJsonText(value: unknown, writing: Writing): string {
  return JSON.stringify(plainCopy(value, writing, spell));
}

function spell(value: string | bigint | Reference): string {
  if (typeof value === 'bigint') return `#${value}`;
  if (value instanceof Reference) return `$${value.path}`;
  return /^[#$=]/.test(value) ? `=${value}` : value;
}

/** A text that cannot be read as a value, or not exactly. */
export class BadJsonText extends Error {}

const BIG_INTEGER = /^#-?[0-9]{1,1000}$/;
const REFERENCE = /^\$[A-Za-z0-9_.]+$/;

/**
 * What {@link toJsonText} was given, in objects without a prototype.
 *
 * @param resolve gives the value of a reference
 * @throws BadJsonText on other text: text that is not spelled as JSON is here cannot be told to be read exactly
 */
export function fromJsonText(text: string, resolve: (path: string) => Json): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
    // A repeated key, or a number of more digits than are kept, comes out as another text.
    if (JSON.stringify(value) !== text) throw new BadJsonText('the JSON in it does not read back as itself');
  } catch (thrown) {
    if (thrown instanceof BadJsonText) throw thrown;
    throw new BadJsonText('the JSON in it cannot be read');
  }
  return revived(value, resolve, 0);
}

function revived(value: unknown, resolve: (path: string) => Json, depth: number): Json {
  if (typeof value === 'string') return revivedText(value, resolve);
  if (typeof value !== 'object' || value === null) return value as boolean | number | null;
  if (depth >= MOST_NESTING) throw new BadJsonText(`the JSON in it nests deeper than ${MOST_NESTING}`);
  if (Array.isArray(value)) return value.map((item: unknown) => revived(item, resolve, depth + 1));
  const map: Record<string, Json> = Object.create(null);
  for (const key of Object.keys(value)) {
    map[key] = revived((value as Readonly<Record<string, unknown>>)[key], resolve, depth + 1);
  }
  return map;
}

function revivedText(text: string, resolve: (path: string) => Json): Json {
  switch (text[0]) {
    case '=':
      return text.slice(1);
    case '#':
      if (!BIG_INTEGER.test(text)) throw new BadJsonText('the JSON in it holds a bad big integer');
      return BigInt(text.slice(1));
    case '$':
      if (!REFERENCE.test(text)) throw new BadJsonText('the JSON in it holds a bad reference');
      return resolve(text.slice(1));
    default:
      return text;
  }
}
