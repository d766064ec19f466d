/** Options: each definition gives the check, the line on the help page, and the type of its value. */
import process from 'node:process';
import { didYouMean, UsageError } from '../io/errors.js';
import type { Protocol } from '../protocols.js';

/** `true` for an option without a value. */
export type Given = string | true;

export interface Option<T> {
  /** Whether a value follows: never, always, or optionally. */
  readonly takes: 'nothing' | 'value' | 'optional';
  readonly short?: string | undefined;
  /** For the help page; empty for a switch. */
  readonly placeholder: string;
  readonly description: string;
  /** Reads the given values, if any. @throws UsageError */
  read(given: readonly Given[], name: string, protocol: Protocol): T;
}

export type Options = Readonly<Record<string, Option<unknown>>>;

export type Values<O extends Options> = { readonly [Name in keyof O]: O[Name] extends Option<infer T> ? T : never };

/** @throws UsageError */
export type Parser<T> = (text: string, name: string, protocol: Protocol) => T;

export function flag(description: string, short?: string): Option<boolean> {
  return { takes: 'nothing', short, placeholder: '', description, read: (given) => given.length > 0 };
}

/** An option with a value; the last one counts. */
export function value<T>(placeholder: string, description: string, parse: Parser<T>): Option<T | undefined> {
  return { ...optional(placeholder, description, parse), takes: 'value' } as Option<T | undefined>;
}

/** An option whose value may be omitted: then it is `true`. */
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

export function text(placeholder: string, description: string): Option<string | undefined> {
  return value(placeholder, description, (given) => given);
}

/** A repeatable option. */
export function texts(placeholder: string, description: string): Option<readonly string[]> {
  return { takes: 'value', placeholder, description, read: (given) => given.map(String) };
}

/** An option with a few choices, by default the first one. */
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
    read: (given, name, protocol) => {
      const all = typeof choices === 'function' ? choices(protocol) : choices;
      const last = given.at(-1);
      return last === undefined ? byDefault(all) : oneOf(all)(String(last), name, protocol);
    },
  };
}

/** Strict by default. */
export function dialect(description: string): Option<string> {
  return choice('NAME', description, (protocol) => protocol.dialects);
}

/** A bearer token; unlike arguments, environment variables are private. */
export function token(description: string): Option<string | undefined> {
  return {
    ...text('TEXT', `${description}; better as PEGWIRE_TOKEN in the environment`),
    read: (given) => given.at(-1)?.toString() ?? (process.env['PEGWIRE_TOKEN'] || undefined),
  };
}

export function oneOf<const T extends string>(choices: readonly T[]): Parser<T> {
  return (given, name) => {
    const found = choices.find((one) => one === given);
    if (found !== undefined) return found;
    throw new UsageError(`--${name} is one of ${choices.join(', ')}, not "${given}"${didYouMean(given, choices)}`);
  };
}

/** @param what completes "--name is ..." @param read returns `undefined` for invalid text */
export function checked<T>(what: string, read: (text: string) => T | undefined): Parser<T> {
  return (given, name) => {
    const found = read(given);
    if (found === undefined) throw new UsageError(`--${name} is ${what}, not "${given}"`);
    return found;
  };
}

export function integer({ from, to }: { readonly from: number; readonly to?: number }, what?: string): Parser<number> {
  const range = to === undefined ? `from ${from} on` : `from ${from} to ${to}`;
  return checked(what ?? `a whole number ${range}`, (given) => {
    const number = Number(given);
    const isInteger = /^[0-9]+(?:e[0-9]+)?$/i.test(given) && Number.isSafeInteger(number);
    return isInteger && number >= from && number <= (to ?? number) ? number : undefined;
  });
}

/** Accepts a non-negative number. */
export function amount(what: string, isValid: (number: number) => boolean = () => true): Parser<number> {
  return checked(what, (given) => {
    const number = Number(given);
    return /^[0-9]*\.?[0-9]+(?:e-?[0-9]+)?$/i.test(given) && isValid(number) ? number : undefined;
  });
}

export function upTo(most: number): Parser<number> {
  return amount(`a number from above 0 to ${most}`, (number) => number > 0 && number <= most);
}

export const seconds: Parser<number> = amount('a number of seconds');

export const secondsSince1970: Parser<number> = integer({ from: 0 }, 'a whole number of seconds since 1970');

export const someSeconds: Parser<number> = (given, name, protocol) => {
  const number = seconds(given, name, protocol);
  if (number === 0) throw new UsageError(`--${name} is a number of seconds above 0`);
  return number;
};

export const words: Parser<readonly string[]> = (given, name) => {
  const all = given.split(',').map((word) => word.trim());
  if (all.includes('')) throw new UsageError(`--${name} has an empty word between its commas`);
  return all;
};
