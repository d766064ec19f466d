/** `pegwire arcp` as a program: a runtime, its clients, and its logs. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { Envelope } from '../../../../src/arcp/index.js';
import { ended, start } from '../../../helpers/child.js';
import { cli, jsonLines, PROGRAM, program } from '../../../helpers/cli.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-arcp-'));
const stopping: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KEY_FILE = 'test/fixtures/tls/key.pem';
const CERTIFICATE_FILE = 'test/fixtures/tls/certificate.pem';

let files = 0;
const file = (ending = ''): string => path.join(folder, `${++files}${ending}`);

interface Serving {
  /** Its addresses. */
  readonly urls: readonly string[];
  readonly pid: number;
  readonly stop: (signal?: NodeJS.Signals) => Promise<{ readonly code: number; readonly stderr: string }>;
}

async function serve(...args: readonly string[]): Promise<Serving> {
  const child = start([...PROGRAM, 'arcp', 'serve', ...args]);
  const over = ended(child);
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): ReturnType<Serving['stop']> => {
    child.kill(signal);
    return over;
  };
  stopping.push(() => stop('SIGKILL'));
  let stdout = '';
  await Promise.race([
    over.then(({ stderr }) => {
      throw new Error(stderr);
    }),
    new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
        if (stdout.endsWith('\n')) resolve();
      });
    }),
  ]);
  return { urls: stdout.trim().split('\n'), pid: child.pid!, stop };
}

