/**
 * Writes the conformance pages from the lists of requirements, or with --check compares what is there.
 *
 *     npx tsx scripts/conformance-page.ts
 *     npx tsx scripts/conformance-page.ts --check
 */
import { readFile, writeFile } from 'node:fs/promises';
import {
  citation,
  LISTS,
  type Requirement,
  type RequirementList,
  readRequirements,
} from '../test/conformance/requirements/list.js';

const FOLDER = 'test/conformance/requirements/';
const WRITTEN = 'Written by `npm run conformance:page` from';

type Name = (typeof LISTS)[number];

/** What all lists have in common, and how far each protocol has come. */
function overview(): string {
  const links = LISTS.map((name) => {
    const { protocol, source, scope } = readRequirements(name);
    return `* [${protocol}](${name}.md): ${source}, ${scope}\n`;
  });
  return `# What is required, and what shows it

<!-- ${WRITTEN} the lists beside it. -->

Every requirement of the specifications, each with the tests that show it. The wording is ours; theirs is what counts.

${links.join('')}
\`<name>.json\` is a list as data, [\`requirements.schema.json\`](requirements.schema.json) the shape of all. \`test/conformance/requirements.test.ts\`
fails when an entry has neither a test nor a reason, when a test that is cited is gone, and when a key word, a table row, an
item of a list or a defined word of a draft, or one of the numbers by which ARCP is read, has no entry.

*defined* is what a specification states without a key word of BCP 14, *reading* what pegwire does where it contradicts itself
or says nothing. *Later* is what belongs to a step that has not been taken.

${table(
  HEAD,
  LISTS.map((name) => summary(`[${readRequirements(name).protocol}](${name}.md)`, readRequirements(name).requirements)),
)}`;
}

/** One list, whole. */
function page(name: Name, list: RequirementList): string {
  const { protocol, source, scope, note, levels, requirements } = list;
  const parts = levels.map(({ level, title, about }) => ({ title, about, some: ofLevel(requirements, level) }));
  const body =
    parts.length === 0
      ? sections(requirements, '##')
      : parts.map(({ title, about, some }) => `## ${title}\n\n${about}\n\n${sections(some, '###')}`).join('\n');
  return `# ${protocol}: what is required, and what shows it

<!-- ${WRITTEN} ${name}.json. -->

Every requirement of ${source}, ${scope}. [What the columns mean](README.md).
${note === undefined ? '' : `\n${note}\n`}
${table(HEAD, [...parts.map(({ title, some }) => summary(title, some)), summary('all', requirements)])}${exceptions(requirements)}${putOff(requirements)}
${body}`;
}

function ofLevel(requirements: readonly Requirement[], level: number): readonly Requirement[] {
  return requirements.filter(({ conformance }) => conformance === level);
}

function sections(some: readonly Requirement[], heading: string): string {
  const names = [...new Set(some.map(({ section }) => section))];
  return names
    .map((name) => {
      const rows = some.filter(({ section }) => section === name).map(row);
      const title = /^[0-9]/.test(name) ? `Section ${name}` : name.charAt(0).toUpperCase() + name.slice(1);
      return `${heading} ${title}\n\n${table(['id', 'level', 'requirement', 'shown by'], rows)}`;
    })
    .join('\n');
}

const HEAD = [
  'part',
  'requirements',
  'MUST, MUST NOT, REQUIRED',
  'SHOULD, RECOMMENDED',
  'MAY',
  'defined',
  'readings',
  'shown by tests',
  'not met, or not to be shown',
  'later',
];

function summary(title: string, some: readonly Requirement[]): string[] {
  const count = (isCounted: (one: Requirement) => boolean): string => String(some.filter(isCounted).length);
  return [
    title,
    String(some.length),
    count(({ level }) => level.startsWith('MUST') || level === 'REQUIRED'),
    count(({ level }) => level.startsWith('SHOULD') || level === 'RECOMMENDED'),
    count(({ level }) => level === 'MAY'),
    count(({ level }) => level === 'defined'),
    count(({ level }) => level === 'reading'),
    count(({ tests }) => tests.length > 0),
    count(({ exception }) => exception !== undefined),
    count(({ later }) => later !== undefined),
  ];
}

function exceptions(requirements: readonly Requirement[]): string {
  const unmet = requirements.filter(({ exception }) => exception !== undefined);
  if (unmet.length === 0) return '';
  const lines = unmet.map(({ id, text, exception }) => `* **${id}** ${plain(text)} ${plain(exception!)}`);
  return `\n## Not met, or not to be shown\n\n${lines.join('\n')}\n`;
}

function putOff(requirements: readonly Requirement[]): string {
  const later = requirements.filter((one) => one.later !== undefined);
  if (later.length === 0) return '';
  const lines = later.map((one) => `* **${one.id}** ${plain(one.text)} ${plain(one.later!)}`);
  return `\n## Later\n\n${lines.join('\n')}\n`;
}

function row({ id, level, text, values, tests, exception, later }: Requirement): string[] {
  const words = values === undefined ? '' : ` (${values.join(', ')})`;
  return [
    id,
    level,
    plain(text + words),
    exception === undefined && later === undefined ? shownBy(tests) : 'see above',
  ];
}

/** Each file as a link, and the titles of its tests. */
function shownBy(tests: readonly string[]): string {
  const byFile = new Map<string, string[]>();
  for (const test of tests) {
    const { file, title } = citation(test);
    const last = title.split(' > ').at(-1)!;
    byFile.set(file, [...(byFile.get(file) ?? []), plain(readable(last))]);
  }
  const lines = [...byFile].map(
    ([file, titles]) => `[${nameOf(file)}](https://github.com/pegwire/pegwire/blob/main/${file}): ${titles.join('; ')}`,
  );
  return lines.join('<br>');
}

/** Titles that a table of cases fills in. */
function readable(title: string): string {
  const text = title.replace(PLACEHOLDER, '…');
  return text === '…' ? 'each case' : text;
}

/** What is filled in. */
const PLACEHOLDER = /%[a-z]|\$[a-z]+/g;

function nameOf(file: string): string {
  return file
    .split('/')
    .at(-1)!
    .replace(/(\.programs|\.long)?\.test\.ts$/, '');
}

/** Text that Markdown leaves alone. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|$~]/g, '\\$&');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** Writes a page, or says whether it is stale. */
async function settle(file: string, text: string, check: boolean): Promise<boolean> {
  const path = new URL(`../${FOLDER}${file}`, import.meta.url);
  if (!check) {
    await writeFile(path, text);
    console.log(`${FOLDER}${file} is written.`);
    return true;
  }
  if ((await readFile(path, 'utf8').catch(() => null)) === text) {
    console.log(`${FOLDER}${file} is up to date.`);
    return true;
  }
  console.error(`Stale: ${FOLDER}${file}. Run \`npm run conformance:page\` and commit the result.`);
  return false;
}

async function main(check: boolean): Promise<number> {
  const pages = [
    ['README.md', overview()] as const,
    ...LISTS.map((name) => [`${name}.md`, page(name, readRequirements(name))] as const),
  ];
  const settled = await Promise.all(pages.map(([file, text]) => settle(file, text, check)));
  return settled.every((isGood) => isGood) ? 0 : 1;
}

process.exitCode = await main(process.argv.includes('--check'));
