/** Selects and runs the command of a command line. */
import { existsSync } from 'node:fs';
import { COMMANDS } from './commands/index.js';
import { didYouMean, UsageError } from './io/errors.js';
import { errorJson } from './io/json.js';
import { type ColorChoice, createOutput, labelled, type Output, type Sink } from './io/output.js';
import { packageVersion } from './io/package.js';
import { noteFault } from './io/report.js';
import { type Arguments, atTerminator, readArguments, readOptions } from './options/arguments.js';
import {
  type Command,
  type CommandEntry,
  type CommandGroup,
  GLOBAL_OPTIONS,
  type Invocation,
} from './options/command.js';
import { commandHelp, generalHelp, groupHelp } from './options/help.js';
import { alternatives } from './options/option.js';
import { PROTOCOLS, type Protocol } from './protocols.js';

/** Protocols with similar names, which have commands of their own. */
const OTHER_PROTOCOLS: Readonly<Record<string, string>> = {
  acp: 'the Agent Client Protocol; see pegwire acp',
  arcp: 'the Agent Runtime Control Protocol; see pegwire arcp',
};

/** Exit codes besides 0 and 1. */
const USAGE = 2;
const INTERNAL_ERROR = 70;

export interface Streams {
  readonly stdin: Invocation['stdin'];
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/**
 * Runs one command line.
 *
 * @returns the exit code: 0 for success, 1 for invalid input, 2 for an error that ended the command, 70 for an internal error
 */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  const output = createOutput(streams.stdout, streams.stderr, colorChoice(args));
  const json = atTerminator(args).own.includes('--json');
  try {
    const exitCode = await dispatch(args, streams, output);
    output.progress('');
    return exitCode;
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      await noteFault({ json, output }, thrown);
      if (!json && thrown.code === 'usage') {
        const command = ['pegwire', ...namedIn(args).map(({ name }) => name)].join(' ');
        await output.note(`Run "${command} --help" for usage.`);
      }
      return USAGE;
    }
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    const text = `Internal error in pegwire; please report it:\n${stack}`;
    await output.note(json ? errorJson('defect', stack) : labelled('error', 'defect', text, output.paintNote));
    return INTERNAL_ERROR;
  }
}

/** Reports whether the command continues when stderr is closed. */
export function isService(args: readonly string[]): boolean {
  const last = namedIn(args).at(-1);
  return last !== undefined && 'isService' in last && last.isService === true;
}

function namedIn(args: readonly string[]): readonly (CommandEntry | CommandGroup)[] {
  const words = atTerminator(args).own.filter(isWord);
  const named = COMMANDS.find(({ name }) => name === words[0]);
  if (named === undefined) return [];
  const inner = 'commands' in named ? named.commands.find(({ name }) => name === words[1]) : undefined;
  return inner === undefined ? [named] : [named, inner];
}

async function dispatch(args: readonly string[], streams: Streams, output: Output): Promise<number> {
  const own = withoutHelp(args);
  const name = atTerminator(own).own.find(isWord);
  if (name === undefined) return withoutCommand(own, output);

  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new UsageError(`Unknown command "${name}"${commandHint(name, own)}`);
  const rest = own.toSpliced(own.indexOf(name), 1);
  const surroundings = { streams, output };
  return 'commands' in command ? runGroup(command, rest, surroundings) : runCommand(command, rest, surroundings);
}

/** Rewrites `help parse` to `parse --help`. */
function withoutHelp(args: readonly string[]): readonly string[] {
  const { own, others } = atTerminator(args);
  if (own.find(isWord) !== 'help') return args;
  return [...own.filter((argument) => argument !== 'help'), '--help', ...others];
}

function isWord(argument: string): boolean {
  return !argument.startsWith('-');
}

function commandHint(word: string, args: readonly string[]): string {
  const names = COMMANDS.map(({ name }) => name);
  const later = args.find((argument) => names.includes(argument));
  if (PROTOCOLS.some(({ name }) => name === word))
    return `; the command must come first: pegwire ${later ?? 'parse'} ${word}`;
  return later === undefined ? didYouMean(word, names) : `; the command must come first: pegwire ${later}`;
}

async function withoutCommand(args: readonly string[], output: Output): Promise<number> {
  const { given } = readArguments(args, GLOBAL_OPTIONS);
  if (given['version'] !== undefined) return version(output);
  if (given['help'] !== undefined) {
    await output.result(generalHelp(COMMANDS, output.columns));
    return 0;
  }
  await output.note(generalHelp(COMMANDS, output.columns));
  return USAGE;
}

async function version(output: Output): Promise<number> {
  await output.result(`pegwire ${packageVersion()} (ACCP: draft-benzing-accp-00, AACP: draft-mackay-aacp-01)`);
  return 0;
}

interface Surroundings {
  readonly streams: Streams;
  readonly output: Output;
  readonly group?: string;
}

