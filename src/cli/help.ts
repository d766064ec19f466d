import type { Command, OptionSpec } from './usage.js';
import { GLOBAL_OPTIONS } from './usage.js';

const EXIT_CODES = `Exit codes:
  0   success
  1   the input is not valid, or a program under test is at fault
  2   wrong usage; what is to be read or tested cannot be; the output cannot be written
  70  a defect of pegwire`;

/** The page of `pegwire --help`. */
export function generalHelp(commands: readonly Command[]): string {
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(11)} ${summary}`);
  return [
    'pegwire: the languages AI agents speak to each other, parsed, printed, validated and explained.',
    '',
    'Usage: pegwire <command> <accp|aacp> [file|-] [options]',
    '',
    'Commands:',
    ...list,
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

export function commandHelp(command: Command): string {
  const usage = ['pegwire', command.name, ...takes(command), '[options]'].join(' ');
  return [
    `pegwire ${command.name}: ${command.summary}`,
    '',
    `Usage: ${usage}`,
    '',
    options({ ...command.options, ...GLOBAL_OPTIONS }),
    '',
    ...(command.details === undefined ? [] : [...wrapped(command.details, COLUMNS), '']),
    'Example:',
    `  ${command.example}`,
    '',
    EXIT_CODES,
  ].join('\n');
}

function takes({ takesInput, takesProtocol, takesGrammar, protocols }: Command): readonly string[] {
  if (protocols?.length === 1) return [protocols[0]!, '[file|-]'];
  if (takesGrammar) return ['<accp|aacp|FILE.peggy>'];
  if (takesInput) return takesProtocol === false ? ['[file|-]'] : ['<accp|aacp>', '[file|-]'];
  if (takesProtocol === 'required') return ['<accp|aacp>'];
  return takesProtocol ? ['[accp|aacp]'] : [];
}

function options(specs: Readonly<Record<string, OptionSpec>>): string {
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
  return ['Options:', ...lines].join('\n');
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
