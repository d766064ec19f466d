/** Connections that are lost: nothing of the conversation is, and nothing is repeated. */
import { describe, expect, test } from 'vitest';
import type { Link } from '../../../src/accp/bindings/websocket/index.js';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { numbers, req, worldsBehindProxies } from './websocket-world.js';

const through = worldsBehindProxies();

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A small generator of pseudo-random numbers below a bound, for places to cut at (Park and Miller). */
function places(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

describe('a connection that is cut', () => {
  test.each(numbers(6).map((seed) => [seed + 1]))('both ways, again and again, at any byte (seed %i)', async (seed) => {
    const there: number[] = [];
    const { connect, sockets, proxy } = await through(({ payload }: Message) => {
      there.push(payload['n'] as number);
      return null;
    });
    const here: number[] = [];
    const link = await connect({ port: proxy.port });
    const reading = (async () => {
      for await (const { payload } of link.messages) {
        here.push(payload['n'] as number);
        if (here.length === 60) return;
      }
    })();
    const next = places(seed);
    const said = (async () => {
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
    await Promise.all([said, answered]);
    // What was lost at the very end shows when one of them says something.
    while (there.length < 60 || here.length < 60) {
      await link.send({ intent: 'ping', operation: 'heartbeat', payload: {} });
      await sockets.send(link.session.id, { intent: 'ping', operation: 'heartbeat', payload: {} });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await reading;
    expect(there).toEqual(numbers(60));
    expect(here).toEqual(numbers(60));
    expect(proxy.connections()).toBeGreaterThan(1);
  });

  test('while requests wait: each is answered, and was asked once', async () => {
    const asked = new Map<number, number>();
    const wake: (() => void)[] = [];
    const { connect, proxy } = await through(async ({ payload }: Message) => {
      const n = payload['n'] as number;
      asked.set(n, (asked.get(n) ?? 0) + 1);
      await new Promise<void>((resolve) => wake.push(resolve));
      return { intent: 'done', operation: 'echo', payload };
    });
    const states: string[] = [];
    const link = await connect({ port: proxy.port, onState: (state) => states.push(state) });
    const answers = numbers(20).map((n) => link.request(req({ n })));
    while (wake.length < 20) await turn();
    proxy.cut();
    // Answered while nobody is there.
    for (const one of wake) one();
    expect((await Promise.all(answers)).map(({ payload }) => payload['n'])).toEqual(numbers(20));
    expect([...asked.values()]).toEqual(numbers(20).map(() => 1));
    expect(states).toEqual(['open', 'reconnecting', 'open']);
  });

  test('in the middle of a stream: every chunk comes, once', async () => {
    const { connect, proxy } = await through(({ intent, envelope }: Message) => {
      if (intent !== 'req') return null;
      async function* source(): AsyncGenerator<string> {
        for (const n of numbers(200)) {
          yield ` ${n}`;
          await turn();
        }
      }
      return streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
    });
    const link: Link = await connect({ port: proxy.port });
    let text = '';
    for await (const { data } of link.stream(req({ n: 1 }))) {
      text += data;
      if (/ (?:20|90|150)$/.test(text)) proxy.cut();
    }
    expect(text.trim().split(' ').map(Number)).toEqual(numbers(200));
  });

  test('without a word: the heartbeat finds out, and the conversation goes on', async () => {
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

  test('by a restart of the client, whose session lies in a file', async () => {
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
      // Nobody knows how far that has come.
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

describe('a reader that is slow', () => {
  test('keeps the server from making more than it can send', async () => {
    let made = 0;
    const { connect, proxy } = await through(
      ({ intent, envelope }: Message) => {
        if (intent !== 'req') return null;
        async function* source(): AsyncGenerator<string> {
          for (const _ of numbers(100_000)) {
            made++;
            yield 'x'.repeat(90);
          }
        }
        return streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
      },
      { highWaterMark: 16_384 },
    );
    const link = await connect({ port: proxy.port });
    const chunks = link.stream(req({ n: 1 }))[Symbol.asyncIterator]();
    await chunks.next();
    proxy.freeze();
    let before = -1;
    while (made !== before) {
      before = made;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    // A quarter of the frames that are kept to be sent again, and what was read already.
    expect(made).toBeLessThan(2000);
    await link.close();
  });
});
