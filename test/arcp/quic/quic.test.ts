/** Clients and runtimes over QUIC: certificates, tokens, options, and several clients on one connection. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { connectQuic, type DialQuicOptions, dialQuic, listenQuic, matrixQuic } from '../../../src/arcp/quic/index.js';
import { createRuntime, type Runtime } from '../../../src/arcp/runtime/index.js';
import { addDemoTools } from '../../../src/cli/commands/arcp/demo-tools.js';
import { describeQuic, quicDriver, tls } from '../../helpers/quic.js';
import { udpRelay } from '../../helpers/udp-relay.js';
import { Wire } from '../runtime/wire.js';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const expired = readFileSync(new URL('../../fixtures/tls/expired.pem', import.meta.url), 'utf8');
const otherAuthority = readFileSync(new URL('../../fixtures/tls/other-authority.pem', import.meta.url), 'utf8');
const TRUST = { ca: tls.cert, serverName: 'localhost', handshakeTimeoutMs: 3000 };

function runtime(): Runtime {
  const made = addDemoTools(createRuntime());
  ending.push(() => made.close());
  return made;
}

type Listening = Partial<Parameters<typeof listenQuic>[1]>;

/** Starts a listener. Fails the test if it reports an error. @returns its address */
async function listening(options: Listening = {}, served = runtime()): Promise<string> {
  const onError = (error: unknown): void => expect.unreachable(String(error));
  const { url, close } = await listenQuic(served, { driver: quicDriver(), tls, port: 0, onError, ...options });
  ending.push(close);
  return url;
}

/** Connects, and disconnects at the end of the test. */
async function connecting(url: string, options: Parameters<typeof connectQuic>[1] = {}) {
  const client = await connectQuic(url, { ...TRUST, ...options });
  ending.push(() => client.disconnect());
  return client;
}

