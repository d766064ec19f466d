/** Clients and runtimes over QUIC on a bad network, with many clients, and with datagrams that are not QUIC. */
import { randomBytes } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { type Client, openClient } from '../../../src/arcp/client/index.js';
import { checkLog, type Envelope } from '../../../src/arcp/index.js';
import { connectQuic, dialQuic, listenQuic } from '../../../src/arcp/quic/index.js';
import { createRuntime, type Runtime } from '../../../src/arcp/runtime/index.js';
import { addDemoTools } from '../../../src/cli/commands/arcp/demo-tools.js';
import { describeQuic, quicDriver, tls } from '../../helpers/quic.js';
import { sized } from '../../helpers/runs.js';
import { type UdpRelay, udpRelay, type Weather } from '../../helpers/udp-relay.js';
import { Wire } from '../runtime/wire.js';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const TRUST = { ca: tls.cert, serverName: 'localhost' };
const RECONNECT = { minDelayMs: 20, maxDelayMs: 200 };

interface Served {
  readonly port: number;
  readonly runtime: Runtime;
  /** Errors that the listener reported. */
  readonly errors: unknown[];
}

async function serve(options: Partial<Parameters<typeof listenQuic>[1]> = {}, heartbeatMs?: number): Promise<Served> {
  const runtime = addDemoTools(createRuntime({ heartbeatMs }));
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const { port, close } = await listenQuic(runtime, { driver: quicDriver(), tls, port: 0, onError, ...options });
  ending.push(async () => {
    const closed = close();
    await runtime.close();
    await closed;
  });
  return { port, runtime, errors };
}

async function through(port: number, weather: Weather): Promise<UdpRelay> {
  const relay = await udpRelay(port, weather);
  // After the listener, which waits for the end of its connections.
  ending.unshift(relay.close);
  return relay;
}

const addressOf = (port: number): string => `quic://127.0.0.1:${port}`;

async function sum(client: Client, n: number): Promise<void> {
  expect(await client.invoke('add', { a: n, b: 1 }).result()).toBe(n + 1);
}

/** Runs jobs with streams, and returns what is wrong with the received messages. */
async function follow(client: Client, heard: readonly Envelope[], jobs: number, to: number): Promise<unknown[]> {
  const numbers = Array.from({ length: to }, (_, n) => `${n + 1}\n`).join('');
  const works = Array.from({ length: jobs }, () => client.invoke('count', { to, ms: 1 }));
  const read = await Promise.all(
    works.map(async (work) => {
      let text = '';
      for await (const part of work.stream('numbers')) text += String(part);
      return text;
    }),
  );
  for (const work of works) expect(await work.result()).toEqual({ counted: to });
  expect(read).toEqual(works.map(() => numbers));
  return checkLog(heard);
}

