/** Commands and what they receive. */
import type { Source } from '../io/input.js';
import type { Reporting } from '../io/report.js';
import type { Protocol } from '../protocols.js';
import { flag, type Given, type Options, type Values } from './option.js';

export interface Invocation<O extends Options = Options> extends Source, Reporting {
  readonly protocol: Protocol;
  /** The named one, or all. */
  readonly protocols: readonly Protocol[];
  /** A grammar file in the place of a protocol. */
  readonly grammar: string | undefined;
  /** Arguments of a command that takes words. */
  readonly words: readonly string[];
  /** Arguments behind `--`; also the last of `words`. */
  readonly program: readonly string[];
  readonly options: Values<O>;
  readonly known: Options;
  readonly output: Reporting['output'];
  readonly given: Readonly<Record<string, readonly Given[]>>;
}

/**
 * Arguments beside options: `messages` is a protocol and a file or stdin, `file` a file or stdin, `optional-protocol` a protocol or all,
 * `grammar` a protocol or a grammar file, `words` anything, with a form for the help page.
 */
export type Takes =
  | 'messages'
  | 'file'
  | 'protocol'
  | 'optional-protocol'
  | 'grammar'
  | 'nothing'
  | { readonly words: string };

/** A command, loaded when it is called. */
export interface Command<O extends Options = Options> {
  readonly takes: Takes;
  /** @default both */
  readonly protocols?: readonly Protocol['name'][];
  readonly options: O;
  /** Options of one protocol, as grouped on the help page; also in `options`. */
  readonly optionGroups?: readonly { protocol: Protocol['name']; title: string; options: Options }[];
  /** Replaces `options` for some arguments; `null` otherwise. */
  readonly optionsFor?: (args: readonly string[]) => Promise<KnownOptions | null>;
  readonly exitCodes?: string;
  readonly details?: string | readonly string[];
  readonly example: string | readonly string[];
  /** @returns the exit code */
  run(invocation: Invocation<O>): Promise<number>;
}

/** Infers the types of options. */
export function defineCommand<const O extends Options>(command: Command<O>): Command {
  return command;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** Whether it continues when nobody reads its notes. */
  readonly isService?: boolean;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Commands under one name: `pegwire aacp registry`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly commands: readonly CommandEntry[];
}

export interface KnownOptions {
  readonly options: Options;
  /** Added to the error of an unknown option; may be empty. */
  readonly hint: string;
}

export const GLOBAL_OPTIONS = {
  json: flag('one JSON document a line on stdout, errors included'),
  color: flag('colour even where stdout is no terminal'),
  'no-color': flag('no colour (also: NO_COLOR=1)'),
  help: flag('this page', 'h'),
  version: flag('the version, with those of the protocols', 'V'),
};
