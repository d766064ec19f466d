/** The lab: its workbook is read with another library, its log is verified again, and changed packets stop it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { json } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import XlsxPopulate from 'xlsx-populate';
import { fileAudit, verifyAuditFile } from '../../../src/aacp/dispatch/index.js';
import { sqliteStore } from '../../../src/arcp/runtime/index.js';
import { ended, start } from '../../helpers/child.js';
import { DATA } from './agents.js';
import { type LabResult, runLab } from './lab.js';
import { escaped, pageOf } from './page.js';
import { ANOMALIES, money } from './payroll.js';
import { readTable } from './tables.js';
import { MARK } from './workbook.js';

const root = mkdtempSync(path.join(tmpdir(), 'pegwire-lab-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const folderOf = (name: string): string => path.join(root, name);

const PLANTED = readTable(new URL('expected-anomalies.csv', DATA), ['code', 'subject', 'period']);
const KEYS = { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' };

const PROGRAM = [process.execPath, '--import', 'tsx', fileURLToPath(new URL('main.ts', import.meta.url))];

function lab(args: readonly string[], env: NodeJS.ProcessEnv = {}, command: readonly string[] = PROGRAM) {
  return ended(start([...command, ...args], { stdin: '', env: { ...KEYS, ...env } }));
}

describe('a run', () => {
  let result: LabResult;

  test('passes five packets through jobs, and finds exactly the planted anomalies', async () => {
    result = await runLab({ folder: folderOf('run') });
    expect(result.error).toBeNull();
    expect(result.hops.map(({ agent, state }) => `${agent} ${state}`)).toEqual(
      ['HRMS', 'FIN', 'PAY', 'RPT', 'AUD'].map((name) => `${name} done`),
    );
    for (const { jobId, messages } of result.hops) {
      expect(jobId).toMatch(/^job_/);
      expect(messages).toEqual(expect.arrayContaining(['job.accepted', 'job.progress', 'job.completed']));
    }
    const found = result.report!.anomalies.map(({ code, subject, period }) => ({ code, subject, period }));
    expect(found).toEqual(PLANTED);
    expect(new Set(PLANTED.map(({ code }) => code))).toEqual(new Set(Object.keys(ANOMALIES)));
  });

  test('writes a workbook that another library reads', async () => {
    const book = await XlsxPopulate.fromFileAsync(result.files.workbook);
    expect(book.sheets().map((sheet) => sheet.name())).toEqual(['Payroll 2026-Q1', 'Cost centres', 'Anomalies']);
    const { lines, centres } = result.report!;
    const payroll = book.sheet('Payroll 2026-Q1')!;
    const marked: string[] = [];
    for (const [index, line] of lines.entries()) {
      const row = index + 2;
      const cells = ['A', 'D', 'G', 'H', 'I'].map((column) => payroll.cell(`${column}${row}`).value());
      expect(cells).toEqual([line.empId, line.costCentre, line.gross / 100, line.deductions / 100, line.net / 100]);
      const fill = payroll.cell(`A${row}`).style('fill') as { readonly color?: { readonly rgb?: string } } | undefined;
      if (fill?.color?.rgb === MARK) marked.push(line.empId);
    }
    const employees = new Set(lines.map(({ empId }) => empId));
    const planted = PLANTED.flatMap(({ subject }) => subject.split(' ')).filter((id) => employees.has(id));
    expect(marked).toEqual([...new Set(planted)].sort());
    // The total is a formula, with the sum of the rows as its value.
    const total = payroll.cell(`G${lines.length + 2}`);
    expect(total.formula()).toBe(`SUM(G2:G${lines.length + 1})`);
    expect(money(Math.round(Number(total.value()) * 100))).toBe(
      money(lines.reduce((sum, { gross }) => sum + gross, 0)),
    );
    const sales = centres.findIndex(({ id }) => id === 'CC-300');
    expect(
      book
        .sheet('Cost centres')!
        .cell(`F${sales + 2}`)
        .value(),
    ).toBe('over-budget');
    const listed = PLANTED.map((_, index) =>
      ['A', 'B', 'C'].map((column) =>
        book
          .sheet('Anomalies')!
          .cell(`${column}${index + 2}`)
          .value(),
      ),
    );
    expect(listed).toEqual(PLANTED.map(({ code, subject, period }) => [code, subject, period]));
  });

  test('keeps a log that verifies, and jobs in a file', async () => {
    const { ok, records, head } = await verifyAuditFile(result.files.audit, { head: result.audit.head });
    expect({ ok, records, head }).toEqual({ ok: true, records: 10, head: result.audit.head });
    const record = JSON.parse(readFileSync(result.files.record, 'utf8'));
    // The record is made within the last hop: the log has 9 records then.
    expect(record).toMatchObject({
      period: '2026-Q1',
      status: 'review_required',
      records: 9,
      chain: ['HRMS', 'FIN', 'PAY', 'RPT'],
    });
    expect((await verifyAuditFile(result.files.audit, { head: record.head })).ok).toBe(true);
    const store = await sqliteStore(folderOf('run/jobs.db'));
    await store.close();
  });

  test('has a page with each hop, and escapes every text', () => {
    const page = pageOf(result);
    for (const { packet, hash, jobId, packetTokens } of result.hops)
      for (const text of [packet, hash, jobId!, `packet ${packetTokens}`]) expect(page).toContain(escaped(text));
    for (const { code, detail } of result.report!.anomalies)
      for (const text of [code, detail]) expect(page).toContain(escaped(text));
    const hostile = '<script>alert("x")</script>&\'';
    const hops = result.hops.map((hop) => ({ ...hop, packet: hostile, english: hostile, explanation: hostile }));
    const anomalies = result.report!.anomalies.map((anomaly) => ({ ...anomaly, detail: hostile, subject: hostile }));
    const injected = pageOf({
      ...result,
      hops,
      report: { ...result.report!, anomalies },
      error: { code: hostile, message: hostile },
    });
    expect(injected).not.toContain('<script');
    expect(injected).toContain(escaped(hostile));
  });
});

test('a run replaces an earlier one, also with a damaged log', async () => {
  const folder = folderOf('again');
  expect((await runLab({ folder, tamper: 'log' })).error?.code).toBe('audit-chain');
  for (const _ of [1, 2])
    expect(await runLab({ folder })).toMatchObject({ error: null, audit: { ok: true, records: 10 } });
});

test.concurrent('npm run lab succeeds, and names the stand-ins', async ({ expect }) => {
  const command = ['npm', 'run', '--silent', 'lab', '--'];
  const { code, stdout, stderr } = await lab(['--out', folderOf('program')], {}, command);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  expect(stdout).toContain('deterministic stand-ins');
  expect(stdout).toContain(`Anomalies: ${PLANTED.length}`);
  expect(stdout).toContain('prices assumed as of');
  expect(readFileSync(folderOf('program/index.html'), 'utf8')).toContain('All five hops are done.');
});

test.concurrent('a place that cannot be a folder is an error', async ({ expect }) => {
  const { code, stderr } = await lab(['--out', path.join(fileURLToPath(import.meta.url), 'out')]);
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^error\[usage\]: Cannot write .*\n$/) });
});

test('a table without rows is an error', () => {
  const file = pathToFileURL(folderOf('empty.csv'));
  writeFileSync(file, 'emp_id,name\n');
  expect(() => readTable(file, ['emp_id'])).toThrow('empty.csv has no rows');
});

test.each([
  ['E1,2026-02-28', 'E1,2026-03-01', 'table.csv has E1 twice'],
  ['E1,2026-02-28', 'E2,28.02.2026', 'since of E2 is "28.02.2026", and not a date'],
  ['E1,2026-02-31', 'E2,', 'since of E1 is "2026-02-31", and not a date'],
])('a table of %s and %s is an error', (first, second, message) => {
  const file = pathToFileURL(folderOf('table.csv'));
  writeFileSync(file, `emp_id,since\n${first}\n${second}\n`);
  const checks = { key: ['emp_id'], dates: ['since'] } as const;
  expect(() => readTable(file, ['emp_id', 'since'], checks)).toThrow(message);
});

test.concurrent('a changed packet stops the program with its code', async ({ expect }) => {
  const { code, stderr } = await lab(['--out', folderOf('changed'), '--tamper']);
  expect(code).toBe(1);
  expect(stderr).toContain('error[seal-mismatch]');
  const page = readFileSync(folderOf('changed/index.html'), 'utf8');
  expect(page).toContain('Stopped: seal-mismatch');
  expect(page.match(/class="soft">not run</g)).toHaveLength(2);
  expect(existsSync(folderOf('changed/payroll.xlsx'))).toBe(false);
});

test.each([
  ['packet', 'seal-mismatch', ['done', 'done', 'refused', 'not run', 'not run'], null],
  ['field', 'duplicate-key', ['done', 'done', 'refused', 'not run', 'not run'], null],
  ['log', 'audit-chain', ['done', 'done', 'done', 'done', 'refused'], 'chain'],
] as const)('a changed %s stops the run with %s', async (tamper, code, states, fault) => {
  const { error, hops, files } = await runLab({ folder: folderOf(tamper), tamper });
  expect(error?.code).toBe(code);
  expect(hops.map(({ state }) => state)).toEqual(states);
  const { firstFault } = await verifyAuditFile(files.audit);
  expect(firstFault?.reason ?? null).toBe(fault);
  const last = readFileSync(files.audit, 'utf8').split('\n').at(-2)!;
  expect(JSON.parse(last)).toMatchObject(
    {
      packet: { event: 'failed', reason: expect.stringContaining('its seal does not match') },
      field: { event: 'refused', reason: 'invalid', codes: ['duplicate-key'] },
      log: { event: 'failed', reason: expect.stringContaining('damaged in line 1') },
    }[tamper],
  );
});

test.concurrent('asks a model if a key is set', async ({ expect }) => {
  const prompts: string[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as { readonly instructions: string; readonly input: unknown };
    prompts.push(body.instructions);
    // The model reads every packet as the first one.
    const reply = {
      task: 'FETCH',
      domain: 'HR',
      resource: 'emp_salary',
      period: '2026-Q1',
      review: ['E1031', 'CC-300', 'E1002'],
    };
    const content = [{ type: 'output_text', text: `\`\`\`json\n${JSON.stringify(reply)}\n\`\`\`` }];
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        model: 'test-model',
        status: 'completed',
        output: [{ type: 'message', content }],
        usage: { input_tokens: 1000, output_tokens: 100 },
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const { code, stdout } = await lab(['--out', folderOf('model'), '--model', 'gpt-4o'], env);
  server.close();
  expect(code).toBe(0);
  expect(stdout).toContain('Agents: gpt-4o');
  expect(prompts).toHaveLength(5);
  // Five answers of 1000 and 100 tokens, at the assumed prices.
  expect(stdout).toContain('5000 tokens in and 500 out');
  expect(stdout).toContain('gpt-4o $0.0175');
  // Of the three named subjects, two have anomalies.
  expect(stdout).toMatch(/The report agent named 2 of their \d+ subjects/);
  const page = readFileSync(folderOf('model/index.html'), 'utf8');
  expect(page.match(/reading matches/g)).toHaveLength(1);
  expect(page.match(/reading differs from/g)).toHaveLength(3);
});

test.concurrent('an error of a model stops the run with its code', async ({ expect }) => {
  const server = createServer((_, response) => {
    response.statusCode = 401;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ error: { message: 'Incorrect API key', code: 'invalid_api_key' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const env = { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` };
  const { code, stderr } = await lab(['--out', folderOf('unauthorised')], env);
  server.close();
  expect(code).toBe(1);
  expect(stderr).toContain('error[model-unauthorised]');
  expect(stderr).not.toContain('sk-test');
});

test.concurrent('a folder that another run uses is refused', async ({ expect }) => {
  mkdirSync(folderOf('busy'));
  const audit = await fileAudit(folderOf('busy/audit.jsonl'));
  const { code, stderr } = await lab(['--out', folderOf('busy')]);
  await audit.close();
  expect(existsSync(folderOf('busy/audit.jsonl'))).toBe(true);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('error[audit-in-use]') });
});

test.concurrent('refuses unknown options', async ({ expect }) => {
  const { code, stderr } = await lab(['--tamper', 'packet', '--nothing']);
  expect(code).toBe(2);
  expect(stderr).toContain('error[usage]');
});
