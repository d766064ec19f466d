/** The command line as it was written: options and the rest, not yet given a meaning. */
import { parseArgs } from 'node:util';
import { didYouMean, UsageError } from '../io/errors.js';
import type { Protocol } from '../protocols.js';
import type { Given, Options, Values } from './option.js';

export interface Arguments {
  /** The values of each option that is given. */
  readonly given: Readonly<Record<string, readonly Given[]>>;
  readonly positionals: readonly string[];
}

/**
 * Splits arguments into options and positionals.
 *
 * @param hint what to say beside an unknown option
 * @throws UsageError on an option that the command does not know, with a suggestion, or that lacks its value
 */
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
      throw new UsageError(`There is no option ${rawName}${near}${more}`);
    }
    if (spec.takes === 'nothing' && value !== undefined) throw new UsageError(`The option ${rawName} takes no value`);
    if (spec.takes === 'value' && !isGiven(token)) throw new UsageError(`The option ${rawName} needs a value`);
    given[name] ??= [];
    given[name].push(spec.takes === 'optional' && value === '' ? true : (value ?? true));
  }
  return { given, positionals };
}

/** The typed values of options. @throws UsageError on an invalid one */
export function readOptions<O extends Options>(options: O, given: Arguments['given'], protocol: Protocol): Values<O> {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [name, option.read(given[name] ?? [], name, protocol)]),
  ) as Values<O>;
}

/** The value of one option, before it is known which others there are; `undefined` where it has none. */
export function peekOption(args: readonly string[], name: string): string | undefined {
  const { values } = parseArgs({ args: [...args], options: { [name]: { type: 'string' } }, strict: false });
  const value = values[name];
  return typeof value === 'string' && value !== '' && !isOption(value) ? value : undefined;
}

/** The parser of arguments takes whatever follows as the value; where that is another option, it is none. */
function withOptionalValues(args: readonly string[], specs: Options): string[] {
  const { own, others } = atTerminator(args);
  const made = own.map((argument, index) => {
    const name = argument.slice(2);
    const isOptional = argument.startsWith('--') && Object.hasOwn(specs, name) && specs[name]?.takes === 'optional';
    const next = own[index + 1] ?? '--';
    return isOptional && isOption(next) ? `${argument}=` : argument;
  });
  return [...made, ...others];
}

/** What stands before `--`, and the rest with it: options there are another program's. */
export function atTerminator(args: readonly string[]): {
  readonly own: readonly string[];
  readonly others: readonly string[];
} {
  const end = args.indexOf('--');
  return end < 0 ? { own: args, others: [] } : { own: args.slice(0, end), others: args.slice(end) };
}

/** A dash alone is the standard input, and a number may be negative. */
function isOption(word: string): boolean {
  return /^-[^0-9.]/.test(word);
}

/** Whether an option has a value of its own: the option after it is none, unless `=` says so. */
function isGiven({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }): boolean {
  return value !== undefined && value !== '' && (inlineValue === true || !isOption(value));
}
