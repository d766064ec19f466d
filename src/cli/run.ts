/** Dispatch: from arguments to a command and its exit code. */
import { existsSync } from 'node:fs';
import { visible } from '../text/visible.js';
import { COMMANDS } from './commands/index.js';
import { didYouMean, UsageError } from './io/errors.js';
import { errorJson } from './io/json.js';
import { type ColorChoice, createOutput, type Output, type Sink } from './io/output.js';
import { packageVersion } from './io/package.js';
import { type Arguments, atTerminator, readArguments, readOptions } from './options/arguments.js';
import {
  type Command,
  type CommandEntry,
  type CommandGroup,
  GLOBAL_OPTIONS,
  type Invocation,
} from './options/command.js';
import { commandHelp, generalHelp, groupHelp } from './options/help.js';
import { PROTOCOLS, type Protocol } from './protocols.js';

/** Protocols with similar names. */
const OTHER_PROTOCOLS: Readonly<Record<string, string>> = {
  acp: 'the Agent Client Protocol, JSON-RPC over stdio, which pegwire acp run speaks',
  arcp: 'the runtime protocol, JSON envelopes, which pegwire arcp speaks',
};

/** Exit codes besides 0 and 1. */
const USAGE = 2;
const DEFECT = 70;

export interface Streams {
  readonly stdin: Invocation['stdin'];
  readonly stdout: Sink;
  readonly stderr: Sink;
}

/**
 * Runs one command line.
 *
 * @returns the exit code: 0 success, 1 invalid input, 2 wrong usage or unreadable input, 70 a defect
 */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  const output = createOutput(streams.stdout, streams.stderr, colorChoice(args));
  const json = atTerminator(args).own.includes('--json');
  try {
    return await dispatch(args, streams, output);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      const { code, message, below } = thrown;
      // It quotes arguments, which may hold anything.
      const shown = visible(/[?:]$/.test(message) ? message : `${message}.`);
      const lines = (below ?? '').split('\n').map(visible);
      const text = below === undefined ? shown : [shown, ...lines].join('\n');
      const whole = below === undefined ? message : `${message}\n${below}`;
      await output.note(json ? errorJson(code, whole) : `${output.paintNote('red', 'pegwire:')} ${text}`);
      if (!json && code === 'usage')
        await output.note(
          `${['pegwire', ...namedIn(args).map(({ name }) => name)].join(' ')} --help shows how it is used.`,
        );
      return USAGE;
    }
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    await output.note(json ? errorJson('defect', stack) : `pegwire has a defect, please report it:\n${stack}`);
    return DEFECT;
  }
}

/** Reports whether the command continues when nobody reads its notes. */
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
  const asked = withoutHelp(args);
  const name = atTerminator(asked).own.find(isWord);
  if (name === undefined) return withoutCommand(asked, output);

  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) throw new UsageError(`There is no command "${name}"${commandHint(name, asked)}`);
  const rest = asked.toSpliced(asked.indexOf(name), 1);
  const surroundings = { streams, output };
  return 'commands' in command ? runGroup(command, rest, surroundings) : runCommand(command, rest, surroundings);
}

/** Turns `help parse` into `parse --help`. */
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
    return `; the command comes first: pegwire ${later ?? 'parse'} ${word}`;
  return later === undefined ? didYouMean(word, names) : `; the command comes first: pegwire ${later}`;
}

async function withoutCommand(args: readonly string[], output: Output): Promise<number> {
  const { given } = readArguments(args, GLOBAL_OPTIONS);
  if (given['version'] !== undefined) return version(output);
  if (given['help'] !== undefined) {
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
    await output.result(groupHelp(group));
    return 0;
  }
  if (given['version'] !== undefined) return version(output);
  const names = group.commands.map((one) => one.name);
  if (name === undefined) throw new UsageError(`${group.name} needs a command: ${names.join(', ')}`);
  const hint = COMMANDS.some((one) => one.name === name)
    ? `; the command comes first: pegwire ${name} ${group.name}`
    : didYouMean(name, names);
  throw new UsageError(`${group.name} takes ${names.join(', ')}, not "${name}"${hint}`);
}

