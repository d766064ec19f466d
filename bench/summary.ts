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

/** What the plugin makes of Peggy's example grammars, as Markdown: the ratios and the sizes side by side. */
export function pluginSummary({ machine, date, sections }: Report): string {
  const race = sections.find((section) => section.kind === 'race' && section.id === 'grammars');
  const sizes = sections.find((section) => section.kind === 'facts' && section.id === 'grammar-sizes');
  if (race?.kind !== 'race' || sizes?.kind !== 'facts') throw new RangeError('the results say nothing of the plugin');
  const ratios = sectionTable(race);
  const rows = ratios.rows.map(([name = '', ...cells]) => [
    ...[name, ...cells],
    ...(sizes.rows
      .find(([one]) => one === name)
      ?.slice(1)
      .map((size) => `${size} kB`) ?? []),
  ]);
  const header = [...ratios.header, ...sizes.columns.slice(1).map((column) => `code: ${column}`)];
  return [
    `Medians of interleaved rounds with quartiles; the code is gzipped. ${machine.cpu} (${machine.cores} cores), Node ${machine.node}, ${date.slice(0, 10)}.`,
    '',
    markdownTable({ header, rows }),
    '',
    ...(race.note === undefined ? [] : [race.note]),
  ].join('\n');
}
