/** Dispatch: from arguments to a command and its exit code. */
import { existsSync } from 'node:fs';
import { visible } from '../text/visible.js';
import { aacp } from './commands/aacp.js';
import { acp } from './commands/acp.js';
import { arcp } from './commands/arcp.js';
import { bench } from './commands/bench.js';
import { check } from './commands/check.js';
import { conformance } from './commands/conformance/conformance.js';
import { connect } from './commands/connect/connect.js';
import { decode } from './commands/decode.js';
import { encode } from './commands/encode/encode.js';
import { explain } from './commands/explain.js';
import { exportCommand } from './commands/export.js';
import { find } from './commands/find.js';
import { fmt } from './commands/fmt.js';
import { fuzz } from './commands/fuzz.js';
import { parse } from './commands/parse.js';
import { prompt } from './commands/prompt.js';
import { serve } from './commands/serve.js';
import { tokens } from './commands/tokens.js';
import { errorJson } from './io/json.js';
import { type ColorChoice, createOutput, type Output, type Sink } from './io/output.js';
import { packageVersion } from './io/package.js';
import {
  type Arguments,
  atTerminator,
  type Command,
  type CommandGroup,
  didYouMean,
  GLOBAL_OPTIONS,
  type Invocation,
  type KnownOptions,
  readArguments,
  UsageError,
} from './options/command.js';
import { commandHelp, generalHelp, groupHelp } from './options/help.js';
import { PROTOCOLS, type Protocol } from './protocols.js';

const COMMANDS: readonly (Command | CommandGroup)[] = [
  parse,
  fmt,
  check,
  explain,
  find,
  encode,
  decode,
  fuzz,
  conformance,
  exportCommand,
  prompt,
  tokens,
  aacp,
  serve,
  connect,
  acp,
  arcp,
  bench,
];

/** Protocols with names like ours, which are easily confused. */
const OTHER_PROTOCOLS: Readonly<Record<string, string>> = {
  acp: 'the Agent Client Protocol, JSON-RPC over stdio, which pegwire acp run speaks',
  arcp: 'the runtime protocol, JSON envelopes, which pegwire arcp speaks',
};

/** Exit codes beyond 0 and 1, which the commands give. */
const USAGE = 2;
const DEFECT = 70;

/** The streams that the command line talks to. */
export interface Streams {
  readonly stdin: Invocation['stdin'];
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/**
 * Runs one command line.
 *
 * @param args the arguments after the program's name
 * @returns the exit code: 0 success, 1 the input is not valid, 2 wrong usage or unreadable input, 70 a defect
 */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  const color = colorChoice(args);
  const output = createOutput(streams.stdout, streams.stderr, color);
  const json = atTerminator(args).own.includes('--json');
  try {
    return await dispatch(args, streams, output);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      const { code, message, below } = thrown;
      // It may quote arguments, whatever they hold.
      const shown = visible(/[?:]$/.test(message) ? message : `${message}.`);
      const lines = (below ?? '').split('\n').map(visible);
      const text = below === undefined ? shown : [shown, ...lines].join('\n');
      const whole = below === undefined ? message : `${message}\n${below}`;
      await output.note(json ? errorJson(code, whole) : `${output.paintNote('red', 'pegwire:')} ${text}`);
      if (!json && code === 'usage') await output.note(`${commandLine(args)} --help shows how it is used.`);
      return USAGE;
    }
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    await output.note(json ? errorJson('defect', stack) : `pegwire has a defect, please report it:\n${stack}`);
    return DEFECT;
  }
}

/** Whether the command of these arguments goes on when nobody reads its notes any more. */
export function isService(args: readonly string[]): boolean {
  const last = namedIn(args).at(-1);
  return last !== undefined && 'isService' in last && last.isService === true;
}

/** The program with the command that the arguments name, as far as there is such a command. */
function commandLine(args: readonly string[]): string {
  return ['pegwire', ...namedIn(args).map(({ name }) => name)].join(' ');
}

/** The group and the command that the arguments name. */
function namedIn(args: readonly string[]): readonly (Command | CommandGroup)[] {
  const words = atTerminator(args).own.filter(isWord);
  const named = COMMANDS.find(({ name }) => name === words[0]);
  if (named === undefined) return [];
  const inner = 'commands' in named ? named.commands.find(({ name }) => name === words[1]) : undefined;
  return inner === undefined ? [named] : [named, inner];
}