async function runCommand(entry: CommandEntry, args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { streams, output, group } = surroundings;
  const { command } = await entry.load();
  const known = (await command.optionsFor?.(args)) ?? { options: command.options, hint: '' };
  const { given, positionals } = readArguments(args, { ...known.options, ...GLOBAL_OPTIONS }, known.hint);
  if (given['help'] !== undefined) {
    const name = group === undefined ? entry.name : `${group} ${entry.name}`;
    await output.result(commandHelp(command, { name, summary: entry.summary }));
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
    grammar: subject.grammar,
    words: subject.words ?? [],
    program: atTerminator(args).others.slice(1),
    options: readOptions({ ...command.options, ...known.options }, given, protocol),
    known: known.options,
    given,
    json: given['json'] !== undefined,
    output,
    stdin: streams.stdin,
  });
}

/** @throws UsageError on options of another protocol */
function checkProtocol(
  name: string,
  { optionGroups = [] }: Command,
  protocol: Protocol,
  given: Arguments['given'],
): void {
  for (const option of Object.keys(given)) {
    const owners = optionGroups.filter((group) => Object.hasOwn(group.options, option)).map((group) => group.protocol);
    if (owners.length > 0 && !owners.includes(protocol.name))
      throw new UsageError(`--${option} is not for ${protocol.name}: pegwire ${name} ${owners[0]} takes it`);
  }
}

function subjectOf(name: string, { takes, protocols }: Command, positionals: readonly string[]): Partial<Invocation> {
  const [first, second, third] = positionals;
  if (typeof takes !== 'string') return { words: positionals };
  if (takes === 'nothing' || (takes === 'optional-protocol' && first === undefined)) {
    if (first !== undefined) throw tooMany(`${name} takes no arguments, only options`, first);
    return {};
  }
  if (takes === 'file') {
    if (PROTOCOLS.some((protocol) => protocol.name === first) && !existsSync(first!))
      throw new UsageError(`${name} takes no protocol: it tells messages by their shape; leave out "${first}"`);
    if (second !== undefined) throw tooMany(`${name} reads one file`, second);
    return { file: fileOf(first) };
  }
  if (takes === 'grammar' && /\.(?:peggy|pegjs)$/.test(first ?? '')) {
    if (second !== undefined) throw tooMany(`${name} takes no arguments, only options`, second);
    return { grammar: first };
  }
  const protocol = protocolOf(name, takes, first, protocols);
  if (takes !== 'messages') {
    if (second !== undefined) throw tooMany(`${name} takes a protocol and no file`, second);
    return { protocol };
  }
  if (third !== undefined) throw tooMany(`${name} reads one file`, third);
  return { protocol, file: fileOf(second) };
}

/** A dash is stdin. */
function fileOf(word: string | undefined): string | undefined {
  return word === '-' ? undefined : word;
}

function tooMany(what: string, word: string): UsageError {
  return new UsageError(`${what}; "${word}" is one too many`);
}

function protocolOf(
  command: string,
  takes: Command['takes'],
  name: string | undefined,
  protocols: Command['protocols'],
): Protocol {
  const names: readonly string[] = protocols ?? PROTOCOLS.map((protocol) => protocol.name);
  const choices = `${names.join(' or ')}${takes === 'grammar' ? ', or a grammar file (.peggy)' : ''}`;
  if (name === undefined) throw new UsageError(`${command} needs a protocol: ${choices}`);
  const protocol = PROTOCOLS.find((one) => one.name === name && names.includes(name));
  if (protocol !== undefined) return protocol;
  if (existsSync(name) && takes !== 'grammar')
    throw new UsageError(`The protocol comes before the file: pegwire ${command} <${names.join('|')}> ${name}`);
  const other = Object.hasOwn(OTHER_PROTOCOLS, name)
    ? `; ${name} is ${OTHER_PROTOCOLS[name]}`
    : didYouMean(name, names);
  throw new UsageError(`${command} takes ${choices}, not "${name}"${other}`);
}

/** Read before the arguments are parsed, so that errors about them have colour. */
function colorChoice(args: readonly string[]): ColorChoice {
  const options = atTerminator(args).own;
  if (options.includes('--no-color')) return 'never';
  return options.includes('--color') ? 'always' : 'auto';
}
