import { describe, expect, test } from 'vitest';
import { better, GOALS, reaches } from '../../bench/suites/goals.js';
import { resultsPage } from '../../bench/summary.js';
import { barChart, raceChart } from '../../src/bench/chart.js';
import type { RunnerResult } from '../../src/bench/race.js';
import type { FactSection, RaceSection } from '../../src/bench/result.js';
import { markdownTable, sectionTable, significant } from '../../src/bench/table.js';
import { textTable } from '../../src/text/table.js';

const result = (name: string, nanoseconds: number, ratio: number): RunnerResult => ({
  name,
  passes: 3,
  nanoseconds: { median: nanoseconds, low: nanoseconds, high: nanoseconds },
  ratio: { median: ratio, low: ratio * 0.9, high: ratio * 1.1 },
});
const group = (name: string) => ({
  name,
  units: 10,
  characters: 1000,
  results: [result('JSON.parse', 20_000, 1), result('pegwire <x>', 10_000, 2), result('slow|one', 2e6, 0.01)],
});
const single: RaceSection = {
  ...{ kind: 'race', id: 'accp', title: 'Reading', unit: 'frame', anchor: 'JSON.parse', groups: [group('mixed')] },
  missing: [{ name: 'zod', why: 'the package zod is not installed' }],
};
const several: RaceSection = { ...single, id: 'sizes', groups: [group('short'), group('long')] };
const facts: FactSection = {
  ...{ kind: 'facts', id: 'memory', title: 'Memory', columns: ['', 'bytes'], rows: [['tree', 4700]], note: 'A note.' },
};

describe('tables', () => {
  test('of one race have a row for each candidate, with times of one unit', () => {
    expect(textTable(sectionTable(single)).split('\n')).toEqual([
      '             ns per frame  x JSON.parse    quartiles',
      'JSON.parse           2000          1.00',
      'pegwire <x>          1000          2.00    1.80-2.20',
      'slow|one           200000          0.01  0.009-0.011',
    ]);
  });

  test('of several groups have a row for each of them', () => {
    const { header, rows } = sectionTable(several);
    expect(header).toEqual(['x JSON.parse', 'pegwire <x>', 'slow|one']);
    expect(rows[0]).toEqual(['short', '2.00 (1.80-2.20)', '0.01 (0.009-0.011)']);
    expect(rows).toHaveLength(2);
  });

  test('of facts show them unchanged', () => {
    expect(textTable(sectionTable(facts))).toBe('      bytes\ntree   4700');
  });

  test('in Markdown escape the separators', () => {
    expect(markdownTable(sectionTable(single)).split('\n')).toEqual([
      '|  | ns per frame | x JSON.parse | quartiles |',
      '| --- | ---: | ---: | ---: |',
      '| JSON.parse | 2000 | 1.00 |  |',
      '| pegwire <x> | 1000 | 2.00 | 1.80-2.20 |',
      '| slow\\|one | 200000 | 0.01 | 0.009-0.011 |',
    ]);
  });

  test.each([
    [1234.5, '1235'],
    [12.345, '12.3'],
    [2, '2.00'],
    [0.123, '0.12'],
    [0.01234, '0.012'],
    [0.00047, '0.00047'],
  ])('write %d as %s', (value, text) => {
    expect(significant(value)).toBe(text);
  });
});

describe('charts', () => {
  test('have a bar for each candidate, the fastest first, in well-formed SVG', () => {
    const svg = raceChart(single, 'A & B');
    expect(svg.indexOf('pegwire &lt;x&gt;')).toBeLessThan(svg.indexOf('JSON.parse</text>'));
    expect(svg).toContain('A &amp; B');
    expect(svg.match(/<rect /g)).toHaveLength(3);
    expect(svg.match(/<rect class="own"/g)).toHaveLength(1);
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg.match(/<(\w+)/g)!.length).toBe(svg.match(/\/>|<\/\w+>/g)!.length);
  });

  test('show even the smallest value', () => {
    const svg = barChart({
      title: 't',
      subtitle: 's',
      bars: [
        { name: 'a', value: 1e6 },
        { name: 'b', value: 1e-6 },
      ],
    });
    expect(svg).toContain('width="1"');
    expect(svg).not.toContain('NaN');
  });
});

describe('the page of results', () => {
  const report = {
    date: '2026-11-22T01:02:03.000Z',
    machine: { cpu: 'Some CPU', cores: 2, memoryGigabytes: 8, platform: 'linux x64', node: '20.0.0' },
    versions: { pegwire: '0.1.0', peggy: '5.1.0' },
    sections: [single, several, facts],
  };

  test('has all sections, the machine, the versions, and the missing candidates', () => {
    const text = resultsPage(report);
    for (const part of ['Some CPU (2 cores), Node 20.0.0, 2026-11-22', 'pegwire 0.1.0', 'peggy 5.1.0', 'A note.']) {
      expect(text).toContain(part);
    }
    expect(text).toContain('Not measured: zod (the package zod is not installed).');
    for (const { title } of report.sections) expect(text).toContain(`## ${title}\n`);
  });
});

describe('goals', () => {
  const faster = GOALS.find(({ id }) => id === 'accp')!;
  const smaller = GOALS.find(({ id }) => id === 'spans')!;

  test('are reached from above or from below', () => {
    expect([reaches(faster, 1.5, 1.5), reaches(faster, 1.49, 1.5)]).toEqual([true, false]);
    expect([reaches(smaller, 8, 8), reaches(smaller, 8.1, 8)]).toEqual([true, false]);
    expect(reaches(faster, undefined, 0)).toBe(false);
  });

  test('take the better one of two figures', () => {
    expect(better(faster, 1, 2)).toBe(2);
    expect(better(smaller, 1, 2)).toBe(1);
    expect(better(smaller, undefined, 2)).toBe(2);
  });

  test('have aims above their floors', () => {
    for (const goal of GOALS) expect(reaches(goal, goal.aim, goal.floor)).toBe(true);
    expect(new Set(GOALS.map(({ id }) => id)).size).toBe(GOALS.length);
  });
});
