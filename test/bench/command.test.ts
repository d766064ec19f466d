/** A very short run of `pegwire bench`: it works; its speed does not matter. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cli, jsonLines } from '../helpers/cli.js';

const SHORT = ['--duration', '200ms'];

describe('pegwire bench', () => {
  test('shows a table for reading and printing', async () => {
    const { code, stdout, stderr } = await cli(['bench', 'aacp', ...SHORT]);
    expect(code).toBe(0);
    for (const title of ['Reading AACP', 'Reading AACP, by content', 'Printing AACP']) {
      expect(stdout).toContain(`\n${title}\n`);
    }
    expect(stdout).toMatch(/^JSON\.parse +\d+ +1\.00$/m);
    expect(stdout).toMatch(/^pegwire parsePacket +\d+ +[\d.]+ +[\d.]+-[\d.]+$/m);
    expect(stdout).not.toContain('ACCP');
    expect(stderr).toMatch(/^pegwire \S+, Node \S+, /);
  });

  test('measures both protocols by default, and prints JSON', async () => {
    const { code, stdout } = await cli(['bench', '--json', ...SHORT]);
    expect(code).toBe(0);
    const [first, ...sections] = jsonLines(stdout) as { id?: string; machine?: object; groups: object[] }[];
    expect(first).toMatchObject({ pegwire: expect.any(String), machine: { node: process.versions.node } });
    expect(sections.map(({ id }) => id)).toEqual([
      ...['accp-reading', 'accp-categories', 'accp-printing'],
      ...['aacp-reading', 'aacp-categories', 'aacp-printing'],
    ]);
    for (const { groups } of sections) expect(groups.length).toBeGreaterThan(0);
  });

  test('has a bar of progress on a terminal, which disappears at the end', async () => {
    const { stderr } = await cli(['bench', 'aacp', '--no-color', '--duration', '1200ms'], { isTTY: true });
    expect(stderr).toContain('\r\u001b[2KMeasuring aacp [');
    expect(stderr.split('\r\u001b[2K').at(-1)).not.toContain('%');
  });

  test('writes the results and charts to the given folder', async () => {
    const folder = path.join(mkdtempSync(path.join(tmpdir(), 'pegwire-')), 'made', 'here');
    const { code, stderr } = await cli(['bench', 'aacp', '--output', folder, ...SHORT]);
    expect(code).toBe(0);
    expect(stderr).toContain(`Results written to ${folder}\n`);
    expect(readdirSync(folder).toSorted()).toEqual(['aacp-printing.svg', 'aacp-reading.svg', 'results.json']);
    const results = JSON.parse(readFileSync(path.join(folder, 'results.json'), 'utf8')) as { sections: object[] };
    expect(results).toMatchObject({ pegwire: expect.any(String), machine: { node: process.versions.node } });
    expect(results.sections).toHaveLength(3);
    const chart = readFileSync(path.join(folder, 'aacp-reading.svg'), 'utf8');
    expect(chart).toContain('pegwire parsePacket</text>');
    const refused = await cli(['bench', 'aacp', '--output', path.join(folder, 'results.json', 'x'), ...SHORT]);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toContain('Cannot write ');
    rmSync(path.dirname(path.dirname(folder)), { recursive: true });
  });

  test('has none elsewhere', async () => {
    expect((await cli(['bench', 'aacp', ...SHORT])).stderr).not.toContain('%');
  });

  test.each([
    [
      ['bench', 'aacp', '--duration', 'soon'],
      '--duration must be a duration such as 500ms, 30s, 2m, 1h or 7d; got "soon"',
    ],
    [['bench', 'aacp', '--duration', '2h'], '--duration must be at most 1h; got "2h"'],
    [['bench', 'json'], 'bench accepts accp or aacp; got "json"'],
    [['bench', 'acpp'], 'did you mean "accp"?'],
    [['bench', 'accp', 'file.txt'], 'bench takes only a protocol; remove "file.txt"'],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await cli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('documents in its help that the protocol is optional', async () => {
    expect((await cli(['bench', '--help'])).stdout).toContain('Usage: pegwire bench [accp|aacp] [options]');
  });
});
