/** What a command is, and what it receives. */
import type { Output } from '../io/output.js';
import type { Protocol } from '../protocols.js';
import { flag, type Given, type Options, type Values } from './option.js';

/** What a command gets to work with. */
export interface Invocation<O extends Options = Options> {
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
  readonly options: Values<O>;
  /** The options that the command knows, given or not. */
  readonly known: Options;
  /** What stands in the arguments for each option that was given. */
  readonly given: Readonly<Record<string, readonly Given[]>>;
  readonly json: boolean;
  readonly output: Output;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean };
}

/**
 * What a command takes beside options:
 *
 * - `messages`: a protocol, and a file with its messages or stdin
 * - `file`: a file or stdin, and no protocol
 * - `protocol`: a protocol
 * - `optional-protocol`: a protocol, or all of them
 * - `grammar`: a protocol, or a file with a grammar
 * - `nothing`
 * - `words`: what only the command itself can tell, with its form for the help page
 */
export type Takes =
  | 'messages'
  | 'file'
  | 'protocol'
  | 'optional-protocol'
  | 'grammar'
  | 'nothing'
  | { readonly words: string };

/** A command: its options and its work. Each stands in a file of its own, or in a folder, and is loaded when it is named. */
export interface Command<O extends Options = Options> {
  readonly takes: Takes;
  /** The protocols that it takes. @default both */
  readonly protocols?: readonly Protocol['name'][];
  readonly options: O;
  /** Options that only one protocol has, in the groups in which the help page shows them. They are in `options`, too. */
  readonly optionGroups?: readonly OptionGroup[];
  /** The options that stand for all of these where the arguments ask for it; `null` where they do not. */
  readonly optionsFor?: (args: readonly string[]) => Promise<KnownOptions | null>;
  /** What the help page says of exit codes that are not as with all commands. */
  readonly exitCodes?: string;
  /** What the help page says below the options: a paragraph, or several. */
  readonly details?: string | readonly string[];
  /** A line, or several. */
  readonly example: string | readonly string[];
  /** @returns the exit code */
  run(invocation: Invocation<O>): Promise<number>;
}

/** Gives the work of a command the types of its options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command;
}

/** A command by its name; the rest is loaded when it is called. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Whether others rely on it, so that it goes on when nobody reads its notes any more. */
  readonly isService?: boolean;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Several commands under one name: `pegwire aacp registry`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandEntry[];
}

/** Options that belong to one protocol. */
export interface OptionGroup {
  readonly protocol: Protocol['name'];
  /** What they are for: `of aacp: a step of a workflow`. */
  readonly title: string;
  readonly options: Options;
}

/** Options, and what to say where another one is given. */
export interface KnownOptions {
  readonly options: Options;
  /** One sentence without a full stop; empty for nothing. */
  readonly hint: string;
}

/** The options of every command. */
export const GLOBAL_OPTIONS = {
  json: flag('one JSON document a line on stdout, errors included'),
  color: flag('colour even where stdout is no terminal'),
  'no-color': flag('no colour (also: NO_COLOR=1)'),
  help: flag('this page', 'h'),
  version: flag('the version, with those of the protocols', 'V'),
};
