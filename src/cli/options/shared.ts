/** Options that several commands have. */
import type { TargetError } from '../../fuzz/differential/target.js';
import type { ProcessOptions } from '../../fuzz/process/process-target.js';
import type { Limits } from '../../text/limits.js';
import { UsageError } from '../io/errors.js';
import { duration, flag, integer, text, upTo, type Values, value } from './option.js';

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

/** No rules are loaded for them. */
export const RULES_OPTIONS = {
  rules: text('FILE', 'rules of your own, in the reference format, beside those of pegwire'),
  'rules-sha256': text('HEX', 'only the file with this SHA-256'),
  'no-bundled-rules': flag('without the rules of pegwire'),
};

export type RulesOptions = Values<typeof RULES_OPTIONS>;

export const SERVER_OPTIONS = {
  host: text('HOST', 'name or address (127.0.0.1); others than this machine need --token'),
  insecure: flag('listen without --token where others than this machine reach it'),
};

export function notStarted(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof UsageError) return thrown;
  const { message, code } = thrown as NodeJS.ErrnoException;
  if (code === 'no-token')
    return new UsageError(`${message}: give it --token (or PEGWIRE_TOKEN in the environment), or --insecure`);
  // Invalid tokens, origins and paths.
  return thrown instanceof TypeError ? new UsageError(message) : new UsageError(message, 'address');
}

export const LIMITED_PROGRAM = {
  'time-limit': value(
    'DURATION',
    'Allow the program this long per input (default: 5s).',
    duration({ isPositive: true, max: '1h' }),
  ),
  memory: value('MB', 'for the program and all that it starts (default 1024)', upTo(2 ** 20)),
};

const MEBIBYTE = 2 ** 20;

export function processLimits(options: Values<typeof LIMITED_PROGRAM>): ProcessOptions {
  const { 'time-limit': timeLimit, memory } = options;
  return {
    timeLimitMs: timeLimit,
    memoryLimitBytes: memory === undefined ? undefined : memory * MEBIBYTE,
  };
}

/** Shows what the program printed below the first line. */
export function targetFault({ message }: TargetError): UsageError {
  const [first = '', ...rest] = message.split('\n');
  return new UsageError(first, 'target', rest.length === 0 ? undefined : rest.join('\n'));
}
