import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { memoryChannels, openClient } from '../../src/arcp/client/index.js';
import type { Envelope } from '../../src/arcp/index.js';
import {
  createBroker,
  createRuntime,
  definePolicy,
  type Handler,
  type Runtime,
  type SandboxOptions,
  sandboxed,
} from '../../src/arcp/runtime/index.js';
import { memoryInUse } from '../helpers/memory.js';
import { CAPABILITIES, connectTo, type Wire } from './runtime/wire.js';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'pegwire-sandboxed-')));
const [root, beside] = [path.join(folder, 'root'), path.join(folder, 'root-2')];
const TOOL = new URL('sandbox/tool.mjs', import.meta.url);
const STEP = '{"type":"ask","id":1,"method":"step","args":["a"]}\n';
const requests: string[] = [];
const server = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    requests.push(`${request.method} ${request.url} ${request.headers['x-of'] ?? ''} ${body}`);
    response.end('told');
  });
});
let url: string;

beforeAll(async () => {
  for (const place of [root, beside]) mkdirSync(place);
  writeFileSync(path.join(root, 'a.txt'), 'text of a');
  writeFileSync(path.join(folder, 'secret.txt'), 'secret');
  writeFileSync(path.join(folder, 'broken.mjs'), 'export default (');
  writeFileSync(path.join(folder, 'no-tool.mjs'), 'export const tool = 1;');
  writeFileSync(path.join(beside, 'secret.txt'), 'secret');
  symlinkSync(path.join(root, 'a.txt'), path.join(root, 'link.txt'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

interface Setting extends SandboxOptions {
  readonly handler?: Handler;
  readonly policy?: ReturnType<typeof definePolicy>;
  readonly streams?: boolean;
}

const ALL = definePolicy({ rules: { constrained: { '*': 'auto' } } });

/** Runs a job of a sandboxed tool. */
async function start(
  input: Readonly<Record<string, unknown>>,
  { handler, policy = ALL, ...options }: Setting = {},
): Promise<{ readonly wire: Wire; readonly jobId: string }> {
  const runtime = createRuntime({ policy })
    .tool(
      'work',
      { durable: true, permissions: ['*'], retry: { maxAttempts: 2, backoffMs: 1 } },
      handler ?? sandboxed(TOOL, options),
    )
    .tool('other', {}, (args) => ({ other: args }));
  runtimes.push(runtime);
  const wire = connectTo(runtime);
  await wire.open({ capabilities: { ...CAPABILITIES, binary_streams: true } });
  const { jobId } = await wire.startJob('work', { arguments: input });
  return { wire, jobId };
}

async function outcome(input: Readonly<Record<string, unknown>>, setting?: Setting): Promise<unknown> {
  const { wire, jobId } = await start(input, setting);
  const last = (await wire.untilEnded(jobId)) as Envelope<'job.completed' | 'job.failed'>;
  return last.type === 'job.completed' ? (last.payload.result ?? null) : last.payload.code;
}

/** The same tool, without a sandbox. */
async function free(input: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { default: tool } = (await import(TOOL.href)) as { default: Handler };
  return outcome(input, { handler: tool });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function pidOf(wire: Wire): Promise<number> {
  const told = (await wire.until(({ type }) => type === 'job.progress')) as Envelope<'job.progress'>;
  return Number(told.payload.message);
}

test('a tool receives its input and returns its result', async () => {
  expect(await outcome({ do: 'echo', value: { a: [1, 'ü\n', null] } })).toEqual({ a: [1, 'ü\n', null] });
  expect(await outcome({ do: 'echo' })).toBeNull();
});

describe('files', () => {
  test('that are listed can be accessed, and no others', async () => {
    const place = path.join(root, 'new.txt');
    const options = { read: [root], write: [place] };
    expect(await outcome({ do: 'read', file: path.join(root, 'a.txt') }, options)).toBe('text of a');
    expect(await outcome({ do: 'read', file: path.join(root, 'link.txt') }, options)).toBe('text of a');
    expect(await outcome({ do: 'write', file: place }, options)).toBeNull();
    expect(readFileSync(place, 'utf8')).toBe('written');
    expect(await outcome({ do: 'write', file: path.join(root, 'a.txt') }, options)).toBe('PERMISSION_DENIED');
    expect(readFileSync(path.join(root, 'a.txt'), 'utf8')).toBe('text of a');
  });

  test.each([
    ['above', () => path.join(folder, 'secret.txt')],
    ['in a folder of a similar name', () => path.join(beside, 'secret.txt')],
    ['by a parent path', () => `${root}/../secret.txt`],
    ['of the system', () => '/etc/passwd'],
    ['of its runtime', () => `/proc/${process.pid}/environ`],
  ])('%s cannot be read, and can outside a sandbox', async (_, file) => {
    expect(await outcome({ do: 'read', file: file() }, { read: [root] })).toBe('PERMISSION_DENIED');
    if (existsSync(file())) expect(await free({ do: 'read', file: file() })).toEqual(expect.any(String));
  });

  test.skipIf(process.versions.node.startsWith('20.'))('of databases cannot be opened', async () => {
    const file = path.join(folder, 'new.db');
    expect(await outcome({ do: 'database', file })).toBe('INTERNAL');
    expect(existsSync(file)).toBe(false);
    expect(await free({ do: 'database', file })).toBeNull();
    expect(existsSync(file)).toBe(true);
  });

  test('of its own are in a folder that is deleted', async () => {
    const [own, text] = (await outcome({ do: 'scratch' })) as [string, string];
    expect(text).toBe('own');
    expect(existsSync(own)).toBe(false);
    expect(own.startsWith(process.cwd())).toBe(false);
  });
});

describe('a sandbox prevents', () => {
  test.each([
    ['to start a program', 'program', 'ran\n'],
    ['to start a thread', 'thread', 'ran'],
    ['to use fetch', 'fetch', 'told'],
    ['to use http', 'http', 200],
    ['to open a socket', 'socket', 'open'],
    ['to listen on a port', 'listen', 'open'],
    ['to resolve names', 'lookup', '127.0.0.1'],
    ['to signal its runtime', 'signal', true],
  ])('%s', async (_, deed, result) => {
    const before = requests.length;
    expect(await outcome({ do: deed, url, pid: process.pid })).toBe('PERMISSION_DENIED');
    expect(requests.length).toBe(before);
    expect(await free({ do: deed, url, pid: process.pid })).toEqual(result);
  });

  test('access to the environment', async () => {
    process.env['SANDBOX_SECRET'] = 'secret';
    process.env['SANDBOX_OPEN'] = 'open';
    const seen = await outcome({ do: 'environment' }, { env: ['SANDBOX_OPEN', 'SANDBOX_NONE'] });
    expect(await free({ do: 'environment' })).toMatchObject({ SANDBOX_SECRET: 'secret' });
    delete process.env['SANDBOX_SECRET'];
    delete process.env['SANDBOX_OPEN'];
    expect(seen).toEqual({ SANDBOX_OPEN: 'open' });
  });
});

describe('the end of its process', () => {
  test.each([
    ['without an answer', { do: 'exit', code: 3 }, { code: 'INTERNAL', details: { exit_code: 3, signal: null } }],
    ['by an error', { do: 'throw' }, { code: 'NOT_FOUND', message: 'there is none', details: { of: 'them' } }],
    ['by an uncaught exception', { do: 'throwLater' }, { code: 'INTERNAL', message: 'later' }],
    ['by a cyclic result', { do: 'cycle' }, { code: 'INVALID_ARGUMENT' }],
    ['by a bigint result', { do: 'bigint' }, { code: 'INVALID_ARGUMENT' }],
    ['by a result that is too deep', { do: 'deep' }, { code: 'PAYLOAD_TOO_LARGE' }],
    ['by a result that is too long', { do: 'long', length: 100_000 }, { code: 'PAYLOAD_TOO_LARGE' }],
    ['by a text that is not JSON', { do: 'raw', text: 'rubbish\n' }, { code: 'INTERNAL' }],
    ['by an invalid message', { do: 'raw', text: '{"type":"root","cmd":"NODE_HANDLE"}\n' }, { code: 'INTERNAL' }],
    ['by bytes that are not UTF-8', { do: 'raw', text: '22ff220a', encoding: 'hex' }, { code: 'INTERNAL' }],
    ['by a line without an end', { do: 'raw', text: 'x', times: 60_000 }, { code: 'PAYLOAD_TOO_LARGE' }],
    ['by too many steps', { do: 'raw', text: STEP, times: 300 }, { code: 'RESOURCE_EXHAUSTED' }],
    ['by a second ready message', { do: 'raw', text: '{"type":"ready","isRestricted":true}\n' }, { code: 'INTERNAL' }],
    ['by an invalid error', { do: 'raw', text: '{"type":"error","error":{"code":"no"}}\n' }, { code: 'INTERNAL' }],
  ])('%s is a structured error', async (_, input, error) => {
    const { wire, jobId } = await start(input, { maxMessageBytes: 50_000 });
    const last = await wire.untilEnded(jobId);
    expect(last).toMatchObject({ type: 'job.failed', payload: error });
  });

  test('for lack of memory does not affect the runtime', async () => {
    const { wire, jobId } = await start({ do: 'heap' }, { memoryMb: 32, maxOutputBytes: 0 });
    expect(await wire.untilEnded(jobId)).toMatchObject({
      type: 'job.failed',
      payload: { code: 'INTERNAL', details: { signal: expect.any(String) } },
    });
  });

  test('comes after the timeout, also during a computation without a pause', async () => {
    const { wire, jobId } = await start({ do: 'spin' }, { timeoutMs: 1500 });
    const pid = await pidOf(wire);
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { code: 'DEADLINE_EXCEEDED' } });
    expect(isAlive(pid)).toBe(false);
  });

  test.each(['wait', 'spin'])('comes with a cancellation: %s', async (deed) => {
    const { wire, jobId } = await start({ do: deed }, { killGraceMs: 200 });
    const pid = await pidOf(wire);
    expect(isAlive(pid)).toBe(true);
    wire.send('cancel', { reason: 'enough' }, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { forced: false } });
    expect(isAlive(pid)).toBe(false);
  });

  test('comes with a cancellation before the tool has started', async () => {
    const { wire, jobId } = await start({ do: 'wait' });
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { forced: false } });
  });

  test('comes with the end of its runtime, even if that is killed', async () => {
    const program = new URL('sandbox/killed.ts', import.meta.url);
    const { stdout, signal } = spawnSync(process.execPath, ['--import', 'tsx', program.pathname], { encoding: 'utf8' });
    expect(signal).toBe('SIGKILL');
    const { message, folder: own } = JSON.parse(stdout) as { readonly message: string; readonly folder: string };
    expect(Number(message)).toBeGreaterThan(0);
    while (isAlive(Number(message))) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(path.basename(own)).toMatch(/^pegwire-sandbox-/);
    expect(existsSync(own)).toBe(false);
  });
});

