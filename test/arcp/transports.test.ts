/** The same conversation over each transport: the messages do not depend on the transport. */
import { readFileSync, statSync } from 'node:fs';
import process from 'node:process';
import { afterAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type ClientOptions, connect, dialOf, openClient } from '../../src/arcp/client/index.js';
import type { Envelope } from '../../src/arcp/index.js';
import {
  createRuntime,
  fifoPair,
  listenFifo,
  listenUnix,
  listenWebSocket,
  type Runtime,
} from '../../src/arcp/runtime/index.js';
import { addDemoTools } from '../../src/cli/commands/arcp/demo-tools.js';
import { createRandom } from '../../src/text/random.js';
import { perform, transcript } from '../examples/arcp/stage.js';
import { PROGRAM } from '../helpers/cli.js';
import { Wire } from './runtime/wire.js';
import { SCENARIOS } from './scenarios.js';
import { file, TRANSPORTS } from './transports.js';

const ending: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

function runtime(): Runtime {
  const made = addDemoTools(createRuntime());
  ending.push(() => made.close());
  return made;
}

async function reach(name: string): Promise<Wire> {
  const { dial, close } = await TRANSPORTS[name]!(runtime());
  ending.push(close);
  const channel = await dial();
  const wire = new Wire(channel);
  ending.push(async () => channel.destroy());
  return wire;
}

/** Returns the messages of both sides, with normalized ids and without times. */
class Transcript {
  readonly #ids = new Map<string, string>();
  readonly lines: string[] = [];

  add(from: string, message: unknown): void {
    this.lines.push(`${from} ${JSON.stringify(message, (key, value: unknown) => this.#plain(key, value))}`);
  }

  #plain(key: string, value: unknown): unknown {
    if (/^(?:timestamp|received_at|accepted_at|started_at|completed_at|expires_at|sent_at)$/.test(key)) return 'T';
    if (key === 'duration_ms') return 0;
    if (key === 'resume_token') return 'R';
    if (typeof value !== 'string') return value;
    return value.replace(
      /\b(?:(msg|sess|job|str|chk|lease|worker)_[0-9A-Z]{26}|[0-9a-f]{16}|[0-9a-f]{32})\b/g,
      (id, kind = 'id') => {
        const known = this.#ids.get(id) ?? `${kind}-${this.#ids.size + 1}`;
        this.#ids.set(id, known);
        return known;
      },
    );
  }
}

/** A conversation: open, negotiate, invoke, stream, progress, checkpoints, a permission, refusals, and the end. */
async function converse(wire: Wire): Promise<string> {
  const transcript = new Transcript();
  let told = 0;
  const heard = (): void => {
    for (; told < wire.heard.length; told++) transcript.add('<', wire.heard[told]);
  };
  const send = (type: string, payload = {}, more = {}): { readonly id: string } => {
    heard();
    const message = wire.send(type, payload, { trace_id: 'trace', span_id: 'span', ...more });
    transcript.add('>', message);
    return message;
  };
  const capabilities = { streaming: true, durable_jobs: true, checkpoints: true, x_unknown: 1 };
  const opened = await wire.answer('session.accepted', send('session.open', { capabilities }));
  wire.sessionId = opened.payload.session_id;
  await wire.answer('tool.result', send('tool.invoke', { tool: 'add', arguments: { a: 2, b: 3 } }));
  await wire.answer('nack', send('tool.invoke', { tool: 'nothing' }));
  await wire.answer('nack', send('tool.invoke', { tool: 'add', arguments: { a: 'ü 漢 \u2028 \ud83d\ude00' } }));
  const count = await wire.answer('job.accepted', send('tool.invoke', { tool: 'count', arguments: { to: 3, ms: 0 } }));
  await wire.untilEnded(count.payload.job_id!);
  const refund = await wire.answer(
    'job.accepted',
    send('tool.invoke', { tool: 'refund', arguments: { order: 'ord_1' } }),
  );
  const request = await wire.until(({ type }) => type === 'permission.request');
  await wire.until((one) => one.type === 'event.emit' && one.payload.attributes?.['to'] === 'blocked');
  await wire.answer('ack', send('permission.grant', { lease_seconds: 60 }, { correlation_id: request.id }));
  await wire.untilEnded(refund.payload.job_id!);
  await wire.answer('pong', send('ping', { nonce: 'n' }));
  await wire.answer('nack', send('job.nonsense'));
  heard();
  transcript.add('>', 'no message');
  wire.channel.send('"no message"');
  await wire.until(({ type, correlation_id }) => type === 'nack' && correlation_id === undefined);
  await wire.answer('ack', send('session.close'));
  heard();
  return `${transcript.lines.join('\n')}\n`;
}

