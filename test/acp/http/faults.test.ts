/** Lost, frozen and slow connections, and the order of messages. */
import { connect as connectTcp } from 'node:net';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { connectAcp, type ListenAcpOptions, listenAcp } from '../../../src/acp/http/index.js';
import { type Channel, type Connection, createConnection } from '../../../src/acp/index.js';
import { deferred } from '../../../src/async/listeners.js';
import { type CuttingProxy, cuttingProxy } from '../../helpers/cutting-proxy.js';
import { runs, sized } from '../../helpers/runs.js';
import { openTurn, ourTurn, servePrompts, TURN } from './turn.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

type Agent = (channel: Channel) => unknown;

/** Starts a server behind a proxy. */
async function served(agent: Agent, options: ListenAcpOptions = {}, bytes?: () => number) {
  const server = await listenAcp(agent, { closeGraceMs: 50, ...options });
  const proxy = await cuttingProxy({ target: server.port, ending: 'reset', bytes });
  closing.push(server.close, proxy.close);
  return { server, proxy, url: `http://127.0.0.1:${proxy.port}/acp` };
}

/** An agent that sends numbered updates of its sessions, in the order of the prompt, and then answers. */
function counting(channel: Channel, gate?: Promise<void>): Connection {
  return createConnection(channel, {
    handlers: {
      initialize: () => ({}),
      update: async ({ plan }: { plan: readonly string[] }, { connection }) => {
        await gate;
        const counts = new Map<string, number>();
        for (const sessionId of plan) {
          const n = counts.get(sessionId) ?? 0;
          counts.set(sessionId, n + 1);
          await connection.notify('session/update', { sessionId, n });
        }
        return plan.length;
      },
    },
  });
}

interface Update {
  readonly sessionId: string;
  readonly n: number;
}

/** Connects, and collects the updates by session until `total` have arrived. */
function collecting(channel: Channel, total: number) {
  const received = new Map<string, number[]>();
  let count = 0;
  let done!: () => void;
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  if (total === 0) done();
  const connection = createConnection(channel, {
    handlers: {
      'session/update': ({ sessionId, n }: Update) => {
        received.set(sessionId, [...(received.get(sessionId) ?? []), n]);
        if (++count === total) done();
      },
    },
  });
  closing.push(connection.close);
  return { connection, received, all };
}

const expected = (plan: readonly string[]): Map<string, number[]> => {
  const counts = new Map<string, number[]>();
  for (const session of plan) counts.set(session, [...(counts.get(session) ?? []), counts.get(session)?.length ?? 0]);
  return counts;
};

const sorted = (map: ReadonlyMap<string, number[]>) => Object.fromEntries([...map].sort());

/** Opens the streams of sessions: their first message does. */
async function openSessions(connection: Connection, sessions: Iterable<string>): Promise<void> {
  for (const sessionId of sessions) await connection.notify('session/cancel', { sessionId });
}

const plans = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 20, maxLength: 200, size: 'max' });

describe('the messages of several sessions', () => {
  test.each(['HTTP/2', 'HTTP/1.1'])('arrive in order, none lost or repeated, over %s', async (version) => {
    const { server } = await served((channel) => counting(channel));
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const channel = connectAcp(server.http, version === 'HTTP/2' ? {} : { fetch });
        const { connection, received, all } = collecting(channel, plan.length);
        await connection.request('initialize', {});
        // One half is sent before the streams of the sessions are open.
        const answered = connection.request('update', { plan });
        await openSessions(connection, new Set(plan));
        expect(await answered).toBe(plan.length);
        await all;
        expect(sorted(received)).toEqual(sorted(expected(plan)));
        await connection.close();
      }),
      runs(9),
    );
  });

  test('arrive in order, none lost or repeated, while the network is cut again and again', async () => {
    let [connections, total] = [0, 0];
    const sizes = fc.array(fc.integer({ min: 1, max: 8000 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(plans, sizes, async (plan, [first, ...cuts]) => {
        const gate = deferred();
        const { proxy, url } = await served(
          (channel) => counting(channel, gate.promise),
          {},
          () => (isCutting && cuts.shift()) || Number.POSITIVE_INFINITY,
        );
        let isCutting = false;
        const channel = connectAcp(url, { reconnect: { minDelayMs: 1, maxDelayMs: 5, maxAttempts: 50 } });
        const { connection, received, all } = collecting(channel, plan.length);
        await connection.request('initialize', {});
        await openSessions(connection, new Set(plan));
        const answered = connection.request('update', { plan });
        // From here on only streams are open; a message whose request is cut is lost, and the connection with it.
        await channel.flushed!();
        isCutting = true;
        proxy.cutAfter(first!);
        gate.resolve();
        expect(await Promise.race([answered, connection.closed])).toBe(plan.length);
        await all;
        expect(sorted(received)).toEqual(sorted(expected(plan)));
        channel.destroy();
        connections += proxy.connections();
        total++;
      }),
      runs(30),
    );
    expect(connections).toBeGreaterThan(2 * total);
  });
});

