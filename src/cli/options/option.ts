/** Options as texts, counts and times. */
import { type Invocation, UsageError } from './command.js';

export function textOption({ options }: Pick<Invocation, 'options'>, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** @throws UsageError on what is no whole number of the range */
export function countOption(
  invocation: Pick<Invocation, 'options'>,
  name: string,
  { from, to = Number.MAX_SAFE_INTEGER }: { readonly from: number; readonly to?: number },
): number | undefined {
  const text = textOption(invocation, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (/^[0-9]+$/.test(text) && value >= from && value <= to) return value;
  const range = to === Number.MAX_SAFE_INTEGER ? `from ${from} on` : `from ${from} to ${to}`;
  throw new UsageError(`--${name} is a whole number ${range}, not "${text}"`);
}

/** @throws UsageError on what is no number of seconds */
export function secondsOption(invocation: Pick<Invocation, 'options'>, name: string): number | undefined {
  return numberOption(invocation, name, 'a number of seconds');
}

/** @throws UsageError on what is no number, or one below zero */
export function numberOption(
  invocation: Pick<Invocation, 'options'>,
  name: string,
  what = 'a number',
): number | undefined {
  const text = textOption(invocation, name);
  if (text === undefined) return undefined;
  if (/^[0-9]+(?:\.[0-9]+)?$/.test(text)) return Number(text);
  throw new UsageError(`--${name} is ${what}, not "${text}"`);
}