for (const name of Object.keys(TRANSPORTS))
  describe.skipIf(name.includes('(skipped: '))(`over ${name}`, () => {
    test('the messages are the same', async () => {
      await expect(await converse(await reach(name))).toMatchFileSnapshot('golden/lifecycle.txt');
    });

    test.each(Object.keys(SCENARIOS))('the scenario %s has its recorded messages', async (scenario) => {
      const log = await perform(SCENARIOS[scenario]!, undefined, TRANSPORTS[name]!);
      // The client announces the limit of its channel; that in memory, over which the messages were recorded, has none.
      const messages = transcript(log).replace(/"max_message_bytes":\d+,(?="max_depth":64}}}\n)/g, '');
      const recorded = readFileSync(`test/examples/${scenario}.jsonl`, 'utf8');
      expect(messages).toBe(recorded);
    });

    test('a large message arrives in both directions', async () => {
      const wire = await reach(name);
      await wire.open();
      // The package for QUIC takes ten times as long as the others.
      const text = 'é"\\\n'.repeat(name.includes('QUIC') ? 20_000 : 200_000);
      const sent = wire.send('tool.invoke', { tool: 'echo', arguments: { text } });
      expect((await wire.answer('tool.result', sent)).payload.result).toEqual({ text });
    });

    // Named pipes serve one client after the other. Slow clients of QUIC are in quic/network.programs.test.ts, on the same connection.
    test.skipIf(/pipes|QUIC/.test(name))(
      'a client that does not read delays no other, and receives everything later',
      async () => {
        const served = runtime();
        served.tool('flood', { durable: true }, async (_, { stream }) => {
          const writer = await stream({ kind: 'text' });
          for (let chunks = 0; chunks < 150; chunks++) await writer.write('x'.repeat(64 * 1024));
          await writer.close();
        });
        const { dial, close } = await TRANSPORTS[name]!(served);
        ending.push(close);
        const [slow, other] = [new Wire(await dial()), await openClient(dial)];
        ending.push(other.disconnect, async () => slow.channel.destroy());
        await slow.open();
        slow.send('tool.invoke', { tool: 'flood', arguments: {} });
        await slow.until(({ type }) => type === 'stream.chunk');
        slow.channel.pause();
        for (let a = 0; a < 50; a++) expect(await other.invoke('add', { a, b: 1 }).result()).toBe(a + 1);
        slow.channel.resume();
        await slow.until(({ type }) => type === 'job.completed');
        expect(slow.heard.filter(({ type }) => type === 'stream.chunk').length).toBe(150);
      },
    );

    // A write to a connection that the runtime has ended may discard the answer, which was not read yet.
    test('texts that are not messages are refused, then end their connection and no other', { retry: 3 }, async () => {
      const { dial, close } = await TRANSPORTS[name]!(runtime());
      ending.push(close);
      const wire = new Wire(await dial());
      ending.push(async () => wire.channel.destroy());
      const before = name.includes('pipes') ? undefined : await openClient(dial);
      if (before !== undefined) ending.push(before.disconnect);
      const random = createRandom(1);
      const garbage = (): string =>
        String.fromCharCode(
          ...Array.from({ length: 1000 }, () => random.pick([0, 9, 34, 123, 91, 0x2028, 0xd800, 0xffff])),
        );
      for (let n = 0; n < 100; n++) wire.channel.send(n % 2 === 0 ? garbage() : '[{"arcp":"1.0"}]');
      await wire.ended();
      expect(wire.types()).toContain('nack');
      const other = before ?? (await openClient(dial));
      if (before === undefined) ending.push(other.disconnect);
      expect(await other.invoke('add', { a: 1, b: 1 }).result()).toBe(2);
    });

    test('the end of one side is the end of the other', async () => {
      const wire = await reach(name);
      await wire.open();
      await wire.channel.end();
      await wire.ended();
    });
  });

