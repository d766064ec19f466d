/** A transport's end is not the stream's end: WebSockets, through a proxy that cuts them. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Link } from '../../../src/accp/bindings/websocket/index.js';
import { type Message, type Session, streamMessages } from '../../../src/accp/codec/index.js';
import { behind, cuttingProxy, frameEnds, SOCKET_ENDINGS } from '../../helpers/cutting-proxy.js';
import { numbers, openWorld, req, type World } from './websocket-world.js';

const open: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function world(...args: Parameters<typeof openWorld>): Promise<World> {
  const made = await openWorld(...args);
  open.push(made);
  return made;
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
  return streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
};

interface Read {
  readonly taken: readonly unknown[];
  /** The code of the error, or `ended`. */
  readonly end: string | undefined;
}

async function read(chunks: AsyncIterable<{ readonly data: unknown }>, delay = 0): Promise<Read> {
  const taken: unknown[] = [];
  try {
    for await (const { data } of chunks) {
      taken.push(data);
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    }
  } catch (thrown) {
    return { taken, end: (thrown as { code?: string }).code };
  }
  return { taken, end: 'ended' };
}

const ALL = numbers(COUNT).map((n) => `w${n}`);

describe.each(SOCKET_ENDINGS)('a stream over a connection that ends by %s', (ending) => {
  async function connect(what: string, more: number, options: object): Promise<Link> {
    const { port, connect } = await world(streaming);
    const proxy = await cuttingProxy({ target: port, listen: 0, ending, cut: behind(frameEnds, what, more) });
    open.push(proxy);
    return connect({ port: Number(proxy.place), ...options });
  }

  describe.each([
    ['between two messages', 0],
    ['inside a message', 25],
  ])('%s', (_, more) => {
    test('goes on, without loss or repetition', async () => {
      const link = await connect('idx:7', more, {});
      expect(await read(link.stream(req({ n: 1 })))).toEqual({ taken: ALL, end: 'ended' });
    });

    test('and is not made again fails behind what has come', async () => {
      const link = await connect('idx:7', more, { reconnect: false });
      const { taken, end } = await read(link.stream(req({ n: 1 })));
      expect(end).toBe('unreachable');
      expect(taken).toEqual(ALL.slice(0, taken.length));
      if (ending === 'fin') expect(taken).toHaveLength(8);
    });
  });

  test('behind the final chunk has ended, also for a reader that is slow', async () => {
    const link = await connect('done:true', 0, { reconnect: false });
    const { taken, end } = await read(link.stream(req({ n: 1 })), 2);
    if (ending === 'fin') expect({ taken, end }).toEqual({ taken: ALL, end: 'ended' });
  });
});

test('a stream from a server that closes the connection properly fails behind what has come', async () => {
  const { connect, sockets } = await world(({ intent, envelope }) => {
    if (intent !== 'req') return null;
    async function* source(): AsyncGenerator<string> {
      yield* ['w0', 'w1', 'w2'];
      await new Promise(() => undefined);
    }
    return streamMessages(source(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'infer' });
  });
  const link = await connect({ reconnect: false });
  const taken: unknown[] = [];
  const reading = (async () => {
    for await (const { data } of link.stream(req({ n: 1 }))) {
      taken.push(data);
      // One is held back until it is known whether it is the last.
      if (taken.length === 2) void sockets.close();
    }
  })();
  await expect(reading).rejects.toMatchObject({ name: 'LinkError' });
  expect(taken).toEqual(['w0', 'w1']);
});

describe('a stream that a client sends', () => {
  /** What the handler of a server has read of the stream. */
  async function sent(leave: (link: Link, server: World) => unknown, options: object = {}) {
    let told!: (heard: Read) => void;
    const heard = new Promise<Read>((resolve) => {
      told = resolve;
    });
    const server = await world(({ intent, envelope, payload }, { session }: { readonly session: Session }) => {
      if (intent === 'stream' && payload['chunk_index'] === 0)
        void read(session.stream(envelope.correlation_id!)).then(told);
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
    return { heard, link, chunk };
  }

  test('that leaves in the middle fails for its reader, at once', { timeout: 5000 }, async () => {
    const { heard } = await sent((link) => link.close());
    expect(await heard).toEqual({ taken: ['w0', 'w1'], end: 'E3003' });
  });

  test('that is cut off fails for its reader once the client is not expected back', { timeout: 5000 }, async () => {
    const drop = async (link: Link, { server }: World): Promise<void> => {
      // What was sent before has come by then.
      await link.request(req({ n: 1 }));
      for (const client of server.clients) client.terminate();
    };
    const { heard } = await sent(drop, { resumeWindowMs: 50 });
    expect(await heard).toEqual({ taken: ['w0', 'w1'], end: 'E3003' });
  });

  test('to its end, and then leaves, has ended', async () => {
    const { heard, link, chunk } = await sent(() => undefined);
    await link.send(chunk(2, true));
    await link.close();
    expect(await heard).toEqual({ taken: ['w0', 'w1', 'w2'], end: 'ended' });
  });
});
