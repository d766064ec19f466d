/** Renders the results of a run: the page `results/README.md` with every table, the unflattering ones included, and the charts beside it. */

import { raceChart } from '../src/bench/chart.js';
import type { RaceSection, Report, Section } from '../src/bench/result.js';
import { markdownTable, sectionTable } from '../src/bench/table.js';

/** Sections of the results that have a chart beside the page. */
const CHARTS = ['accp', 'aacp', 'printing'];

/** Returns a report as a Markdown page. */
export function resultsPage({ date, machine, versions, sections }: Report): string {
  const compared = Object.entries(versions)
    .filter(([name]) => name !== 'pegwire')
    .map(([name, version]) => `${name} ${version}`);
  const where = `${machine.cpu} (${machine.cores} cores), Node ${machine.node}, ${date.slice(0, 10)}`;
  return [
    '# Benchmark results',
    '',
    `Measured with pegwire ${versions['pegwire']} on ${where}. Ratios are repeatable, absolute times are not; the quartiles are those of the rounds.`,
    '[How it is measured](../README.md).',
    '',
    ...sections.flatMap(sectionOf),
    '## Versions',
    '',
    `Compared with ${compared.join(', ')}.`,
    '',
  ].join('\n');
}

/** Returns the charts of a report by their file names. */
export function charts({ machine, sections }: Report): Readonly<Record<string, string>> {
  return Object.fromEntries(
    sections.flatMap((section) =>
      section.kind === 'race' && CHARTS.includes(section.id)
        ? [[`${section.id}.svg`, raceChart(section, `${machine.cpu}, Node ${machine.node}`)]]
        : [],
    ),
  );
}

function sectionOf(section: Section): string[] {
  const chart = CHARTS.includes(section.id) ? [`![${section.title}](${section.id}.svg)`, ''] : [];
  return [
    `## ${section.title}`,
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
