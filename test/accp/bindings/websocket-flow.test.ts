/** Limits how far one side runs ahead of the other: to the frames that can be sent again, and to those that are read. */
import { describe, expect, test } from 'vitest';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { codec, numbers, type openWorld, req, worldsBehindProxies } from './websocket-world.js';

const through = worldsBehindProxies();
const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Answers a request with a stream of numbers, and counts them. */
function counting(count: number): { handle: Parameters<typeof openWorld>[0]; made: () => number } {
  let made = 0;
  async function* source(): AsyncGenerator<string> {
    for (const n of numbers(count)) {
      made++;
      yield ` ${n}`;
    }
  }
  return {
    made: () => made,
    handle: ({ intent, envelope }: Message) =>
      intent === 'req'
        ? streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' })
        : null,
  };
}

/** Resolves when a number no longer changes. */
async function settled(number: () => number): Promise<number> {
  let before = -1;
  while (number() !== before) {
    before = number();
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return before;
}

/** Sessions with a small outbox, so that few frames fill it. */
const FEW = { maxOutbox: 32 };

describe('more messages than the outbox keeps', () => {
  test('wait for earlier ones: a cut loses none of the client', async () => {
    const there: number[] = [];
    const { connect, proxy } = await through(({ payload }: Message) => {
      there.push(payload['n'] as number);
      return null;
    });
    const session = createSession({ agent: 'client', sequence: 'sender', ...FEW });
    const errors: Error[] = [];
    const link = await connect({ port: proxy.port, session, onError: (error) => errors.push(error) });
    for (const part of [0, 1, 2]) {
      proxy.freeze();
      const said = numbers(200).map((n) => link.send(note(part * 200 + n)));
      await pause();
      proxy.thaw();
      proxy.cut();
      await Promise.all(said);
    }
    await link.request(req({ n: 600 }), { signal: AbortSignal.timeout(100) }).catch(() => undefined);
    while (there.length < 601) await pause();
    expect(there).toEqual(numbers(601));
    expect(errors.filter((error) => (error as { code?: string }).code === 'lost')).toEqual([]);
  });

  test('wait for earlier ones: a cut loses none of a stream of the server', async () => {
    const { handle } = counting(600);
    const { connect, proxy } = await through(handle, {}, { session: FEW });
    const link = await connect({ port: proxy.port });
    const heard: number[] = [];
    for await (const { data } of link.stream(req({ n: 1 }))) {
      heard.push(Number(data));
      if (heard.length % 150 !== 50) continue;
      proxy.freeze();
      setTimeout(() => {
        proxy.thaw();
        proxy.cut();
      }, 20);
    }
    expect(heard).toEqual(numbers(600));
  });

  test('losses that happen nevertheless are reported', async () => {
    const { connect, sockets } = await through();
    const session = createSession({ agent: 'client', sequence: 'sender', maxOutbox: 4 });
    const told: unknown[] = [];
    const link = await connect({ session, onError: (error) => told.push((error as { code?: string }).code) });
    // Bypasses the link: these frames are never sent.
    for (const n of numbers(10)) codec.encode(note(n), session);
    await link.request(req({ n: 1 }));
    expect(told).toContain('lost');
    expect(sockets.connected()).toEqual([session.id]);
  });
});

describe('messages that are sent without awaiting each', () => {
  test('arrive in that order, whatever happens to the connection', async () => {
    const there: number[] = [];
    const here: number[] = [];
    const { connect, proxy, sockets } = await through(({ payload }: Message) => {
      there.push(payload['n'] as number);
      return null;
    });
    const link = await connect({ port: proxy.port, highWaterMark: 500 });
    const reading = (async () => {
      for await (const { payload } of link.messages) if (here.push(payload['n'] as number) === 300) return;
    })();
    const said: Promise<unknown>[] = [];
    for (const n of numbers(300)) {
      said.push(link.send(note(n)), sockets.send(link.session.id, note(n)));
      if (n % 100 === 50) proxy.cut();
      if (n % 10 === 0) await pause();
    }
    await Promise.all(said);
    await reading;
    while (there.length < 300) await pause();
    expect(there).toEqual(numbers(300));
    expect(here).toEqual(numbers(300));
  });
});

describe('a reader that is slow', () => {
  test('of messages pauses the server, also over new connections, and misses nothing', async () => {
    const { connect, proxy, sockets } = await through();
    const link = await connect({ port: proxy.port });
    const messages = link.messages[Symbol.asyncIterator]();
    const first = messages.next();
    await sockets.send(link.session.id, note(0));
    await first;
    let sent = 1;
    const sending = (async () => {
      for (; sent < 2000; sent++) await sockets.send(link.session.id, note(sent));
    })();
    for (const _ of numbers(3)) {
      expect(await settled(() => sent)).toBeLessThan(1000);
      const before = proxy.connections();
      proxy.cut();
      while (proxy.connections() === before || link.state !== 'open') await pause();
    }
    const heard = [0];
    while (heard.length < 2000) heard.push((await messages.next()).value!.payload['n'] as number);
    await sending;
    expect(heard).toEqual(numbers(2000));
  });

  test('of a stream pauses its source, and the stream does not fail', async () => {
    const { handle, made } = counting(3000);
    const { connect } = await through(handle);
    const link = await connect();
    const chunks = link.stream(req({ n: 1 }))[Symbol.asyncIterator]();
    const heard = [Number((await chunks.next()).value!.data)];
    expect(await settled(made)).toBeLessThan(1500);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
      heard.push(Number(next.value.data));
    expect(heard).toEqual(numbers(3000));
  });

  test('that leaves a stream cancels it at the server, which stops', async () => {
    let stopped!: () => void;
    const stop = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const { connect } = await through(({ intent, envelope }: Message, { signal }) => {
      if (intent !== 'req') return null;
      signal.addEventListener('abort', () => stopped());
      async function* source(): AsyncGenerator<string> {
        for (;;) {
          yield 'again';
          await pause();
        }
      }
      return streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
    });
    const link = await connect();
    for await (const _ of link.stream(req({ n: 1 }))) break;
    await stop;
  });
});
