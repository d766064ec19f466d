/** What is asked for and then not wanted any more, and messages that nobody reads any more. */
import { afterEach, describe, expect, test } from 'vitest';
import { type Message, streamMessages } from '../../../src/accp/codec/index.js';
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

/** Works on `hang` until it is told to stop, and says everything else back. */
function hanging(): {
  readonly handle: Parameters<typeof openWorld>[0];
  readonly live: () => number;
  begun: () => number;
} {
  let live = 0;
  let begun = 0;
  return {
    live: () => live,
    begun: () => begun,
    handle: ({ intent, operation, payload }, { signal }) => {
      if (intent !== 'req') return null;
      if (operation !== 'hang') return { intent: 'done', operation, payload };
      live++;
      begun++;
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

describe('requests beyond those that are worked on', () => {
  test('wait, and are never told when they are given up; what cancels those before them is', async () => {
    const { handle, live, begun } = hanging();
    const { connect } = await world(handle, { maxConcurrent: 4 });
    const link = await connect();
    const controllers = numbers(10).map(() => new AbortController());
    const given = controllers.map(({ signal }) => link.request(HANG, { signal }).catch((error: Error) => error.name));
    await until(() => live() === 4);
    const echo = link.request(req({ n: 1 }));
    // All but the first four are given up while they wait.
    for (const controller of controllers.slice(4)) controller.abort();
    for (const controller of controllers.slice(0, 4)) controller.abort();
    expect(await Promise.all(given)).toEqual(Array(10).fill('AbortError'));
    expect((await echo).payload).toEqual({ n: 1 });
    await until(() => live() === 0);
    expect(begun()).toBe(4);
  });

  test('come in their turn', async () => {
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
    const { connect } = await world(handle, { maxConcurrent: 3 });
    const link = await connect();
    await Promise.all(numbers(100).map((n) => link.request(req({ n }))));
    expect(order).toEqual(numbers(100));
    expect(most).toBe(3);
  });

  test('leave no listeners behind on a shared signal', async () => {
    const { handle, live } = hanging();
    const { connect } = await world(handle);
    const warnings: string[] = [];
    const warn = ({ name }: Error): number => warnings.push(name);
    process.on('warning', warn);
    const link = await connect();
    const given = numbers(20).map(() => link.request(HANG).catch((error: Error) => error.name));
    await until(() => live() === 20);
    await link.close();
    await Promise.all(given);
    await until(() => live() === 0);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });
});

describe('a stream', () => {
  test('is left before its next chunk has come, and the other side is told', async () => {
    const { handle, live } = hanging();
    const { connect } = await world(handle);
    const chunks = (await connect()).stream(HANG)[Symbol.asyncIterator]();
    const next = chunks.next();
    await until(() => live() === 1);
    await chunks.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    await until(() => live() === 0);
  });

  test('is given up by a signal, which is what its reader is told', async () => {
    const { handle, live } = hanging();
    const { connect } = await world(handle);
    const link = await connect();
    const controller = new AbortController();
    const next = link.stream(HANG, { signal: controller.signal })[Symbol.asyncIterator]().next();
    await until(() => live() === 1);
    controller.abort(new Error('changed my mind'));
    await expect(next).rejects.toThrow('changed my mind');
    await until(() => live() === 0);
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('that was never asked for, as there is no connection, is left, and never asked for', async () => {
    const { handle, begun } = hanging();
    const { connect, server, port } = await world(handle);
    const link = await connect({ reconnect: { minDelayMs: 200, maxDelayMs: 200 } });
    for (const client of server.clients) client.terminate();
    await until(() => link.state === 'reconnecting');
    const chunks = link.stream(HANG)[Symbol.asyncIterator]();
    const next = chunks.next();
    await chunks.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    expect((await link.request(req({ port }))).payload).toEqual({ port });
    expect(begun()).toBe(0);
  });

  test('of which all has come leaves nothing for those who read messages', async () => {
    async function* words(): AsyncGenerator<string> {
      yield 'a';
      yield 'b';
    }
    const { connect } = await world(({ intent, envelope }) =>
      intent === 'req'
        ? streamMessages(words(), { cid: envelope.correlation_id ?? envelope.msg_id, operation: 'hang' })
        : null,
    );
    const link = await connect();
    const read: unknown[] = [];
    for await (const { data } of link.stream(HANG)) read.push(data);
    expect(read).toEqual(['a', 'b']);
    await link.send({ intent: 'ping', operation: 'heartbeat', payload: {} });
    await link.close();
    const left: Message[] = [];
    for await (const message of link.messages) left.push(message);
    expect(left).toEqual([]);
  });
});

test('a correlation that was given up can be used again', async () => {
  const { handle, live } = hanging();
  const { connect } = await world(handle);
  const link = await connect();
  const envelope = { correlation_id: 'chain1' };
  const controller = new AbortController();
  const given = link.request({ ...HANG, envelope }, { signal: controller.signal }).catch((error: Error) => error.name);
  await until(() => live() === 1);
  controller.abort();
  expect(await given).toBe('AbortError');
  await until(() => live() === 0);
  // The other side refuses what belongs to a chain that was cancelled: that is an answer.
  await expect(link.request({ ...req({ n: 1 }), envelope })).rejects.toMatchObject({ code: 'E5001' });
});

describe('messages', () => {
  const note = (n: number) => ({ intent: 'sync', operation: 'note', payload: { n } });

  test('that are not read any more hold nothing up', async () => {
    const { connect, sockets } = await world();
    const link = await connect({ onError: () => undefined });
    await sockets.send(link.session.id, note(0));
    for await (const { payload } of link.messages) {
      expect(payload).toEqual({ n: 0 });
      break;
    }
    for (const n of numbers(400)) await sockets.send(link.session.id, note(n));
    expect((await link.request(req({ n: 1 }))).payload).toEqual({ n: 1 });
  });

  test('go to whichever of several readers asks first, and none waits for ever', async () => {
    const { connect, sockets } = await world();
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
