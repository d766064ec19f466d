/** The limits of parsers as options: those that `help` of an error names, under the same names. */
import type { Limits } from '../../text/limits.js';
import type { Invocation, Options } from './command.js';
import { countOption } from './option.js';

export const LIMIT_OPTIONS: Options = {
  'max-length': { type: 'string', description: 'N  UTF-16 code units of a message (1048576)' },
  'max-depth': { type: 'string', description: 'N  accp: nesting of arrays and maps (5)' },
  'max-items': { type: 'string', description: 'N  parameters, entries, items and fields of a message (100000)' },
  'max-digits': { type: 'string', description: 'N  accp: digits of a number (1000)' },
};

/** @throws UsageError on a limit that is not a whole number */
export function givenLimits(invocation: Pick<Invocation, 'options'>): Limits {
  const limit = (name: string): number | undefined => countOption(invocation, name, { from: 0 });
  return {
    maxLength: limit('max-length'),
    maxDepth: limit('max-depth'),
    maxItems: limit('max-items'),
    maxDigits: limit('max-digits'),
  };
}

/**
 * Rewrites the help of an error for a command: options of the library become options of the command.
 *
 * @param known the options of the command
 * @returns `undefined` for help with something that the command does not have
 */
export function commandHelpOf(help: string | undefined, known: Options): string | undefined {
  if (help === undefined) return undefined;
  const [, limit] = /^raise (max[A-Z][A-Za-z]*)/.exec(help) ?? [];
  if (limit !== undefined) {
    const option = limit.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return Object.hasOwn(known, option) ? help.replace(limit, `--${option}`) : undefined;
  }
  const text = Object.hasOwn(known, 'text') ? '--text transliterate' : null;
  return help
    .replace(
      /text: "transliterate", which codec\.announce\(session\) tells the reader/,
      text ?? 'letters, digits and "_"',
    )
    .replace(/text: "transliterate"/, text ?? 'letters, digits and "_"')
    .replace(/codec\.announce\(session\)( gives first)?/, 'a sync:registry frame');
}
