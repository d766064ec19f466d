/** Options of several commands. */
import type { TargetError } from '../../fuzz/differential/target.js';
import type { ProcessOptions } from '../../fuzz/process/process-target.js';
import type { Limits } from '../../text/limits.js';
import { UsageError } from '../io/errors.js';
import { FINDING_FORMATS } from '../io/findings.js';
import { choice, duration, flag, integer, text, upTo, type Values, value } from './option.js';

const limit = integer({ from: 0 });

export const LIMIT_OPTIONS = {
  'max-length': value('N', 'Allow at most this many UTF-16 code units per message (default: 1048576)', limit),
  'max-depth': value('N', 'Allow at most this nesting of arrays and maps (accp; default: 5)', limit),
  'max-items': value(
    'N',
    'Allow at most this many parameters, entries, items and fields per message (default: 100000)',
    limit,
  ),
  'max-digits': value('N', 'Allow at most this many digits per number (accp; default: 1000)', limit),
};

/** Returns the limits that the options set. */
export function givenLimits(options: Values<typeof LIMIT_OPTIONS>): Limits {
  return {
    maxLength: options['max-length'],
    maxDepth: options['max-depth'],
    maxItems: options['max-items'],
    maxDigits: options['max-digits'],
  };
}

export const FORMAT = choice(
  'NAME',
  'Print the findings as text (default), or for other programs: sarif (SARIF 2.1.0), github (annotations of GitHub Actions) or junit (XML)',
  FINDING_FORMATS,
);

export const WATCH = flag('Repeat when files change, come or go, until Ctrl-C');

/** The text about input on the help page of a command that takes files. */
export const FILES =
  'The input has one message per line; blank lines and lines that begin with # are comments. A folder stands for all files in it that ' +
  'end in .accp or .aacp, and a pattern such as "logs/**/*.accp" for those that match. Files that .pegwireignore in the current folder lists, in the ' +
  'syntax of .gitignore, are left out, and so are node_modules and .git.';

/** Options that select rules. Defined here so that reading them loads no rules. */
export const RULES_OPTIONS = {
  rules: text('FILE', 'Load rules in the reference format, in addition to the built-in rules'),
  'rules-sha256': text('HEX', 'Require the rules file to have this SHA-256 hash'),
  'no-bundled-rules': flag('Do not use the built-in rules'),
};

export type RulesOptions = Values<typeof RULES_OPTIONS>;

export const SERVER_OPTIONS = {
  host: text(
    'HOST',
    'Listen on this name or address (default: 127.0.0.1); any other than a loopback address requires --token',
  ),
  insecure: flag('Allow other machines to connect without a token'),
};

/** Converts the error of a server that could not start. */
export function notStarted(thrown: unknown): unknown {
  if (!(thrown instanceof Error) || thrown instanceof UsageError) return thrown;
  const { message, code } = thrown as NodeJS.ErrnoException;
  if (code === 'no-token')
    return new UsageError(`${message.split(/;|\.$/)[0]}; set --token or PEGWIRE_TOKEN, or use --insecure`);
  if (code === 'no-tls')
    return new UsageError(`${message.split(/;|\.$/)[0]}; set --tls-key and --tls-cert, or use --insecure`);
  // The options are invalid, for example a path or an origin.
  return thrown instanceof TypeError ? new UsageError(message) : new UsageError(message, 'address');
}

/** Options of commands that run a program under test. */
export const LIMITED_PROGRAM = {
  timeout: value(
    'DURATION',
    'Allow the program this long per input, at most 1h (default: 5s)',
    duration({ isPositive: true, max: '1h' }),
  ),
  memory: value('MIB', 'Allow the program and its children this many MiB of memory (default: 1024)', upTo(2 ** 20)),
};

const MEBIBYTE = 2 ** 20;

/** Returns the limits of a program under test. */
export function processLimits(options: Values<typeof LIMITED_PROGRAM>): ProcessOptions {
  const { timeout: timeoutMs, memory } = options;
  return {
    timeoutMs,
    maxMemoryBytes: memory === undefined ? undefined : memory * MEBIBYTE,
  };
}

/** Converts the error of a program that could not be tested; its output follows the first line. */
export function targetFault({ message }: TargetError): UsageError {
  const [first = '', ...rest] = message.split('\n');
  return new UsageError(first, 'target', rest.length === 0 ? {} : { below: rest.join('\n') });
}
