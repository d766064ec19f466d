/** Formats results as tables. */

import type { Table } from '../text/table.js';
import type { Spread } from './race.js';
import type { RaceGroup, RaceSection, Section } from './result.js';

/** For one group, one row per candidate; for several, one row per group. */
export function sectionTable(section: Section): Table {
  if (section.kind === 'facts') return { header: section.columns, rows: section.rows.map((row) => row.map(String)) };
  const [group, ...others] = section.groups;
  return group !== undefined && others.length === 0 ? groupTable(section, group) : matrix(section);
}

function groupTable({ unit, anchor }: RaceSection, { results, units }: RaceGroup): Table {
  return {
    header: ['', `ns per ${unit}`, `x ${anchor}`, 'quartiles'],
    rows: results.map(({ name, nanoseconds, ratio }) => [
      name,
      significant(nanoseconds.median / units),
      significant(ratio.median),
      name === anchor ? '' : quartiles(ratio),
    ]),
  };
}

function matrix({ anchor, groups }: RaceSection): Table {
  const names = (groups[0]?.results ?? []).map(({ name }) => name).filter((name) => name !== anchor);
  return {
    header: [`x ${anchor}`, ...names],
    rows: groups.map(({ name, results }) => [
      name,
      ...names.map((candidate) => {
        const ratio = results.find((result) => result.name === candidate)?.ratio;
        return ratio === undefined ? '' : `${significant(ratio.median)} (${quartiles(ratio)})`;
      }),
    ]),
  };
}

function quartiles({ low, high }: Spread): string {
  return `${significant(low)}-${significant(high)}`;
}

/** Rounds for display: two decimal places below ten, none above a hundred. */
export function significant(value: number): string {
  if (value >= 100) return Math.round(value).toString();
  if (value >= 10) return value.toFixed(1);
  return value >= 0.1 ? value.toFixed(2) : Number(value.toPrecision(2)).toString();
}

/** Returns the change in whole percent, such as `-12 %` and `+40 %`. */
export function percentChange(value: number, from: number): string {
  const percent = Math.round((value / from - 1) * 100);
  return `${percent > 0 ? '+' : ''}${percent} %`;
}

export function markdownTable({ header, rows }: Table): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(header), line(header.map((_cell, column) => (column === 0 ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  );
}
