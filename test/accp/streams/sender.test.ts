/** Sources become chunks and messages, and come out of a receiver as they were. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccpError } from '../../../src/accp/errors.js';
import type { Json } from '../../../src/accp/message/json.js';
import type { MessageInput } from '../../../src/accp/message/message.js';
import {
  type SplitOptions,
  type StreamSource,
  splitStream,
  streamMessages,
} from '../../../src/accp/streams/stream-messages.js';
import type { StreamChunk } from '../../../src/accp/streams/streams.js';
import { runs } from '../../helpers/runs.js';
import { receiver } from './helpers.js';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const got: T[] = [];
  for await (const item of items) got.push(item);
  return got;
}

async function* inTime(items: readonly Json[], error?: Error): AsyncGenerator<Json> {
  for (const item of items) {
    await Promise.resolve();
    yield item;
  }
  if (error !== undefined) throw error;
}

/** Returns the items of a loop before it throws, and its error. */
async function until<T>(items: AsyncIterable<T>): Promise<{ got: T[]; thrown: unknown }> {
  const got: T[] = [];
  try {
    for await (const item of items) got.push(item);
  } catch (thrown) {
    return { got, thrown };
  }
  return { got, thrown: undefined };
}

const short = (chunks: readonly StreamChunk[]) => chunks.map(({ data, total, final }) => [data, total, final]);

describe('splitStream', () => {
  const CASES: readonly (readonly [
    what: string,
    source: () => StreamSource,
    options: SplitOptions,
    expected: unknown[],
  ])[] = [
    ['a text', () => 'Hello world!', {}, [['Hello world!', 1, true]]],
    [
      'a text, cut in front of its spaces',
      () => 'Hello wide world!',
      { maxText: 7 },
      [
        ['Hello', 3, false],
        [' wide', 3, false],
        [' world!', 3, true],
      ],
    ],
    [
      'a word that is too long',
      () => 'abcdefgh ij',
      { maxText: 3 },
      [
        ['abc', 4, false],
        ['def', 4, false],
        ['gh', 4, false],
        [' ij', 4, true],
      ],
    ],
    [
      'characters of two code units',
      () => 'a\u{1f600}\u{1f600}',
      { maxText: 2 },
      [
        ['a', 3, false],
        ['\u{1f600}', 3, false],
        ['\u{1f600}', 3, true],
      ],
    ],
    [
      'characters that are longer than a piece',
      () => '\u{1f600}b',
      { maxText: 1 },
      [
        ['\u{1f600}', 2, false],
        ['b', 2, true],
      ],
    ],
    ['the empty text', () => '', {}, [[null, 1, true]]],
    ['an empty array', () => [], {}, [[null, 1, true]]],
    ['an empty iterable', () => new Set<Json>(), {}, [[null, undefined, true]]],
    ['an empty iterable of a known length', () => inTime([]), { total: 1 }, [[null, 1, true]]],
    [
      'an array',
      () => [1, { a: [2n] }, ''],
      {},
      [
        [1, 3, false],
        [{ a: [2n] }, 3, false],
        ['', 3, true],
      ],
    ],
    [
      'an array of texts',
      () => ['ab cd', 7],
      { maxText: 3 },
      [
        ['ab', 3, false],
        [' cd', 3, false],
        [7, 3, true],
      ],
    ],
    [
      'an iterable',
      () => new Set([1, 2]),
      {},
      [
        [1, undefined, false],
        [2, undefined, true],
      ],
    ],
    [
      'items that come in time',
      () => inTime(['ab cd', null]),
      { maxText: 3 },
      [
        ['ab', undefined, false],
        [' cd', undefined, false],
        [null, undefined, true],
      ],
    ],
    [
      'items of a known length',
      () => inTime([1, 2]),
      { total: 2 },
      [
        [1, 2, false],
        [2, 2, true],
      ],
    ],
  ];

  test.each(CASES)('%s', async (_what, source, options, expected) => {
    const chunks = await all(splitStream(source(), options));
    expect(short(chunks)).toEqual(expected);
    expect(chunks.map(({ index }) => index)).toEqual([...expected.keys()]);
  });

  test('the pieces of any text form the text, and are not longer than allowed', async () => {
    const texts = fc.string({
      unit: fc.constantFrom('a', 'bc', ' ', '\n', '\u{1f600}', '\ud800', '\u3042'),
      maxLength: 60,
    });
    const property = fc.asyncProperty(texts, fc.integer({ min: 1, max: 9 }), async (text, maxText) => {
      const chunks = await all(splitStream(text, { maxText }));
      if (text === '') return;
      const pieces = chunks.map(({ data }) => data as string);
      expect(pieces.join('')).toBe(text);
      for (const piece of pieces) {
        expect(piece.length).toBeGreaterThan(0);
        expect(piece.length <= maxText || piece === '\u{1f600}').toBe(true);
      }
      // No piece ends within a character that the text has whole.
      expect(pieces.flatMap((piece) => [...piece])).toEqual([...text]);
    });
    await fc.assert(property, runs(300));
  });

  test.each([
    [3, [1, 2, 3, 4], 2],
    [3, [1, 2], 1],
    [1, [1, 2], 0],
    [2, [], 0],
  ])('a total of %i for the items %j is rejected before a chunk contradicts it', async (total, items, before) => {
    for (const source of [items, inTime(items)]) {
      const { got, thrown } = await until(splitStream(source, { total }));
      expect(thrown).toMatchObject({ code: 'E1004' });
      expect(got).toHaveLength(before);
      expect(got.some(({ final }) => final)).toBe(false);
    }
  });

  test('chunks before an error are delivered, and none of them is final', async () => {
    const error = new Error('on purpose');
    for (const items of [[], [1], [1, 2, 3]]) {
      const { got, thrown } = await until(splitStream(inTime(items, error)));
      expect(thrown).toBe(error);
      expect(short(got)).toEqual(items.map((item) => [item, undefined, false]));
    }
  });

  test('a source is closed when the loop is left', async () => {
    let closed = false;
    async function* source(): AsyncGenerator<Json> {
      try {
        for (let item = 0; ; item++) yield item;
      } finally {
        closed = true;
      }
    }
    for await (const { index } of splitStream(source())) if (index === 3) break;
    expect(closed).toBe(true);
  });

  test('invalid options are rejected at once', () => {
    for (const options of [{ total: 0 }, { total: 1.5 }, { maxText: 0 }, { maxText: Number.NaN }]) {
      expect(() => splitStream('text', options)).toThrow(TypeError);
    }
  });
});

