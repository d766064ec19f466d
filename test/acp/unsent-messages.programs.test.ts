/** On every transport, a message rejects if the other side ends while it waits to be written. */
import { createServer, type Socket } from 'node:net';
import process from 'node:process';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  byteChannel,
  type Channel,
  connectSocket,
  createConnection,
  memoryChannels,
  spawnAgent,
  toStream,
  webSocketChannel,
} from '../../src/acp/index.js';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0)) await end();
});

/** A channel whose other side does not read, and a function that ends that side. */
interface BlockedChannel {
  readonly channel: Channel;
  readonly disconnect: () => void;
}

const TRANSPORTS: Readonly<Record<string, () => Promise<BlockedChannel>>> = {
  memory: async () => {
    const [channel, other] = memoryChannels();
    return { channel, disconnect: () => other.destroy() };
  },
  'a socket': async () => {
    let peer: Socket | undefined;
    const server = createServer((socket) => {
      peer = socket.on('error', () => {}).pause();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    cleanups.push(() => server.close());
    const { port } = server.address() as { readonly port: number };
    const channel = await connectSocket({ host: '127.0.0.1', port });
    await expect.poll(() => peer).toBeDefined();
    return { channel, disconnect: () => peer!.resetAndDestroy() };
  },
  'a WebSocket': async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 2 ** 30 });
    cleanups.push(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    const channel = webSocketChannel(socket);
    const peer = await accepted;
    peer.pause();
    return { channel, disconnect: () => peer.terminate() };
  },
};

const BIG = { text: 'x'.repeat(16 * 1024 * 1024) };
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    ({ code }: { readonly code: string }) => code,
  );

test.each(Object.entries(TRANSPORTS))('a waiting notification rejects: %s', async (_, open) => {
  const { channel, disconnect } = await open();
  const connection = createConnection(channel, { maxBacklog: 2 ** 30 });
  cleanups.push(() => connection.close());
  const notified = outcome(connection.notify('note', BIG));
  const requested = outcome(connection.request('ask', BIG));
  await new Promise((resolve) => setTimeout(resolve, 50));
  disconnect();
  expect(await Promise.all([notified, requested])).toEqual(['closed', 'closed']);
  expect(await outcome(connection.notify('note'))).toBe('closed');
});

test.each(Object.entries(TRANSPORTS))(
  'a waiting message in the stream of the official SDK rejects: %s',
  async (_, open) => {
    const { channel, disconnect } = await open();
    const { writable, readable } = toStream(channel);
    const reading = readable.getReader().read();
    reading.catch(() => {});
    const writer = writable.getWriter();
    writer.closed.catch(() => {});
    const written = outcome(writer.write({ jsonrpc: '2.0', method: 'note', params: BIG } as never));
    await new Promise((resolve) => setTimeout(resolve, 50));
    disconnect();
    expect(await written).toBe('closed');
  },
);

/** Transports that fail without having accepted anything, although their buffers are not full. */
const FAILING: Readonly<Record<string, () => Channel | Parameters<typeof createConnection>[0]>> = {
  'a WebSocket that does not connect': () => webSocketChannel(new WebSocket('ws://127.0.0.1:1')),
  'a stream that fails immediately': () => streams({ highWaterMark: 1 }),
  'a stream with a large buffer that fails later': () => streams({ highWaterMark: 100 }),
  'a byte stream with a large buffer that fails later': () =>
    byteChannel(
      new PassThrough(),
      new Writable({ write: (_chunk, _encoding, done) => void setTimeout(done, 20, new Error('failed')) }),
    ),
};

function streams(strategy: QueuingStrategy) {
  const write = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('failed');
  };
  return { readable: new ReadableStream<never>(), writable: new WritableStream<never>({ write }, strategy) };
}

test.each(Object.entries(FAILING))('a small notification rejects, alone and in a batch: %s', async (_, open) => {
  expect(await outcome(createConnection(open()).notify('note'))).toBe('closed');
  const note = { method: 'note', notification: true };
  const rejected = { status: 'rejected', reason: expect.objectContaining({ code: 'closed' }) };
  expect(await createConnection(open()).batch([note, note])).toEqual([rejected, rejected]);
  expect(await createConnection(open()).batch([note, { method: 'ask' }])).toEqual([rejected, rejected]);
});

test('a small notification rejects while the buffer of the transport is not full', async () => {
  const { channel, disconnect } = await TRANSPORTS['a WebSocket']!();
  const connection = createConnection(channel);
  cleanups.push(() => connection.close());
  let last: Promise<unknown>;
  do {
    last = outcome(connection.notify('note', { text: 'x'.repeat(256 * 1024) }));
    await new Promise((resolve) => setTimeout(resolve, 5));
  } while (channel.backlog() === 0);
  expect(channel.ready()).toBeUndefined();
  const small = outcome(connection.notify('note'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  disconnect();
  expect(await Promise.all([last, small])).toEqual(['closed', 'closed']);
});

test('notifications of a batch reject if the other side rejects the batch', async () => {
  const [here, there] = memoryChannels();
  const other = createConnection(there, { batches: 'reject' });
  const connection = createConnection(here);
  cleanups.push(() => connection.close());
  const rejected = { status: 'rejected', reason: expect.objectContaining({ code: 'batches-refused' }) };
  expect(await connection.batch([{ method: 'note', notification: true }, { method: 'ask' }])).toEqual([
    rejected,
    rejected,
  ]);
  await other.close();
});

test('a notification to a program that stops reading and exits rejects', async () => {
  const program = `process.stdin.once('data', () => {
    process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n');
    process.stdin.pause();
    setTimeout(() => process.exit(3), 100);
  });`;
  const agent = await spawnAgent(process.execPath, ['--eval', program]);
  cleanups.push(() => agent.close());
  await agent.request('initialize', {});
  expect(await outcome(agent.notify('note', BIG))).toBe('closed');
});

test('a notification that was written before the end resolves', async () => {
  const [here, there] = memoryChannels();
  const received: string[] = [];
  there.start({ text: (text) => received.push(text), invalid: () => {}, tooLong: () => {}, ended: () => {} });
  const connection = createConnection(here);
  await connection.notify('note');
  await connection.close();
  expect(received).toEqual(['{"jsonrpc":"2.0","method":"note"}']);
});
