/**
 * English messages for the issues that zod reports, in the style of all other messages, and independent of zod's locale.
 * Does not import zod.
 */
import { quotedShort } from './visible.js';

/** The members of zod's raw issues that the messages use. */
interface Issue {
  readonly code?: string | undefined;
  readonly input?: unknown;
  readonly expected?: unknown;
  readonly origin?: unknown;
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly inclusive?: unknown;
  readonly exact?: unknown;
  readonly format?: unknown;
  readonly pattern?: unknown;
  readonly prefix?: unknown;
  readonly suffix?: unknown;
  readonly includes?: unknown;
  readonly divisor?: unknown;
  readonly keys?: unknown;
  readonly values?: unknown;
}

/** The names of types whose zod name is not English. */
const TYPES: Readonly<Record<string, string>> = { int: 'integer', record: 'object', nan: 'NaN' };
/** Names that take no article. */
const PROPER = new Set(['null', 'undefined', 'NaN', 'void', 'never']);
/** The units in which zod measures the size of a value, by its type. */
const UNITS: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'entry',
  file: 'byte',
};

/** Names a type with its article: `a string`, `an integer`, `null`. */
function typeName(type: string): string {
  const name = TYPES[type] ?? type;
  if (PROPER.has(name)) return name;
  return `${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}`;
}

/** States that a value has the wrong type: `must be a string, not null`; `is required` if there is no value. */
export function wrongType(expected: string, value: unknown): string {
  if (value === undefined) return 'is required';
  if (expected === 'int' && typeof value === 'number') return 'must be an integer';
  return `must be ${typeName(expected)}, not ${typeName(kindOf(value))}`;
}

/** States that a value is not among those that are allowed: `must be "a" or "b"`. */
export function notAmong(values: readonly unknown[]): string {
  const names = values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  if (names.length > 2) return `must be one of ${names.join(', ')}`;
  return `must be ${names.join(' or ')}`;
}

/** Describes an issue: `is required`, `must be at least 1`. Pass it as the option `error` of zod's parse functions. */
export function issueMessage(issue: Issue): string {
  const { input, origin, format } = issue;
  switch (issue.code) {
    case 'invalid_type':
      return wrongType(String(issue.expected), input);
    case 'invalid_value':
      return input === undefined ? 'is required' : notAmong(issue.values as readonly unknown[]);
    case 'too_small':
      return bound(origin, issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return bound(origin, issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'not_multiple_of':
      return `must be a multiple of ${String(issue.divisor)}`;
    case 'invalid_format':
      if (format === 'regex') return `must match ${String(issue.pattern)}`;
      if (format === 'starts_with') return `must start with ${JSON.stringify(issue.prefix)}`;
      if (format === 'ends_with') return `must end with ${JSON.stringify(issue.suffix)}`;
      if (format === 'includes') return `must contain ${JSON.stringify(issue.includes)}`;
      return `must have the format ${String(format)}`;
    case 'unrecognized_keys': {
      const keys = (issue.keys as readonly string[]).map((key) => quotedShort(key));
      return `has unknown members: ${keys.join(', ')}`;
    }
    case 'invalid_union':
      return 'has none of the allowed forms';
    case 'invalid_key':
      return 'has an invalid key';
    case 'invalid_element':
      return 'has an invalid element';
    default:
      return 'is invalid';
  }
}

function bound(origin: unknown, { exact }: Issue, limit: unknown, comparison: string): string {
  const unit = UNITS[String(origin)];
  const compared = exact === true ? 'exactly' : comparison;
  if (origin === 'date') return `must be ${compared} ${new Date(limit as number | Date).toISOString()}`;
  if (unit === undefined) return `must be ${compared} ${String(limit)}`;
  const units = unit === 'entry' ? 'entries' : `${unit}s`;
  return `must have ${compared} ${String(limit)} ${Number(limit) === 1 ? unit : units}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isNaN(value) ? 'NaN' : typeof value;
}
