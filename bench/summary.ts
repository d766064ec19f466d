/** What the README says of a run: all tables that a reader would ask for, the unflattering ones included. */
import type { RaceSection, Report, Section } from '../src/bench/result.js';
import { markdownTable, sectionTable } from '../src/bench/table.js';

/** Sections that stand open; the others fold away. */
const OPEN = ['accp', 'aacp', 'printing', 'goals'];
/** Sections that have a chart beside the results. */
const CHARTS = ['accp'];

/** A report as Markdown. */
export function summary({ date, machine, versions, sections }: Report): string {
  const compared = Object.entries(versions)
    .filter(([name]) => name !== 'pegwire')
    .map(([name, version]) => `${name} ${version}`);
  const where = `${machine.cpu} (${machine.cores} cores), Node ${machine.node}, ${date.slice(0, 10)}`;
  const folded = sections.filter(({ id }) => !OPEN.includes(id));
  return [
    `Measured with pegwire ${versions['pegwire']} on ${where}.`,
    'Ratios repeat, times do not; beside the medians are the quartiles of the rounds.',
    '',
    ...sections.filter(({ id }) => OPEN.includes(id)).flatMap(block),
    '<details><summary>By length and content, refusing, growth, memory, cold start</summary>',
    '',
    ...folded.flatMap(block),
    `Compared: ${compared.join(', ')}.`,
    '',
    '</details>',
  ].join('\n');
}

function block(section: Section): string[] {
  const chart = CHARTS.includes(section.id) ? [`![${section.title}](bench/results/${section.id}.svg)`, ''] : [];
  return [
    `**${section.title}**`,
    '',
    ...chart,
    markdownTable(sectionTable(section)),
    '',
    ...(section.note === undefined ? [] : [section.note, '']),
    ...(section.kind === 'race' ? missing(section) : []),
  ];
}

function missing({ missing = [] }: RaceSection): string[] {
  if (missing.length === 0) return [];
  return [`Not measured: ${missing.map(({ name, why }) => `${name} (${why})`).join('; ')}.`, ''];
}