test.each([
  ['that does not exist', 'nowhere.mjs', 'FAILED_PRECONDITION'],
  ['without a default function', 'no-tool.mjs', 'FAILED_PRECONDITION'],
  ['that is not JavaScript', 'broken.mjs', 'FAILED_PRECONDITION'],
])('a module %s is an error of the call', async (_, name, code) => {
  expect(await outcome({}, { handler: sandboxed(path.join(folder, name)) })).toBe(code);
});

test('unsafe or invalid options are refused', () => {
  expect(() => sandboxed(TOOL, { env: ['NODE_OPTIONS'] })).toThrow(TypeError);
  expect(() => sandboxed(TOOL, { memoryMb: Number.NaN })).toThrow(TypeError);
  expect(() => sandboxed(new URL('https://example.org/tool.mjs'))).toThrow(TypeError);
});

test('a process that cannot be started is a retryable error', async () => {
  expect(await outcome({ do: 'echo' }, { wrapper: [path.join(folder, 'nothing')] })).toBe('UNAVAILABLE');
});

test('no tool runs in a process that is not restricted', async () => {
  const wrapper = [process.execPath, new URL('sandbox/careless-wrapper.mjs', import.meta.url).pathname];
  expect(await outcome({ do: 'write', file: path.join(root, 'open.txt') }, { wrapper })).toBe('UNIMPLEMENTED');
  expect(existsSync(path.join(root, 'open.txt'))).toBe(false);
});

