/** Named as in the `help` of errors. */
import type { Limits } from '../../text/limits.js';
import { integer, type Values, value } from './option.js';

const limit = integer({ from: 0 });

export const LIMIT_OPTIONS = {
  'max-length': value('N', 'UTF-16 code units of a message (1048576)', limit),
  'max-depth': value('N', 'accp: nesting of arrays and maps (5)', limit),
  'max-items': value('N', 'parameters, entries, items and fields of a message (100000)', limit),
  'max-digits': value('N', 'accp: digits of a number (1000)', limit),
};

export function givenLimits(options: Values<typeof LIMIT_OPTIONS>): Limits {
  return {
    maxLength: options['max-length'],
    maxDepth: options['max-depth'],
    maxItems: options['max-items'],
    maxDigits: options['max-digits'],
  };
}
