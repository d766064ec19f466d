import type { Command, CommandGroup, Options } from './command.js';
import { GLOBAL_OPTIONS } from './command.js';

const EXIT_CODES = `Exit codes:
  0   success
  1   the input is not valid or was not encoded, or a program under test is at fault
  2   wrong usage; what is to be read, tested or reached cannot be; the output cannot be written
  70  a defect of pegwire`;

/** The page of `pegwire --help`. */
export function generalHelp(commands: readonly (Command | CommandGroup)[]): string {
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

/** The page of a group of commands. */
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

/** @param name with that of its group, if it is in one */
export function commandHelp(command: Command, name: string = command.name): string {
  const usage = ['pegwire', name, ...usageOf(command)].join(' ');
  const groups = (command.optionGroups ?? []).flatMap((group) => [options(group.options, group.title), '']);
  return [
    `pegwire ${name}: ${command.summary}`,
    '',
    `Usage: ${usage}`,
    '',
    ...groups,
    options({ ...command.options, ...GLOBAL_OPTIONS }),
    '',
    ...[command.details ?? []].flat().flatMap((paragraph) => [...wrapped(paragraph, COLUMNS), '']),
    'Example:',
    ...[command.example].flat().map((example) => `  ${example}`),
    ...(command.exitCodes === undefined ? ['', EXIT_CODES] : ['', ...wrapped(command.exitCodes, COLUMNS)]),
  ].join('\n');
}

function listed(commands: readonly (Command | CommandGroup)[]): readonly string[] {
  return commands.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`);
}

/** What stands behind `--` comes last. */
function usageOf(command: Command): readonly string[] {
  return command.words?.startsWith('-- ') ? ['[options]', command.words] : [...takes(command), '[options]'];
}

function takes({ takesInput, takesProtocol, takesGrammar, protocols, words }: Command): readonly string[] {
  if (words !== undefined) return [words];
  if (protocols?.length === 1) return [protocols[0]!, '[file|-]'];
  if (takesGrammar) return ['<accp|aacp|FILE.peggy>'];
  if (takesInput) return takesProtocol === false ? ['[file|-]'] : ['<accp|aacp>', '[file|-]'];
  if (takesProtocol === 'required') return ['<accp|aacp>'];
  return takesProtocol ? ['[accp|aacp]'] : [];
}

/** @param title what the options are for; all of the command where it is left out */
function options(specs: Options, title?: string): string {
  const rows = Object.entries(specs).map(([name, { short, type, description }]) => {
    const flag = short === undefined ? `--${name}` : `-${short}, --${name}`;
    // A string option's description opens with its placeholder.
    const gap = type === 'string' ? description.indexOf('  ') : -1;
    const left = gap < 0 ? flag : `${flag} ${description.slice(0, gap)}`;
    return { left, right: description.slice(gap < 0 ? 0 : gap + 2) };
  });
  const width = Math.max(17, ...rows.map(({ left }) => left.length));
  const indent = ' '.repeat(width + 3);
  const lines = rows.map(({ left, right }) => {
    const text = wrapped(right, COLUMNS - indent.length).join(`\n${indent}`);
    return `  ${left.padEnd(width)} ${text}`;
  });
  return [title === undefined ? 'Options:' : `Options ${title}:`, ...lines].join('\n');
}

/** Of a terminal that is wide enough for a help page. */
const COLUMNS = 100;

/** Words in lines of a width; a word that is longer has a line of its own. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
