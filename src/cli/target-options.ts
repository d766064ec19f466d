/** Options of the commands that test another program. */

import { type Target, TargetError } from '../fuzz/differential/target.js';
import type { ProcessOptions } from '../fuzz/process/process-target.js';
import { type Invocation, type OptionSpec, UsageError } from './usage.js';

/** How a program under test is named and limited. */
export const TARGET_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  target: { type: 'string', description: 'CMD  the program to test, for the shell: an adapter, see the guide' },
  'time-limit': { type: 'string', description: 'SECONDS  for one text (default 5)' },
  memory: { type: 'string', description: 'MB  for the program and all that it starts (default 1024)' },
};

const MEBIBYTE = 2 ** 20;

/**
 * Runs something on the target that `--target` names, and closes the target.
 *
 * @throws UsageError when the options are wrong, or the target cannot be asked
 */
export async function withTarget<T>(invocation: Invocation, work: (target: Target) => Promise<T>): Promise<T> {
  const { options } = invocation;
  const command = options['target'];
  if (typeof command !== 'string') throw new UsageError('The option --target is missing: the program to test');
  // Loaded only now: the other commands need none of it.
  const { processTarget } = await import('../fuzz/process/process-target.js');
  const target = processTarget(command, processLimits(invocation));
  try {
    return await work(target);
  } catch (error) {
    if (error instanceof TargetError) throw targetFault(error);
    throw error;
  } finally {
    await target.close();
  }
}

/** The error of a target that cannot be asked: its first line as the message, what the program has printed below. */
export function targetFault({ message }: TargetError): UsageError {
  const [first = '', ...rest] = message.split('\n');
  return new UsageError(first, 'target', rest.length === 0 ? undefined : rest.join('\n'));
}

/** The limits that the options set. @throws UsageError on values that are none */
export function processLimits({ options }: Invocation): ProcessOptions {
  const seconds = upTo('time-limit', options['time-limit'], 3600);
  const megabytes = upTo('memory', options['memory'], 2 ** 20);
  return {
    timeLimit: seconds === undefined ? undefined : seconds * 1000,
    memoryLimit: megabytes === undefined ? undefined : megabytes * MEBIBYTE,
  };
}

function upTo(option: string, given: string | boolean | undefined, most: number): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (number > 0 && number <= most) return number;
  throw new UsageError(`--${option} is a number from above 0 to ${most}, not "${String(given)}"`);
}