/** Serves prompts, whose agent can be cut off. */
async function prompted(
  options: ListenAcpOptions = {},
): Promise<{ proxy: CuttingProxy; url: string; agents: Connection[] }> {
  const agents: Connection[] = [];
  const { proxy, url } = await served((channel) => {
    const agent = servePrompts(channel);
    agents.push(agent);
    return agent;
  }, options);
  return { proxy, url, agents };
}

describe('a connection that is lost', () => {
  test('ends on both sides if its streams cannot be continued', async () => {
    const { proxy, url, agents } = await prompted({ idleTimeoutMs: 500 });
    const connection = createConnection(connectAcp(url, { resumable: false }));
    await connection.request('initialize', {});
    await connection.request('session/new', {});
    await proxy.close();
    expect((await connection.closed)?.message).toContain('stream');
    expect((await agents[0]!.closed)?.message).toContain('no open stream');
  });

  test('ends the agent at once if the server can be reached', async () => {
    const { proxy, url, agents } = await prompted({ idleTimeoutMs: 60_000 });
    const connection = createConnection(connectAcp(url, { resumable: false }));
    await connection.request('initialize', {});
    proxy.cut();
    expect((await connection.closed)?.message).toContain('stream');
    expect(await agents[0]!.closed).toBeUndefined();
  });

  test('continues if both sides have agreed on it', async () => {
    const { proxy, url } = await prompted();
    const reconnect = { minDelayMs: 1, maxDelayMs: 5 };
    const connection = createConnection(connectAcp(url, { reconnect }));
    await connection.request('initialize', {});
    await connection.request('session/new', {});
    for (let cuts = 0; cuts < 5; cuts++) {
      const before = proxy.connections();
      proxy.cut();
      // The client has noticed it.
      await expect.poll(proxy.connections, { interval: 1 }).toBeGreaterThan(before);
      expect(await connection.request('session/new', {})).toMatchObject({ sessionId: expect.any(String) });
    }
    await connection.close();
  });

  test('continues in the middle of an event that is longer than those that are kept', async () => {
    let agent!: Connection;
    const { proxy, url } = await served((channel) => (agent = counting(channel)), { maxReplayLength: 1000 });
    const lengths: number[] = [];
    const received = deferred();
    const connection = createConnection(connectAcp(url, { reconnect: { minDelayMs: 1, maxDelayMs: 5 } }), {
      handlers: {
        note: ({ text }: { text: string }) => {
          if (lengths.push(text.length) === 2) received.resolve();
        },
      },
    });
    closing.push(connection.close);
    await connection.request('initialize', {});
    await connection.request('update', { plan: [] });
    const before = proxy.connections();
    proxy.cutAfter(1024 * 1024);
    for (const length of [3 * 1024 * 1024, 5000]) void agent.notify('note', { text: 'x'.repeat(length) });
    await received.promise;
    expect(lengths).toEqual([3 * 1024 * 1024, 5000]);
    expect(proxy.connections()).toBeGreaterThan(before);
  });

  test('ends with the refusal if events are no longer kept', async () => {
    let agent!: Connection;
    const { proxy, url } = await served((channel) => (agent = counting(channel)), { maxReplayLength: 1000 });
    const connection = createConnection(connectAcp(url, { reconnect: { minDelayMs: 1, maxDelayMs: 1 } }), {
      handlers: { note: () => {} },
    });
    await connection.request('initialize', {});
    await connection.request('update', { plan: [] });
    // The client reads nothing of what is written to it.
    proxy.freeze();
    for (let n = 0; n < 50; n++) void agent.notify('note', { text: 'x'.repeat(100) });
    await new Promise((resolve) => setTimeout(resolve, 50));
    proxy.thaw();
    proxy.cut();
    expect((await connection.closed)?.message).toContain('events-lost');
  });

  test('ends when the client does not read', async () => {
    let agent!: Connection;
    const { proxy, url } = await served((channel) => (agent = counting(channel)), { stallTimeoutMs: 100 });
    const connection = createConnection(connectAcp(url), { handlers: { note: () => {} } });
    closing.push(connection.close);
    await connection.request('initialize', {});
    await connection.request('update', { plan: [] });
    proxy.freeze();
    let sent = 0;
    const sending = (async () => {
      for (;;) {
        await agent.notify('note', { text: 'x'.repeat(64 * 1024) });
        sent++;
      }
    })();
    await expect(sending).rejects.toThrow();
    expect((await agent.closed)?.message).toContain('does not read');
    // The buffers of the channel, the streams and the system.
    expect(sent).toBeLessThan(1000);
  });
});