test('a platform without the permission model is refused', () => {
  const versions = process.versions;
  Object.defineProperty(process, 'versions', { value: { ...versions, bun: '1.0.0' }, configurable: true });
  try {
    expect(() => sandboxed(TOOL)).toThrow(expect.objectContaining({ code: 'UNIMPLEMENTED' }));
  } finally {
    Object.defineProperty(process, 'versions', { value: versions, configurable: true });
  }
});

const canUnshare = spawnSync('unshare', ['--map-root-user', '--net', 'true']).status === 0;

test.runIf(canUnshare)('a wrapper removes the network', async () => {
  const wrapper = ['unshare', '--map-root-user', '--net'];
  expect(await outcome({ do: 'read', file: '/proc/net/dev' }, { wrapper, read: ['/proc'] })).not.toMatch(/eth|ens/);
  expect(await outcome({ do: 'echo', value: 1 }, { wrapper })).toBe(1);
});

describe('its messages', () => {
  test('reach the client like those of other tools', async () => {
    const { wire, jobId } = await start({ do: 'say' });
    const last = (await wire.untilEnded(jobId)) as Envelope<'job.completed'>;
    expect(last.payload.result).toEqual({ id: 'string', restored: null, attempt: 1 });
    const said = wire.ofJob(jobId).filter(({ type }) => /progress|log|metric|emit|checkpoint/.test(type));
    expect(said).toMatchObject([
      { type: 'job.progress', payload: { percent: 50 } },
      { type: 'log', payload: { level: 'info', message: 'said', attributes: { of: 'it' } } },
      { type: 'metric', payload: { name: 'rows', value: 3 } },
      { type: 'event.emit', payload: { name: 'seen', attributes: { n: 1 } } },
      { type: 'job.checkpoint', payload: { label: 'half' } },
    ]);
    expect(await outcome({ do: 'sayWrong' })).toBe('INVALID_ARGUMENT');
  });

  test('on its standard streams are logged up to the limit', async () => {
    const { wire, jobId } = await start({ do: 'print' });
    await wire.untilEnded(jobId);
    const logs = wire.ofJob(jobId).flatMap((message) => (message.type === 'log' ? [message.payload] : []));
    expect(logs).toHaveLength(3);
    expect(logs).toEqual(
      expect.arrayContaining([
        { level: 'info', message: '{"arcp":"1.0"}', attributes: { stream: 'stdout' } },
        { level: 'info', message: 'second', attributes: { stream: 'stdout' } },
        { level: 'warn', message: 'warned', attributes: { stream: 'stderr' } },
      ]),
    );
    const much = await start({ do: 'printMuch' }, { maxOutputBytes: 5000 });
    await much.wire.untilEnded(much.jobId);
    expect(much.wire.ofJob(much.jobId).filter(({ type }) => type === 'log').length).toBeLessThan(8);
  });

  test('in checkpoints are restored in the next attempt', async () => {
    expect(await outcome({ do: 'restart' })).toEqual({ restored: { at: 7 }, attempt: 2 });
  });

  test('in steps are executed once', async () => {
    const file = path.join(root, 'steps.txt');
    writeFileSync(file, '');
    const options = { read: [file], write: [file] };
    expect(await outcome({ do: 'step', file }, options)).toEqual({
      first: { operationKey: true, attempt: 1 },
      attempt: 2,
    });
    expect(readFileSync(file, 'utf8')).toBe('x');
    expect(await outcome({ do: 'stepFails' })).toBe('OUT_OF_RANGE');
  });

  test('in streams arrive in order', async () => {
    const { wire, jobId } = await start({ do: 'stream', count: 200 });
    await wire.untilEnded(jobId);
    const chunks = wire.ofJob(jobId).flatMap((message) => (message.type === 'stream.chunk' ? [message] : []));
    const text = chunks.filter(({ payload }) => (payload as { encoding?: string }).encoding !== 'base64');
    expect(text.map(({ payload }) => (payload as { data: string }).data).join('')).toBe(
      Array.from({ length: 200 }, (_, n) => `${n} `).join(''),
    );
    expect(chunks.at(-1)).toMatchObject({ payload: { data: 'AQL/', encoding: 'base64' } });
  });

  test('can be as long as the limit', async () => {
    const value = 'ü"\n'.repeat(300_000);
    expect(await outcome({ do: 'echo', value })).toBe(value);
  });

  test('in streams are sent at the rate of the reader', async () => {
    const { wire, jobId } = await start({ do: 'endless' });
    const chunk = await wire.until(({ type }) => type === 'stream.chunk');
    const about = { stream_id: chunk.stream_id };
    const count = (): number => wire.ofJob(jobId).filter(({ type }) => type === 'job.progress').length;
    wire.send('backpressure', { buffer_remaining_bytes: 0 }, about);
    let before: number;
    do {
      before = count();
      await new Promise((resolve) => setTimeout(resolve, 300));
    } while (count() > before);
    const from = wire.heard.length;
    wire.send('backpressure', { buffer_remaining_bytes: 1_000_000 }, about);
    await wire.until(({ type }) => type === 'job.progress', from);
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled' });
  });

  test('that it does not read do not fill the memory of the runtime', async () => {
    // Half a million requests, whose answers are not read.
    const ask = '{"type":"ask","id":0,"method":"nothing","args":[]}\n'.repeat(10_000);
    const before = memoryInUse();
    const { wire, jobId } = await start({ do: 'raw', text: ask, times: 50 }, { timeoutMs: 3000 });
    let most = before;
    const sampling = setInterval(() => {
      most = Math.max(most, memoryInUse());
    }, 100);
    const ended = await wire.untilEnded(jobId);
    clearInterval(sampling);
    expect(ended).toMatchObject({ payload: { code: 'DEADLINE_EXCEEDED' } });
    expect(most).toBeGreaterThan(before);
    expect(most - before).toBeLessThan(16 * 2 ** 20);
  });
});

