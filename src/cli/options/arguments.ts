/** Splitting the command line. */
import { parseArgs } from 'node:util';
import { didYouMean, UsageError } from '../io/errors.js';
import type { Protocol } from '../protocols.js';
import type { Given, Options, Values } from './option.js';

export interface Arguments {
  readonly given: Readonly<Record<string, readonly Given[]>>;
  readonly positionals: readonly string[];
}

/** Splits a command line into options and arguments. @param hint added to the error of an unknown option @throws UsageError if an option is unknown or lacks its value */
export function readArguments(args: readonly string[], specs: Options, hint = ''): Arguments {
  const known = Object.fromEntries(
    Object.entries(specs).map(([name, { takes, short }]) => {
      const type = takes === 'nothing' ? ('boolean' as const) : ('string' as const);
      return [name, short === undefined ? { type } : { type, short }];
    }),
  );
  const { tokens, positionals } = parseArgs({
    args: withOptionalValues(args, specs),
    options: known,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given: Record<string, Given[]> = Object.create(null);
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
    if (spec === undefined) {
      const near = didYouMean(name, Object.keys(specs), '--');
      const more = hint === '' ? '' : `${near === '' ? ';' : ''} ${hint}`;
      throw new UsageError(`Unknown option ${rawName}${near}${more}`);
    }
    if (spec.takes === 'nothing' && value !== undefined)
      throw new UsageError(`Option ${rawName} does not take a value`);
    if (spec.takes === 'value' && !isGiven(token)) throw new UsageError(`Option ${rawName} requires a value`);
    given[name] ??= [];
    given[name].push(spec.takes === 'optional' && value === '' ? true : (value ?? true));
  }
  return { given, positionals };
}

/** Reads the values of all options, given or not. @throws UsageError if a value is invalid */
export function readOptions<O extends Options>(options: O, given: Arguments['given'], protocol: Protocol): Values<O> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, option.read(given[name] ?? [], name, protocol)]),
  ) as Values<O>;
}

/** Returns the value of one option before the command knows its other options. */
export function peekOption(args: readonly string[], name: string): string | undefined {
  const { values } = parseArgs({ args: [...args], options: { [name]: { type: 'string' } }, strict: false });
  const value = values[name];
  return typeof value === 'string' && value !== '' && !isOption(value) ? value : undefined;
}

/** Appends `=` to options whose value is left out: `parseArgs` would take the next option as the value. */
function withOptionalValues(args: readonly string[], specs: Options): string[] {
  const { own, others } = atTerminator(args);
  const separated = own.map((argument, index) => {
    const name = argument.slice(2);
    const isOptional = argument.startsWith('--') && Object.hasOwn(specs, name) && specs[name]?.takes === 'optional';
    const next = own[index + 1] ?? '--';
    return isOptional && isOption(next) ? `${argument}=` : argument;
  });
  return [...separated, ...others];
}

/** Splits at `--`; the options after it belong to another program. */
export function atTerminator(args: readonly string[]): {
  readonly own: readonly string[];
  readonly others: readonly string[];
} {
  const end = args.indexOf('--');
  return end < 0 ? { own: args, others: [] } : { own: args.slice(0, end), others: args.slice(end) };
}

/** Reports whether a word is an option: a single dash means stdin, and a number may be negative. */
function isOption(word: string): boolean {
  return /^-[^0-9.]/.test(word);
}

/** Reports whether a value follows; a word that looks like an option is a value only after `=`. */
function isGiven({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }): boolean {
  return value !== undefined && value !== '' && (inlineValue === true || !isOption(value));
}