describe('a server that falls silent', () => {
  const SILENCE = { silenceMs: 200 };
  const unread = { reconnect: { maxAttempts: 0 } };
  test.each([
    ['HTTP/2', {}, SILENCE, /lost|does not answer/],
    ['HTTP/1.1, which announces its signs of life', { keepAliveMs: 50 }, { fetch, ...unread }, /silent for 150 ms/],
    ['HTTP/1.1, without a way to continue', {}, { ...SILENCE, fetch, resumable: false }, /silent for 200 ms/],
  ])('ends the connection over %s', async (_, server, client, message) => {
    const { proxy, url } = await prompted(server);
    const connection = createConnection(connectAcp(url, { ...unread, ...client }));
    await connection.request('initialize', {});
    await connection.request('session/new', {});
    proxy.freeze();
    expect((await connection.closed)?.message).toMatch(message);
  });

  test('ends the connection over WebSocket', async () => {
    const { proxy, url } = await prompted();
    const connection = createConnection(connectAcp(url.replace('http:', 'ws:'), SILENCE));
    await connection.request('initialize', {});
    proxy.freeze();
    expect(await connection.closed).toMatchObject({ code: 'closed' });
  });

  test.each(['HTTP/2', 'HTTP/1.1'])('loses nothing if the streams continue, over %s', async (version) => {
    const gate = deferred();
    const { proxy, url } = await served((channel) => counting(channel, gate.promise), { keepAliveMs: 50 });
    const reconnect = { minDelayMs: 1, maxDelayMs: 5, maxAttempts: 100 };
    const channel = connectAcp(url, { ...SILENCE, reconnect, ...(version === 'HTTP/2' ? {} : { fetch }) });
    const plan = ['a', 'b', 'a'];
    const { connection, received, all } = collecting(channel, plan.length);
    await connection.request('initialize', {});
    await openSessions(connection, plan);
    const answered = connection.request('update', { plan });
    await channel.flushed!();
    proxy.freeze();
    proxy.thaw();
    gate.resolve();
    expect(await answered).toBe(plan.length);
    await all;
    expect(sorted(received)).toEqual(sorted(expected(plan)));
  });

  test.each(['http:', 'ws:'])(
    'is not one whose answer came while this process stood still, over %s',
    async (scheme) => {
      const { url } = await served(counting, { keepAliveMs: 100 });
      const connection = createConnection(connectAcp(url.replace('http:', scheme), { ...SILENCE, ...unread }));
      closing.push(connection.close);
      await connection.request('initialize', {});
      for (let rests = 0; rests < 4; rests++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        // In the turn between the pauses a ping is sent, whose answer takes another turn.
        for (let pauses = 0; pauses < 2; pauses++) {
          await new Promise(setImmediate);
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 110);
        }
      }
      expect(await connection.request('update', { plan: [] })).toBe(0);
    },
  );

  test('is not one whose client reads slowly', async () => {
    let agent!: Connection;
    const { url } = await served((channel) => (agent = counting(channel)), { keepAliveMs: 10 });
    const channel = connectAcp(url, { fetch, ...unread });
    const connection = createConnection(channel, { handlers: { note: () => {} } });
    closing.push(connection.close);
    await connection.request('initialize', {});
    channel.pause();
    await new Promise((resolve) => setTimeout(resolve, 200));
    channel.resume();
    await agent.notify('note', {});
    expect(await connection.request('update', { plan: [] })).toBe(0);
  });
});