describe('serve and invoke', () => {
  test('a tool, over each transport', async () => {
    const [socket, pipe] = [file('.sock'), file()];
    const { urls } = await serve('--ws', '0', '--socket', socket, '--pipe', pipe);
    expect(urls).toEqual([expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/arcp$/), `unix:${socket}`, `pipe:${pipe}`]);
    for (const url of urls) {
      const { code, stdout, stderr } = await cli(['arcp', 'invoke', url, 'add', '{"a":2,"b":3}']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: '5\n' });
      expect(stderr).toMatch(/ result 5\n$/);
    }
  });

  test('a tool, over HTTP/2 and an event stream, without encryption and with it', async () => {
    const plain = await serve('--http', '0');
    expect(plain.urls).toEqual([
      expect.stringMatching(/^http2:\/\/127\.0\.0\.1:\d+\/arcp$/),
      expect.stringMatching(/^sse:http:\/\/127\.0\.0\.1:\d+\/arcp$/),
    ]);
    const encrypted = await serve('--http', '0', '--tls-key', KEY_FILE, '--tls-cert', CERTIFICATE_FILE);
    expect(encrypted.urls).toEqual([
      expect.stringMatching(/^https:\/\/127\.0\.0\.1:\d+\/arcp$/),
      expect.stringMatching(/^sse:https:\/\/127\.0\.0\.1:\d+\/arcp$/),
    ]);
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: CERTIFICATE_FILE };
    for (const url of [...plain.urls, ...encrypted.urls]) {
      const { code, stdout } = await program(['arcp', 'invoke', url, 'add', '{"a":2,"b":3}'], { env });
      expect({ code, stdout }).toEqual({ code: 0, stdout: '5\n' });
    }
    const { code, stderr } = await cli(['arcp', 'invoke', encrypted.urls[0]!, 'add', '{"a":2,"b":3}']);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^error\[unreachable\]: .*certificate/)]);
  });

  test('a program that the command starts', async () => {
    const { code, stdout } = await cli([
      'arcp',
      'invoke',
      'add',
      '{"a":1,"b":1}',
      '--',
      ...PROGRAM,
      'arcp',
      'serve',
      '--stdio',
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2\n' });
  });

  test('a job, an agent and a workflow, with their messages', async () => {
    const { urls } = await serve('--ws', '0');
    const job = await cli(['arcp', 'invoke', urls[0]!, 'count', '{"to":2,"ms":1}']);
    expect(job).toMatchObject({ code: 0, stdout: '{"counted":2}\n' });
    expect(
      job.stderr
        .replace(/^\S+ /gm, '')
        .replace(/(?:job|chk)_\w+/g, 'ID')
        .split('\n'),
    ).toEqual([
      ...['count accepted ID', 'started', 'stream numbers', '│ 1', '50 %', 'checkpoint ID', '│ 2', '100 %'],
      ...['checkpoint ID', 'completed {"counted":2}', ''],
    ]);
    const agent = await cli(['arcp', 'invoke', '--agent', urls[0]!, 'writer', 'the sea', '--quiet']);
    expect(agent).toEqual({ code: 0, stdout: '"A draft about the sea"\n', stderr: '' });
    const flow = await cli(['arcp', 'invoke', '--workflow', urls[0]!, 'tour', '--json']);
    const messages = jsonLines(flow.stdout) as Envelope[];
    const last = messages.findLast(({ type }) => type === 'job.completed');
    expect(last).toMatchObject({ payload: { result: { sum: 5 } } });
  });

  test.each([
    ['--yes', 0, '{"refunded":"o1","operation":'],
    ['--no', 1, ''],
  ])('a tool that requests a permission: %s', async (answer, code, stdout) => {
    const { urls } = await serve('--ws', '0');
    const ran = await cli(['arcp', 'invoke', urls[0]!, 'refund', '{"order":"o1"}', answer]);
    expect(ran.code).toBe(code);
    expect(ran.stdout.startsWith(stdout)).toBe(true);
    expect(ran.stderr).toContain('requests payment.refund.create order:o1');
    expect(ran.stderr.includes('PERMISSION_DENIED')).toBe(answer === '--no');
  });

  test('an operation that ran before', async () => {
    const { urls } = await serve('--ws', '0');
    const args = ['arcp', 'invoke', urls[0]!, 'count', '{"to":1,"ms":1}', '--key', 'k'];
    const first = await cli(args);
    const second = await cli(args);
    expect(second).toMatchObject({ code: 0, stdout: first.stdout });
    expect(second.stderr).toContain(', duplicate');
  });

  test('failures and unknown names', async () => {
    const { urls } = await serve('--ws', '0');
    const missing = await cli(['arcp', 'invoke', urls[0]!, 'nothing']);
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('NOT_FOUND');
    const wrong = await cli(['arcp', 'invoke', urls[0]!, 'add', '{"a":1}', '--json']);
    expect(JSON.parse(wrong.stderr)).toMatchObject({ error: { code: 'INVALID_ARGUMENT' } });
    const late = await cli([
      'arcp',
      'invoke',
      urls[0]!,
      'count',
      '{"to":9,"ms":60000}',
      '--timeout',
      '50ms',
      '--quiet',
    ]);
    expect(late).toMatchObject({ code: 1, stderr: expect.stringContaining('DEADLINE_EXCEEDED') });
  });

  test('the tools of a module', async () => {
    const module = file('.mjs');
    writeFileSync(module, `export default (runtime) => runtime.tool('twice', {}, ({ n }) => 2 * n);`);
    const { urls } = await serve('--ws', '0', '--module', module);
    expect(await cli(['arcp', 'invoke', urls[0]!, 'twice', '{"n":21}', '--quiet'])).toMatchObject({ stdout: '42\n' });
    expect((await cli(['arcp', 'invoke', urls[0]!, 'echo', '--quiet'])).code).toBe(1);
  });

  test('with a token, and without it', async () => {
    const { urls } = await serve('--ws', '0', '--host', '0.0.0.0', '--token', 'secret');
    const url = urls[0]!.replace('0.0.0.0', '127.0.0.1');
    const refused = await cli(['arcp', 'invoke', url, 'add', '{"a":1,"b":1}']);
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('UNAUTHENTICATED') });
    expect(await cli(['arcp', 'invoke', url, 'add', '{"a":1,"b":1}', '--token', 'secret'])).toMatchObject({
      stdout: '2\n',
    });
  });

  test('a job continues when its runtime is killed and started again', async () => {
    const db = file('.db');
    const socket = file('.sock');
    const first = await serve('--socket', socket, '--db', db, '--lease', '300ms');
    const child = start([
      ...PROGRAM,
      'arcp',
      'invoke',
      `unix:${socket}`,
      'count',
      '{"to":40,"ms":20}',
      '--key',
      'once',
    ]);
    const over = ended(child);
    await new Promise<void>((resolve) => {
      let output = '';
      child.stderr.on('data', (chunk) => {
        output += chunk;
        if (output.includes(' 10 %')) resolve();
      });
    });
    await first.stop('SIGKILL');
    expect(statSync(db).mode & 0o777).toBe(0o600);
    await serve('--socket', socket, '--db', db, '--lease', '300ms');
    expect(await over).toMatchObject({ code: 0, stdout: '{"counted":40}\n' });
    const again = await cli(['arcp', 'invoke', `unix:${socket}`, 'count', '{"to":40,"ms":20}', '--key', 'once']);
    expect(again).toMatchObject({ code: 0, stdout: '{"counted":40}\n' });
    expect(again.stderr).toContain('attempt 2');
    const counted = [...again.stderr.matchAll(/ (\d+) %/g)].map(([, percent]) => Number(percent));
    expect(counted.toSorted((a, b) => a - b)).toEqual(counted);
    expect((await cli(['arcp', 'validate', '--complete', db])).code).toBe(0);
  });
});

