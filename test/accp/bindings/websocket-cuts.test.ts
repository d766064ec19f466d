/** Connections that are lost: no message is lost or repeated. */
import { describe, expect, test } from 'vitest';
import type { Link } from '../../../src/accp/bindings/websocket/index.js';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { numbers, req, serversBehindProxies } from './websocket-fixture.js';

const through = serversBehindProxies();

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Generates pseudo-random numbers below a bound, for positions of cuts (Park and Miller). */
function places(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

describe('a connection that is cut', () => {
  test.each(numbers(6).map((seed) => [seed + 1]))(
    'in both directions, again and again, at any byte (seed %i)',
    async (seed) => {
      const onServer: number[] = [];
      const { connect, sockets, proxy } = await through(({ payload }: Message) => {
        onServer.push(payload['n'] as number);
        return null;
      });
      const onClient: number[] = [];
      const link = await connect({ port: proxy.port });
      const reading = (async () => {
        for await (const { payload } of link.messages) {
          onClient.push(payload['n'] as number);
          if (onClient.length === 60) return;
        }
      })();
      const next = places(seed);
      const sending = (async () => {
        for (const n of numbers(60)) await link.send({ intent: 'sync', operation: 'note', payload: { n } });
      })();
      const answered = (async () => {
        for (const n of numbers(60))
          await sockets.send(link.session.id, { intent: 'sync', operation: 'note', payload: { n } });
      })();
      for (let cuts = 0; cuts < 8; cuts++) {
        proxy.cutAfter(next(1500));
        const before = proxy.connections();
        for (let turns = 0; turns < 2000 && proxy.connections() === before; turns++) await turn();
      }
      await Promise.all([sending, answered]);
      // The loss of the last frames shows when one of the sides sends another.
      while (onServer.length < 60 || onClient.length < 60) {
        await link.send({ intent: 'ping', operation: 'heartbeat', payload: {} });
        await sockets.send(link.session.id, { intent: 'ping', operation: 'heartbeat', payload: {} });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await reading;
      expect(onServer).toEqual(numbers(60));
      expect(onClient).toEqual(numbers(60));
      expect(proxy.connections()).toBeGreaterThan(1);
    },
  );

  test('while requests wait: each is answered, and was sent once', async () => {
    const counts = new Map<number, number>();
    const wake: (() => void)[] = [];
    const { connect, proxy } = await through(async ({ payload }: Message) => {
      const n = payload['n'] as number;
      counts.set(n, (counts.get(n) ?? 0) + 1);
      await new Promise<void>((resolve) => wake.push(resolve));
      return { intent: 'done', operation: 'echo', payload };
    });
    const states: string[] = [];
    const link = await connect({ port: proxy.port, onState: (state) => states.push(state) });
    const answers = numbers(20).map((n) => link.request(req({ n })));
    while (wake.length < 20) await turn();
    proxy.cut();
    // Answered while no client is connected.
    for (const one of wake) one();
    expect((await Promise.all(answers)).map(({ payload }) => payload['n'])).toEqual(numbers(20));
    expect([...counts.values()]).toEqual(numbers(20).map(() => 1));
    expect(states).toEqual(['open', 'reconnecting', 'open']);
  });

  test('in the middle of a stream: every chunk arrives, once', async () => {
    const { connect, proxy } = await through(({ intent, envelope }: Message) => {
      if (intent !== 'req') return null;
      async function* source(): AsyncGenerator<string> {
        for (const n of numbers(200)) {
          yield ` ${n}`;
          await turn();
        }
      }
      return streamMessages(source(), {
        correlationId: envelope.correlation_id ?? envelope.msg_id,
        operation: 'infer',
      });
    });
    const link: Link = await connect({ port: proxy.port });
    let text = '';
    for await (const { data } of link.stream(req({ n: 1 }))) {
      text += data;
      if (/ (?:20|90|150)$/.test(text)) proxy.cut();
    }
    expect(text.trim().split(' ').map(Number)).toEqual(numbers(200));
  });

  test('silently: the heartbeat detects it, and the conversation continues', async () => {
    const { connect, proxy, sockets } = await through(undefined, { heartbeatMs: 50, maxMissed: 2 });
    const states: string[] = [];
    const link = await connect({
      ...{ port: proxy.port, heartbeatMs: 50, maxMissed: 2, handshakeTimeoutMs: 200 },
      onState: (state) => states.push(state),
    });
    proxy.freeze();
    const answer = link.request(req({ n: 1 }));
    while (!states.includes('reconnecting')) await new Promise((resolve) => setTimeout(resolve, 5));
    while (sockets.connected().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    proxy.thaw();
    expect((await answer).payload).toEqual({ n: 1 });
  });

  test('by a restart of the client, whose session is in a file', async () => {
    const { mkdtempSync, rmSync } = await import('node:fs');
    const { tmpdir } = await import('node:os');
    const { sqliteStore } = await import('../../../src/accp/store/sqlite.js');
    const folder = mkdtempSync(`${tmpdir()}/pegwire-cuts-`);
    const seen: unknown[] = [];
    const { connect, proxy } = await through(({ payload }: Message) => {
      seen.push(payload['n']);
      return null;
    });
    const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });
    for (const n of numbers(4)) {
      const store = await sqliteStore(`${folder}/client.db`);
      const session = createSession({ agent: 'client', id: 'kept', sequence: 'sender', store });
      const link = await connect({ port: proxy.port, session, reconnect: false });
      await link.send(note(n));
      // The progress at that point is unknown.
      proxy.cut();
      await link.closed;
      session.close();
      store.close();
    }
    const store = await sqliteStore(`${folder}/client.db`);
    const session = createSession({ agent: 'client', id: 'kept', sequence: 'sender', store });
    const link = await connect({ port: proxy.port, session });
    await link.send(note(4));
    while (seen.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(seen).toEqual(numbers(5));
    await link.close();
    session.close();
    store.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('a slow reader', () => {
  test('keeps the server from making more than it can send', async () => {
    let produced = 0;
    const { connect, proxy } = await through(
      ({ intent, envelope }: Message) => {
        if (intent !== 'req') return null;
        async function* source(): AsyncGenerator<string> {
          for (const _ of numbers(100_000)) {
            produced++;
            yield 'x'.repeat(90);
          }
        }
        return streamMessages(source(), {
          correlationId: envelope.correlation_id ?? envelope.msg_id,
          operation: 'infer',
        });
      },
      { highWaterMark: 16_384 },
    );
    const link = await connect({ port: proxy.port });
    const chunks = link.stream(req({ n: 1 }))[Symbol.asyncIterator]();
    await chunks.next();
    proxy.freeze();
    let before = -1;
    while (produced !== before) {
      before = produced;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // A quarter of the frames in the outbox, and those that were read.
    expect(produced).toBeLessThan(2000);
    await link.close();
  });
});