describe.each([
  ['HTTP/2', {}],
  ['HTTP/1.1', { fetch }],
] as const)('over %s', (_, options) => {
  test('a client that is destroyed ends its agent', async () => {
    const { url, agents } = await prompted();
    const channel = connectAcp(url, options);
    await createConnection(channel).request('initialize', {});
    channel.destroy();
    expect(await agents[0]!.closed).toBeUndefined();
  });

  test('a server that closes ends its clients without an error', async () => {
    const { server, url } = await served(servePrompts, { closeGraceMs: 60_000 });
    const channel = connectAcp(url, options);
    const connection = createConnection(channel);
    await connection.request('initialize', {});
    await openSessions(connection, ['a', 'b']);
    await channel.flushed!();
    await server.close();
    expect(await connection.closed).toBeUndefined();
  });

  test('a client that goes away before its agent is ready ends the agent', async () => {
    const [asked, ready] = [deferred<Channel>(), deferred()];
    const { server, url } = await served(async (channel) => {
      asked.resolve(channel);
      await ready.promise;
    });
    const abort = new AbortController();
    const sent = createConnection(connectAcp(url, { ...options, signal: abort.signal })).request('initialize', {});
    const channel = await asked.promise;
    abort.abort();
    await expect(sent).rejects.toMatchObject({ code: 'closed' });
    await expect.poll(server.connections, { interval: 5 }).toBe(0);
    const agent = servePrompts(channel);
    ready.resolve();
    await agent.closed;
  });
});

describe('a WebSocket', () => {
  test('that answers no ping is cut off', async () => {
    let agent!: Connection;
    const { server, proxy, url } = await served((channel) => (agent = counting(channel)), { keepAliveMs: 50 });
    const connection = createConnection(connectAcp(url.replace('http:', 'ws:')));
    await connection.request('initialize', {});
    proxy.freeze();
    expect((await agent.closed)?.message).toContain('1006');
    await expect.poll(server.connections).toBe(0);
    // Not before: a close frame would wait in the proxy.
    proxy.cut();
    await connection.closed;
  });

  test.each([
    ['a frame with reserved bits', [0xf1, 0x80, 0, 0, 0, 0]],
    ['a frame without a mask', [0x81, 0x02, 0x7b, 0x7d]],
    ['a text that is not UTF-8', [0x81, 0x81, 0, 0, 0, 0, 0xff]],
    ['a length beyond all limits', [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]],
  ])('that sends %s ends, and no other', async (_, bytes) => {
    const { server } = await served(servePrompts);
    const socket = connectTcp(server.port, '127.0.0.1');
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(
      'GET /acp HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    await new Promise((resolve) => socket.once('data', resolve));
    expect(server.connections()).toBe(1);
    socket.resume().write(Buffer.from(bytes));
    await closed;
    expect(await ourTurn(connectAcp(server.ws))).toEqual(TURN);
    await expect.poll(server.connections).toBe(0);
  });
});

test('garbage on the port leaves the server in order', async () => {
  const { server } = await served(servePrompts);
  const garbage = [
    '\0\0\0',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnot a frame',
    'PRI * HTTP/1.1\r\n\r\n',
    'P',
    'GET /acp\r\n\r\n',
  ];
  for (const bytes of garbage) {
    const socket = connectTcp(server.port, '127.0.0.1');
    socket.on('error', () => {}).resume();
    socket.end(bytes);
    await new Promise((resolve) => socket.once('close', resolve));
  }
  expect(await ourTurn(connectAcp(server.http))).toEqual(TURN);
});

test('many connections at a time have their turns, and leave nothing', async () => {
  const count = sized(60, 1000);
  const { server } = await served(servePrompts, { maxConnections: count });
  const turns: (() => Promise<string[]>)[] = [];
  // Each has ten seconds to connect.
  while (turns.length < count)
    turns.push(
      ...(await Promise.all(
        Array.from({ length: 20 }, (_, n) => openTurn(connectAcp(n % 2 === 0 ? server.http : server.ws))),
      )),
    );
  expect(server.connections()).toBe(count);
  const heard = await Promise.all(turns.map((turn) => turn()));
  expect(heard.every((turn) => turn.join() === TURN.join())).toBe(true);
  while (server.connections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
});
