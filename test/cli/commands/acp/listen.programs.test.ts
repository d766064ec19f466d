/** `pegwire acp run --listen` as a program: clients over HTTP and WebSocket, each with an agent of its own. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { afterEach, describe, expect, test } from 'vitest';
import { connectAcp } from '../../../../src/acp/http/index.js';
import { createConnection } from '../../../../src/acp/index.js';
import { officialTurn, ourTurn, TURN } from '../../../acp/http/turn.js';
import { gone } from '../../../helpers/alive.js';
import { bundledProgram } from '../../../helpers/bundled-program.js';
import { type Ended, ended, start } from '../../../helpers/child.js';
import { cli, jsonLines, PROGRAM, scratchFolder } from '../../../helpers/cli.js';

const promptAgent = bundledProgram(new URL('../../../acp/official/our-prompt-agent.ts', import.meta.url));
const scratch = scratchFolder();
const fixture = (name: string): string => path.join('test/fixtures/tls', name);

/** Answers each request with the identifier of its process, and ends with exit code 3 after the method `exit`. */
const pidAgent = scratch.write(
  'pid-agent.mjs',
  `import { createInterface } from 'node:readline';
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { pid: process.pid } }) + '\\n');
    if (method === 'exit') process.exit(3);
  });`,
);

interface Listening {
  readonly http: string;
  readonly ws: string;
  /** Sends a signal, and waits for the exit. */
  readonly stop: (signal?: NodeJS.Signals) => Promise<Ended>;
}

const running: Listening[] = [];
afterEach(async () => {
  for (const { stop } of running.splice(0)) await stop('SIGKILL');
});

/** Starts the command with an agent, and waits for its URLs. */
async function listening(agent: string, ...options: readonly string[]): Promise<Listening> {
  const args = ['acp', 'run', '--listen', '0', '--json', ...options, '--', process.execPath, agent];
  const child = start([...PROGRAM, ...args], { stdin: '' });
  const exited = ended(child);
  let text = '';
  while (!text.includes('\n')) text += String((await once(child.stderr, 'data'))[0]);
  const { http, ws } = JSON.parse(text.slice(0, text.indexOf('\n'))) as { http: string; ws: string };
  const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> => {
    child.kill(signal);
    return exited;
  };
  running.push({ http, ws, stop });
  return { http, ws, stop };
}

/** Connects, and returns the process of the agent. */
async function pidOf(url: string) {
  const channel = connectAcp(url);
  const connection = createConnection(channel);
  const { pid } = (await connection.request('initialize', {})) as { pid: number };
  return { channel, connection, pid };
}

describe('a whole turn with a permission', () => {
  test('over HTTP/2 and WebSocket, and over HTTP/1.1 with the official client, which the log keeps apart', async () => {
    const log = path.join(scratch.path, 'turns.jsonl');
    const { http, ws, stop } = await listening(promptAgent(), '--log', log);
    const turns = [ourTurn(connectAcp(http)), ourTurn(connectAcp(ws)), officialTurn(createHttpStream(http))];
    expect(await Promise.all(turns)).toEqual([TURN, TURN, TURN]);
    expect((await stop()).code).toBe(0);
    const logged = jsonLines(readFileSync(log, 'utf8')) as { connection: string; message: { method?: string } }[];
    const connections = new Set(logged.map(({ connection }) => connection));
    expect(connections.size).toBe(3);
    for (const one of connections) {
      const methods = logged.flatMap(({ connection, message }) => (connection === one ? (message.method ?? []) : []));
      expect(methods).toEqual([
        ...['initialize', 'session/new', 'session/prompt', 'session/update', 'session/update'],
        ...['session/request_permission', 'session/update'],
      ]);
    }
  });

  test('over TLS, with a token', async () => {
    const files = ['--tls-key', fixture('key.pem'), '--tls-cert', fixture('certificate.pem')];
    const { http, ws } = await listening(promptAgent(), '--token', 'secret', ...files);
    expect([http, ws].map((url) => new URL(url).protocol)).toEqual(['https:', 'wss:']);
    const trust = { ca: readFileSync(fixture('certificate.pem'), 'utf8'), serverName: 'localhost' };
    for (const url of [http, ws]) expect(await ourTurn(connectAcp(url, { ...trust, token: 'secret' }))).toEqual(TURN);
    await expect(ourTurn(connectAcp(http, { ...trust, token: 'other' }))).rejects.toThrow('401');
  });
});

describe.each(['http', 'ws'] as const)('over %s, an agent', (transport) => {
  test('ends when its client has ended the connection, or is lost; others stay', async () => {
    const server = await listening(pidAgent);
    const [one, other, lost] = await Promise.all([1, 2, 3].map(() => pidOf(server[transport])));
    expect(new Set([one!.pid, other!.pid, lost!.pid]).size).toBe(3);
    await one!.connection.close();
    await gone(one!.pid);
    lost!.channel.destroy();
    await gone(lost!.pid);
    expect(await other!.connection.request('who')).toEqual({ pid: other!.pid });
  });

  test('that ends closes its connection, after its last message, and is reported', async () => {
    const server = await listening(pidAgent);
    const { connection, pid } = await pidOf(server[transport]);
    expect(await connection.request('exit')).toEqual({ pid });
    await connection.closed;
    expect(jsonLines((await server.stop()).stderr)).toContainEqual({
      error: { code: 'agent', message: 'An agent exited with code 3' },
    });
  });

  test('ends with the command', async () => {
    const server = await listening(pidAgent);
    const { connection, pid } = await pidOf(server[transport]);
    const { code, stdout } = await server.stop('SIGINT');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    await gone(pid);
    await connection.closed;
  });
});

