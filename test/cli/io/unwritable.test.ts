/** Places that cannot be written: tested before the work; results that cannot be saved are printed. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { cli, jsonLines, scratchFolder } from '../../helpers/cli.js';

const scratch = scratchFolder();
const isLinux = process.platform === 'linux';

/** An adapter that leaves a file when it is started, and answers nonsense. */
const started = path.join(scratch.path, 'started');
const adapter = scratch.write(
  'adapter.mjs',
  `import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
writeFileSync(${JSON.stringify(started)}, '');
for await (const line of createInterface({ input: process.stdin })) console.log('{"ok":true,"canonical":"x"}');
`,
);
const FUZZ = ['fuzz', 'aacp', '--count', '5', '--seed', '1', '--target', `"${process.execPath}" "${adapter}"`];
const CORPUS = ['fuzz', 'aacp', '--coverage', scratch.write('corpus.txt', 'ACK|HR|return:A\n')];
const BENCH = ['bench', 'aacp', '--duration', '50ms'];
const FRAME = '@a>req:find{q:cats}[mid:m1,seq:5]\n';
/** No file can be created in a file, in a missing folder, or in a folder of the kernel. */
const NOWHERE = [
  path.join(scratch.write('plain', ''), 'inner'),
  ...(isLinux ? ['/proc/pegwire', '/proc/pegwire/deeper'] : []),
];
/** A device that can be opened, but not written. */
const FULL = '/dev/full';

afterEach(() => vi.restoreAllMocks());

describe.each(NOWHERE)('%s', (place) => {
  test.each([
    ['the findings of fuzz', [...FUZZ, '--output', place]],
    ['the page of fuzz', [...CORPUS, '--html', place]],
    ['the results of bench', [...BENCH, '--output', place]],
    ['the result of export', ['export', 'aacp', '--to', 'gbnf', '--output', place]],
    ['the replies of decode', ['decode', 'accp', '--replies', place]],
    ['the session of encode', ['encode', 'accp', '--session', place]],
    ['the session of decode', ['decode', 'accp', '--session', place]],
    ['the log of acp run', ['acp', 'run', '--log', place, '--', process.execPath, adapter]],
    ['the log of arcp invoke', ['arcp', 'invoke', '--log', place, 'x', '--', process.execPath, adapter]],
    ['the jobs of arcp serve', ['arcp', 'serve', '--ws', '0', '--db', path.join(place, 'jobs.db')]],
  ])('is rejected for %s before any work', async (_, args) => {
    const { code, stdout, stderr } = await cli(args, { stdin: args[0] === 'decode' ? FRAME : '' });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(place);
    expect(stderr).toMatch(/^error\[[\w-]+\]: [^\n]+\.\n$/);
    expect(existsSync(started)).toBe(false);
  });
});

test('a place that is tested but not used stays unchanged', async () => {
  const folder = path.join(scratch.path, 'made', 'here');
  const target = `"${process.execPath}" "${path.resolve('test/examples/adapters/node-adapter.mjs')}"`;
  const { code } = await cli([...FUZZ.slice(0, -2), '--target', target, '--output', folder]);
  expect(code).toBe(0);
  expect(existsSync(path.dirname(folder))).toBe(false);
});

describe('a folder in which a file blocks the result', () => {
  test('fuzz continues, prints each finding in full, and ends with 2', async () => {
    const folder = path.join(scratch.path, 'findings');
    const saved = await cli([...FUZZ, '--output', folder, '--json']);
    expect(saved.code).toBe(1);
    const fixtures = readdirSync(folder).map(
      (name) => JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as object,
    );
    expect(fixtures).not.toEqual([]);
    const blocked = path.join(scratch.path, 'blocked');
    for (const name of readdirSync(folder)) mkdirSync(path.join(blocked, name), { recursive: true });
    const { code, stdout, stderr } = await cli([...FUZZ, '--output', blocked]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Cannot write .*blocked/);
    for (const fixture of fixtures) expect(stdout).toContain(JSON.stringify(fixture));
    expect(stdout).toContain('pegwire fuzz aacp --seed');
    const json = await cli([...FUZZ, '--output', blocked, '--json']);
    expect(jsonLines(json.stdout)).toEqual(
      jsonLines(saved.stdout).map((record) =>
        'file' in (record as object) ? { ...(record as object), file: null } : record,
      ),
    );
  });

  test('fuzz without --output warns before the run, prints the findings, and ends with 1', async () => {
    const home = path.join(scratch.path, 'home');
    mkdirSync(home);
    writeFileSync(path.join(home, 'pegwire-findings'), '');
    const back = process.cwd();
    process.chdir(home);
    try {
      const { code, stdout, stderr } = await cli(FUZZ);
      expect(code).toBe(1);
      expect(stdout).toMatch(/fixture: {3}\{"/);
      expect(stderr).toMatch(
        /^warning\[unwritable\]: Cannot write pegwire-findings: .*; findings are not saved; set --output to another folder\.\n$/,
      );
    } finally {
      process.chdir(back);
    }
  });

  test('bench prints the results and ends with 2', async () => {
    const folder = path.join(scratch.path, 'bench');
    mkdirSync(path.join(folder, 'results.json'), { recursive: true });
    const { code, stdout, stderr } = await cli([...BENCH, '--output', folder]);
    expect(code).toBe(2);
    expect(stderr).toContain('Cannot write');
    expect(JSON.parse(stdout.trimEnd().split('\n').at(-1)!)).toMatchObject({ sections: expect.any(Array) });
  });
});

describe.skipIf(!isLinux)('a full disk', () => {
  test('export prints the result, and ends with 2', async () => {
    const printed = await cli(['export', 'aacp', '--to', 'gbnf']);
    const { code, stdout, stderr } = await cli(['export', 'aacp', '--to', 'gbnf', '--output', FULL]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: printed.stdout });
    expect(stderr).toContain(`Cannot write ${FULL}`);
  });

  test('fuzz prints the coverage and its page, and ends with 2', async () => {
    const { code, stdout, stderr } = await cli([...CORPUS, '--html', FULL]);
    expect(code).toBe(2);
    expect(stdout).toContain((await cli(CORPUS)).stdout);
    expect(stdout).toMatch(/<\/html>\s*$/);
    expect(stderr).toContain(`Cannot write ${FULL}`);
  });

  test('decode prints the replies, continues, and ends with 2', async () => {
    const stdin =
      '@a>req:find{q:cats}[mid:m1,seq:1]\n@a>req:find{q:dogs}[mid:m2,seq:5]\n@a>req:find{q:owls}[mid:m3,seq:2]\n';
    const shown = await cli(['decode', 'accp', '--now', '2023-11-14T22:13:20Z'], { stdin });
    expect(shown.stderr).toContain('reply: ');
    const { code, stdout, stderr } = await cli(['decode', 'accp', '--now', '2023-11-14T22:13:20Z', '--replies', FULL], {
      stdin,
    });
    expect(code).toBe(2);
    expect(jsonLines(stdout)).toHaveLength(jsonLines(shown.stdout).length);
    expect(stderr.split('\n').filter((line) => line.includes('reply: '))).toHaveLength(
      shown.stderr.split('\n').filter((line) => line.includes('reply: ')).length,
    );
    expect(stderr).toContain(`Cannot write ${FULL}`);
  });
});
