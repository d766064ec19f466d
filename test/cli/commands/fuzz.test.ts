import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { isPacket, tryParseFrame } from '../../../src/index.js';
import { programCommand } from '../../fuzz/process/programs/commands.js';
import { start } from '../../helpers/child.js';
import { cli, jsonLines, PROGRAM } from '../../helpers/cli.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-fuzz-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ADAPTER = programCommand('../../../examples/adapters/node-adapter.mjs');

/** An adapter of AACP with one error. */
function faulty(name: string, find: string, replace: string): string {
  const source = readFileSync(new URL('../../examples/adapters/node-adapter.mjs', import.meta.url), 'utf8');
  if (!source.includes(find)) throw new Error(`The example adapter has no "${find}"`);
  const file = path.join(folder, `${name}.mjs`);
  writeFileSync(file, source.replace(find, replace));
  return `"${process.execPath}" "${file}"`;
}

describe('inputs', () => {
  test('are valid, one per line, and the same for the same seed', async () => {
    const first = await cli(['fuzz', 'accp', '--count', '50', '--seed', '4']);
    const lines = first.stdout.trimEnd().split('\n');
    expect(first.code).toBe(0);
    expect(lines).toHaveLength(50);
    expect(lines.filter((line) => !tryParseFrame(line).ok)).toEqual([]);
    expect(first.stderr).toBe('Seed: 4\n');
    expect(await cli(['fuzz', 'accp', '--count', '50', '--seed', '4'])).toEqual(first);
  });

  test('are of the selected dialect and sublanguage', async () => {
    const lenient = await cli(['fuzz', 'accp', '--count', '200', '--seed', '1', '--dialect', 'lenient']);
    const lines = lenient.stdout.trimEnd().split('\n');
    expect(lines.filter((line) => !tryParseFrame(line, { dialect: 'lenient' }).ok)).toEqual([]);
    expect(lines.some((line) => !tryParseFrame(line).ok)).toBe(true);
    const narrow = await cli(['fuzz', 'accp', '--count', '30', '--seed', '1', '--intents', 'req,done']);
    expect(narrow.stdout).toMatch(/^(@[^>]+>(req|done):.*\n){30}$/);
  });

  test('can be mutated; --json has the mutations and the verdict', async () => {
    const { stdout } = await cli(['fuzz', 'aacp', '--count', '200', '--seed', '1', '--mutate', '--json']);
    const records = jsonLines(stdout) as { text: string; valid: boolean; mutation: string[] }[];
    for (const { text, valid } of records) expect({ text, valid }).toEqual({ text, valid: isPacket(text) });
    expect(records.filter(({ mutation }) => mutation.length > 0).length).toBeGreaterThan(100);
    expect(new Set(records.map(({ valid }) => valid))).toEqual(new Set([true, false]));
  });

  test('are generated from any grammar file; those with line ends are JSON', async () => {
    const file = path.join(folder, 'lines.peggy');
    writeFileSync(file, 'start = line|1.., "\\n"|\nline = [a-z]+');
    const { stdout, code } = await cli(['fuzz', file, '--count', '100', '--seed', '1']);
    const texts = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (line.startsWith('"') ? (JSON.parse(line) as string) : line));
    expect(code).toBe(0);
    expect(texts).toHaveLength(100);
    expect(texts.filter((text) => !/^[a-z]+(\n[a-z]+)*$/.test(text))).toEqual([]);
    expect(texts.some((text) => text.includes('\n'))).toBe(true);
  });
});

describe('coverage', () => {
  test('of the inputs of a run is a table', async () => {
    const { stdout, code } = await cli(['fuzz', 'accp', '--count', '1500', '--seed', '1', '--coverage']);
    expect(code).toBe(0);
    expect(stdout).toContain('by 1500 texts: rules 100 %, alternatives 100 %');
  });

  test('of a file lists the parts that it does not cover; also as JSON, and as a page', async () => {
    const corpus = path.join(folder, 'corpus.txt');
    const page = path.join(folder, 'coverage.html');
    writeFileSync(corpus, '@a>req:x{k:1}\n@a>req:x{k:true}\nno frame\n');
    const { stdout } = await cli(['fuzz', 'accp', '--coverage', corpus]);
    expect(stdout).toContain('by 2 texts (and 1 rejected)');
    expect(stdout).toMatch(/line \d+:\d+ +value, alternative 2 of 5/);
    const json = await cli(['fuzz', 'accp', '--coverage', corpus, '--html', page, '--json']);
    const [{ coverage }] = jsonLines(json.stdout) as [{ coverage: { texts: number; missing: { name: string }[] } }];
    expect(coverage.texts).toBe(2);
    expect(coverage.missing.map(({ name }) => name)).toContain('map');
    expect(readFileSync(page, 'utf8')).toContain('<h1>Coverage of accp</h1>');
  });
});

