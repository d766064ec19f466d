/** A message that the transport did not take rejects, on every transport: the other side ends while it waits to be written. */
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

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

/** A channel whose other side reads nothing, and the end of that side. */
interface Deaf {
  readonly channel: Channel;
  readonly die: () => void;
}

const TRANSPORTS: Readonly<Record<string, () => Promise<Deaf>>> = {
  memory: async () => {
    const [channel, other] = memoryChannels();
    return { channel, die: () => other.destroy() };
  },
  'a socket': async () => {
    let peer: Socket | undefined;
    const server = createServer((socket) => {
      peer = socket.on('error', () => {}).pause();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ending.push(() => server.close());
    const { port } = server.address() as { readonly port: number };
    const channel = await connectSocket({ host: '127.0.0.1', port });
    await expect.poll(() => peer).toBeDefined();
    return { channel, die: () => peer!.resetAndDestroy() };
  },
  'a WebSocket': async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 2 ** 30 });
    ending.push(() => server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    const accepted = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
    const socket = new WebSocket(`ws://127.0.0.1:${port}`);
    const channel = webSocketChannel(socket);
    const peer = await accepted;
    peer.pause();
    return { channel, die: () => peer.terminate() };
  },
};

const BIG = { text: 'x'.repeat(16 * 1024 * 1024) };
const outcome = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'resolved',
    ({ code }: { readonly code: string }) => code,
  );

test.each(Object.entries(TRANSPORTS))('a notification that waits: %s', async (_, open) => {
  const { channel, die } = await open();
  const connection = createConnection(channel, { maxBacklog: 2 ** 30 });
  ending.push(() => connection.close());
  const told = outcome(connection.notify('note', BIG));
  const asked = outcome(connection.request('ask', BIG));
  await new Promise((resolve) => setTimeout(resolve, 50));
  die();
  expect(await Promise.all([told, asked])).toEqual(['closed', 'closed']);
  expect(await outcome(connection.notify('note'))).toBe('closed');
});

test.each(Object.entries(TRANSPORTS))('a message that waits in the stream of the official SDK: %s', async (_, open) => {
  const { channel, die } = await open();
  const { writable, readable } = toStream(channel);
  const reading = readable.getReader().read();
  reading.catch(() => {});
  const writer = writable.getWriter();
  writer.closed.catch(() => {});
  const written = outcome(writer.write({ jsonrpc: '2.0', method: 'note', params: BIG } as never));
  await new Promise((resolve) => setTimeout(resolve, 50));
  die();
  expect(await written).toBe('closed');
});

/** Transports that have taken nothing when they break; none of them had more to take than it asks for. */
const BREAKING: Readonly<Record<string, () => Channel | Parameters<typeof createConnection>[0]>> = {
  'a WebSocket that does not connect': () => webSocketChannel(new WebSocket('ws://127.0.0.1:1')),
  'a stream that fails at once': () => streams({ highWaterMark: 1 }),
  'a stream that fails later and takes much before': () => streams({ highWaterMark: 100 }),
  'a byte stream that fails later and takes much before': () =>
    byteChannel(
      new PassThrough(),
      new Writable({ write: (_chunk, _encoding, done) => void setTimeout(done, 20, new Error('it broke')) }),
    ),
};

function streams(strategy: QueuingStrategy) {
  const write = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    throw new Error('it broke');
  };
  return { readable: new ReadableStream<never>(), writable: new WritableStream<never>({ write }, strategy) };
}

test.each(Object.entries(BREAKING))('a small notification, alone and in a batch: %s', async (_, open) => {
  expect(await outcome(createConnection(open()).notify('note'))).toBe('closed');
  const note = { method: 'note', notification: true };
  const rejected = { status: 'rejected', reason: expect.objectContaining({ code: 'closed' }) };
  expect(await createConnection(open()).batch([note, note])).toEqual([rejected, rejected]);
  expect(await createConnection(open()).batch([note, { method: 'ask' }])).toEqual([rejected, rejected]);
});

test('a small notification that waits, with less than the transport would take', async () => {
  const { channel, die } = await TRANSPORTS['a WebSocket']!();
  const connection = createConnection(channel);
  ending.push(() => connection.close());
  let last: Promise<unknown>;
  do {
    last = outcome(connection.notify('note', { text: 'x'.repeat(256 * 1024) }));
    await new Promise((resolve) => setTimeout(resolve, 5));
  } while (channel.backlog() === 0);
  expect(channel.ready()).toBeUndefined();
  const small = outcome(connection.notify('note'));
  await new Promise((resolve) => setTimeout(resolve, 20));
  die();
  expect(await Promise.all([last, small])).toEqual(['closed', 'closed']);
});

test('notifications of a batch that the other side refuses', async () => {
  const [here, there] = memoryChannels();
  const other = createConnection(there, { batches: 'reject' });
  const connection = createConnection(here);
  ending.push(() => connection.close());
  const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'batches-refused' }) };
  expect(await connection.batch([{ method: 'note', notification: true }, { method: 'ask' }])).toEqual([
    refused,
    refused,
  ]);
  await other.close();
});

test('a program that stops reading and dies', async () => {
  const program = `process.stdin.once('data', () => {
    process.stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\\n');
    process.stdin.pause();
    setTimeout(() => process.exit(3), 100);
  });`;
  const agent = await spawnAgent(process.execPath, ['--eval', program]);
  ending.push(() => agent.close());
  await agent.request('initialize', {});
  expect(await outcome(agent.notify('note', BIG))).toBe('closed');
});

test('what was written before the end resolves', async () => {
  const [here, there] = memoryChannels();
  const received: string[] = [];
  there.start({ text: (text) => received.push(text), invalid: () => {}, tooLong: () => {}, ended: () => {} });
  const connection = createConnection(here);
  const told = connection.notify('note');
  await told;
  await connection.close();
  expect(received).toEqual(['{"jsonrpc":"2.0","method":"note"}']);
});
