import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AuditEntry, memoryAudit } from '../../../../src/aacp/dispatch/index.js';
import { bundledRules } from '../../../../src/aacp/fallback/index.js';
import { cli, jsonLines, scratchFolder } from '../../../helpers/cli.js';

const scratch = scratchFolder();

beforeEach(() => vi.stubEnv('PEGWIRE_DATA_DIR', path.join(scratch.path, 'data')));
afterEach(() => vi.unstubAllEnvs());

/** Runs a command line that is wrong, and returns its error. */
async function wrong(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  return stderr.split('\n')[0]!.replace(/^error\[[\w-]+\]: /, '');
}

describe('the commands of aacp', () => {
  test('are listed on its help page, and have their own pages', async () => {
    const { stdout } = await cli(['aacp', '--help']);
    expect(stdout).toContain('Usage: pegwire aacp <workflows|registry|rules|audit> [options]');
    for (const name of ['workflows', 'registry', 'rules', 'audit']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
      const page = await cli(['aacp', name, '--help']);
      expect(page).toMatchObject({ code: 0, stderr: '' });
      expect(page.stdout).toContain(`pegwire aacp ${name}: `);
      expect(page.stdout).toMatch(new RegExp(`\nUsage: pegwire aacp ${name} \\S.* \\[options\\]\n`));
      expect(Math.max(...page.stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
      expect((await cli(['help', 'aacp', name])).stdout).toBe(page.stdout);
    }
  });

  test('are required and suggested', async () => {
    expect(await wrong('aacp')).toBe('aacp requires a command: workflows, registry, rules or audit.');
    expect(await wrong('aacp', 'registy')).toBe('Unknown command "aacp registy"; did you mean "registry"?');
    expect(await wrong('aacp', 'constructor')).toBe(
      'Unknown command "aacp constructor"; expected workflows, registry, rules or audit.',
    );
    expect(await wrong('aacp', 'fmt', 'x')).toMatch(/; the command must come first: pegwire fmt aacp\.$/);
    expect(await wrong('aacp', 'workflows', '--domain', 'HR')).toBe('Unknown option --domain.');
  });
});

describe('aacp rules', () => {
  const RULE = {
    id: 'hr-bake-cake',
    name: 'Bake a cake',
    description: 'Bakes a cake for somebody.',
    task: 'BUILD',
    dom: 'HR',
    packet: 'BUILD|HR|return:HR-Agent|p:2|aacp:1.1|res:cake',
    tags: ['cake'],
    version: '1.0.0',
    source: 'test',
  };
  const good = JSON.stringify([RULE]);
  const goodFile = scratch.write('good.json', good);
  const bad = [{ ...RULE, packet: 'no packet' }, { ...RULE, id: 'other', dom: 'FIN' }, { name: 'no id' }, RULE];
  const badFile = scratch.write('bad.json', JSON.stringify({ rules: bad }));

  test('check finds no errors in the built-in rules', async () => {
    const { code, stdout, stderr } = await cli(['aacp', 'rules', 'check']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^\d+ valid rules, 0 errors, 0 warnings; hash [0-9a-f]{64}\n$/);
    expect(stderr).toContain(bundledRules().hash);
  });

  test('check reports the errors of each rule of a file', async () => {
    expect((await cli(['aacp', 'rules', 'check', goodFile])).code).toBe(0);
    const { code, stdout, stderr } = await cli(['aacp', 'rules', 'check', badFile]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^1: hr-bake-cake: error\[/m);
    expect(stdout).toMatch(/^2: other: error\[dom-mismatch\]: /m);
    expect(stdout).toMatch(/^3: \(no id\): error\[not-a-rule\]: /m);
    expect(stdout).not.toMatch(/^4: /m);
    expect(stderr).toMatch(/^1 valid rule, \d+ errors, 2 warnings; /);
  });

  test('check --json prints one document per report, and a summary', async () => {
    const { code, stdout, stderr } = await cli(['aacp', 'rules', 'check', badFile, '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const documents = jsonLines(stdout) as { index: number; severity: string; summary?: object }[];
    const reports = documents.slice(0, -1);
    expect([...new Set(reports.map(({ index }) => index))]).toEqual([0, 1, 2]);
    const count = (severity: string): number => reports.filter((report) => report.severity === severity).length;
    const counts = { rules: 1, errors: count('error'), warnings: count('warning'), byDomain: { HR: 1 } };
    expect(documents.at(-1)).toEqual({ summary: expect.objectContaining(counts) });
    expect(counts.errors).toBeGreaterThan(3);
  });

  test('check compares a file with its hash', async () => {
    const sha256 = createHash('sha256').update(good).digest('hex');
    expect((await cli(['aacp', 'rules', 'check', goodFile, '--rules-sha256', sha256])).code).toBe(0);
    expect(await wrong('aacp', 'rules', 'check', badFile, '--rules-sha256', sha256)).toContain(
      'instead of the expected',
    );
  });

  test('find ranks rules, and finds none if nothing is near', async () => {
    const { code, stdout } = await cli(['aacp', 'rules', 'find', 'three-way', 'match', 'of an invoice']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^1\.00 {2}fin-match-invoice {2}/);
    const args = ['aacp', 'rules', 'find', 'please send a birthday card for my dog'];
    expect(await cli(args)).toEqual({ code: 1, stdout: '', stderr: 'error[no-rule]: No rule matches.\n' });
    const inJson = await cli([...args, '--json']);
    expect({ code: inJson.code, stderr: inJson.stderr }).toEqual({ code: 1, stderr: '' });
    expect(jsonLines(inJson.stdout)).toMatchObject([{ ok: false, error: { code: 'no-rule' } }]);
  });

  test('find accepts a rules file, a domain and a limit', async () => {
    const both = await cli(['aacp', 'rules', 'find', 'bake a cake', '--rules', goodFile, '--json']);
    expect(jsonLines(both.stdout)).toEqual([{ score: expect.any(Number), matched: expect.any(Array), rule: RULE }]);
    expect((await cli(['aacp', 'rules', 'find', 'bake a cake', '--rules', goodFile, '--domain', 'FIN'])).code).toBe(1);
    const limited = await cli(['aacp', 'rules', 'find', 'report', '--limit', '2', '--json']);
    expect(jsonLines(limited.stdout)).toHaveLength(2);
  });

  test('list prints all rules, or those of a domain or task', async () => {
    const all = await cli(['aacp', 'rules', 'list', '--json']);
    expect(jsonLines(all.stdout)).toHaveLength(bundledRules().rules.length);
    const some = await cli(['aacp', 'rules', 'list', '--domain', 'hr', '--task', 'fetch']);
    expect(some.stdout).toMatch(/^(?:hr-\S+ {2}[^\n]* {2}FETCH\|HR\|[^\n]*\n)+$/);
    const own = await cli(['aacp', 'rules', 'list', '--rules', goodFile, '--no-bundled-rules']);
    expect(own).toEqual({
      code: 0,
      stdout: `hr-bake-cake  Bake a cake  ${RULE.packet}\n`,
      stderr: '1 rule\n',
    });
  });

  test.each([
    [[], /^aacp rules requires an action: check, find or list\.$/],
    [['finde', 'x'], /^Unknown action "finde"; did you mean "find"\?$/],
    [['find'], /^aacp rules find requires words to search for\.$/],
    [['find', 'x', '--limit', '0'], /^--limit must be a positive integer/],
    [['check', 'a', 'b'], /"b"\.$/],
    [['check', '--rules', 'a'], /takes its file as an argument; remove --rules\.$/],
    [['check', '--rules-sha256', 'a'], /^--rules-sha256 requires a file\.$/],
    [['check', 'no-such-file.json'], /^Cannot read no-such-file\.json: there is no such file\.$/],
    [['check', 'src'], /^Cannot read src: it is a folder\.$/],
    [['find', 'x', '--rules', 'src'], /^Cannot read src: it is a folder\.$/],
    [['check', 'README.md'], /JSON/],
    [['list', 'x'], /^aacp rules list takes no arguments; remove "x"\.$/],
  ])('%j is wrong', async (args, expected) => {
    expect(await wrong('aacp', 'rules', ...args)).toMatch(expected);
  });
});

describe('aacp audit verify', () => {
  const log = path.join(scratch.path, 'audit.jsonl');
  let head = '';
  let copies = 0;

  beforeAll(async () => {
    const audit = memoryAudit({ now: () => 0 });
    const packet = 'ACK|HR|return:A|p:1|aacp:1.1';
    const entry: AuditEntry = {
      event: 'handed-over',
      packet,
      length: packet.length,
      hash: null,
      verdict: 'valid',
      codes: [],
      reason: null,
      attempt: null,
      actor: null,
      nonce: null,
    };
    for (let count = 0; count < 3; count++) head = (await audit.append(entry)).chain;
    writeFileSync(log, audit.text());
  });

  function changed(change: (text: string) => string): string {
    const file = path.join(scratch.path, `audit-${copies++}.jsonl`);
    copyFileSync(log, file);
    writeFileSync(file, change(readFileSync(file, 'utf8')));
    return file;
  }

  test('an unchanged log is intact', async () => {
    const { code, stdout, stderr } = await cli(['aacp', 'audit', 'verify', log]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `intact: 3 records\nhead: ${head}\n`, stderr: '' });
    expect((await cli(['aacp', 'audit', 'verify', log, '--head', head])).code).toBe(0);
    const inJson = await cli(['aacp', 'audit', 'verify', log, '--json']);
    expect(jsonLines(inJson.stdout)).toEqual([{ ok: true, records: 3, firstFault: null, head }]);
  });

  test.each([
    ['changed', (text: string) => text.replace(/"HR-?|\|HR\|/, '|FIN|'), 'chain', 1],
    ['cut out', (text: string) => text.replace(/^.*\n/, ''), 'sequence', 1],
    ['no record', (text: string) => text.replace('\n', '\nnonsense\n'), 'not-a-record', 2],
  ])('a record that was %s is reported with its line', async (_what, change, reason, line) => {
    const file = changed(change);
    const { code, stdout } = await cli(['aacp', 'audit', 'verify', file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not intact: /);
    expect(stdout).toContain(`${file}:${line}: ${reason}: `);
    const inJson = await cli(['aacp', 'audit', 'verify', file, '--json']);
    expect(inJson.code).toBe(1);
    const error = { code: reason, message: expect.stringContaining(`${file}:${line}: `) };
    expect(jsonLines(inJson.stdout)).toMatchObject([
      { ok: false, error, firstFault: { line, reason }, records: line - 1 },
    ]);
  });

  test('an incomplete last line is reported as torn', async () => {
    const file = changed((text) => text);
    appendFileSync(file, '{"seq":4,"ti');
    const { code, stdout } = await cli(['aacp', 'audit', 'verify', file]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^torn end: .*:4: torn-end: .*\nbefore it: 3 intact records; head: /);
    expect(stdout).toContain(head);
  });

  test('a missing end is detected with the head', async () => {
    const file = changed((text) => text.replace(/[^\n]*\n$/, ''));
    expect((await cli(['aacp', 'audit', 'verify', file])).code).toBe(0);
    const { code, stdout } = await cli(['aacp', 'audit', 'verify', file, '--head', head]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^not intact: .*:3: head: /);
  });

  test('bytes that are not UTF-8 are a fault of the log', async () => {
    const file = scratch.write('binary.jsonl', new Uint8Array([0xff, 0xfe, 0x0a]));
    const { code, stdout } = await cli(['aacp', 'audit', 'verify', file]);
    expect(code).toBe(1);
    expect(stdout).toContain(':1: not-a-record: ');
  });

  test.each([
    [[], /^aacp audit requires the action verify\.$/],
    [['check', 'x'], /^aacp audit requires the action verify; got "check"\.$/],
    [['verify'], /^aacp audit verify requires the file of a log\.$/],
    [['verify', 'a', 'b'], /"b"\.$/],
    [['verify', 'a', '--head', 'x'], /^--head must be 64 hexadecimal digits/],
    [['verify', 'no-such-file.jsonl'], /^Cannot read no-such-file\.jsonl: there is no such file\.$/],
    [['verify', 'src'], /^Cannot read src: it is a folder\.$/],
  ])('%j is wrong', async (args, expected) => {
    expect(await wrong('aacp', 'audit', ...args)).toMatch(expected);
  });
});
