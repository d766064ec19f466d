/** Help pages. */
import { type Command, type CommandEntry, type CommandGroup, GLOBAL_OPTIONS } from './command.js';
import type { Options } from './option.js';

const EXIT_CODES = `Exit codes:
  0   success
  1   the input is not valid or was not encoded, or a program under test is at fault
  2   wrong usage; what is to be read, tested or reached cannot be; the output cannot be written
  70  a defect of pegwire`;

export function generalHelp(commands: readonly (CommandEntry | CommandGroup)[]): string {
  return [
    'pegwire: the languages AI agents speak to each other, parsed, printed, validated and explained.',
    '',
    'Usage: pegwire <command> <accp|aacp> [file|-] [options]',
    '',
    'Commands:',
    ...listed(commands),
    '',
    'Protocols:',
    '  accp        compact frames: @agent>intent:operation{key:value|...}[mid:...,seq:...]',
    '  aacp        pipe packets: TASK|DOM|return:AGENT|p:1|aacp:1.1|...',
    '',
    'Results go to stdout, everything else to stderr. Without a file, stdin is read.',
    '',
    options(GLOBAL_OPTIONS),
    '',
    EXIT_CODES,
    '',
    'pegwire <command> --help tells more of a command.',
  ].join('\n');
}

export function groupHelp({ name, summary, commands }: CommandGroup): string {
  return [
    `pegwire ${name}: ${summary}`,
    '',
    `Usage: pegwire ${name} <${commands.map((command) => command.name).join('|')}> [options]`,
    '',
    'Commands:',
    ...listed(commands),
    '',
    options(GLOBAL_OPTIONS),
    '',
    EXIT_CODES,
    '',
    `pegwire ${name} <command> --help tells more of a command.`,
  ].join('\n');
}

/** @param name with that of its group */
export function commandHelp(command: Command, { name, summary }: Pick<CommandEntry, 'name' | 'summary'>): string {
  const { optionGroups = [], details = [], exitCodes } = command;
  const grouped = new Set(optionGroups.flatMap((group) => Object.keys(group.options)));
  const others = Object.entries(command.options).filter(([option]) => !grouped.has(option));
  return [
    `pegwire ${name}: ${summary}`,
    '',
    `Usage: ${['pegwire', name, ...usageOf(command)].join(' ')}`,
    '',
    ...optionGroups.flatMap((group) => [options(group.options, group.title), '']),
    options({ ...Object.fromEntries(others), ...GLOBAL_OPTIONS }),
    '',
    ...[details].flat().flatMap((paragraph) => [...wrapped(paragraph, COLUMNS), '']),
    'Example:',
    ...[command.example].flat().map((example) => `  ${example}`),
    '',
    ...(exitCodes === undefined ? [EXIT_CODES] : wrapped(exitCodes, COLUMNS)),
  ].join('\n');
}

function listed(commands: readonly (CommandEntry | CommandGroup)[]): readonly string[] {
  return commands.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`);
}

function usageOf({ takes, protocols }: Command): readonly string[] {
  if (typeof takes === 'object')
    return takes.words.startsWith('-- ') ? ['[options]', takes.words] : [takes.words, '[options]'];
  const named = protocols?.length === 1 ? protocols[0]! : `<${(protocols ?? ['accp', 'aacp']).join('|')}>`;
  const words = {
    messages: [named, '[file|-]'],
    file: ['[file|-]'],
    protocol: [named],
    'optional-protocol': ['[accp|aacp]'],
    grammar: ['<accp|aacp|FILE.peggy>'],
    nothing: [],
  };
  return [...words[takes], '[options]'];
}

function options(specs: Options, title?: string): string {
  const rows = Object.entries(specs).map(([name, { short, placeholder, description }]) => {
    const option = short === undefined ? `--${name}` : `-${short}, --${name}`;
    return { left: `${option} ${placeholder}`.trimEnd(), right: description };
  });
  const width = Math.max(17, ...rows.map(({ left }) => left.length));
  const indent = ' '.repeat(width + 3);
  const lines = rows.map(({ left, right }) => {
    const text = wrapped(right, COLUMNS - indent.length).join(`\n${indent}`);
    return `  ${left.padEnd(width)} ${text}`;
  });
  return [title === undefined ? 'Options:' : `Options ${title}:`, ...lines].join('\n');
}

const COLUMNS = 100;

function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