async function runGroup(group: CommandGroup, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const name = atTerminator(args).own.find(isWord);
  const command = group.commands.find((one) => one.name === name);
  if (command !== undefined) {
    const rest = args.toSpliced(args.indexOf(command.name), 1);
    return runCommand(command, rest, { ...surroundings, group: group.name });
  }
  const { output } = surroundings;
  const { given } = readArguments(args, GLOBAL_OPTIONS);
  if (given['help'] !== undefined) {
    await output.result(groupHelp(group, output.columns));
    return 0;
  }
  if (given['version'] !== undefined) return version(output);
  const names = group.commands.map((one) => one.name);
  if (name === undefined) throw new UsageError(`${group.name} requires a command: ${alternatives(names)}`);
  const hint = COMMANDS.some((one) => one.name === name)
    ? `; the command must come first: pegwire ${name} ${group.name}`
    : didYouMean(name, names);
  throw new UsageError(
    `Unknown command "${group.name} ${name}"${hint === '' ? `; expected ${alternatives(names)}` : hint}`,
  );
}

async function runCommand(entry: CommandEntry, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { streams, output, group } = surroundings;
  const { command } = await entry.load();
  const known = (await command.optionsFor?.(args)) ?? { options: command.options, hint: '' };
  const { given, positionals } = readArguments(args, { ...known.options, ...GLOBAL_OPTIONS }, known.hint);
  if (given['help'] !== undefined) {
    const name = group === undefined ? entry.name : `${group} ${entry.name}`;
    await output.result(commandHelp(command, { name, summary: entry.summary }, output.columns));
    return 0;
  }
  if (given['version'] !== undefined) return version(output);
  const subject = subjectOf(entry.name, command, positionals);
  const protocol = subject.protocol ?? PROTOCOLS[0]!;
  checkProtocol(entry.name, command, protocol, given);
  return command.run({
    protocol,
    protocols: positionals.length === 0 ? PROTOCOLS : [protocol],
    file: subject.file,
    files: subject.files ?? [],
    grammar: subject.grammar,
    words: subject.words ?? [],
    commands: COMMANDS,
    program: atTerminator(args).others.slice(1),
    options: readOptions({ ...command.options, ...known.options }, given, protocol),
    known: known.options,
    given,
    json: given['json'] !== undefined,
    output,
    stdin: streams.stdin,
  });
}

/** Rejects options of another protocol. @throws UsageError */
function checkProtocol(
  name: string,
  { optionGroups = [] }: Command,
  protocol: Protocol,
  given: Arguments['given'],
): void {
  for (const option of Object.keys(given)) {
    const owners = optionGroups.filter((group) => Object.hasOwn(group.options, option)).map((group) => group.protocol);
    if (owners.length > 0 && !owners.includes(protocol.name))
      throw new UsageError(
        `--${option} does not apply to ${protocol.name}; it is an option of pegwire ${name} ${owners[0]}`,
      );
  }
}

function subjectOf(name: string, { takes, protocols }: Command, positionals: readonly string[]): Partial<Invocation> {
  const [first, second, third] = positionals;
  if (typeof takes !== 'string') return { words: positionals };
  if (takes === 'nothing' || (takes === 'optional-protocol' && first === undefined)) {
    if (first !== undefined) throw tooMany(`${name} takes only options`, first);
    return {};
  }
  if (takes === 'file') {
    if (PROTOCOLS.some((protocol) => protocol.name === first) && !existsSync(first!))
      throw new UsageError(
        `${name} does not take a protocol, since it recognizes messages by their form; remove "${first}"`,
      );
    if (second !== undefined) throw tooMany(`${name} reads one file`, second);
    return { file: fileOf(first) };
  }
  if (takes === 'grammar' && /\.(?:peggy|pegjs)$/.test(first ?? '')) {
    if (second !== undefined) throw tooMany(`${name} takes one grammar file`, second);
    return { grammar: first };
  }
  const protocol = protocolOf(name, takes, first, protocols);
  if (takes === 'files') return { protocol, files: positionals.slice(1) };
  if (takes !== 'messages') {
    if (second !== undefined) throw tooMany(`${name} takes only a protocol`, second);
    return { protocol };
  }
  if (third !== undefined) throw tooMany(`${name} reads one file`, third);
  return { protocol, file: fileOf(second) };
}

/** Returns the file of an argument; a dash means stdin. */
function fileOf(word: string | undefined): string | undefined {
  return word === '-' ? undefined : word;
}

function tooMany(rule: string, word: string): UsageError {
  return new UsageError(`${rule}; remove "${word}"`);
}

function protocolOf(
  command: string,
  takes: Command['takes'],
  name: string | undefined,
  protocols: Command['protocols'],
): Protocol {
  const names: readonly string[] = protocols ?? PROTOCOLS.map((protocol) => protocol.name);
  const choices = `${names.join(' or ')}${takes === 'grammar' ? ', or a grammar file (.peggy)' : ''}`;
  if (name === undefined) throw new UsageError(`${command} requires a protocol: ${choices}`);
  const protocol = PROTOCOLS.find((one) => one.name === name && names.includes(name));
  if (protocol !== undefined) return protocol;
  if (existsSync(name) && takes !== 'grammar')
    throw new UsageError(`The protocol must come before the file: pegwire ${command} <${names.join('|')}> ${name}`);
  const other = Object.hasOwn(OTHER_PROTOCOLS, name)
    ? `; ${name} is ${OTHER_PROTOCOLS[name]}`
    : didYouMean(name, names);
  throw new UsageError(`${command} accepts ${choices}; got "${name}"${other}`);
}

/** Returns the colour choice before the arguments are parsed, so that errors about them have colour. */
function colorChoice(args: readonly string[]): ColorChoice {
  const options = atTerminator(args).own;
  if (options.includes('--no-color')) return 'never';
  return options.includes('--color') ? 'always' : 'auto';
}
