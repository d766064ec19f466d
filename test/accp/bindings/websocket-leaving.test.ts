/** Requests that are abandoned, and messages that are no longer read. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Message, streamMessages } from '../../../src/accp/codec/index.js';
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

/** Works on `hang` until its signal is aborted, and echoes other requests. */
function hanging(): {
  readonly handle: Parameters<typeof startServer>[0];
  readonly live: () => number;
  started: () => number;
} {
  let live = 0;
  let started = 0;
  return {
    live: () => live,
    started: () => started,
    handle: ({ intent, operation, payload }, { signal }) => {
      if (intent !== 'req') return null;
      if (operation !== 'hang') return { intent: 'done', operation, payload };
      live++;
      started++;
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          live--;
          resolve(null);
        }),
      );
    },
  };
}

const HANG = { intent: 'req', operation: 'hang', payload: {} };
const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('requests beyond the limit of the handler', () => {
  test('wait, and never reach the handler if they are abandoned; the cancellation of those before them does', async () => {
    const { handle, live, started } = hanging();
    const { connect } = await openServer(handle, { maxInFlight: 4 });
    const link = await connect();
    const controllers = numbers(10).map(() => new AbortController());
    const outcomes = controllers.map(({ signal }) =>
      link.request(HANG, { signal }).catch((error: Error) => error.name),
    );
    await until(() => live() === 4);
    const echo = link.request(req({ n: 1 }));
    // All but the first four are abandoned while they wait.
    for (const controller of controllers.slice(4)) controller.abort();
    for (const controller of controllers.slice(0, 4)) controller.abort();
    expect(await Promise.all(outcomes)).toEqual(Array(10).fill('AbortError'));
    expect((await echo).payload).toEqual({ n: 1 });
    await until(() => live() === 0);
    expect(started()).toBe(4);
  });

  test('are handled in order', async () => {
    const order: number[] = [];
    let working = 0;
    let most = 0;
    const handle = async ({ intent, operation, payload }: Message) => {
      if (intent !== 'req') return null;
      most = Math.max(most, ++working);
      order.push(payload['n'] as number);
      await new Promise((resolve) => setTimeout(resolve, 1));
      working--;
      return { intent: 'done', operation, payload };
    };
    const { connect } = await openServer(handle, { maxInFlight: 3 });
    const link = await connect();
    await Promise.all(numbers(100).map((n) => link.request(req({ n }))));
    expect(order).toEqual(numbers(100));
    expect(most).toBe(3);
  });

  test('leave no listeners on a shared signal', async () => {
    const { handle, live } = hanging();
    const { connect } = await openServer(handle);
    const warnings: string[] = [];
    const warn = ({ name }: Error): number => warnings.push(name);
    process.on('warning', warn);
    const link = await connect();
    const outcomes = numbers(20).map(() => link.request(HANG).catch((error: Error) => error.name));
    await until(() => live() === 20);
    await link.close();
    await Promise.all(outcomes);
    await until(() => live() === 0);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });
});

describe('a stream', () => {
  test('is left before its next chunk has arrived, and is cancelled at the server', async () => {
    const { handle, live } = hanging();
    const { connect } = await openServer(handle);
    const chunks = (await connect()).stream(HANG)[Symbol.asyncIterator]();
    const next = chunks.next();
    await until(() => live() === 1);
    await chunks.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await until(() => live() === 0);
  });

  test('is aborted by a signal, whose reason its reader gets', async () => {
    const { handle, live } = hanging();
    const { connect } = await openServer(handle);
    const link = await connect();
    const controller = new AbortController();
    const next = link.stream(HANG, { signal: controller.signal })[Symbol.asyncIterator]().next();
    await until(() => live() === 1);
    controller.abort(new Error('changed my mind'));
    await expect(next).rejects.toThrow('changed my mind');
    await until(() => live() === 0);
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('that was never requested, since there is no connection, is left and never requested', async () => {
    const { handle, started } = hanging();
    const { connect, server, port } = await openServer(handle);
    const link = await connect({ reconnect: { minDelayMs: 200, maxDelayMs: 200 } });
    for (const client of server.clients) client.terminate();
    await until(() => link.state === 'reconnecting');
    const chunks = link.stream(HANG)[Symbol.asyncIterator]();
    const next = chunks.next();
    await chunks.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    expect((await link.request(req({ port }))).payload).toEqual({ port });
    expect(started()).toBe(0);
  });

  test('of which all chunks have arrived leaves nothing for readers of messages', async () => {
    async function* words(): AsyncGenerator<string> {
      yield 'a';
      yield 'b';
    }
    const { connect } = await openServer(({ intent, envelope }) =>
      intent === 'req'
        ? streamMessages(words(), { correlationId: envelope.correlation_id ?? envelope.msg_id, operation: 'hang' })
        : null,
    );
    const link = await connect();
    const read: unknown[] = [];
    for await (const { data } of link.stream(HANG)) read.push(data);
    expect(read).toEqual(['a', 'b']);
    await link.send({ intent: 'ping', operation: 'heartbeat', payload: {} });
    await link.close();
    const remaining: Message[] = [];
    for await (const message of link.messages) remaining.push(message);
    expect(remaining).toEqual([]);
  });
});

test('an abandoned correlation_id can be used again', async () => {
  const { handle, live } = hanging();
  const { connect } = await openServer(handle);
  const link = await connect();
  const envelope = { correlation_id: 'chain1' };
  const controller = new AbortController();
  const outcomes = link
    .request({ ...HANG, envelope }, { signal: controller.signal })
    .catch((error: Error) => error.name);
  await until(() => live() === 1);
  controller.abort();
  expect(await outcomes).toBe('AbortError');
  await until(() => live() === 0);
  // The peer rejects messages of a cancelled chain: that is an answer.
  await expect(link.request({ ...req({ n: 1 }), envelope })).rejects.toMatchObject({ code: 'E5001' });
});

describe('messages', () => {
  const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });

  test('that are no longer read do not pause the connection', async () => {
    const { connect, sockets } = await openServer();
    const link = await connect({ onError: () => undefined });
    await sockets.send(link.session.id, note(0));
    for await (const { payload } of link.messages) {
      expect(payload).toEqual({ n: 0 });
      break;
    }
    for (const n of numbers(400)) await sockets.send(link.session.id, note(n));
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('go to the first of several readers that asks, and none waits forever', async () => {
    const { connect, sockets } = await openServer();
    const link = await connect();
    const readers = [link.messages[Symbol.asyncIterator](), link.messages[Symbol.asyncIterator]()];
    const both = readers.map((reader) => reader.next());
    await sockets.send(link.session.id, note(1));
    await sockets.send(link.session.id, note(2));
    const read = await Promise.all(both);
    expect(read.map(({ value }) => (value as Message).payload)).toEqual([{ n: 1 }, { n: 2 }]);
    const ends = readers.map((reader) => reader.next());
    await link.close();
    expect(await Promise.all(ends)).toEqual(Array(2).fill({ done: true, value: undefined }));
  });
});