describe('conformance', () => {
  const QUICK = ['--tool', 'echo'];
  const SLOW = ['--job', 'count {"to":1000,"ms":10}'];

  test('of a runtime: all checks, or those that a program allows', async () => {
    const socket = file('.sock');
    const { urls } = await serve('--ws', '0', '--token', 't', '--socket', socket);
    const whole = await cli(['arcp', 'conformance', urls[0]!, '--token', 't', ...QUICK, ...SLOW]);
    expect(whole.code).toBe(0);
    expect(whole.stdout).toContain('passed  sent-again: ');
    expect(whole.stderr).toMatch(/^\d+ passed, 0 failed, 0 warned, 2 skipped\n$/);
    // Each check starts the program again, so it must start fast.
    const bridge = `const socket = require('net').connect(${JSON.stringify(socket)}); process.stdin.pipe(socket).pipe(process.stdout)`;
    const part = await cli(['arcp', 'conformance', '--json', ...QUICK, '--', process.execPath, '-e', bridge]);
    expect(part.code).toBe(0);
    const outcomes = (jsonLines(part.stdout) as { readonly outcome: string }[]).map(({ outcome }) => outcome);
    expect(new Set(outcomes)).toEqual(new Set(['passed', 'skipped']));
  });

  test('of a program that is not a runtime fails, and shows the messages', async () => {
    const echo = 'process.stdin.on("data", (data) => process.stdout.write(data))';
    const { code, stdout } = await cli(['arcp', 'conformance', '--timeout', '100ms', '--', 'node', '-e', echo]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/failed {2}opening: .*\n {8}.*did not arrive within 100 ms\n {8}> \{"arcp":"1\.0"/);
  });
});

describe('replaying', () => {
  test('a recorded conversation: printed, repeated and compared', async () => {
    const { urls } = await serve('--ws', '0', '--token', 'top-secret');
    const log = file('.jsonl');
    const args = ['arcp', 'invoke', urls[0]!, 'refund', '{"order":"o1"}', '--yes', '--token', 'top-secret'];
    expect((await cli([...args, '--log', log])).code).toBe(0);
    expect(readFileSync(log, 'utf8')).not.toContain('top-secret');
    expect(statSync(log).mode & 0o077).toBe(0);
    expect(await cli(['arcp', 'validate', '--complete', log])).toMatchObject({ code: 0, stdout: '' });
    const printed = await cli(['arcp', 'replay', log, '--speed', '0']);
    expect(printed.code).toBe(0);
    expect(printed.stdout).toContain('requests payment.refund.create order:o1');
    const held = await cli(['arcp', 'replay', log, urls[0]!, '--token', 'top-secret']);
    expect(held).toMatchObject({ code: 0, stderr: expect.stringMatching(/ 0 different, 0 missing, 0 new\n$/) });
    const lines = readFileSync(log, 'utf8').replace('"refunded":"o1"', '"refunded":"o2"');
    writeFileSync(log, lines);
    const other = await cli(['arcp', 'replay', log, urls[0]!, '--token', 'top-secret']);
    expect(other.code).toBe(1);
    expect(other.stdout).toContain('payload.result.refunded is "o1" instead of "o2"');
  });

  test('a program that the command starts', async () => {
    const log = file('.jsonl');
    const command = [...PROGRAM, 'arcp', 'serve', '--stdio'];
    await cli(['arcp', 'invoke', '--log', log, 'add', '{"a":1,"b":2}', '--', ...command]);
    const { code, stdout } = await cli(['arcp', 'replay', '--json', log, '--', ...command]);
    expect(code).toBe(0);
    const kinds = (jsonLines(stdout) as { readonly kind: string }[]).map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['sent', 'same']));
  });
});