describe('streamMessages', () => {
  const OPTIONS = { correlationId: 'c1', operation: 'infer' };

  test('the draft\u2019s stream', async () => {
    const messages = await all(streamMessages('Hello world !', { ...OPTIONS, agent: 'streamer', maxText: 6 }));
    const common = { agent: 'streamer', operation: 'infer', envelope: { correlation_id: 'c1' } };
    const stream = { ...common, intent: 'stream', schema: 'ST' };
    expect(messages).toEqual([
      { ...stream, payload: { chunk_index: 0, total_chunks: 3, data: 'Hello' } },
      { ...stream, payload: { chunk_index: 1, total_chunks: 3, data: ' world' } },
      { ...stream, payload: { chunk_index: 2, total_chunks: 3, data: ' !', is_final: true } },
      { ...common, intent: 'end' },
    ]);
  });

  test('unknown members are omitted', async () => {
    const messages = await all(streamMessages(inTime([1]), OPTIONS));
    expect(messages).toEqual([
      {
        intent: 'stream',
        operation: 'infer',
        schema: 'ST',
        payload: { chunk_index: 0, data: 1, is_final: true },
        envelope: { correlation_id: 'c1' },
      },
      { intent: 'end', operation: 'infer', envelope: { correlation_id: 'c1' } },
    ]);
  });

  test.each([
    [new Error('the password is 1234'), 'E9999', true],
    [new AccpError({ code: 'E4001', message: 'no such tool' }), 'E4001', false],
  ])('a source that throws %s ends with an error message, and throws the error', async (error, code, retryable) => {
    const { got, thrown } = await until(streamMessages(inTime([1, 2], error), OPTIONS));
    expect(thrown).toBe(error);
    expect(got.map(({ intent }) => intent)).toEqual(['stream', 'stream', 'fail']);
    expect(got.at(-1)).toMatchObject({
      operation: 'error',
      schema: 'ER',
      payload: { code, retryable },
      envelope: { correlation_id: 'c1' },
    });
    expect(JSON.stringify(got)).not.toContain('1234');
    expect(got.some(({ payload }) => payload?.['is_final'] === true)).toBe(false);
  });

  test('the received chunks equal the sent ones', async () => {
    const items = fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.array(fc.boolean())), {
      minLength: 1,
      maxLength: 8,
    });
    const property = fc.asyncProperty(items, fc.boolean(), async (source, known) => {
      const { streams } = receiver();
      const got: Promise<Json[]> = all(streams.open('c1')).then((chunks) => chunks.map(({ data }) => data));
      for await (const message of streamMessages(known ? source : inTime(source), OPTIONS)) deliver(message);
      expect(await got).toEqual(source);

      function deliver({ intent, payload = {}, envelope }: MessageInput): void {
        const cid = envelope!.correlation_id!;
        if (intent === 'end') {
          streams.end(cid, 'peer');
          return;
        }
        streams.accept(cid, 'peer', {
          index: payload['chunk_index'] as number,
          total: payload['total_chunks'] as number | undefined,
          data: payload['data']!,
          final: payload['is_final'] === true,
        });
      }
    });
    await fc.assert(property, runs(100));
  });
});
