import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Envelope } from '../../src/arcp/index.js';
import {
  type BrokerServices,
  createBroker,
  createRuntime,
  definePolicy,
  type Runtime,
} from '../../src/arcp/runtime/index.js';
import { connectTo, type Wire } from './runtime/wire.js';

const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-broker-'));
const root = path.join(folder, 'root');
const requests: string[] = [];
const server = createServer((request, response) => {
  requests.push(request.url!);
  if (request.url === '/elsewhere') response.writeHead(302, { location: 'http://localhost.evil.example/' }).end();
  else if (request.url === '/moved') response.writeHead(302, { location: '/there' }).end();
  else if (request.url === '/long') response.end('x'.repeat(3000));
  else response.end(`told ${request.url}`);
});
let host: string;

beforeAll(async () => {
  mkdirSync(path.join(root, 'src'), { recursive: true });
  writeFileSync(path.join(root, 'src/a.txt'), 'text of a');
  writeFileSync(path.join(folder, 'secret.txt'), 'secret');
  symlinkSync(path.join(folder, 'secret.txt'), path.join(root, 'link.txt'));
  symlinkSync(folder, path.join(root, 'out'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

/** Runs a tool with a broker. By default, all permissions are granted. */
async function withBroker(
  work: (brokered: BrokerServices) => unknown,
  { permissions = ['*'], policy = definePolicy({ rules: { constrained: { '*': 'auto' } } }) } = {},
): Promise<{ readonly wire: Wire; readonly jobId: string }> {
  const broker = createBroker({ root, hosts: [host], programs: { node: process.execPath }, maxBytes: 2000 });
  const runtime = createRuntime({ policy }).tool('work', { durable: true, permissions }, (_, context) =>
    work(broker(context)),
  );
  runtimes.push(runtime);
  const wire = connectTo(runtime);
  await wire.open();
  const { jobId } = await wire.startJob('work');
  return { wire, jobId };
}

async function outcome(work: (brokered: BrokerServices) => unknown, permissions?: string[]): Promise<unknown> {
  const { wire, jobId } = await withBroker(work, permissions === undefined ? {} : { permissions });
  const last = (await wire.untilEnded(jobId)) as Envelope<'job.completed' | 'job.failed'>;
  return last.type === 'job.completed' ? last.payload.result : last.payload.code;
}

describe('files', () => {
  test('are read, listed, written and removed within the root', async () => {
    const result = await outcome(async ({ fs }) => {
      const text = await fs.readFile('src/a.txt');
      await fs.writeFile('made/b.txt', text.toUpperCase());
      const listed = await fs.list('made');
      const read = await fs.readFile('./src/../made/b.txt');
      await fs.remove('made/b.txt');
      return [listed, read, await fs.list('made')];
    });
    expect(result).toEqual([['b.txt'], 'TEXT OF A', []]);
  });

  test.each([
    ['above the root', '../secret.txt'],
    ['by an absolute path', path.join(folder, 'secret.txt')],
    ['by a link', 'link.txt'],
    ['by a linked folder', 'out/secret.txt'],
    ['that does not exist, by a linked folder', 'out/new/file.txt'],
    ['beside a root of a similar name', '../root-2/file'],
  ])('%s cannot be accessed', async (_, file) => {
    expect(await outcome(({ fs }) => fs.readFile(file))).toBe('PERMISSION_DENIED');
    expect(await outcome(({ fs }) => fs.writeFile(file, 'x'))).toBe('PERMISSION_DENIED');
    expect(readFileSync(path.join(folder, 'secret.txt'), 'utf8')).toBe('secret');
  });

  test('need declared permissions, one for each operation', async () => {
    expect(await outcome(({ fs }) => fs.readFile('src/a.txt'), ['filesystem.read'])).toBe('text of a');
    expect(await outcome(({ fs }) => fs.writeFile('src/a.txt', ''), ['filesystem.read'])).toBe('PERMISSION_DENIED');
    expect(await outcome(({ fs }) => fs.remove('src/a.txt'), ['filesystem.write'])).toBe('PERMISSION_DENIED');
    expect(readFileSync(path.join(root, 'src/a.txt'), 'utf8')).toBe('text of a');
  });

  test('are named in requests, and not accessed if denied', async () => {
    const { wire, jobId } = await withBroker(({ fs }) => fs.writeFile('src/a.txt', 'gone'), { policy: definePolicy() });
    const request = (await wire.until(({ type }) => type === 'permission.request')) as Envelope<'permission.request'>;
    expect(request.payload).toMatchObject({
      permission: 'filesystem.write',
      resource: 'file:src/a.txt',
      operation: 'write',
    });
    wire.send('permission.deny', {}, { correlation_id: request.id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { code: 'PERMISSION_DENIED' } });
    expect(readFileSync(path.join(root, 'src/a.txt'), 'utf8')).toBe('text of a');
  });

  test('that are missing or too large are reported', async () => {
    expect(await outcome(({ fs }) => fs.readFile('nothing'))).toBe('NOT_FOUND');
    expect(await outcome(({ fs }) => fs.writeFile('big', 'x'.repeat(3000)))).toBe('PAYLOAD_TOO_LARGE');
  });
});

describe('the network', () => {
  const get =
    (where: string) =>
    async ({ fetch }: BrokerServices) =>
      (await fetch(where)).text();

  test('is limited to listed hosts, also after redirects', async () => {
    expect(await outcome(get(`http://${host}/a`))).toBe('told /a');
    expect(await outcome(get(`http://${host}/moved`))).toBe('told /there');
  });

  test.each([
    ['other hosts', () => 'http://localhost:1/'],
    ['another port', () => 'http://127.0.0.1:1/'],
    ['a user before the host', () => `http://${host}@evil.example/`],
    ['redirects to other hosts', () => `http://${host}/elsewhere`],
    ['other schemes', () => 'file:///etc/passwd'],
  ])('cannot be accessed at %s', async (_, where) => {
    expect(await outcome(get(where()))).toBe('PERMISSION_DENIED');
  });

  test('limits the size of responses', async () => {
    expect(await outcome(get(`http://${host}/long`))).toBe('PAYLOAD_TOO_LARGE');
  });

  test('is not accessed before the permission is granted', async () => {
    const before = requests.length;
    const { wire, jobId } = await withBroker(get(`http://${host}/b?token=1`), { policy: definePolicy() });
    const request = (await wire.until(({ type }) => type === 'permission.request')) as Envelope<'permission.request'>;
    expect(request.payload).toMatchObject({
      permission: 'network.fetch',
      resource: `http://${host}/b`,
      operation: 'GET',
    });
    expect(requests.length).toBe(before);
    wire.send('permission.grant', {}, { correlation_id: request.id });
    expect(await wire.untilEnded(jobId)).toMatchObject({ payload: { result: 'told /b?token=1' } });
  });
});

describe('programs', () => {
  test('are started without a shell, in the root, with the listed environment', async () => {
    process.env['BROKER_SECRET'] = 'secret';
    const script =
      'process.stdin.on("data", (d) => console.log(process.cwd(), process.argv[2], d + "", process.env.BROKER_SECRET)); process.exitCode = 3;';
    const result = await outcome(({ exec }) => exec('node', ['-e', script, 'x', '$(id); echo'], { input: 'in' }));
    delete process.env['BROKER_SECRET'];
    expect(result).toEqual({
      code: 3,
      stdout: expect.stringMatching(/root \$\(id\); echo in undefined\n$/),
      stderr: '',
    });
  });

  test('that are not listed, or outside the root, are not started', async () => {
    expect(await outcome(({ exec }) => exec('sh', ['-c', 'id']))).toBe('PERMISSION_DENIED');
    expect(await outcome(({ exec }) => exec('/bin/sh'))).toBe('PERMISSION_DENIED');
    expect(await outcome(({ exec }) => exec('node', ['-v'], { cwd: '..' }))).toBe('PERMISSION_DENIED');
    expect(await outcome(({ exec }) => exec('node', ['-e', 'console.log("x".repeat(5000))']))).toBe(
      'PAYLOAD_TOO_LARGE',
    );
  });

  test('end with the job', async () => {
    const { wire, jobId } = await withBroker(({ exec }) => exec('node', ['-e', 'setInterval(() => {}, 1000)']));
    await new Promise((resolve) => setTimeout(resolve, 100));
    wire.send('cancel', {}, { job_id: jobId });
    expect(await wire.untilEnded(jobId)).toMatchObject({ type: 'job.cancelled', payload: { forced: false } });
  });
});