async function dispatch(args: readonly string[], streams: Streams, output: Output): Promise<number> {
  const asked = withoutHelp(args);
  const name = firstWord(asked);
  if (name === undefined) return withoutCommand(asked, output);

  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new UsageError(`There is no command "${name}"${commandHint(name, asked)}`);
  const rest = asked.toSpliced(asked.indexOf(name), 1);
  return 'commands' in command
    ? runGroup(command, rest, { streams, output })
    : runCommand(command, rest, { streams, output });
}

/** `help parse` is `parse --help`. */
function withoutHelp(args: readonly string[]): readonly string[] {
  const { own, others } = atTerminator(args);
  if (own.find(isWord) !== 'help') return args;
  return [...own.filter((argument) => argument !== 'help'), '--help', ...others];
}

function firstWord(args: readonly string[]): string | undefined {
  return atTerminator(args).own.find(isWord);
}

interface Surroundings {
  readonly streams: Streams;
  readonly output: Output;
  /** The group that the command is in. */
  readonly group?: string;
}

async function runGroup(group: CommandGroup, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const name = firstWord(args);
  const command = group.commands.find((one) => one.name === name);
  if (command !== undefined) {
    const rest = args.toSpliced(args.indexOf(command.name), 1);
    return runCommand(command, rest, { ...surroundings, group: group.name });
  }
  const { output } = surroundings;
  const { options } = readArguments(args, GLOBAL_OPTIONS);
  if (options['help'] === true) {
    await output.result(groupHelp(group));
    return 0;
  }
  if (options['version'] === true) return version(output);
  const names = group.commands.map((one) => one.name);
  if (name === undefined) throw new UsageError(`${group.name} needs a command: ${names.join(', ')}`);
  const hint = COMMANDS.some((one) => one.name === name)
    ? `; the command comes first: pegwire ${name} ${group.name}`
    : didYouMean(name, names);
  throw new UsageError(`${group.name} takes ${names.join(', ')}, not "${name}"${hint}`);
}

async function runCommand(command: Command, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { streams, output, group } = surroundings;
  const known = (await command.optionsFor?.(args)) ?? ownOptions(command);
  const { options, repeated, positionals } = readArguments(args, { ...known.options, ...GLOBAL_OPTIONS }, known.hint);
  if (options['help'] === true) {
    await output.result(commandHelp(command, group === undefined ? command.name : `${group} ${command.name}`));
    return 0;
  }
  if (options['version'] === true) return version(output);
  const json = options['json'] === true;
  const program = atTerminator(args).others.slice(1);
  const given = { options, known: known.options, repeated, program, json, output, stdin: streams.stdin };
  if (command.words !== undefined) {
    const nowhere = { protocol: PROTOCOLS[0]!, protocols: PROTOCOLS, file: undefined, grammar: undefined };
    return command.run({ ...nowhere, ...given, words: positionals });
  }
  const grammar = grammarFile(command, positionals);
  const { protocol, file } = takesFileOnly(command)
    ? fileOnly(command, positionals)
    : grammar !== undefined || isUntargeted(command, positionals)
      ? noTarget(command, grammar === undefined ? positionals : positionals.slice(1))
      : target(command, positionals);
  checkProtocol(command, protocol, options);
  const protocols = positionals.length === 0 ? PROTOCOLS : [protocol];
  return command.run({ protocol, protocols, file, grammar, words: [], ...given });
}

function ownOptions({ options, optionGroups = [] }: Command): KnownOptions {
  return { options: Object.assign({}, options, ...optionGroups.map((group) => group.options)), hint: '' };
}

/** Options that another protocol of the command has. */
function checkProtocol({ name, optionGroups = [] }: Command, protocol: Protocol, options: Arguments['options']): void {
  for (const option of Object.keys(options)) {
    const owners = optionGroups.filter((group) => Object.hasOwn(group.options, option)).map((group) => group.protocol);
    if (owners.length > 0 && !owners.includes(protocol.name))
      throw new UsageError(`--${option} is not for ${protocol.name}: pegwire ${name} ${owners[0]} takes it`);
  }
}

