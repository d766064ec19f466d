/** The command line as the user wrote it: commands, protocols, options, and what to say when one of them is none. */
import { parseArgs } from 'node:util';
import { nearest } from '../text/suggest.js';
import type { Output } from './output.js';
import type { Protocol } from './protocols.js';

/** Wrong usage, input that cannot be read, or a program under test that cannot be asked: exit code 2. */
export class UsageError extends Error {
  readonly code: 'usage' | 'unreadable' | 'target';

  constructor(message: string, code: UsageError['code'] = 'usage') {
    super(message);
    this.code = code;
  }
}

/** One option of a command. */
export interface OptionSpec {
  readonly type: 'boolean' | 'string';
  /** Of a string option: whether it may stand without a value, and is `true` then. */
  readonly optional?: true;
  readonly short?: string;
  /** For the help page; of a string option, with a placeholder in capitals. */
  readonly description: string;
}

/** What a command gets to work with. */
export interface Invocation {
  readonly protocol: Protocol;
  /** The one that was named, or all of them where a command may go without. */
  readonly protocols: readonly Protocol[];
  /** A path, or `undefined` for the standard input. */
  readonly file: string | undefined;
  /** The path of the grammar that was named in the place of a protocol. */
  readonly grammar: string | undefined;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** All values of the options that may be given more than once. */
  readonly repeated: Readonly<Record<string, readonly string[]>>;
  readonly json: boolean;
  readonly output: Output;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
}

/** A command; each stands in a file of its own. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** `false` for a command that reads no messages of the user's. */
  readonly takesInput: boolean;
  /**
   * Of a command without input: whether a protocol may be named, or has to be. Of one with input, which needs a protocol
   * otherwise: `false` when it takes none.
   */
  readonly takesProtocol?: boolean | 'required';
  /** The protocols that it takes. @default both */
  readonly protocols?: readonly Protocol['name'][];
  /** Of a command without input: whether it needs a protocol, or a file with a grammar in the place of one. */
  readonly takesGrammar?: boolean;
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** What the help page says below the options. */
  readonly details?: string;
  readonly example: string;
  /** @returns the exit code */
  readonly run: (invocation: Invocation) => Promise<number>;
}

export const GLOBAL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  json: { type: 'boolean', description: 'one JSON document a line on stdout, errors included' },
  color: { type: 'boolean', description: 'colour even where stdout is no terminal' },
  'no-color': { type: 'boolean', description: 'no colour (also: NO_COLOR=1)' },
  help: { type: 'boolean', short: 'h', description: 'this page' },
  version: { type: 'boolean', short: 'V', description: 'the version, with those of the protocols' },
};

/** Options and the rest of a command line, not yet given a meaning. */
export interface Arguments {
  readonly options: Record<string, string | boolean>;
  readonly repeated: Record<string, string[]>;
  readonly positionals: readonly string[];
}

/**
 * Splits arguments into options and positionals.
 *
 * @throws UsageError on an option that the command does not know, with a suggestion, or that lacks its value
 */
export function readArguments(args: readonly string[], specs: Readonly<Record<string, OptionSpec>>): Arguments {
  const known = Object.fromEntries(
    Object.entries(specs).map(([name, { type, short }]) => [name, short === undefined ? { type } : { type, short }]),
  );
  const { tokens, positionals } = parseArgs({
    args: withOptionalValues(args, specs),
    options: known,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const options: Record<string, string | boolean> = Object.create(null);
  const repeated: Record<string, string[]> = Object.create(null);
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const spec = Object.hasOwn(specs, token.name) ? specs[token.name] : undefined;
    if (spec === undefined)
      throw new UsageError(`There is no option ${token.rawName}${didYouMean(token.name, Object.keys(specs), '--')}`);
    if (spec.type === 'boolean' && token.value !== undefined)
      throw new UsageError(`The option ${token.rawName} takes no value`);
    if (spec.type === 'string' && !spec.optional && !isGiven(token)) {
      throw new UsageError(`The option ${token.rawName} needs a value`);
    }
    options[token.name] = spec.optional && token.value === '' ? true : (token.value ?? true);
    if (token.value !== undefined) repeated[token.name] = [...(repeated[token.name] ?? []), token.value];
  }
  return { options, repeated, positionals };
}

/** The parser of arguments takes whatever follows as the value; where that is another option, it is none. */
function withOptionalValues(args: readonly string[], specs: Readonly<Record<string, OptionSpec>>): string[] {
  return args.map((argument, index) => {
    const name = argument.slice(2);
    const optional = argument.startsWith('--') && Object.hasOwn(specs, name) && specs[name]?.optional === true;
    const next = args[index + 1] ?? '--';
    return optional && isOption(next) ? `${argument}=` : argument;
  });
}

/** A dash alone is the standard input, and a number may be negative. */
function isOption(word: string): boolean {
  return /^-[^0-9.]/.test(word);
}

/** Whether an option has a value of its own: the option after it is none, unless `=` says so. */
function isGiven({ value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined }): boolean {
  return value !== undefined && value !== '' && (inlineValue === true || !isOption(value));
}

/** The value of an option that names one of a few choices. */
export function choice<T extends string>(
  invocation: Invocation,
  option: string,
  choices: readonly T[],
  byDefault: T = choices[0]!,
): T {
  const value = invocation.options[option];
  if (value === undefined) return byDefault;
  const found = choices.find((one) => one === value);
  if (found !== undefined) return found;
  throw new UsageError(
    `--${option} is one of ${choices.join(', ')}, not "${String(value)}"${didYouMean(String(value), choices)}`,
  );
}

/** `; did you mean "check"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[], prefix = ''): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean "${prefix}${near}"?`;
}
