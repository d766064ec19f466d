/** Options: each definition provides the validation, the text on the help page, and the type of the value. */
import process from 'node:process';
import { didYouMean, UsageError } from '../io/errors.js';
import { PROTOCOLS, type Protocol } from '../protocols.js';

/** `true` for an option without a value. */
export type Given = string | true;

export interface Option<T> {
  /** The values that follow: none, one, or an optional one. */
  readonly takes: 'nothing' | 'value' | 'optional';
  readonly short?: string | undefined;
  /** The name of the value on the help page; empty for a flag. */
  readonly placeholder: string;
  readonly description: string;
  /** The values, if there are only these: with any protocol. */
  readonly choices?: readonly string[];
  /** Reads the values that were given, in order. @throws UsageError if one is invalid */
  read(given: readonly Given[], name: string, protocol: Protocol): T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

export type Values<O extends Options> = { readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never };

/** Parses the value of `--name`. @throws UsageError if it is invalid */
export type Parser<T> = (text: string, name: string, protocol: Protocol) => T;

/** Defines an option without a value. */
export function flag(description: string, short?: string): Option<boolean> {
  return { takes: 'nothing', short, placeholder: '', description, read: (given) => given.length > 0 };
}

/** Defines an option with a value; if it is repeated, the last value counts. */
export function value<T>(placeholder: string, description: string, parse: Parser<T>): Option<T | undefined> {
  return { ...optional(placeholder, description, parse), takes: 'value' } as Option<T | undefined>;
}

/** Defines an option whose value may be omitted, in which case it is `true`. */
export function optional<T>(placeholder: string, description: string, parse: Parser<T>): Option<T | true | undefined> {
  return {
    takes: 'optional',
    placeholder,
    description,
    read: (given, name, protocol) => {
      const last = given.at(-1);
      return typeof last === 'string' ? parse(last, name, protocol) : last;
    },
  };
}

/** Defines an option whose value is any text. */
export function text(placeholder: string, description: string): Option<string | undefined> {
  return value(placeholder, description, (given) => given);
}

/** Defines an option that may be repeated. */
export function texts(placeholder: string, description: string): Option<readonly string[]> {
  return { takes: 'value', placeholder, description, read: (given) => given.map(String) };
}

/** Defines an option with a fixed set of values, the first of which is the default. */
export function choice<const T extends string>(
  placeholder: string,
  description: string,
  choices: readonly T[] | ((protocol: Protocol) => readonly T[]),
  byDefault: (choices: readonly T[]) => T = (all) => all[0]!,
): Option<T> {
  return {
    takes: 'value',
    placeholder,
    description,
    choices: typeof choices === 'function' ? [...new Set(PROTOCOLS.flatMap(choices))] : choices,
    read: (given, name, protocol) => {
      const all = typeof choices === 'function' ? choices(protocol) : choices;
      const last = given.at(-1);
      return last === undefined ? byDefault(all) : oneOf(all)(String(last), name, protocol);
    },
  };
}

/** Defines the option for the grammar dialect; the default is strict. */
export function dialect(description: string): Option<string> {
  return choice('NAME', description, (protocol) => protocol.dialects);
}

/** Defines the option for a bearer token, which PEGWIRE_TOKEN also sets: other users can read arguments, but not the environment. */
export function token(description: string): Option<string | undefined> {
  return {
    ...text('TOKEN', `${description}; or set PEGWIRE_TOKEN`),
    read: (given) => given.at(-1)?.toString() ?? (process.env['PEGWIRE_TOKEN'] || undefined),
  };
}

/** Joins choices: `draft or interop`, `text, svg or mermaid`. */
export function alternatives(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

/** Returns a parser that accepts only these values. */
export function oneOf<const T extends string>(choices: readonly T[]): Parser<T> {
  return (given, name) => {
    const found = choices.find((one) => one === given);
    if (found !== undefined) return found;
    throw new UsageError(`--${name} must be ${alternatives(choices)}; got "${given}"${didYouMean(given, choices)}`);
  };
}

/** Returns a parser that rejects invalid text. @param what completes "--name must be ..." @param read returns `undefined` if the text is invalid */
export function checked<T>(what: string, read: (text: string) => T | undefined): Parser<T> {
  return (given, name) => {
    const found = read(given);
    if (found === undefined) throw new UsageError(`--${name} must be ${what}; got "${given}"`);
    return found;
  };
}

/** Returns a parser of integers in a range. */
export function integer({ from, to }: { readonly from: number; readonly to?: number }): Parser<number> {
  return checked(integerRange(from, to), (given) => {
    const number = Number(given);
    const isInteger = /^[0-9]+(?:e[0-9]+)?$/i.test(given) && Number.isSafeInteger(number);
    return isInteger && number >= from && number <= (to ?? number) ? number : undefined;
  });
}

function integerRange(from: number, to: number | undefined): string {
  if (to !== undefined) return `an integer from ${from} to ${to}`;
  return from === 0 ? 'a non-negative integer' : from === 1 ? 'a positive integer' : `an integer of at least ${from}`;
}

/** Returns a parser of non-negative numbers. */
export function amount(what: string, isValid: (number: number) => boolean = () => true): Parser<number> {
  return checked(what, (given) => {
    const number = Number(given);
    return /^[0-9]*\.?[0-9]+(?:e-?[0-9]+)?$/i.test(given) && isValid(number) ? number : undefined;
  });
}

/** Returns a parser of positive numbers up to a maximum. */
export function upTo(most: number): Parser<number> {
  return amount(`a number greater than 0 and at most ${most}`, (number) => number > 0 && number <= most);
}

/** Milliseconds per unit. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

export interface DurationRange {
  /** If true, zero is refused. */
  readonly isPositive?: boolean;
  /** The longest duration accepted, as users write it: `1h`. */
  readonly max?: string;
  /** If true, `never` is accepted and read as Infinity. */
  readonly never?: boolean;
}

/** Returns a parser of durations such as `500ms`, `30s` or `7d`, which it converts to milliseconds. */
export function duration({ isPositive = false, max, never = false }: DurationRange = {}): Parser<number> {
  const most = max === undefined ? Number.POSITIVE_INFINITY : milliseconds(max)!;
  return (given, name) => {
    if (never && given === 'never') return Number.POSITIVE_INFINITY;
    const found = milliseconds(given);
    if (found === undefined) {
      const hint = isPlainNumber(given) ? `; write ${given}s or ${given}ms` : '';
      const form = `a duration such as 500ms, 30s, 2m, 1h or 7d${never ? ', or never' : ''}`;
      throw new UsageError(`--${name} must be ${form}; got "${given}"${hint}`);
    }
    if (isPositive && found === 0) throw new UsageError(`--${name} must be greater than 0; got "${given}"`);
    if (found > most) throw new UsageError(`--${name} must be at most ${max}; got "${given}"`);
    return found;
  };
}

function milliseconds(text: string): number | undefined {
  const [, number, unit = ''] = /^([0-9]*\.?[0-9]+)([a-z]+)$/.exec(text) ?? [];
  const factor = UNITS.get(unit);
  return number === undefined || factor === undefined ? undefined : Math.round(Number(number) * factor);
}

function isPlainNumber(text: string): boolean {
  return /^[0-9]*\.?[0-9]+$/.test(text);
}

const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;

/** Parses an instant of ISO 8601, from 1970, to milliseconds since 1970. */
export const instant: Parser<number> = checked('an ISO 8601 time such as 2024-05-01T00:00:00Z', (given) => {
  const time = INSTANT.test(given) && isCalendarDay(given.slice(0, 10)) ? Date.parse(given) : Number.NaN;
  return time >= 0 ? time : undefined;
});

/** `Date.parse` accepts 30 February. */
function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** Parses words separated by commas. */
export const words: Parser<readonly string[]> = (given, name) => {
  const all = given.split(',').map((word) => word.trim());
  if (all.includes('')) throw new UsageError(`--${name} must not contain an empty item; got "${given}"`);
  return all;
};