test.each([
  ['text', ['one', 'two'], ['one', 'two']],
  ['binary', [Uint8Array.of(0, 255, 128)], [[0, 255, 128]]],
  ['event', [{ a: 1 }, null], [{ a: 1 }, null]],
] as const)('a stream of kind %s that the client sends is read', async (kind, written, read) => {
  const runtime = createRuntime().tool('work', { durable: true }, sandboxed(TOOL));
  runtimes.push(runtime);
  const client = await openClient(() => {
    const [here, there] = memoryChannels();
    void runtime.accept(there);
    return here;
  });
  const work = client.invoke('work', { do: 'incoming', which: kind });
  await work.accepted;
  const out = work.upload({ kind });
  for (const content of written) await out.write(content as never);
  await out.close();
  const result = (await work.result()) as unknown[];
  if (kind === 'text') expect(result.join('')).toBe(read.join(''));
  else expect(result).toEqual(read);
  await client.close();
});

describe('its requests', () => {
  const broker = (): NonNullable<SandboxOptions['broker']> =>
    createBroker({ root, hosts: [new URL(url).host], programs: { node: process.execPath } });

  test('to the broker are executed by the runtime', async () => {
    expect(await outcome({ do: 'broker', url: `${url}x` }, { broker: broker() })).toEqual([
      expect.arrayContaining(['a.txt', 'b.txt']),
      200,
      'told',
      'ran',
    ]);
    expect(requests).toContain('POST /x it asked');
    expect(readFileSync(path.join(root, 'b.txt'), 'utf8')).toBe('TEXT OF A');
    expect(await outcome({ do: 'brokerFetch', url: 'http://localhost:1/' }, { broker: broker() })).toBe(
      'PERMISSION_DENIED',
    );
    expect(await outcome({ do: 'brokerFetch', url })).toBe('PERMISSION_DENIED');
  });

  test('need permissions, and denied ones fail', async () => {
    const before = requests.length;
    const { wire, jobId } = await start({ do: 'brokerFetch', url }, { broker: broker(), policy: definePolicy() });
    const request = await wire.until(({ type }) => type === 'permission.request');
    expect(request).toMatchObject({ payload: { permission: 'network.fetch', resource: url, operation: 'GET' } });
    wire.send('permission.deny', {}, { correlation_id: request.id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { code: 'PERMISSION_DENIED' } });
    expect(requests.length).toBe(before);
  });

  test('to run programs end with it', async () => {
    const { wire, jobId } = await start({ do: 'brokerWaits' }, { broker: broker() });
    const pid = await pidOf(wire);
    expect(pid).toBeGreaterThan(0);
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { code: 'INTERNAL', details: { exit_code: 1 } } });
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test('with a lease are limited to its scope', async () => {
    const { wire, jobId } = await start({ do: 'refund' }, { policy: definePolicy() });
    const request = await wire.until(({ type }) => type === 'permission.request');
    wire.send('permission.grant', {}, { correlation_id: request.id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { code: 'PERMISSION_DENIED' } });
  });

  test('to other tools are limited to the listed ones', async () => {
    expect(await outcome({ do: 'call', tool: 'other' }, { tools: ['other'] })).toEqual({ other: { a: 1 } });
    expect(await outcome({ do: 'call', tool: 'other' })).toBe('PERMISSION_DENIED');
  });
});

test('many concurrent calls are executed, a few at a time', async () => {
  const runtime = createRuntime().tool('echo', {}, sandboxed(TOOL, { concurrency: 3 }));
  runtimes.push(runtime);
  const wire = connectTo(runtime);
  await wire.open();
  const sent = Array.from({ length: 12 }, (_, value) =>
    wire.send('tool.invoke', { tool: 'echo', arguments: { do: 'echo', value } }),
  );
  const results = await Promise.all(sent.map((message) => wire.answer('tool.result', message)));
  expect(results.map(({ payload }) => payload.result)).toEqual(sent.map((_, value) => value));
});