function isWord(argument: string): boolean {
  return !argument.startsWith('-');
}

/** What may have been meant by a first word that is no command. */
function commandHint(word: string, args: readonly string[]): string {
  const names = COMMANDS.map(({ name }) => name);
  const later = args.find((argument) => names.includes(argument));
  if (PROTOCOLS.some(({ name }) => name === word))
    return `; the command comes first: pegwire ${later ?? 'parse'} ${word}`;
  return later === undefined ? didYouMean(word, names) : `; the command comes first: pegwire ${later}`;
}

async function withoutCommand(args: readonly string[], output: Output): Promise<number> {
  const { options }: Arguments = readArguments(args, GLOBAL_OPTIONS);
  if (options['version'] === true) return version(output);
  if (options['help'] === true) {
    await output.result(generalHelp(COMMANDS));
    return 0;
  }
  await output.note(generalHelp(COMMANDS));
  return USAGE;
}

async function version(output: Output): Promise<number> {
  await output.result(`pegwire ${packageVersion()} (ACCP: draft-benzing-accp-00, AACP: draft-mackay-aacp-01)`);
  return 0;
}

function isUntargeted({ takesInput, takesProtocol, takesGrammar }: Command, positionals: readonly string[]): boolean {
  const needsProtocol = takesInput || takesGrammar || takesProtocol === 'required';
  return !needsProtocol && (takesProtocol !== true || positionals.length === 0);
}

/** The grammar that stands where a protocol would. */
function grammarFile({ takesGrammar }: Command, [first]: readonly string[]): string | undefined {
  return takesGrammar && /\.(?:peggy|pegjs)$/.test(first ?? '') ? first : undefined;
}

/** The protocol and the file that a command names. */
function target(
  command: Command,
  [name, file, extra]: readonly string[],
): { protocol: Protocol; file: string | undefined } {
  const names: readonly string[] = command.protocols ?? PROTOCOLS.map((protocol) => protocol.name);
  const more = command.takesGrammar ? ', or a grammar file (.peggy)' : '';
  if (name === undefined) throw new UsageError(`${command.name} needs a protocol: ${names.join(' or ')}${more}`);
  const protocol = PROTOCOLS.find((one) => one.name === name && names.includes(name));
  if (protocol === undefined) {
    if (existsSync(name) && !command.takesGrammar)
      throw new UsageError(`The protocol comes before the file: pegwire ${command.name} <${names.join('|')}> ${name}`);
    const other = Object.hasOwn(OTHER_PROTOCOLS, name)
      ? `; ${name} is ${OTHER_PROTOCOLS[name]}`
      : didYouMean(name, names);
    throw new UsageError(`${command.name} takes ${names.join(' or ')}${more}, not "${name}"${other}`);
  }
  const many = command.takesInput ? extra : file;
  if (many !== undefined) {
    const takes = command.takesInput ? 'reads one file' : 'takes a protocol and no file';
    throw new UsageError(`${command.name} ${takes}; "${many}" is one too many`);
  }
  return { protocol, file: file === '-' ? undefined : file };
}

function noTarget(command: Command, [extra]: readonly string[]): { protocol: Protocol; file: undefined } {
  if (extra !== undefined)
    throw new UsageError(`${command.name} takes no arguments, only options; "${extra}" is one too many`);
  return { protocol: PROTOCOLS[0]!, file: undefined };
}

function takesFileOnly({ takesInput, takesProtocol }: Command): boolean {
  return takesInput && takesProtocol === false;
}

function fileOnly(
  command: Command,
  [file, extra]: readonly string[],
): { protocol: Protocol; file: string | undefined } {
  if (PROTOCOLS.some(({ name }) => name === file) && !existsSync(file!)) {
    throw new UsageError(`${command.name} takes no protocol: it tells messages by their shape; leave out "${file}"`);
  }
  if (extra !== undefined) throw new UsageError(`${command.name} reads one file; "${extra}" is one too many`);
  return { protocol: PROTOCOLS[0]!, file: file === '-' ? undefined : file };
}

/** Known before the arguments are, so that errors about them are in colour too. */
function colorChoice(args: readonly string[]): ColorChoice {
  const options = atTerminator(args).own;
  if (options.includes('--no-color')) return 'never';
  return options.includes('--color') ? 'always' : 'auto';
}
