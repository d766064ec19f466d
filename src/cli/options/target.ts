/** Options of the commands that test another program. */

import type { TargetError } from '../../fuzz/differential/target.js';
import type { ProcessOptions } from '../../fuzz/process/process-target.js';
import { UsageError } from '../io/errors.js';
import { upTo, type Values, value } from './option.js';

/** How a program under test is limited. */
export const LIMITED_PROGRAM = {
  'time-limit': value('SECONDS', 'for one text (default 5)', upTo(3600)),
  memory: value('MB', 'for the program and all that it starts (default 1024)', upTo(2 ** 20)),
};

const MEBIBYTE = 2 ** 20;

/** The limits that the options set. */
export function processLimits(options: Values<typeof LIMITED_PROGRAM>): ProcessOptions {
  const { 'time-limit': seconds, memory } = options;
  return {
    timeLimit: seconds === undefined ? undefined : seconds * 1000,
    memoryLimit: memory === undefined ? undefined : memory * MEBIBYTE,
  };
}

/** The error of a target that cannot be asked: its first line as the message, what the program has printed below. */
export function targetFault({ message }: TargetError): UsageError {
  const [first = '', ...rest] = message.split('\n');
  return new UsageError(first, 'target', rest.length === 0 ? undefined : rest.join('\n'));
}
