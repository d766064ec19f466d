/** The command line as the user wrote it: commands, protocols, options, and what to say when one of them is none. */
import { parseArgs } from 'node:util';
import { nearest } from '../../text/suggest.js';
import type { Output } from '../io/output.js';
import type { Protocol } from '../protocols.js';

/**
 * Wrong usage, input that cannot be read, a program that cannot be asked or started, an address that cannot be listened on or
 * reached: exit code 2.
 */
export class UsageError extends Error {
  readonly code: 'usage' | 'unreadable' | 'target' | 'address' | 'unreachable';
  /** Lines that are shown below the message as they are, such as the place in a file with a caret. */
  readonly below: string | undefined;

  constructor(message: string, code: UsageError['code'] = 'usage', below?: string) {
    super(message);
    this.code = code;
    this.below = below;
  }
}

/** The error of counts in an encoding that was asked for, where only estimates can be had. */
export function notExact(encoding: string): UsageError {
  return new UsageError(
    `--encoding ${encoding} needs the package gpt-tokenizer for exact counts: npm install gpt-tokenizer`,
    'unreadable',
  );
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

/** Options by their names. */
export type Options = Readonly<Record<string, OptionSpec>>;

/** What a command gets to work with. */
export interface Invocation {
  readonly protocol: Protocol;
  /** The one that was named, or all of them where a command may go without. */
  readonly protocols: readonly Protocol[];
  /** A path, or `undefined` for the standard input. */
  readonly file: string | undefined;
  /** The path of the grammar that was named in the place of a protocol. */
  readonly grammar: string | undefined;
  /** What stands behind the name of a command that takes words. */
  readonly words: readonly string[];
  /** What stands behind `--`; of the words, it is the last ones. */
  readonly program: readonly string[];
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  /** The options that the command knows, given or not. */
  readonly known: Options;
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
  /** Of a command that takes neither a protocol nor a file: its words, for the help page. They are its own business. */
  readonly words?: string;
  readonly options: Options;
  /** Options that only one of its protocols has, in the groups in which the help page shows them. */
  readonly optionGroups?: readonly OptionGroup[];
  /** The options that stand for all of these where the arguments ask for it; `null` where they do not. */
  readonly optionsFor?: (args: readonly string[]) => Promise<KnownOptions | null>;
  /** What the help page says of exit codes that are not as with all commands. */
  readonly exitCodes?: string;
  /** What the help page says below the options: a paragraph, or several. */
  readonly details?: string | readonly string[];
  /** A line, or several. */
  readonly example: string | readonly string[];
  /** Whether others rely on it, so that it goes on when nobody reads its notes any more. */
  readonly isService?: boolean;
  /** @returns the exit code */
  readonly run: (invocation: Invocation) => Promise<number>;
}

/** Several commands under one name: `pegwire aacp registry`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly Command[];
}

/** Options that belong to one protocol. */
export interface OptionGroup {
  readonly protocol: Protocol['name'];
  /** What they are for: `of aacp, with --workflow`. */
  readonly title: string;
  readonly options: Options;
}

/** Options, and what to say where another one is given. */
export interface KnownOptions {
  readonly options: Options;
  /** One sentence without a full stop; empty for nothing. */
  readonly hint: string;
}

export const GLOBAL_OPTIONS: Options = {
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
 * @param hint what to say beside an option that there is not
 * @throws UsageError on an option that the command does not know, with a suggestion, or that lacks its value
 */
export function readArguments(args: readonly string[], specs: Options, hint = ''): Arguments {
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
    if (spec === undefined) {
      const near = didYouMean(token.name, Object.keys(specs), '--');
      const more = hint === '' ? '' : `${near === '' ? ';' : ''} ${hint}`;
      throw new UsageError(`There is no option ${token.rawName}${near}${more}`);
    }
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
    const optional = argument.startsWith('--') && Object.hasOwn(specs, name) && specs[name]?.optional === true;
    const next = own[index + 1] ?? '--';
    return optional && isOption(next) ? `${argument}=` : argument;
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
