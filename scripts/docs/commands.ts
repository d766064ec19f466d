/** The pages of the command line, from the definitions of its commands. */
import { COMMANDS } from '../../src/cli/commands/index.js';
import { type Command, type CommandEntry, type CommandGroup, GLOBAL_OPTIONS } from '../../src/cli/options/command.js';
import { commandHelp, generalHelp, groupHelp } from '../../src/cli/options/help.js';
import type { Options } from '../../src/cli/options/option.js';
import { code, escaped } from './markdown.js';
import { linkTo, type Page, type Part, type SidebarItem } from './page.js';

export async function commandPages(): Promise<Part> {
  const help = generalHelp(COMMANDS);
  const index = [
    '# Command line',
    text(usageOf(help)),
    listed(COMMANDS, ''),
    '## Options of every command',
    optionTable(GLOBAL_OPTIONS),
    '## Exit codes',
    exitCodeTable(help.slice(help.lastIndexOf('Exit codes:'))),
  ].join('\n\n');
  const pages: Page[] = [{ path: 'cli', markdown: index }];
  const sidebar: SidebarItem[] = [{ text: 'Overview', link: linkTo('cli') }];
  for (const entry of COMMANDS) {
    const path = `cli/${entry.name}`;
    const item = { text: entry.name, link: linkTo(path) };
    if ('load' in entry) {
      pages.push({ path, markdown: await commandPage(entry, entry.name) });
      sidebar.push(item);
      continue;
    }
    pages.push({ path, markdown: groupPage(entry) });
    for (const member of entry.commands) {
      const name = `${entry.name} ${member.name}`;
      pages.push({ path: `${path}/${member.name}`, markdown: await commandPage(member, name) });
    }
    const items = entry.commands.map(({ name }) => ({
      text: `${entry.name} ${name}`,
      link: linkTo(`${path}/${name}`),
    }));
    sidebar.push({ ...item, items, collapsed: true });
  }
  return { pages, sidebar };
}

function groupPage(group: CommandGroup): string {
  return [title(group), text(usageOf(groupHelp(group))), listed(group.commands, `${group.name}/`)].join('\n\n');
}

async function commandPage(entry: CommandEntry, name: string): Promise<string> {
  const { command } = await entry.load();
  const { details = [], example, optionGroups = [] } = command;
  const help = commandHelp(command, { name, summary: entry.summary });
  const exitCodes = command.exitCodes ?? help.slice(help.lastIndexOf('\n\n'));
  return [
    title({ name, summary: entry.summary }),
    '## Usage',
    text(usageOf(help)),
    ...[details].flat().map(prose),
    '## Options',
    ...optionGroups.flatMap((group) => [`### Options ${group.title}`, optionTable(group.options)]),
    ...(optionGroups.length === 0 ? [] : ['### Other options']),
    optionTable({ ...otherOptions(command), ...GLOBAL_OPTIONS }),
    [example].flat().length === 1 ? '## Example' : '## Examples',
    text([example].flat().join('\n'), 'sh'),
    '## Exit codes',
    exitCodeTable(exitCodes),
  ].join('\n\n');
}

function usageOf(help: string): string {
  const usage = /^Usage: (.*)$/m.exec(help)?.[1];
  if (usage === undefined) throw new Error(`This help page states no usage:\n${help}`);
  return usage;
}

function title({ name, summary }: Pick<CommandEntry, 'name' | 'summary'>): string {
  return `# pegwire ${name}\n\n${sentence(escaped(summary))}`;
}

function sentence(phrase: string): string {
  return `${phrase.charAt(0).toUpperCase()}${phrase.slice(1)}${/[.!?]$/.test(phrase) ? '' : '.'}`;
}

function otherOptions({ options, optionGroups = [] }: Command): Options {
  const grouped = new Set(optionGroups.flatMap((group) => Object.keys(group.options)));
  return Object.fromEntries(Object.entries(options).filter(([name]) => !grouped.has(name)));
}

function optionTable(options: Options): string {
  const rows = Object.entries(options).map(([name, { short, placeholder, description }]) => {
    const forms = [...(short === undefined ? [] : [`-${short}`]), `--${name} ${placeholder}`.trimEnd()];
    return `| ${forms.map(code).join(', ')} | ${prose(description)} |`;
  });
  return ['| option | description |', '| --- | --- |', ...rows].join('\n');
}

/** The lines of a help page that begin with a number, as a table; any other form as it is. */
function exitCodeTable(help: string): string {
  const rows = [...help.matchAll(/^ +(\d+) +(.*)$/gm)].map(
    ([, number, meaning]) => `| ${number} | ${escaped(meaning!)} |`,
  );
  return rows.length === 0 ? escaped(help) : ['| code | meaning |', '| --- | --- |', ...rows].join('\n');
}

function listed(commands: readonly (CommandEntry | CommandGroup)[], prefix: string): string {
  const rows = commands.map(({ name, summary }) => {
    return `| [${code(`${prefix}${name}`.replace('/', ' '))}](${linkTo(`cli/${prefix}${name}`)}) | ${escaped(summary)} |`;
  });
  return ['| command | description |', '| --- | --- |', ...rows].join('\n');
}

/** Returns the text of a help page as Markdown: options are code, and the guide it names is a link. */
function prose(help: string): string {
  return escaped(help)
    .replace(/(?<![\w-])--[a-z][\w-]*/g, (option) => code(option))
    .replace(/the guide src\/(\w+)\/README\.md/g, (_all, room: string) => `[the guide](${linkTo(`guides/${room}`)})`);
}

function text(content: string, language = 'text'): string {
  return `\`\`\`${language}\n${content}\n\`\`\``;
}