describe('a client', () => {
  test('connects by address, and continues after a lost connection', async () => {
    const { url, close } = await listenWebSocket(runtime(), { port: 0 });
    ending.push(close);
    const heard: Envelope[] = [];
    const client = await connect(url, { onMessage: (message) => heard.push(message) });
    ending.push(() => client.disconnect());
    expect(await client.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
    await expect(connect('ws://127.0.0.1:1/arcp', { reconnect: false })).rejects.toThrow('the connection was refused');
    expect(() => dialOf('http://127.0.0.1')).toThrow(TypeError);
    expect(() => dialOf('tcp://127.0.0.1')).toThrow(TypeError);
  });

  test.each(['', '\0', 'a\0b'])('refuses a command without a name at once, without a retry: %j', async (command) => {
    await expect(connect({ command })).rejects.toThrow('command must be a non-empty string');
  });

  test('starts and ends a program', async () => {
    const [command, ...args] = [...PROGRAM, 'arcp', 'serve', '--stdio'];
    const client = await connect({ command: command!, args, stderr: 'ignore' });
    expect(await client.delegate('writer', 'pipes').result()).toBe('A draft about pipes');
    await client.close();
  });
});

describe('files', () => {
  test('of sockets and named pipes are private, and removed afterwards', async () => {
    if (process.platform === 'win32') return;
    const [socket, name] = [file(), file()];
    const unix = await listenUnix(runtime(), socket);
    const fifo = await listenFifo(runtime(), fifoPair(name));
    for (const one of [socket, `${name}.in`, `${name}.out`]) expect(statSync(one).mode & 0o777).toBe(0o600);
    await unix.close();
    await fifo.close();
    for (const one of [socket, `${name}.in`, `${name}.out`]) expect(() => statSync(one)).toThrow('ENOENT');
  });

  test('of named pipes serve one client after the other', async () => {
    const name = file();
    const { close } = await listenFifo(runtime(), fifoPair(name));
    ending.push(close);
    for (let n = 0; n < 3; n++) {
      const client = await connect(`pipe:${name}`);
      expect(await client.invoke('add', { a: n, b: 1 }).result()).toBe(n + 1);
      await client.close();
    }
  });
});

describe('a port', () => {
  const refused = (url: string, options = {}, protocols: string[] = []): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(url, protocols, options);
      socket.once('open', () => {
        socket.terminate();
        resolve('open');
      });
      socket.once('error', ({ message }) => resolve(message));
    });

  test('is limited to this machine without a token', async () => {
    await expect(listenWebSocket(runtime(), { host: '0.0.0.0', port: 0 })).rejects.toMatchObject({ code: 'no-token' });
    const { url, close } = await listenWebSocket(runtime(), { host: '0.0.0.0', port: 0, token: 'secret' });
    ending.push(close);
    const here = url.replace('0.0.0.0', '127.0.0.1');
    expect(await refused(here, { headers: { authorization: 'Bearer wrong' } })).toContain('401');
    expect(await refused(here, { headers: { authorization: 'Basic secret' } })).toContain('401');
    expect(await refused(here, {}, ['arcp', 'bearer.wrong'])).toContain('401');
    expect(await refused(here, { headers: { authorization: 'Bearer secret' } })).toBe('open');
    expect(await refused(here, {}, ['arcp', 'bearer.secret'])).toBe('open');
  });

  test('also accepts the token in the auth of session.open, and nothing without it', async () => {
    const { url, close } = await listenWebSocket(runtime(), { port: 0, token: 'secret' });
    ending.push(close);
    const opened = (auth?: ClientOptions['auth']): Promise<unknown> =>
      connect(url, { auth, reconnect: false }).then(
        async (client) => {
          const sum = await client.invoke('add', { a: 1, b: 1 }).result();
          await client.close();
          return sum;
        },
        ({ code }: { readonly code: string }) => code,
      );
    expect(await opened({ scheme: 'bearer', token: 'secret' })).toBe(2);
    expect(await opened({ scheme: 'bearer', token: 'wrong' })).toBe('UNAUTHENTICATED');
    expect(await opened()).toBe('UNAUTHENTICATED');
  });

  test('refuses pages of other origins, and other host names', async () => {
    const draining = runtime();
    const { url, port, close } = await listenWebSocket(draining, { port: 0, origins: ['https://example.org'] });
    ending.push(close);
    expect(await refused(url, { origin: 'https://evil.example' })).toContain('403');
    expect(await refused(url, { origin: 'https://example.org' })).toBe('open');
    expect(await refused(url, { headers: { host: 'evil.example' } })).toContain('403');
    expect(await refused(url.replace('/arcp', '/other'))).toContain('404');
    const health = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect(await health.json()).toMatchObject({ status: 'ok', jobs: 0 });
    expect((await fetch(`http://127.0.0.1:${port}/arcp`)).status).toBe(426);
    await draining.drain();
    const later = await fetch(`http://127.0.0.1:${port}/healthz`);
    expect([later.status, await later.json()]).toMatchObject([503, { status: 'draining' }]);
    await expect(listenWebSocket(runtime(), { port })).rejects.toMatchObject({ code: 'in-use' });
  });
});