test('an agent that ignores the end of its input is ended after --grace, and by a second signal', async () => {
  const deaf = scratch.write(
    'deaf.mjs',
    `process.stdin.once('data', (line) => {
      process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(line).id, result: { pid: process.pid } }) + '\\n');
    });
    setInterval(() => {}, 1000);`,
  );
  const brief = await listening(deaf, '--grace', '10ms');
  const first = await pidOf(brief.ws);
  await first.connection.close();
  await gone(first.pid);
  const patient = await listening(deaf, '--grace', '1h');
  const second = await pidOf(patient.ws);
  void patient.stop();
  await second.connection.closed;
  expect((await patient.stop()).code).toBe(0);
  await gone(second.pid);
});

test('an agent that cannot be started refuses the client, and is reported', async () => {
  const child = start([...PROGRAM, 'acp', 'run', '--listen', '0', '--', path.join(scratch.path, 'none')], {
    stdin: '',
  });
  const exited = ended(child);
  let text = '';
  while (!/ws:.*\n/.test(text)) text += String((await once(child.stderr, 'data'))[0]);
  const [http, ws] = text.split('\n') as [string, string];
  await expect(pidOf(http)).rejects.toThrow(/502.*no-agent/);
  await expect(pidOf(ws)).rejects.toThrow('1011');
  child.kill('SIGTERM');
  const { code, stderr } = await exited;
  expect(code).toBe(0);
  expect(stderr.match(/warning\[connection\]: .*none could not be started: there is no such program/g)).toHaveLength(2);
});

test('batches over HTTP are refused, unless --http-batches splits them', async () => {
  const initialize = { jsonrpc: '2.0', id: 0, method: 'initialize' };
  const post = (url: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
    });
  const batch = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'x' }));
  const strict = await listening(pidAgent);
  expect((await post(strict.http, batch)).status).toBe(501);
  const lenient = await listening(pidAgent, '--http-batches');
  const { headers } = await post(lenient.http, initialize);
  const connection = { 'acp-connection-id': headers.get('acp-connection-id')! };
  expect((await post(lenient.http, batch, connection)).status).toBe(202);
  const stream = await fetch(lenient.http, { headers: { ...connection, accept: 'text/event-stream' } });
  let text = '';
  for await (const chunk of stream.body!) {
    text += new TextDecoder().decode(chunk);
    if (/^data: .*\n\n/m.test(text)) break;
  }
  expect(JSON.parse(/^data: (.*)$/m.exec(text)![1]!)).toMatchObject([{ id: 1 }, { id: 2 }]);
});

describe('usage', () => {
  test.each([
    [['--listen', 'x'], '--listen must be a port'],
    [['--listen', '65536'], '--listen must be a port'],
    [['--listen', '::1:80'], '--listen must be a port'],
    [['--listen', '0.0.0.0:0'], 'set --token or PEGWIRE_TOKEN, or use --insecure'],
    [['--listen', '0.0.0.0:0', '--token', 'x'], 'set --tls-key and --tls-cert, or use --insecure'],
    [['--listen', '0', '--origin', 'example.org'], 'An origin must be'],
    [['--listen', '0', '--tls-key', 'x'], '--tls-key requires --tls-cert'],
    [['--token', 'x'], '--token requires --listen'],
    [['--origin', 'https://example.org'], '--origin requires --listen'],
    [['--insecure'], '--insecure requires --listen'],
    [['--http1'], '--http1 requires --listen'],
    [['--http-batches'], '--http-batches requires --listen'],
    [['--tls-cert', 'x'], '--tls-cert requires --listen'],
  ])('%j is refused', async (options, message) => {
    const { code, stdout, stderr } = await cli(['acp', 'run', ...options, '--', process.execPath, pidAgent]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

test('a message of several lines reaches the agent, and the log, as one', async () => {
  const log = path.join(scratch.path, 'lines.jsonl');
  const { http, stop } = await listening(pidAgent, '--log', log);
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
  const response = await fetch(http, {
    ...{ method: 'POST', body: JSON.stringify(message, null, 2) },
    headers: { 'content-type': 'application/json' },
  });
  expect(await response.json()).toMatchObject({ id: 1, result: { pid: expect.any(Number) } });
  await stop();
  expect((jsonLines(readFileSync(log, 'utf8')) as { message: unknown }[]).map((line) => line.message)).toEqual([
    message,
    { jsonrpc: '2.0', id: 1, result: { pid: expect.any(Number) } },
  ]);
});