describeQuic('on a bad network', () => {
  test('all messages arrive once and in order, although datagrams are lost, reordered and changed', async () => {
    const { port } = await serve();
    const relay = await through(port, { loss: 0.05, reorder: 0.1, corrupt: 0.02 });
    const heard: Envelope[] = [];
    const client = await connectQuic(addressOf(relay.port), {
      ...{ ...TRUST, reconnect: RECONNECT },
      onMessage: (message) => heard.push(message),
    });
    ending.push(() => client.disconnect());
    expect(await follow(client, heard, sized(3, 10), sized(40, 400))).toEqual([]);
    expect(relay.counts.lost).toBeGreaterThan(0);
    expect(relay.counts.reordered).toBeGreaterThan(0);
  });

  test('a session continues after cuts, without loss or repetition', async () => {
    const { port } = await serve({ idleTimeoutMs: 800 });
    const relay = await through(port, { loss: 0.02, reorder: 0.05 });
    const heard: Envelope[] = [];
    let cuts = 0;
    /** The number of messages at the next cut. */
    let next = 60;
    const client = await connectQuic(addressOf(relay.port), {
      ...{ ...TRUST, reconnect: RECONNECT, idleTimeoutMs: 800, handshakeTimeoutMs: 2000, timeoutMs: 60_000 },
      onMessage: (message) => {
        heard.push(message);
        if (heard.length < next || cuts >= sized(2, 10)) return;
        cuts++;
        next = Number.POSITIVE_INFINITY;
        relay.cut();
        const before = relay.clients();
        const mend = (): void => {
          if (relay.clients() === before) return void setTimeout(mend, 10);
          relay.mend();
          next = heard.length + 60;
        };
        // When the client has given the connection up, and connects again.
        mend();
      },
    });
    ending.push(() => client.disconnect());
    expect(await follow(client, heard, 3, sized(60, 300))).toEqual([]);
    expect(cuts).toBe(sized(2, 10));
    expect(relay.clients()).toBeGreaterThan(cuts);
  });

  test('both sides notice a side that no longer answers', async () => {
    const { port, runtime } = await serve({ idleTimeoutMs: 600 });
    const relay = await through(port, {});
    const wire = new Wire(await dialQuic(addressOf(relay.port), { ...TRUST, idleTimeoutMs: 600 })());
    await wire.open();
    expect(runtime.counts().connections).toBe(1);
    relay.cut();
    await wire.ended();
    while (runtime.counts().connections > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });

  test('an idle connection stays open', async () => {
    const { port } = await serve({ idleTimeoutMs: 400 });
    const wire = new Wire(await dialQuic(addressOf(port), { ...TRUST, idleTimeoutMs: 400 })());
    await wire.open();
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const sent = wire.send('tool.invoke', { tool: 'add', arguments: { a: 1, b: 2 } });
    expect((await wire.answer('tool.result', sent)).payload.result).toBe(3);
    wire.channel.destroy();
  });

  test('a connection survives a new port of the client, and a session the next one', async () => {
    const { port, runtime } = await serve({ idleTimeoutMs: 1000 });
    const relay = await through(port, {});
    const client = await connectQuic(addressOf(relay.port), { ...TRUST, idleTimeoutMs: 1000, reconnect: RECONNECT });
    ending.push(() => client.disconnect());
    const id = client.session?.session_id;
    await sum(client, 0);
    relay.rebind();
    for (let n = 0; n < 20; n++) await sum(client, n);
    expect(relay.clients()).toBe(1);
    relay.rebind();
    await sum(client, 1);
    expect(relay.clients()).toBe(2);
    expect(client.session?.session_id).toBe(id);
    expect(runtime.counts().connections).toBe(1);
  });
});

describeQuic('a listener', () => {
  test('ignores clients above the limit, and serves the next when one has left', async () => {
    const url = addressOf((await serve({ maxConnections: 1 })).port);
    const first = await connectQuic(url, TRUST);
    const refused = connectQuic(url, { ...TRUST, handshakeTimeoutMs: 300, reconnect: false });
    await expect(refused).rejects.toMatchObject({ code: 'closed' });
    await first.close();
    const next = await connectQuic(url, TRUST);
    await sum(next, 1);
    await next.close();
  });

  test('survives datagrams that are not QUIC, or begin like it', async () => {
    const { port, errors } = await serve();
    const client = await connectQuic(addressOf(port), { ...TRUST });
    ending.push(() => client.disconnect());
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const shapes = [
      () => randomBytes(Math.floor(Math.random() * 1400)),
      // Early data without a connection, at which the package throws an error that nothing handles.
      () => Buffer.concat([Buffer.from([0xd0, 0, 0, 0, 1, 20]), randomBytes(1200)]),
      // Long headers of version 1, of an unknown version and of a version negotiation; a short header.
      () => Buffer.concat([Buffer.from([0xc0, 0, 0, 0, 1, 20]), randomBytes(1200)]),
      () => Buffer.concat([Buffer.from([0xc0 + Math.floor(Math.random() * 64), 0, 0, 0, 1, 8]), randomBytes(1194)]),
      () => Buffer.concat([Buffer.from([0xc0, 0xfa, 0xce, 0xb0, 0x0c, 20]), randomBytes(1200)]),
      () => Buffer.concat([Buffer.from([0xc0, 0, 0, 0, 0, 20]), randomBytes(60)]),
      () => Buffer.concat([Buffer.from([0x40]), randomBytes(40)]),
      () => Buffer.alloc(0),
    ];
    for (let n = 0; n < sized(2000, 50_000); n++) {
      await new Promise((resolve) => socket.send(shapes[n % shapes.length]!(), port, '127.0.0.1', resolve));
      if (n % 200 === 0) await sum(client, n);
    }
    socket.close();
    await sum(client, 1);
    expect(errors.length).toBeGreaterThan(0);
    const next = await connectQuic(addressOf(port), { ...TRUST });
    await sum(next, 2);
    await next.close();
  });

  test('serves many clients on one connection, and on many', async () => {
    // The work of the package for a message grows with the streams of the connection: the pings of a thousand would leave no time for more.
    const { port, runtime } = await serve({}, 120_000);
    const relay = await through(port, {});
    const streams = sized(30, 1000);
    const dial = dialQuic(addressOf(relay.port), TRUST);
    const clients: Client[] = [];
    // Each client has a limited time.
    while (clients.length < streams)
      clients.push(...(await Promise.all(Array.from({ length: sized(30, 50) }, () => openClient(dial)))));
    expect(relay.clients()).toBe(1);
    const more = sized(10, 200);
    for (let n = 0; n < more; n++) clients.push(await connectQuic(addressOf(relay.port), TRUST));
    expect(relay.clients()).toBe(1 + more);
    expect(runtime.counts().connections).toBe(streams + more);
    await Promise.all(clients.map(sum));
    await Promise.all(clients.map((client) => client.close()));
    while (runtime.counts().connections > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });
});

describeQuic('clients on one connection', () => {
  test('do not wait for one that does not read', async () => {
    const dial = dialQuic(addressOf((await serve()).port), TRUST);
    const slow = new Wire(await dial());
    await slow.open();
    slow.channel.pause();
    // More than the runtime can send to a client that does not read.
    for (let n = 0; n < 20; n++) slow.send('tool.invoke', { tool: 'echo', arguments: { n, text: 'x'.repeat(20_000) } });
    const client = await openClient(dial);
    for (let n = 0; n < 20; n++) await sum(client, n);
    await client.close();
    slow.channel.resume();
    const result = await slow.until(
      ({ type, payload }) => type === 'tool.result' && (payload.result as { n: number }).n === 19,
    );
    expect(result.payload.result).toMatchObject({ n: 19 });
    slow.channel.destroy();
  });
});
