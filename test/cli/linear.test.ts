/** Readers, buffers and finders do work in proportion to the bytes, whatever the chunks and lines are. */
import { PassThrough, Readable, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { findPackets } from '../../src/aacp/find.js';
import { findFrames } from '../../src/accp/find.js';
import type { Channel, Receiver } from '../../src/channels/channel.js';
import { LineDecoder } from '../../src/channels/line-decoder.js';
import { memoryChannels } from '../../src/channels/memory.js';
import { byteChannel } from '../../src/channels/node/byte-channel.js';
import { drainStderr } from '../../src/channels/node/process.js';
import { type WebSocketLike, webSocketChannel } from '../../src/channels/websocket.js';
import { cli } from '../helpers/cli.js';
import { sized } from '../helpers/runs.js';

const MEBIBYTE = 1024 * 1024;

/** The built-in methods that copy or move elements, with the amount per call. */
const COPYING = [
  [String.prototype, 'slice', (_: unknown, __: unknown, made: string) => made.length],
  [Array.prototype, 'shift', (before: number) => before],
  [Array.prototype, 'splice', (before: number) => before],
  [Array.prototype, 'slice', (_: unknown, __: unknown, made: unknown[]) => made.length],
  [Uint8Array.prototype, 'set', (_: unknown, [source]: [ArrayLike<number>]) => source.length],
  [Buffer, 'concat', (_: unknown, __: unknown, made: Buffer) => made.length],
] as const;

/** The number of copied characters, bytes and items. */
async function copied(work: () => unknown): Promise<number> {
  let count = 0;
  const restore = COPYING.map(([owner, name, amount]) => {
    const methods = owner as unknown as Record<string, (...args: unknown[]) => unknown>;
    const original = methods[name]!;
    methods[name] = function (this: { length: number }, ...args: unknown[]) {
      const before = this.length;
      const made = original.apply(this, args);
      count += (amount as (...given: unknown[]) => number)(before, args, made);
      return made;
    };
    return () => {
      methods[name] = original;
    };
  });
  try {
    await work();
  } finally {
    for (const one of restore) one();
  }
  return count;
}

/** Compares the work for sizes that grow by a factor of 8; it must grow by about as much. */
async function expectLinear(sizes: readonly number[], most: number, work: (size: number) => unknown): Promise<void> {
  for (const size of sizes) expect((await copied(() => work(size))) / size, String(size)).toBeLessThanOrEqual(most);
}

/** Repeats a byte, in chunks. */
function* chunks(size: number, chunk = 65_536): Generator<Buffer> {
  const bytes = Buffer.alloc(chunk, 'x');
  for (let left = size; left > 0; left -= chunk) yield bytes.subarray(0, left);
}

test.each(sized([1, 8], [1, 8, 64]))('a line of %d MiB is read by the commands', async (size) => {
  await expectLinear([size * MEBIBYTE], 8, async (bytes) => {
    const stdin = Readable.from([Buffer.from('@a>req:x{}\n'), ...chunks(bytes), Buffer.from('\n@a>req:x{}\n')]);
    const { code, stdout } = await cli(['fmt', 'accp'], { stdin });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '@a>req:x{}\n@a>req:x{}\n' });
  });
});

test('a line that arrives byte by byte is read by the commands', async () => {
  await expectLinear([2 ** 12, 2 ** 16], 8, async (bytes) => {
    expect((await cli(['fmt', 'accp'], { stdin: Readable.from([...chunks(bytes, 1)]) })).code).toBe(1);
  });
});

test.each(sized([1, 8], [1, 8, 64]))('text of %d MiB is searched by find', async (size) => {
  await expectLinear([size * MEBIBYTE], 8, async (bytes) => {
    expect((await cli(['find', 'accp'], { stdin: Readable.from(chunks(bytes)) })).code).toBe(0);
  });
});

