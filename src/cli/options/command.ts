/** Commands and their invocations. */
import type { Source } from '../io/input.js';
import type { Reporting } from '../io/report.js';
import type { Protocol } from '../protocols.js';
import { flag, type Given, type Options, type Values } from './option.js';

export interface Invocation<O extends Options = Options> extends Source, Reporting {
  readonly protocol: Protocol;
  /** The protocol that the arguments name, or all protocols. */
  readonly protocols: readonly Protocol[];
  /** The arguments of a command that takes files: files, folders and patterns. */
  readonly files: readonly string[];
  /** The grammar file that the arguments name in place of a protocol. */
  readonly grammar: string | undefined;
  /** The arguments of a command that takes words. */
  readonly words: readonly string[];
  /** All commands. */
  readonly commands: readonly (CommandEntry | CommandGroup)[];
  /** The arguments after `--`; also the last ones of `words`. */
  readonly program: readonly string[];
  readonly options: Values<O>;
  readonly known: Options;
  readonly output: Reporting['output'];
  readonly given: Readonly<Record<string, readonly Given[]>>;
}

/**
 * The arguments that a command accepts besides options.
 *
 * - `messages`: a protocol, and a file or stdin
 * - `files`: a protocol, and files, folders, patterns or stdin
 * - `file`: a file or stdin
 * - `protocol`: a protocol
 * - `optional-protocol`: a protocol; without one, all
 * - `grammar`: a protocol or a grammar file
 * - `words`: anything; the text is the form on the help page; ` | ` separates several forms
 */
export type Takes =
  | 'messages'
  | 'files'
  | 'file'
  | 'protocol'
  | 'optional-protocol'
  | 'grammar'
  | 'nothing'
  | { readonly words: string };

/** A command, which is loaded when it is called. */
export interface Command<O extends Options = Options> {
  readonly takes: Takes;
  /** @default both */
  readonly protocols?: readonly Protocol['name'][];
  readonly options: O;
  /** Options of one protocol, in the groups of the help page; `options` has them too. */
  readonly optionGroups?: readonly { protocol: Protocol['name']; title: string; options: Options }[];
  /** Returns the options for these arguments if they differ from `options`; `null` otherwise. */
  readonly optionsFor?: (args: readonly string[]) => Promise<KnownOptions | null>;
  /** Replaces the general list of exit codes on the help page. */
  readonly exitCodes?: string;
  readonly details?: string | readonly string[];
  readonly example: string | readonly string[];
  /** Runs the command. @returns the exit code */
  run(invocation: Invocation<O>): Promise<number>;
}

/** Defines a command, with the types of its options inferred. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** If true, the command continues when stderr is closed. */
  readonly isService?: boolean;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Commands that share a first word: `pegwire aacp registry`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandEntry[];
}

export interface KnownOptions {
  readonly options: Options;
  /** Help for the error of an unknown option; may be empty. */
  readonly hint: string;
}

export const GLOBAL_OPTIONS = {
  json: flag('Print JSON, one document per line, errors included'),
  color: flag('Use colour even if the output is not a terminal'),
  'no-color': flag('Do not use colour; or set NO_COLOR=1'),
  help: flag('Print this page', 'h'),
  version: flag('Print the version of pegwire and of the drafts it implements', 'V'),
};
