/** Channels with the interface of a WebSocket. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { channelSocket } from '../../src/channels/channel-socket.js';
import { memoryChannels } from '../../src/channels/memory.js';
import type { WebSocketLike } from '../../src/channels/websocket.js';
import { runs } from '../helpers/runs.js';
import { hear } from './contract.js';

interface Seen {
  readonly messages: unknown[];
  readonly errors: unknown[];
  readonly closes: { code: number; reason: string }[];
  readonly opened: Promise<void>;
  readonly closed: Promise<void>;
}

function watch(socket: WebSocketLike): Seen {
  const seen = { messages: [] as unknown[], errors: [] as unknown[], closes: [] as Seen['closes'] };
  socket.addEventListener('message', ({ data }) => seen.messages.push(data));
  socket.addEventListener('error', (event) => seen.errors.push(event));
  const opened = new Promise<void>((resolve) => socket.addEventListener('open', () => resolve()));
  const closed = new Promise<void>((resolve) => {
    socket.addEventListener('close', ({ code, reason }) => {
      seen.closes.push({ code, reason });
      resolve();
    });
  });
  return { ...seen, opened, closed };
}

test('carries any text in order, and the code and reason of a close to the other side', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{"close":[1000,""]}', '"a"', '{', '"', '', '\n')),
      ),
      fc.integer({ min: 3000, max: 4999 }),
      fc.string(),
      async (texts, code, reason) => {
        const [one, other] = memoryChannels().map(channelSocket) as [WebSocketLike, WebSocketLike];
        const [here, there] = [watch(one), watch(other)];
        await Promise.all([here.opened, there.opened]);
        for (const text of texts) one.send(text);
        one.close(code, reason);
        one.send('after the close');
        await Promise.all([here.closed, there.closed]);
        expect(there.messages).toEqual(texts);
        expect([here.closes, there.closes]).toEqual([[{ code, reason }], [{ code, reason }]]);
        expect([...here.errors, ...there.errors]).toEqual([]);
      },
    ),
    runs(100),
  );
});

test.each(['{', '{"close":1}', '{"close":["a"]}', '"', '{}'])(
  'closes with 1003 after a text that is neither: %s',
  async (text) => {
    const [channel, other] = memoryChannels();
    const seen = watch(channelSocket(channel));
    const heard = hear(other);
    other.send('first');
    other.send(text);
    await heard.ended;
    expect(seen.messages).toEqual(['first']);
    expect(heard.texts).toEqual(['{"close":[1003,"the text is neither a message nor a close"]}']);
  },
);

test('reports a connection that fails, and one that is lost', async () => {
  const refused = watch(channelSocket(Promise.reject(new Error('refused'))));
  await refused.closed;
  expect(refused.closes).toEqual([{ code: 1006, reason: '' }]);
  expect(refused.errors).toMatchObject([{ message: 'refused' }]);
  const [channel, other] = memoryChannels();
  const lost = watch(channelSocket(channel));
  await lost.opened;
  hear(other);
  other.destroy();
  await lost.closed;
  expect(lost.closes).toEqual([{ code: 1005, reason: '' }]);
});

test('ends a connection that is established after it was terminated', async () => {
  const [channel, other] = memoryChannels();
  let connect!: () => void;
  const connected = new Promise<typeof channel>((resolve) => {
    connect = () => resolve(channel);
  });
  const socket = channelSocket(connected);
  const seen = watch(socket);
  socket.close();
  await seen.closed;
  connect();
  await hear(other).ended;
  expect(seen.closes).toEqual([{ code: 1006, reason: '' }]);
});