describe('errors', () => {
  test.each([
    [['invoke'], 'The command requires a target'],
    [['invoke', 'http://127.0.0.1', 'x'], 'is not an address; the forms are '],
    [['invoke', 'unix:/nowhere/at/all.sock', 'x'], 'error[unreachable]: '],
    [['invoke', 'ws://127.0.0.1:1/arcp'], 'requires a name'],
    [['invoke', 'ws://127.0.0.1:1/arcp', 'x', '[1]'], 'Arguments must be a JSON object'],
    [['invoke', 'ws://127.0.0.1:1/arcp', 'x', '{}', 'y'], 'remove "y"'],
    [['invoke', 'x', '--', '/no/such/program'], 'no/such/program'],
    [['serve', '--host', '0.0.0.0', '--ws', '0'], '--token'],
    [['serve', '--host', '0.0.0.0', '--http', '0', '--token', 'secret'], '--tls-key'],
    [['serve', '--http', '0', '--tls-key', KEY_FILE], '--tls-key requires --tls-cert'],
    [['serve', '--http', '0', '--tls-cert', CERTIFICATE_FILE], '--tls-cert requires --tls-key'],
    [['serve', '--http', '0', '--tls-key', '/nowhere.pem', '--tls-cert', CERTIFICATE_FILE], '/nowhere.pem'],
    [['serve', '--http', '0', '--tls-key', CERTIFICATE_FILE, '--tls-cert', CERTIFICATE_FILE], 'Cannot use the key'],
    [['serve', '--ws', '0', '--tls-key', KEY_FILE, '--tls-cert', CERTIFICATE_FILE], 'require --http or --quic'],
    [['serve', '--ws', 'http'], 'an integer from 0 to 65535'],
    [['serve', '--socket', '/nowhere/at/all.sock'], 'Cannot listen'],
    [['serve', '--trust', 'some'], '--trust must be'],
    [['serve', '--db', '/nowhere/at/all.db'], '/nowhere/at/all.db'],
    [['serve', '--ws', '0', '--module', 'nowhere.mjs'], 'nowhere.mjs'],
    [
      ['serve', '--ws', '0', '--module', 'src/arcp/runtime/node/sandbox/child/errors.mjs'],
      'its default export is not a function',
    ],
    [['tail', 'ws://127.0.0.1:1/arcp'], 'requires a job'],
    [['graph', 'package.json'], 'package.json:1:'],
    [['graph', '/nowhere.jsonl'], 'no such file'],
    [['schema', 'tool.invok'], 'did you mean "tool.invoke"'],
    [['conformance', 'unix:/nowhere/at/all.sock'], 'error[unreachable]: '],
    [['conformance', 'ws://127.0.0.1:1/arcp', '--tool', 'x [1]'], 'Arguments must be a JSON object'],
    [['conformance', 'ws://127.0.0.1:1/arcp', 'x'], 'remove "x"'],
    [['replay'], 'requires a log'],
    [['replay', '--', 'node'], 'requires a log'],
    [['replay', 'package.json'], 'package.json:1:'],
    [['replay', 'test/examples/incident-response.jsonl', 'unix:/nowhere/at/all.sock'], 'error[unreachable]: '],
    [['replay', 'test/examples/incident-response.jsonl', '--speed', 'fast'], '--speed must be a non-negative number'],
    [['invoke', 'unix:/nowhere/at/all.sock', 'x', '--log', '/nowhere/at/all.jsonl'], '/nowhere/at/all.jsonl'],
    [['shema'], 'did you mean "schema"'],
  ])('%j', async (args, expected) => {
    const { code, stdout, stderr } = await cli(['arcp', ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(expected);
  });
});

describe('logs', () => {
  const db = path.join(folder, 'log.db');
  let messages: Envelope[];

  async function logged(): Promise<Envelope[]> {
    if (messages !== undefined) return messages;
    const { urls, stop } = await serve('--ws', '0', '--db', db);
    await cli(['arcp', 'invoke', '--workflow', urls[0]!, 'tour', '--quiet']);
    await cli(['arcp', 'invoke', urls[0]!, 'refund', '{"order":"o1"}', '--yes', '--quiet']);
    expect((await stop()).code).toBe(0);
    messages = jsonLines((await cli(['arcp', 'tail', db, '--json'])).stdout) as Envelope[];
    return messages;
  }

  test('are printed, in full or in part', async () => {
    const all = await logged();
    const job = all.find(({ type }) => type === 'job.accepted')!;
    const ofJob = jsonLines((await cli(['arcp', 'tail', db, '--json', '--job', job.job_id!])).stdout);
    expect(ofJob).toEqual(all.filter(({ job_id: id }) => id === job.job_id));
    const ofTrace = jsonLines((await cli(['arcp', 'tail', db, '--json', '--trace', job.trace_id!])).stdout);
    expect(ofTrace).toEqual(all.filter(({ trace_id: id }) => id === job.trace_id));
    expect((await cli(['arcp', 'tail', db])).stdout).toContain('delegates to writer the number five');
  });

  test('are followed, as are jobs, by clients that connect later', async () => {
    const live = file('.db');
    const { urls } = await serve('--ws', '0', '--db', live);
    const following = start([...PROGRAM, 'arcp', 'tail', live, '--follow', '--json']);
    const followed = ended(following);
    const { stdout } = await cli(['arcp', 'invoke', urls[0]!, 'count', '{"to":3,"ms":20}', '--json']);
    const jobId = (jsonLines(stdout) as Envelope[]).find(({ job_id: id }) => id !== undefined)!.job_id!;
    const attached = await cli(['arcp', 'tail', urls[0]!, jobId]);
    expect(attached.code).toBe(0);
    expect(attached.stdout).toMatch(/count accepted[\s\S]*completed \{"counted":3\}\n$/);
    await new Promise<void>((resolve) => {
      let output = '';
      following.stdout.on('data', (chunk) => {
        output += chunk;
        if (output.includes('job.completed')) resolve();
      });
    });
    following.kill('SIGINT');
    expect((await followed).code).toBe(0);
    expect((await cli(['arcp', 'tail', urls[0]!, 'job_none'])).stderr).toContain('Unknown job job_none');
  });

  test('that are cut off are printed up to the invalid line, which is named', async () => {
    const log = file('.jsonl');
    const messages = (await logged()).filter(({ type }) => type.startsWith('job.'));
    writeFileSync(log, `${messages.map((message) => `${JSON.stringify(message)}\n`).join('')}{"arcp":"1.0","id":"m`);
    for (const [args, shown] of [
      [['graph', log], /✓ job tour/],
      [['graph', log, '--json'], /"kind":"job"/],
      [['graph', log, '--format', 'svg'], /<\/svg>\n$/],
      [['replay', log, '--speed', '0'], / completed .*refunded/],
    ] as const) {
      const { code, stdout, stderr } = await cli(['arcp', ...args]);
      expect(code).toBe(2);
      expect(stdout).toMatch(shown);
      expect(stderr).toContain(`${log}:${messages.length + 1}: The text is not JSON`);
    }
  });

  test('are drawn', async () => {
    const log = file('.jsonl');
    writeFileSync(
      log,
      (await logged())
        .toReversed()
        .map((message) => JSON.stringify(message))
        .join('\n'),
    );
    for (const source of [db, log]) {
      const { code, stdout } = await cli(['arcp', 'graph', source]);
      expect(code).toBe(0);
      expect(
        stdout
          .replace(/^\S*\s*session.*$/gm, 'session')
          .replace(/ {2}completed.*$|, [0-9.]+ m?s$/gm, '')
          .trim()
          .split('\n'),
      ).toEqual([
        'session',
        '└─ ✓ job tour',
        '   ├─ ✓ call add',
        '   └─ ✓ job writer',
        '      └─ ✓ stream draft',
        'session',
        '└─ ✓ job refund',
        '   └─ ✓ permission payment.refund.create order:o1  granted',
      ]);
    }
    expect((await cli(['arcp', 'graph', db, '--format', 'svg'])).stdout).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect((await cli(['arcp', 'graph', db, '--format', 'mermaid'])).stdout).toMatch(/^flowchart TD\n/);
    const trace = (await logged()).find(({ type }) => type === 'job.accepted')!.trace_id!;
    expect(jsonLines((await cli(['arcp', 'graph', db, '--json', '--trace', trace])).stdout)).toHaveLength(5);
  });

  test('are validated, by message and by order', async () => {
    const log = file('.jsonl');
    const lines = (await logged()).map((message) => JSON.stringify(message));
    writeFileSync(log, lines.join('\n'));
    expect(await cli(['arcp', 'validate', '--complete', log])).toMatchObject({ code: 0, stdout: '' });
    const end = lines.findIndex((line) => line.includes('"job.completed"'));
    writeFileSync(log, lines.toSpliced(end, 1).join('\n'));
    const unfinished = await cli(['arcp', 'validate', '--complete', log]);
    expect(unfinished.code).toBe(1);
    expect(unfinished.stdout).toContain(': error[ends]: ');
    writeFileSync(log, [...lines.slice(0, 2), '{"arcp":"1.0"}', 'nothing'].join('\n'));
    const broken = await cli(['arcp', 'validate', log]);
    expect(broken.code).toBe(1);
    expect(broken.stdout.split('\n').map((line) => /:(\d+): error\[(\w+)\]: /.exec(line)?.slice(1))).toEqual([
      ['3', 'INVALID_ARGUMENT'],
      ['4', 'INVALID_ARGUMENT'],
      undefined,
    ]);
    const piped = await cli(['arcp', 'validate', '--skip-order'], { stdin: readFileSync(log, 'utf8') });
    expect(piped.code).toBe(1);
    expect(await cli(['arcp', 'validate', '--skip-order'], { stdin: lines[3]! })).toMatchObject({ code: 0 });
  });

  test('have schemas', async () => {
    const { stdout } = await cli(['arcp', 'schema', 'tool.invoke', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ $schema: expect.stringContaining('2020-12') });
    const all = JSON.parse((await cli(['arcp', 'schema'])).stdout) as { readonly oneOf: unknown[] };
    expect(all.oneOf).toHaveLength(38);
  });
});
