/** Help pages. */
import { type Command, type CommandEntry, type CommandGroup, GLOBAL_OPTIONS } from './command.js';
import type { Options } from './option.js';

const EXIT_CODES = `Exit codes:
  0   Success
  1   Invalid input, or a failed request, job or test
  2   Incorrect usage, or a file, address or program that cannot be used
  70  Internal error; please report it`;

/** Returns the help page of pegwire. */
export function generalHelp(commands: readonly (CommandEntry | CommandGroup)[], columns = COLUMNS): string {
  return [
    'pegwire: Tools for the languages AI agents speak to each other',
    '',
    'Usage: pegwire <command> <accp|aacp> [file|-] [options]',
    '',
    'Commands:',
    ...listed(commands, columns),
    '',
    'Protocols:',
    '  accp         Compact frames: @agent>intent:operation{key:value|...}[mid:...,seq:...]',
    '  aacp         Pipe packets: TASK|DOM|return:AGENT|p:1|aacp:1.1|...',
    '',
    'Reads stdin if no file is given. Prints results to stdout and everything else to stderr.',
    'Errors have a code: error[CODE]. A DURATION is a number and a unit: 500ms, 30s, 2m, 1h or 7d.',
    '',
    options(GLOBAL_OPTIONS, columns),
    '',
    EXIT_CODES,
    '',
    'Run "pegwire <command> --help" for the options of a command.',
  ].join('\n');
}

/** Returns the help page of a group of commands. */
export function groupHelp({ name, summary, commands }: CommandGroup, columns = COLUMNS): string {
  return [
    `pegwire ${name}: ${summary}`,
    '',
    `Usage: pegwire ${name} ${commandNames(commands)} [options]`,
    '',
    'Commands:',
    ...listed(commands, columns),
    '',
    options(GLOBAL_OPTIONS, columns),
    '',
    EXIT_CODES,
    '',
    `Run "pegwire ${name} <command> --help" for the options of a command.`,
  ].join('\n');
}

/** Returns the help page of a command. @param name includes the name of its group */
export function commandHelp(
  command: Command,
  { name, summary }: Pick<CommandEntry, 'name' | 'summary'>,
  columns = COLUMNS,
): string {
  const { optionGroups = [], details = [], exitCodes } = command;
  const grouped = new Set(optionGroups.flatMap((group) => Object.keys(group.options)));
  const others = Object.entries(command.options).filter(([option]) => !grouped.has(option));
  return [
    `pegwire ${name}: ${summary}`,
    '',
    ...usageOf(command).map((form, index) => `${index === 0 ? 'Usage:' : '   or:'} pegwire ${name} ${form}`),
    '',
    ...optionGroups.flatMap((group) => [options(group.options, columns, group.title), '']),
    options({ ...Object.fromEntries(others), ...GLOBAL_OPTIONS }, columns),
    '',
    ...[details].flat().flatMap((paragraph) => [...wrapped(paragraph, columns), '']),
    [command.example].flat().length > 1 ? 'Examples:' : 'Example:',
    ...[command.example].flat().map((example) => `  ${example}`),
    '',
    ...(exitCodes === undefined ? [EXIT_CODES] : wrapped(exitCodes, columns)),
  ].join('\n');
}

function listed(commands: readonly (CommandEntry | CommandGroup)[], columns: number): readonly string[] {
  return commands.map(({ name, summary }) => row(name.padEnd(11), summary, columns));
}

/** Returns a row of a list: the right part is wrapped beside the left one, or below it if there is little room. */
function row(left: string, right: string, columns: number): string {
  const beside = left.length + 4;
  const isNarrow = columns - beside < MIN_COLUMNS;
  const indent = ' '.repeat(isNarrow ? 6 : beside);
  const text = wrapped(right, columns - indent.length).join(`\n${indent}`);
  return `  ${isNarrow ? `${left.trimEnd()}\n${indent}` : `${left}  `}${text}`;
}

/** Adds the options to a form of the arguments, before those of another program. */
function withOptions(form: string): string {
  const [own, program] = form.split(/(?:^| )-- /);
  const words = own === '' ? '[options]' : `${own} [options]`;
  return program === undefined ? words : `${words} -- ${program}`;
}

function commandNames(commands: readonly CommandEntry[]): string {
  const names = commands.map((command) => command.name);
  return names.length === 1 ? names[0]! : `<${names.join('|')}>`;
}

/** Returns the forms of the arguments. */
function usageOf({ takes, protocols }: Command): readonly string[] {
  if (typeof takes === 'object') return takes.words.split(' | ').map(withOptions);
  const named = protocols?.length === 1 ? protocols[0]! : `<${(protocols ?? ['accp', 'aacp']).join('|')}>`;
  const words = {
    messages: [named, '[file|-]'],
    files: [named, '[file|folder|pattern|-]...'],
    file: ['[file|-]'],
    protocol: [named],
    'optional-protocol': ['[accp|aacp]'],
    grammar: ['<accp|aacp|FILE.peggy>'],
    nothing: [],
  };
  return [[...words[takes], '[options]'].join(' ')];
}

function options(specs: Options, columns: number, title?: string): string {
  const rows = Object.entries(specs).map(([name, { short, placeholder, description }]) => {
    const option = short === undefined ? `--${name}` : `-${short}, --${name}`;
    return { left: `${option} ${placeholder}`.trimEnd(), right: description };
  });
  const width = Math.max(17, ...rows.map(({ left }) => left.length));
  const lines = rows.map(({ left, right }) => row(left.padEnd(width), right, columns));
  return [title === undefined ? 'Options:' : `Options ${title}:`, ...lines].join('\n');
}

/** The number of columns of a help page, if the terminal does not have fewer, and the least of a part of it. */
const COLUMNS = 100;
const MIN_COLUMNS = 30;

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
