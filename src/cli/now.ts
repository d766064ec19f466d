import { type Invocation, type OptionSpec, UsageError } from './options/command.js';

export const NOW_OPTION: OptionSpec = {
  type: 'string',
  description: 'SECONDS  since 1970: the time that it is taken to be',
};

/** Seconds since 1970 that `--now` gives; `undefined` without it. @throws UsageError when it gives no time */
export function givenNow({ options }: Invocation): number | undefined {
  const given = options['now'];
  if (given === undefined) return undefined;
  const now = Number(given);
  if (typeof given === 'string' && /^[0-9]+$/.test(given) && Number.isSafeInteger(now)) return now;
  throw new UsageError(`--now is a whole number of seconds since 1970, not "${String(given)}"`);
}
