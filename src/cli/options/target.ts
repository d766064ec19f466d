import type { TargetError } from '../../fuzz/differential/target.js';
import type { ProcessOptions } from '../../fuzz/process/process-target.js';
import { UsageError } from '../io/errors.js';
import { upTo, type Values, value } from './option.js';

export const LIMITED_PROGRAM = {
  'time-limit': value('SECONDS', 'for one text (default 5)', upTo(3600)),
  memory: value('MB', 'for the program and all that it starts (default 1024)', upTo(2 ** 20)),
};

const MEBIBYTE = 2 ** 20;

export function processLimits(options: Values<typeof LIMITED_PROGRAM>): ProcessOptions {
  const { 'time-limit': seconds, memory } = options;
  return {
    timeLimit: seconds === undefined ? undefined : seconds * 1000,
    memoryLimit: memory === undefined ? undefined : memory * MEBIBYTE,
  };
}

/** Shows what the program printed below the first line. */
export function targetFault({ message }: TargetError): UsageError {
  const [first = '', ...rest] = message.split('\n');
  return new UsageError(first, 'target', rest.length === 0 ? undefined : rest.join('\n'));
}
