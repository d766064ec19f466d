/**
 * Writes the conformance page of ACCP from the list of requirements, or with --check compares what is there.
 *
 *     npx tsx scripts/conformance-page.ts
 *     npx tsx scripts/conformance-page.ts --check
 */
import { readFile, writeFile } from 'node:fs/promises';
import {
  citation,
  type Requirement,
  type RequirementList,
  readRequirements,
} from '../test/conformance/requirements/list.js';

const FOLDER = 'test/conformance/requirements/';
const PAGE = new URL(`../${FOLDER}README.md`, import.meta.url);

const LEVELS = [
  [1, 'Level 1: minimum', 'Frames, intents, keys, envelope, delivery and errors.'],
  [2, 'Level 2: standard', 'Context state, checkpoints and the registry, with the profiles that need it.'],
  [3, 'Level 3: full', 'Deltas, negotiation of registries, token budgets and streams.'],
] as const;

function page(list: RequirementList): string {
  const { source, scope, requirements } = list;
  return `# ACCP: what is required, and what shows it

<!-- Written by \`npm run conformance:page\` from accp.json. -->

Every requirement of ${source}, ${scope}, each with the tests that show it. The wording is ours;
the draft's is what counts. *defined* is what the draft states without a key word of BCP 14.

[\`accp.json\`](accp.json) is the list as data, [\`accp.schema.json\`](accp.schema.json) its shape. \`test/conformance/requirements.test.ts\`
fails when an entry has neither a test nor a reason, when a test that is cited is gone, and when a key word, a table row or a
numbered item of the draft has no entry.

The levels are those of section 8; each needs the ones before it, too. Section 8 does not name sections 9 and 10: what they ask
for stands with the first level that has what it is about.

${table(
  ['level', 'requirements', 'MUST, MUST NOT', 'SHOULD', 'MAY', 'defined', 'shown by tests', 'not met'],
  [...LEVELS.map(([level, title]) => summary(title, ofLevel(requirements, level))), summary('all', requirements)],
)}${exceptions(requirements)}
${LEVELS.map(([level, title, about]) => `## ${title}\n\n${about}\n\n${sections(ofLevel(requirements, level))}`).join('\n')}`;
}

function ofLevel(requirements: readonly Requirement[], level: number): readonly Requirement[] {
  return requirements.filter(({ conformance }) => conformance === level);
}

function sections(some: readonly Requirement[]): string {
  const names = [...new Set(some.map(({ section }) => section))];
  return names
    .map((name) => {
      const rows = some.filter(({ section }) => section === name).map(row);
      return `### Section ${name}\n\n${table(['id', 'level', 'requirement', 'shown by'], rows)}`;
    })
    .join('\n');
}

function summary(title: string, some: readonly Requirement[]): string[] {
  const count = (isCounted: (one: Requirement) => boolean): string => String(some.filter(isCounted).length);
  return [
    title,
    String(some.length),
    count(({ level }) => level.startsWith('MUST')),
    count(({ level }) => level === 'SHOULD'),
    count(({ level }) => level === 'MAY'),
    count(({ level }) => level === 'defined'),
    count(({ tests }) => tests.length > 0),
    count(({ exception }) => exception !== undefined),
  ];
}

function exceptions(requirements: readonly Requirement[]): string {
  const unmet = requirements.filter(({ exception }) => exception !== undefined);
  if (unmet.length === 0) return '';
  const lines = unmet.map(({ id, text, exception }) => `* **${id}** ${plain(text)} ${plain(exception!)}`);
  return `\n## Not met\n\n${lines.join('\n')}\n`;
}

function row({ id, level, text, tests, exception }: Requirement): string[] {
  return [id, level, plain(text), exception === undefined ? shownBy(tests) : 'not met, see above'];
}

/** Each file as a link, and the titles of its tests. */
function shownBy(tests: readonly string[]): string {
  const byFile = new Map<string, string[]>();
  for (const test of tests) {
    const { file, title } = citation(test);
    const last = title.split(' > ').at(-1)!;
    byFile.set(file, [...(byFile.get(file) ?? []), plain(readable(last))]);
  }
  const lines = [...byFile].map(([file, titles]) => `[${nameOf(file)}](../../../${file}): ${titles.join('; ')}`);
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
  return file.split('/').at(-1)!.replace('.test.ts', '');
}

/** Text that Markdown leaves alone. */
function plain(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|$~]/g, '\\$&');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

async function main(check: boolean): Promise<number> {
  const text = page(readRequirements());
  if (!check) {
    await writeFile(PAGE, text);
    console.log(`${FOLDER}README.md is written.`);
    return 0;
  }
  if ((await readFile(PAGE, 'utf8').catch(() => null)) === text) {
    console.log(`${FOLDER}README.md is up to date.`);
    return 0;
  }
  console.error(`Stale: ${FOLDER}README.md. Run \`npm run conformance:page\` and commit the result.`);
  return 1;
}

process.exitCode = await main(process.argv.includes('--check'));
