/** Connections that begin, end, and begin again, at awkward moments. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { connectWebSocket, type Link } from '../../../src/accp/bindings/websocket/index.js';
import { createCodec, createSession, type Message } from '../../../src/accp/codec/index.js';
import { sqliteStore } from '../../../src/accp/store/sqlite.js';
import { cuttingProxy } from '../../helpers/cutting-proxy.js';
import { codec, echo, req, startServer } from './websocket-fixture.js';

const open: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});
const opened = <T extends { close: () => unknown }>(one: T): T => {
  open.push(one);
  return one;
};

const openServer = async (...args: Parameters<typeof startServer>) => opened(await startServer(...args));
const pause = (ms = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });
const newSession = () => createSession({ agent: 'client', sequence: 'sender' });

describe('a connection that cannot be established', () => {
  test.each<[string, () => WebSocket]>([
    ['the address is invalid', () => new WebSocket('ws://')],
    [
      'the socket cannot be created',
      () => {
        throw new Error('no network');
      },
    ],
  ])('because %s rejects without other effects', async (_, make) => {
    const failing = connectWebSocket(make, { codec, session: newSession(), handshakeTimeoutMs: 20 });
    await expect(failing).rejects.toMatchObject({ name: 'LinkError', code: 'unreachable' });
    // Long enough for a forgotten timer, which would end the process.
    await pause(60);
  });

  test('a session that the server cannot open is an error with its reason', async () => {
    const store = {
      durable: true,
      claim: () => {
        throw new Error('the disk is full');
      },
    };
    const { connect, errors } = await openServer(echo, {}, { session: { store: store as never } });
    const states: string[] = [];
    const failing = connect({ onState: (state) => states.push(state) });
    await expect(failing).rejects.toMatchObject({ name: 'LinkError', message: expect.stringContaining('E9999') });
    expect(states).toEqual(['closed']);
    expect(errors.map(({ message }) => message)).toContain('the disk is full');
  });

  test('a server that shuts down closes with 1001', async () => {
    const { connect, sockets } = await openServer();
    await sockets.close();
    await expect(connect()).rejects.toMatchObject({ code: 'unreachable', closeCode: 1001 });
  });
});

describe('a link', () => {
  test('that is closed while it reconnects stays closed', async () => {
    const { connect, port, sockets } = await openServer();
    const proxy = opened(await cuttingProxy({ target: port }));
    const states: string[] = [];
    const link = await connect({
      ...{ port: proxy.port, reconnect: { minDelayMs: 1, maxDelayMs: 1 } },
      onState: (state) => states.push(state),
    });
    proxy.cut();
    while (proxy.connections() < 2) await new Promise((resolve) => setImmediate(resolve));
    await link.close();
    await pause(100);
    expect(states).toEqual(['open', 'reconnecting', 'closed']);
    expect(link.state).toBe('closed');
    while (sockets.connected().length > 0) await pause();
  });

  test('that is closed by the listener of its opening is closed', async () => {
    const { connect, port, sockets } = await openServer();
    const proxy = opened(await cuttingProxy({ target: port }));
    const states: string[] = [];
    let link: Link | undefined;
    link = await connect({
      port: proxy.port,
      onState: (state) => {
        states.push(state);
        if (state === 'open') void link?.close();
      },
    });
    proxy.cut();
    expect(await link.closed).toBeUndefined();
    expect(states).toEqual(['open', 'reconnecting', 'open', 'closed']);
    while (sockets.connected().length > 0) await pause();
  });

  test('does not send requests that were abandoned before they could be sent', async () => {
    const requested: unknown[] = [];
    const { connect, port } = await openServer(({ intent, operation, payload }: Message) => {
      requested.push(payload['n'] ?? intent);
      return intent === 'req' ? { intent: 'done', operation, payload } : null;
    });
    const proxy = opened(await cuttingProxy({ target: port }));
    const link = await connect({ port: proxy.port });
    proxy.cut();
    while (link.state === 'open') await pause(1);
    const controller = new AbortController();
    const answer = link.request(req({ n: 1 }), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(answer).rejects.toThrow('enough');
    expect((await link.request(req({ n: 2 }))).payload).toEqual({ n: 2 });
    expect(requested).toEqual([2]);
  });

  test('has one request per correlation_id at a time', async () => {
    const { connect } = await openServer(() => new Promise(() => {}));
    const link = await connect();
    const request = { ...req({ n: 1 }), envelope: { correlation_id: 'c1' } };
    const first = link.request(request).catch((error) => error);
    await expect(link.request(request)).rejects.toThrow(TypeError);
    await link.close();
    expect(await first).toMatchObject({ code: 'closed' });
  });

  test('names the session on each connection, even if other frames do not', async () => {
    const { connect, port } = await openServer();
    const proxy = opened(await cuttingProxy({ target: port }));
    const link = await connect({ port: proxy.port, codec: createCodec({ sessionId: 'first' }) });
    for (const n of [1, 2, 3]) {
      expect((await link.request(req({ n }))).payload).toEqual({ n });
      proxy.cut();
    }
    expect((await link.request(req({ n: 4 }))).payload).toEqual({ n: 4 });
  });

  test('reports the warnings of its messages', async () => {
    const { connect } = await openServer();
    const noticed: unknown[] = [];
    const link = await connect({
      onNotice: ({ direction, warnings }) => noticed.push(...warnings.map(({ code }) => [direction, code])),
    });
    await link.request({ intent: 'req', operation: 'echo', payload: { text: 'word '.repeat(200) } });
    expect(noticed).toContainEqual(['sent', 'over-soft-limit']);
  });
});

describe('the server', () => {
  test('reports a message that cannot be encoded to its sender', async () => {
    const { connect, sockets } = await openServer();
    const link = await connect();
    const bad = sockets.send(link.session.id, { intent: 'sing', operation: 'note', payload: {} });
    await expect(bad).rejects.toMatchObject({ name: 'AccpError', code: 'E1002' });
    expect(await sockets.send(link.session.id, note(1))).toBe(true);
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('continues after a restart, with its sessions in a file: nothing is lost or repeated', async () => {
    const folder = mkdtempSync(`${tmpdir()}/pegwire-server-`);
    opened({ close: () => rmSync(folder, { recursive: true, force: true }) });
    const requested: unknown[] = [];
    const handle = ({ intent, operation, payload }: Message) => {
      if (intent !== 'req') return null;
      requested.push(payload['n']);
      return { intent: 'done', operation, payload };
    };
    let port = 0;
    let server: Awaited<ReturnType<typeof startServer>> | undefined;
    let store: Awaited<ReturnType<typeof sqliteStore>> | undefined;
    const stop = async (): Promise<void> => {
      await server?.close();
      store?.close();
      server = undefined;
      store = undefined;
    };
    const start = async (): Promise<void> => {
      store = await sqliteStore(`${folder}/server.db`);
      server = await startServer(handle, {}, { session: { store } });
      port = server.port;
    };
    opened({ close: stop });
    await start();
    const session = newSession();
    const link = await connectWebSocket(() => new WebSocket(`ws://127.0.0.1:${port}`, 'accp'), {
      ...{ codec, session, reconnect: { minDelayMs: 10, maxDelayMs: 50 } },
    });
    opened(link);
    for (const part of [0, 1, 2]) {
      const answers = [1, 2, 3].map((n) => link.request(req({ n: part * 3 + n })));
      expect((await Promise.all(answers)).map(({ payload }) => payload['n'])).toEqual(
        [1, 2, 3].map((n) => part * 3 + n),
      );
      await stop();
      await start();
    }
    expect(requested).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