test.each([1, 8, 32])('a message of %d MiB is decoded by a line decoder', async (size) => {
  await expectLinear([size * MEBIBYTE], 4, (bytes) => {
    const lengths: number[] = [];
    const decoder = new LineDecoder();
    const receiver = { ...RECEIVER, text: (text: string) => lengths.push(text.length) };
    for (const chunk of chunks(bytes)) decoder.push(chunk, receiver);
    decoder.end(receiver);
    expect(lengths).toEqual([bytes]);
  });
});

test('the end of a stderr is kept, piece by piece', async () => {
  await expectLinear([2 ** 17, 2 ** 20], 4, async (bytes) => {
    const stderr = new PassThrough();
    const kept = drainStderr(stderr, 'capture');
    const data = Buffer.from('x');
    for (let at = 0; at < bytes; at++) stderr.emit('data', data);
    expect(kept()).toBe('x'.repeat(64 * 1024));
  });
});

describe('messages that wait in a channel whose reader pauses after each', () => {
  const waiting: readonly (readonly [name: string, channel: (count: number) => Channel])[] = [
    [
      'memory',
      (count) => {
        const [here, there] = memoryChannels();
        for (let at = 0; at < count; at++) there.send('{}');
        return here;
      },
    ],
    ['bytes', (count) => byteChannel(Readable.from([Buffer.from('{}\n'.repeat(count))]), new Writable())],
    ['WebSocket', (count) => webSocketChannel(new Messages(count) as EventTarget as WebSocketLike & EventTarget)],
  ];
  test.each(waiting)('%s', async (_, channelOf) => {
    await expectLinear([2 ** 10, 2 ** 13], 64, async (count) => {
      const channel = channelOf(count);
      await new Promise<void>((resolve) => {
        let left = count;
        const text = (): void => {
          channel.pause();
          if (--left === 0) resolve();
          else setImmediate(channel.resume);
        };
        channel.start({ ...RECEIVER, text });
      });
    });
  });
});

const RECEIVER: Receiver = {
  text: () => {},
  invalid: (why) => expect.fail(why),
  tooLong: (limit) => expect.fail(String(limit)),
  ended: () => {},
};

/** A WebSocket that emits its messages when a listener is added. */
class Messages extends EventTarget {
  readonly readyState = 1;
  readonly bufferedAmount = 0;

  constructor(count: number) {
    super();
    queueMicrotask(() => {
      for (let at = 0; at < count; at++) this.dispatchEvent(new MessageEvent('message', { data: '{}' }));
    });
  }

  send(): void {}

  close(): void {}
}

describe('findFrames', () => {
  test.each([
    ['frames behind many blanks', (size: number) => `${' '.repeat(size)}${'@a>b:c{d:\\|} '.repeat(size / 8)}`],
    ['frames in a table', (size: number) => `|${'@a>b:c{d:\\|} | '.repeat(size / 8)}`],
    ['openings that nothing closes', (size: number) => '@a>b:c{'.repeat(size / 8)],
    ['quotes that nothing closes', (size: number) => '"@a>b:c{d:1} '.repeat(size / 8)],
  ])('finds %s', async (_, text) => {
    await expectLinear([2 ** 10, 2 ** 13], 64, (size) => findFrames(text(size)));
  });
});

describe('findPackets', () => {
  /** Quotes after 1, 2, 3, ... backslashes, none of which closes another one. */
  const quotes = (size: number): string => {
    let text = '';
    const from = Math.ceil(Math.sqrt(size));
    for (let count = from; text.length < size; count++) text += `${'\\'.repeat(count)}"ACK|HR|p:1 `;
    return text;
  };
  test.each([
    ['packets behind many blanks', (size: number) => `${' '.repeat(size)}${'ACK|HR|p:1 '.repeat(size / 8)}`],
    ['packets on one line', (size: number) => 'ACK|HR|p:1 | '.repeat(size / 8)],
    ['packets in quotes that nothing closes', quotes],
  ])('finds %s', async (_, text) => {
    await expectLinear([2 ** 10, 2 ** 13, 2 ** 16], 64, (size) => findPackets(text(size)));
  });
});