describeQuic('a certificate', () => {
  const REFUSED: readonly [reason: string, Listening, DialQuicOptions, message: string][] = [
    ['from an unknown authority', {}, { ca: otherAuthority }, 'its certificate is from an unknown authority'],
    ['of no authority of the system', {}, { ca: undefined }, 'its certificate is from an unknown authority'],
    ['for another name', {}, { serverName: 'runtime.example' }, 'its certificate is not valid for this name'],
    [
      'that has expired',
      { tls: { ...tls, cert: expired } },
      { ca: expired },
      'its certificate has expired or is not yet valid',
    ],
  ];

  test.each(REFUSED)('%s is refused, and the next client is served', async (_reason, listen, dial, message) => {
    const url = await listening(listen);
    await expect(connectQuic(url, { ...TRUST, reconnect: false, ...dial })).rejects.toMatchObject({
      code: 'closed',
      message: expect.stringContaining(message),
    });
    if (listen.tls !== undefined) return;
    const client = await connecting(url);
    expect(await client.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
  });

  test('is checked by name: an address without one is refused before a packet is sent', () => {
    for (const host of ['127.0.0.1', '[::1]'])
      expect(() => dialQuic(`quic://${host}:7777`, { ca: tls.cert })).toThrow(/serverName is required/);
    expect(() => dialQuic('quic://localhost:7777', { serverName: '127.0.0.1' })).toThrow(/serverName must be a name/);
  });
});

describeQuic('a listener', () => {
  test('refuses other application protocols', async () => {
    const url = new URL((await listening()).replace('quic:', 'http:'));
    const { ca, serverName } = TRUST;
    const attempt = quicDriver().connect({
      ...{ address: '127.0.0.1', port: Number(url.port), ca, serverName, protocol: 'other', onError: () => {} },
      ...{ idleTimeoutMs: 3000, keepAliveMs: 1000, timeoutMs: 3000 },
    });
    await expect(attempt).rejects.toThrow('it does not speak this protocol');
  });

  test('is limited to this machine without a token, and reports a port in use', async () => {
    const url = await listening();
    const port = Number(/\d+$/.exec(url)![0]);
    await expect(listening({ port })).rejects.toMatchObject({ code: 'in-use' });
    await expect(listening({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'no-token' });
    await expect(listening({ host: '192.0.2.1', insecure: true })).rejects.toMatchObject({ code: 'cannot-listen' });
  });

  test('requires its token in session.open', async () => {
    const url = await listening({ host: '0.0.0.0', token: 'secret' });
    const here = url.replace('0.0.0.0', '127.0.0.1');
    for (const token of ['wrong', undefined])
      await expect(connectQuic(here, { ...TRUST, token, reconnect: false })).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
      });
    const client = await connecting(here, { token: 'secret' });
    expect(await client.invoke('add', { a: 1, b: 2 }).result()).toBe(3);
  });

  test('ends a stream whose message is too long, and no other', async () => {
    const url = await listening({ maxMessageBytes: 2000 });
    const dial = dialQuic(url, TRUST);
    const [one, other] = [new Wire(await dial()), new Wire(await dial())];
    await one.open();
    await other.open();
    one.send('tool.invoke', { tool: 'echo', arguments: { text: 'x'.repeat(3000) } });
    await one.ended();
    const sent = other.send('tool.invoke', { tool: 'add', arguments: { a: 1, b: 2 } });
    expect((await other.answer('tool.result', sent)).payload.result).toBe(3);
    other.channel.destroy();
  });

  test('frees its port when it is closed', async () => {
    const served = runtime();
    const { port, close } = await listenQuic(served, { driver: quicDriver(), tls, port: 0 });
    const wire = new Wire(await dialQuic(`quic://127.0.0.1:${port}`, TRUST)());
    await wire.open();
    let isFree = false;
    const closed = close().then(() => {
      isFree = true;
    });
    // An open connection stays open.
    const sent = wire.send('tool.invoke', { tool: 'add', arguments: { a: 1, b: 2 } });
    await wire.answer('tool.result', sent);
    expect(isFree).toBe(false);
    await served.close();
    await wire.ended();
    await closed;
    const socket = createSocket('udp4').bind(port, '127.0.0.1');
    await once(socket, 'listening');
    socket.close();
  });

  test('refuses invalid options', async () => {
    const served = runtime();
    const driver = quicDriver();
    const wrong: readonly [object, string][] = [
      [{ driver: {}, tls }, 'driver must be'],
      [{ driver, tls: { key: 'k', cert: tls.cert } }, 'tls is invalid'],
      [{ driver, tls: { key: tls.key } }, 'tls must be { key, cert }'],
      [{ driver, tls, maxStreams: 0 }, 'maxStreams must be at least 1'],
      [{ driver, tls, idleTimeoutMs: -1 }, 'idleTimeoutMs must be a positive number'],
      [{ driver, tls, port: 70_000 }, 'port must be an integer'],
    ];
    for (const [options, message] of wrong)
      await expect(listenQuic(served, options as Parameters<typeof listenQuic>[1])).rejects.toThrow(message);
    expect(() => matrixQuic({} as never)).toThrow(TypeError);
  });
});

describeQuic('an address', () => {
  test.each(['quic://localhost', 'http://localhost:1', 'quic:localhost', 'quic://localhost:1/path', ''])(
    'is refused: %j',
    (address) => {
      expect(() => dialQuic(address)).toThrow('address must be quic://HOST:PORT');
    },
  );

  test('needs authorities in PEM', () => {
    expect(() => dialQuic('quic://localhost:1', { ca: '/etc/ssl/ca.pem' })).toThrow('ca must be in PEM');
  });

  test('on which nothing listens is unavailable', async () => {
    const failed = connectQuic('quic://127.0.0.1:9', { ...TRUST, handshakeTimeoutMs: 200, reconnect: false });
    await expect(failed).rejects.toMatchObject({
      code: 'closed',
      message: expect.stringContaining('the other side does not answer'),
    });
  });
});

describeQuic('channels of one process', () => {
  test('share a connection, and open another one when it has no more streams', async () => {
    const url = await listening({ maxStreams: 2 });
    const relay = await udpRelay(Number(/\d+$/.exec(url)![0]));
    // After the listener, which waits for the end of its connections.
    ending.unshift(relay.close);
    const dial = dialQuic(`quic://127.0.0.1:${relay.port}`, TRUST);
    const clients = await Promise.all([openClient(dial), openClient(dial)]);
    expect(relay.clients()).toBe(1);
    clients.push(await openClient(dial));
    expect(relay.clients()).toBe(2);
    for (const [n, client] of clients.entries())
      expect(await client.invoke('add', { a: n, b: 1 }).result()).toBe(n + 1);
    await Promise.all(clients.map((client) => client.close()));
  });
});
