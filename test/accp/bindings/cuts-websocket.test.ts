/** The end of a transport is not the end of the stream: WebSockets, through a proxy that cuts them. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Link } from '../../../src/accp/bindings/websocket/index.js';
import { type Message, type Session, streamMessages } from '../../../src/accp/codec/index.js';
import { behind, cuttingProxy, frameEnds, SOCKET_ENDINGS } from '../../helpers/cutting-proxy.js';
import { numbers, req, type ServerFixture, startServer } from './websocket-fixture.js';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function openServer(...args: Parameters<typeof startServer>): Promise<ServerFixture> {
  const opened = await startServer(...args);
  open.push(opened);
  return opened;
}

const COUNT = 20;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const streaming = ({ intent, envelope }: Message) => {
  if (intent !== 'req') return null;
  async function* source(): AsyncGenerator<string> {
    for (const n of numbers(COUNT)) {
      yield `w${n}`;
      await turn();
    }
  }
  return streamMessages(source(), { correlationId: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
};

interface Read {
  readonly received: readonly unknown[];
  /** Returns the code of the error, or `ended`. */
  readonly end: string | undefined;
}

async function read(chunks: AsyncIterable<{ readonly data: unknown }>, delay = 0): Promise<Read> {
  const received: unknown[] = [];
  try {
    for await (const { data } of chunks) {
      received.push(data);
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    }
  } catch (thrown) {
    return { received, end: (thrown as { code?: string }).code };
  }
  return { received, end: 'ended' };
}

const ALL = numbers(COUNT).map((n) => `w${n}`);

describe.each(SOCKET_ENDINGS)('a stream over a connection that ends by %s', (ending) => {
  async function connect(what: string, more: number, options: object): Promise<Link> {
    const { port, connect } = await openServer(streaming);
    const proxy = await cuttingProxy({ target: port, listen: 0, ending, cut: behind(frameEnds, what, more) });
    open.push(proxy);
    return connect({ port: Number(proxy.place), ...options });
  }

  describe.each([
    ['between two messages', 0],
    ['inside a message', 25],
  ])('%s', (_, more) => {
    test('continues, without loss or repetition', async () => {
      const link = await connect('idx:7', more, {});
      expect(await read(link.stream(req({ n: 1 })))).toEqual({ received: ALL, end: 'ended' });
    });

    test('and is not reestablished fails after the chunks that have arrived', async () => {
      const link = await connect('idx:7', more, { reconnect: false });
      const { received, end } = await read(link.stream(req({ n: 1 })));
      expect(end).toBe('unreachable');
      expect(received).toEqual(ALL.slice(0, received.length));
      if (ending === 'fin') expect(received).toHaveLength(8);
    });
  });

  test('after the final chunk has ended, even for a slow reader', async () => {
    const link = await connect('done:true', 0, { reconnect: false });
    const { received, end } = await read(link.stream(req({ n: 1 })), 2);
    if (ending === 'fin') expect({ received, end }).toEqual({ received: ALL, end: 'ended' });
  });
});

test('a stream from a server that closes the connection properly fails after the chunks that have arrived', async () => {
  const { connect, sockets } = await openServer(({ intent, envelope }) => {
    if (intent !== 'req') return null;
    async function* source(): AsyncGenerator<string> {
      yield* ['w0', 'w1', 'w2'];
      await new Promise(() => undefined);
    }
    return streamMessages(source(), { correlationId: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
  });
  const link = await connect({ reconnect: false });
  const received: unknown[] = [];
  const reading = (async () => {
    for await (const { data } of link.stream(req({ n: 1 }))) {
      received.push(data);
      // One chunk is held back until it is known whether it is the last.
      if (received.length === 2) void sockets.close();
    }
  })();
  await expect(reading).rejects.toMatchObject({ name: 'LinkError' });
  expect(received).toEqual(['w0', 'w1']);
});

describe('a stream that a client sends', () => {
  /** The chunks that the handler of a server has read from the stream. */
  async function sent(leave: (link: Link, server: ServerFixture) => unknown, options: object = {}) {
    let report!: (outcome: Read) => void;
    const outcome = new Promise<Read>((resolve) => {
      report = resolve;
    });
    const server = await openServer(({ intent, envelope, payload }, { session }: { readonly session: Session }) => {
      if (intent === 'stream' && payload['chunk_index'] === 0)
        void read(session.stream(envelope.correlation_id!)).then(report);
      if (intent === 'req') return { intent: 'done', operation: 'echo', payload };
      return null;
    }, options);
    const link = await server.connect({ reconnect: false });
    const chunk = (index: number, isFinal: boolean) => ({
      ...{ intent: 'stream', operation: 'infer', schema: 'ST', envelope: { correlation_id: 'c1' } },
      payload: { chunk_index: index, data: `w${index}`, ...(isFinal ? { is_final: true } : {}) },
    });
    await link.send(chunk(0, false));
    await link.send(chunk(1, false));
    await leave(link, server);
    return { outcome, link, chunk };
  }

  test('that disconnects in the middle fails for its reader, at once', { timeout: 5000 }, async () => {
    const { outcome } = await sent((link) => link.close());
    expect(await outcome).toEqual({ received: ['w0', 'w1'], end: 'E3003' });
  });

  test('that is cut off fails for its reader after the resume window of the client', { timeout: 5000 }, async () => {
    const drop = async (link: Link, { server }: ServerFixture): Promise<void> => {
      // Earlier messages have arrived by then.
      await link.request(req({ n: 1 }));
      for (const client of server.clients) client.terminate();
    };
    const { outcome } = await sent(drop, { resumeWindowMs: 50 });
    expect(await outcome).toEqual({ received: ['w0', 'w1'], end: 'E3003' });
  });

  test('to its end, and then disconnects, has ended', async () => {
    const { outcome, link, chunk } = await sent(() => undefined);
    await link.send(chunk(2, true));
    await link.close();
    expect(await outcome).toEqual({ received: ['w0', 'w1', 'w2'], end: 'ended' });
  });
});
