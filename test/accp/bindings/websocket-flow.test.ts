/** Limits how far one side runs ahead of the other: to the frames that can be sent again, and to those that are read. */
import { describe, expect, test } from 'vitest';
import { createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { codec, numbers, req, serversBehindProxies, type startServer } from './websocket-fixture.js';

const through = serversBehindProxies();
const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

/** Answers a request with a stream of numbers, and counts them. */
function counting(count: number): { handle: Parameters<typeof startServer>[0]; produced: () => number } {
  let produced = 0;
  async function* source(): AsyncGenerator<string> {
    for (const n of numbers(count)) {
      produced++;
      yield ` ${n}`;
    }
  }
  return {
    produced: () => produced,
    handle: ({ intent, envelope }: Message) =>
      intent === 'req'
        ? streamMessages(source(), { correlationId: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' })
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
    const onServer: number[] = [];
    const { connect, proxy } = await through(({ payload }: Message) => {
      onServer.push(payload['n'] as number);
      return null;
    });
    const session = createSession({ agent: 'client', sequence: 'sender', ...FEW });
    const errors: Error[] = [];
    const link = await connect({ port: proxy.port, session, onError: (error) => errors.push(error) });
    for (const part of [0, 1, 2]) {
      proxy.freeze();
      const sends = numbers(200).map((n) => link.send(note(part * 200 + n)));
      await pause();
      proxy.thaw();
      proxy.cut();
      await Promise.all(sends);
    }
    await link.request(req({ n: 600 }), { signal: AbortSignal.timeout(100) }).catch(() => undefined);
    while (onServer.length < 601) await pause();
    expect(onServer).toEqual(numbers(601));
    expect(errors.filter((error) => (error as { code?: string }).code === 'lost')).toEqual([]);
  });

  test('wait for earlier ones: a cut loses none of a stream of the server', async () => {
    const { handle } = counting(600);
    const { connect, proxy } = await through(handle, {}, { session: FEW });
    const link = await connect({ port: proxy.port });
    const received: number[] = [];
    for await (const { data } of link.stream(req({ n: 1 }))) {
      received.push(Number(data));
      if (received.length % 150 !== 50) continue;
      proxy.freeze();
      setTimeout(() => {
        proxy.thaw();
        proxy.cut();
      }, 20);
    }
    expect(received).toEqual(numbers(600));
  });

  test('losses that happen nevertheless are reported', async () => {
    const { connect, sockets } = await through();
    const session = createSession({ agent: 'client', sequence: 'sender', maxOutbox: 4 });
    const codes: unknown[] = [];
    const link = await connect({ session, onError: (error) => codes.push((error as { code?: string }).code) });
    // Bypasses the link: these frames are never sent.
    for (const n of numbers(10)) codec.encode(note(n), session);
    await link.request(req({ n: 1 }));
    expect(codes).toContain('lost');
    expect(sockets.connected()).toEqual([session.id]);
  });
});

describe('messages that are sent without awaiting each', () => {
  test('arrive in that order, whatever happens to the connection', async () => {
    const onServer: number[] = [];
    const onClient: number[] = [];
    const { connect, proxy, sockets } = await through(({ payload }: Message) => {
      onServer.push(payload['n'] as number);
      return null;
    });
    const link = await connect({ port: proxy.port, highWaterMark: 500 });
    const reading = (async () => {
      for await (const { payload } of link.messages) if (onClient.push(payload['n'] as number) === 300) return;
    })();
    const sends: Promise<unknown>[] = [];
    for (const n of numbers(300)) {
      sends.push(link.send(note(n)), sockets.send(link.session.id, note(n)));
      if (n % 100 === 50) proxy.cut();
      if (n % 10 === 0) await pause();
    }
    await Promise.all(sends);
    await reading;
    while (onServer.length < 300) await pause();
    expect(onServer).toEqual(numbers(300));
    expect(onClient).toEqual(numbers(300));
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
    const received = [0];
    while (received.length < 2000) received.push((await messages.next()).value!.payload['n'] as number);
    await sending;
    expect(received).toEqual(numbers(2000));
  });

  test('of a stream pauses its source, and the stream does not fail', async () => {
    const { handle, produced } = counting(3000);
    const { connect } = await through(handle);
    const link = await connect();
    const chunks = link.stream(req({ n: 1 }))[Symbol.asyncIterator]();
    const received = [Number((await chunks.next()).value!.data)];
    expect(await settled(produced)).toBeLessThan(1500);
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next())
      received.push(Number(next.value.data));
    expect(received).toEqual(numbers(3000));
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
      return streamMessages(source(), {
        correlationId: envelope.correlation_id ?? envelope.msg_id,
        operation: 'infer',
      });
    });
    const link = await connect();
    for await (const _ of link.stream(req({ n: 1 }))) break;
    await stop;
  });
});