describe('a target', () => {
  test('that agrees is reported', async () => {
    const output = path.join(folder, 'none');
    const { code, stdout } = await cli([
      'fuzz',
      'aacp',
      '--target',
      ADAPTER,
      '--count',
      '500',
      '--seed',
      '1',
      '--output',
      output,
    ]);
    expect(stdout).toMatch(/500 texts of aacp \(strict\).*\n.*disagrees on none/);
    expect(code).toBe(0);
    expect(existsSync(output)).toBe(false);
  });

  test('that disagrees is reported with the shortest input, saved as a conformance case', async () => {
    const output = path.join(folder, 'found');
    const target = faulty('last-colon', "indexOf(':')", "lastIndexOf(':')");
    const args = ['fuzz', 'aacp', '--target', target, '--count', '1000', '--seed', '1', '--output', output];
    const { code, stdout } = await cli(args);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^1\. /m);
    expect(stdout).toMatch(/--seed 1 --count 1000/);
    const files = readdirSync(output);
    const cases = files.map(
      (file) => JSON.parse(readFileSync(path.join(output, file), 'utf8')) as { input: string; id: string },
    );
    expect(cases.length).toBeGreaterThan(0);
    for (const { input } of cases) expect(input.length).toBeLessThan(60);
    const json = await cli([...args, '--json']);
    const records = jsonLines(json.stdout) as { id?: string; summary?: { findings: number; seed: number } }[];
    expect(records.at(-1)!.summary).toMatchObject({ findings: records.length - 1, seed: 1 });
    expect(records.flatMap(({ id }) => id ?? []).sort()).toEqual(cases.map(({ id }) => id).sort());
  });

  test('that cannot be started is an error', async () => {
    const { code, stderr } = await cli(['fuzz', 'aacp', '--target', 'no-such-program-anywhere', '--count', '5']);
    expect(code).toBe(2);
    expect(stderr).toContain('no-such-program-anywhere');
  });

  test('is not ended by Ctrl-C, which keeps the findings', async () => {
    const output = path.join(folder, 'stopped');
    const target = faulty('never', 'ok: true', 'ok: false');
    const program = start([
      ...PROGRAM,
      'fuzz',
      'aacp',
      '--target',
      target,
      '--count',
      '10000000',
      '--seed',
      '1',
      '--output',
      output,
    ]);
    const ended = new Promise<number | null>((resolve) => program.once('exit', resolve));
    let stdout = '';
    let stopped = false;
    program.stdout.on('data', (piece: Buffer) => {
      stdout += piece;
      // Only once: a second signal would end the run at once.
      if (!stopped && stdout.includes('saved as')) stopped = program.kill('SIGINT');
    });
    expect(await ended).toBe(1);
    expect(stdout).toMatch(/Stopped after \d+ texts/);
    expect(readdirSync(output).length).toBeGreaterThan(0);
  });
});

describe('usage', () => {
  const WRONG: readonly [args: string[], message: string][] = [
    [['fuzz'], 'requires a protocol'],
    [['fuzz', 'accp', '--count', '0'], '--count must be a positive integer'],
    [['fuzz', 'accp', '--seed', 'x'], '--seed must be a non-negative integer'],
    [['fuzz', 'accp', '--mutate', '2'], '--mutate must be a number from 0 to 1'],
    [['fuzz', 'accp', '--coverage', '/nowhere.txt'], 'Cannot read /nowhere.txt'],
    [['fuzz', 'nowhere.peggy'], 'Cannot read nowhere.peggy: there is no such file'],
    [
      ['fuzz', fileURLToPath(new URL('../../peggy-fast/grammars/choice.json', import.meta.url))],
      'fuzz accepts accp or aacp, or a grammar file (.peggy); got',
    ],
    [
      ['fuzz', fileURLToPath(new URL('../../peggy-fast/grammars/class.peggy', import.meta.url)), '--intents', 'req'],
      '--intents applies to accp and aacp',
    ],
  ];
  test.each(WRONG)('%s', async (args, message) => {
    const { code, stderr } = await cli(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  test('an invalid grammar is reported with its place', async () => {
    const file = path.join(folder, 'broken.peggy');
    writeFileSync(file, 'start = "a\n');
    const { code, stderr } = await cli(['fuzz', file]);
    expect(stderr).toMatch(/Invalid grammar .*broken\.peggy:\n[\s\S]*broken\.peggy:1:9\n/);
    expect(code).toBe(2);
  });

  test('a grammar without sentences is reported', async () => {
    const file = path.join(folder, 'greedy.peggy');
    writeFileSync(file, 'start = "a"* "a"');
    const { code, stderr } = await cli(['fuzz', file, '--count', '1']);
    expect(stderr).toContain('No sentence of greedy');
    expect(code).toBe(2);
  });
});
