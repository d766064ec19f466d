/** Chunks are read in the order of their indexes, or the reader gets the reason (draft-benzing-accp-00, section 10.4). */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccpError } from '../../../src/accp/errors.js';
import { ref } from '../../../src/accp/message/json.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { createStreams, type StreamChunk, type Streams } from '../../../src/accp/streams/streams.js';
import { runs } from '../../helpers/runs.js';
import { chunk, codeOf, read, receiver } from './helpers.js';

const CANCELLED = new AccpError({ code: 'E5001', message: 'cancelled' });

function iterator(streams: Streams, cid = 'c'): AsyncIterator<StreamChunk> {
  return streams.open(cid)[Symbol.asyncIterator]();
}

describe('order', () => {
  test('chunks in any order are read by index, with the reader before, during or after them', async () => {
    const arrivals = fc.integer({ min: 1, max: 12 }).chain((count) =>
      fc.record({
        order: fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
        opened: fc.integer({ min: 0, max: count }),
        totals: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
        pauses: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
      }),
    );
    const property = fc.asyncProperty(arrivals, async ({ order, opened, totals, pauses }) => {
      const { streams } = receiver({ maxBuffered: order.length });
      const count = order.length;
      let reading: Promise<(number | string)[]> | undefined;
      for (const [at, index] of order.entries()) {
        if (at === opened) reading = read(streams.open('c'));
        const total = totals[at] ? { total: count } : {};
        streams.accept('c', 'peer', chunk(index, { ...total, final: index === count - 1 }));
        if (pauses[at]) await Promise.resolve();
      }
      streams.end('c', 'peer');
      reading ??= read(streams.open('c'));
      expect(await reading).toEqual([...Array(count).keys()]);
      expect(streams.pending()).toEqual([]);
    });
    await fc.assert(property, runs(300));
  });

  test('chunks are delivered unchanged', async () => {
    const { streams } = receiver();
    const sent = [chunk(0, { total: 2, data: { list: [1, null] } }), chunk(1, { data: 2n ** 64n, final: true })];
    for (const each of sent) streams.accept('c', 'peer', each);
    const got: StreamChunk[] = [];
    for await (const each of streams.open('c')) got.push(each);
    expect(got).toEqual(sent);
  });

  test('a chunk is delivered as soon as those before it have arrived', async () => {
    const { streams } = receiver();
    const chunks = iterator(streams);
    const first = chunks.next();
    const second = chunks.next();
    streams.accept('c', 'peer', chunk(1));
    streams.accept('c', 'peer', chunk(0));
    expect(await first).toMatchObject({ value: { index: 0 } });
    expect(await second).toMatchObject({ value: { index: 1 } });
  });

  test('stored chunks are copies: neither sender nor reader can change them', async () => {
    const store = memoryStore();
    const { streams, journal } = receiver({}, store);
    const source = ref('cold.a');
    const data = { list: [1], source, zero: -0 };
    streams.accept('c', 'peer', chunk(0, { data }));
    data.list.push(2);
    const { value } = await iterator(streams).next();
    expect(value.data).toEqual({ list: [1], source, zero: -0 });
    value.data.list.push(3);
    streams.close();
    journal.close();
    const again = await iterator(receiver({}, store).streams).next();
    expect(again.value.data.list).toEqual([1]);
  });

  test('streams do not mix', async () => {
    const { streams } = receiver();
    const [one, two] = [read(streams.open('one')), read(streams.open('two'))];
    streams.accept('one', 'peer', chunk(0));
    streams.accept('two', 'other', chunk(0, { final: true }));
    streams.accept('one', 'peer', chunk(1, { final: true }));
    expect(await one).toEqual([0, 1]);
    expect(await two).toEqual([0]);
  });

  test('a stream may have any name', async () => {
    const { streams } = receiver();
    for (const cid of ['__proto__', 'constructor', '1:2', ':', '']) {
      streams.accept(cid, 'peer', chunk(1, { final: true }));
      streams.accept(cid, 'peer', chunk(0));
      expect(await read(streams.open(cid))).toEqual([0, 1]);
    }
  });
});

describe('rejected chunks', () => {
  const FAULTS: readonly (readonly [what: string, before: StreamChunk[], fault: StreamChunk, code: string])[] = [
    ['a negative index', [], chunk(-1), 'E1004'],
    ['a broken index', [], chunk(0.5), 'E1004'],
    ['an index that is not a number', [], chunk('0' as unknown as number), 'E1004'],
    ['an index beyond the whole numbers', [], chunk(2 ** 53), 'E1004'],
    ['a total of nothing', [], chunk(0, { total: 0 }), 'E1004'],
    ['a broken total', [], chunk(0, { total: 1.5 }), 'E1004'],
    ['a total that is not a number', [], chunk(0, { total: '2' as unknown as number }), 'E1004'],
    ['an index beyond its total', [], chunk(2, { total: 2 }), 'E1004'],
    ['an index beyond the total of another', [chunk(0, { total: 2 })], chunk(2), 'E1004'],
    ['another total', [chunk(0, { total: 3 })], chunk(1, { total: 4 }), 'E1004'],
    ['a total below an index that came', [chunk(4)], chunk(0, { total: 4 }), 'E1004'],
    ['a final chunk below the total', [chunk(0, { total: 3 })], chunk(1, { final: true }), 'E1004'],
    ['a final chunk below its own total', [], chunk(0, { total: 2, final: true }), 'E1004'],
    ['a final chunk below an index that came', [chunk(3)], chunk(1, { final: true }), 'E1004'],
    ['a total unlike the final chunk', [chunk(2, { final: true })], chunk(0, { total: 4 }), 'E1004'],
    ['a chunk beyond the final one', [chunk(1, { final: true })], chunk(2), 'E1004'],
    ['a second final chunk', [chunk(2, { final: true })], chunk(1, { final: true }), 'E1004'],
    ['an index that waits', [chunk(1)], chunk(1), 'E3002'],
    ['the final chunk again', [chunk(2, { final: true })], chunk(2, { final: true }), 'E3002'],
    ['a chunk after the end', [chunk(0), chunk(1, { final: true })], chunk(2), 'E3003'],
    ['the first chunk again, after the end', [chunk(0), chunk(1, { final: true })], chunk(0), 'E3003'],
  ];

  test.each(FAULTS)('%s', (_what, before, fault, code) => {
    const { streams } = receiver();
    for (const each of before) streams.accept('c', 'peer', each);
    expect(codeOf(() => streams.accept('c', 'peer', fault))).toBe(code);
    expect(streams.pending()).toEqual(before.length > 0 ? ['c'] : []);
  });

  test('an index that was already read', async () => {
    const { streams } = receiver();
    const chunks = iterator(streams);
    streams.accept('c', 'peer', chunk(0));
    await chunks.next();
    expect(codeOf(() => streams.accept('c', 'peer', chunk(0)))).toBe('E3002');
    void chunks.next();
    expect(codeOf(() => streams.accept('c', 'peer', chunk(0)))).toBe('E3002');
  });

  test('a chunk after the stream was read', async () => {
    const { streams } = receiver();
    streams.accept('c', 'peer', chunk(0, { final: true }));
    expect(await read(streams.open('c'))).toEqual([0]);
    expect(codeOf(() => streams.accept('c', 'peer', chunk(1)))).toBe('E3003');
    expect(await read(streams.open('c'))).toEqual(['E3003']);
  });

  test('a chunk, or the end, from another agent', async () => {
    const { streams } = receiver();
    streams.accept('c', 'peer', chunk(0));
    expect(codeOf(() => streams.accept('c', 'stranger', chunk(1)))).toBe('E5001');
    expect(codeOf(() => streams.end('c', 'stranger'))).toBe('E5001');
    streams.accept('c', 'peer', chunk(1, { final: true }));
    expect(await read(streams.open('c'))).toEqual([0, 1]);
  });

  test('a rejected chunk leaves the stream unchanged', async () => {
    const chunks = fc.record({
      index: fc.integer({ min: -1, max: 5 }),
      total: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
      final: fc.boolean(),
    });
    const property = fc.asyncProperty(fc.array(chunks, { maxLength: 12 }), async (arrivals) => {
      const accepted: StreamChunk[] = [];
      const { streams } = receiver();
      for (const { index, total, final } of arrivals) {
        const arrival = chunk(index, { final, ...(total === undefined ? {} : { total }) });
        if (codeOf(() => streams.accept('c', 'peer', arrival)) === undefined) accepted.push(arrival);
      }
      // The same chunks without the refused ones lead to the same.
      const other = receiver().streams;
      for (const arrival of accepted) other.accept('c', 'peer', arrival);
      for (const each of [streams, other]) each.end('c', 'peer');
      if (accepted.length === 0) return;
      const got = await read(streams.open('c'));
      expect(got).toEqual(await read(other.open('c')));
      const indexes = accepted.map(({ index }) => index).sort((a, b) => a - b);
      expect(new Set(indexes).size).toBe(indexes.length);
      const last = accepted.find(({ final }) => final);
      const whole = last !== undefined && indexes.length === last.index + 1;
      expect(got.at(-1) === 'E3003').toBe(!whole);
      expect(got.filter((each) => each !== 'E3003')).toEqual(indexes.filter((index, at) => index === at));
    });
    await fc.assert(property, runs(300));
  });
});

describe('failures of a stream', () => {
  test.each([
    ['it is ended without a final chunk', [chunk(0), chunk(1)], [0, 1, 'E3003']],
    ['it is ended with a gap', [chunk(0), chunk(2), chunk(3, { final: true })], [0, 'E3003']],
    ['it is ended without its first chunk', [chunk(1, { final: true })], ['E3003']],
  ])('%s: the reader gets the chunks before it, then the error', async (_what, before, expected) => {
    for (const opened of [false, true]) {
      const { streams } = receiver();
      const early = opened ? read(streams.open('c')) : undefined;
      for (const each of before) streams.accept('c', 'peer', each);
      streams.end('c', 'peer');
      expect(codeOf(() => streams.accept('c', 'peer', chunk(9)))).toBe('E3003');
      expect(await (early ?? read(streams.open('c')))).toEqual(expected);
      expect(streams.pending()).toEqual([]);
      expect(codeOf(() => streams.accept('c', 'peer', chunk(9)))).toBe('E3003');
    }
  });

  test('it ends before any chunk: a reader gets an error, and without one nothing happens', async () => {
    const { streams } = receiver();
    const reading = read(streams.open('c'));
    streams.end('c', 'peer');
    expect(await reading).toEqual(['E3003']);
    streams.end('unknown', 'peer');
    streams.accept('unknown', 'peer', chunk(0, { final: true }));
    expect(await read(streams.open('unknown'))).toEqual([0]);
  });

  test('the end of a complete stream changes nothing', async () => {
    const { streams } = receiver();
    streams.accept('c', 'peer', chunk(0, { final: true }));
    streams.end('c', 'peer');
    streams.end('c', 'peer');
    expect(await read(streams.open('c'))).toEqual([0]);
    streams.end('c', 'peer');
  });

  test('no chunk arrives in time', async () => {
    const { streams, clock } = receiver({ timeoutMs: 10 });
    const waiting = read(streams.open('nothing'));
    streams.accept('some', 'peer', chunk(0));
    streams.accept('gap', 'peer', chunk(1, { final: true }));
    streams.accept('whole', 'peer', chunk(0, { final: true }));
    clock.now += 6;
    streams.accept('some', 'peer', chunk(1));
    clock.now += 3.9;
    streams.tick();
    expect(streams.pending()).toEqual(['nothing', 'some', 'gap', 'whole']);
    clock.now += 0.1;
    streams.tick();
    expect(await waiting).toEqual(['E3001']);
    expect(await read(streams.open('gap'))).toEqual(['E3001']);
    expect(codeOf(() => streams.accept('some', 'peer', chunk(2)))).toBe(undefined);
    streams.tick(clock.now + 10);
    expect(codeOf(() => streams.accept('some', 'peer', chunk(3)))).toBe('E3003');
    expect(await read(streams.open('some'))).toEqual([0, 1, 2, 'E3001']);
    expect(await read(streams.open('whole'))).toEqual([0]);
    expect(codeOf(() => streams.accept('nothing', 'peer', chunk(0)))).toBe('E3003');
  });

  test('a stream that starts after others has its own timeout', async () => {
    const { streams, clock } = receiver({ timeoutMs: 10 });
    const first = read(streams.open('first'));
    clock.now += 10;
    streams.tick();
    const second = read(streams.open('second'));
    clock.now += 9;
    streams.tick();
    expect(streams.pending()).toEqual(['second']);
    clock.now += 1;
    streams.tick();
    expect([await first, await second]).toEqual([['E3001'], ['E3001']]);
  });

  test('without a timeout it waits for ever', () => {
    const { streams, clock } = receiver({ timeoutMs: Infinity });
    streams.accept('c', 'peer', chunk(0));
    clock.now += 1e9;
    streams.tick();
    expect(codeOf(() => streams.accept('c', 'peer', chunk(1)))).toBe(undefined);
  });

  test('it is aborted: waiting chunks are dropped, and the reader gets the error at once', async () => {
    const { streams } = receiver();
    const early = iterator(streams);
    streams.accept('c', 'peer', chunk(0));
    streams.accept('c', 'peer', chunk(1));
    streams.accept('other', 'peer', chunk(0));
    await early.next();
    streams.abort('c', CANCELLED);
    streams.abort('other', CANCELLED);
    streams.abort('unknown', CANCELLED);
    await expect(early.next()).rejects.toMatchObject({ code: 'E5001', message: 'cancelled' });
    expect(await early.next()).toEqual({ done: true, value: undefined });
    expect(codeOf(() => streams.accept('c', 'peer', chunk(2)))).toBe('E3003');
    expect(await read(streams.open('other'))).toEqual(['E5001']);
    const waiting = read(streams.open('waiting'));
    streams.abort('waiting', CANCELLED);
    expect(await waiting).toEqual(['E5001']);
  });
});

describe('bounds', () => {
  test('a buffer that is full fails the stream for sender and reader', async () => {
    const { streams } = receiver({ maxBuffered: 3 });
    for (const index of [0, 1, 3]) streams.accept('c', 'peer', chunk(index));
    expect(codeOf(() => streams.accept('c', 'peer', chunk(4)))).toBe('E2003');
    expect(codeOf(() => streams.accept('c', 'peer', chunk(2)))).toBe('E3003');
    expect(await read(streams.open('c'))).toEqual([0, 1, 'E2003']);
  });

  test('the chunk that the reader waits for, and the delivered one, need no room', async () => {
    const { streams } = receiver({ maxBuffered: 2 });
    const chunks = iterator(streams);
    const first = chunks.next();
    for (const index of [1, 2, 0]) streams.accept('c', 'peer', chunk(index));
    expect(await first).toMatchObject({ value: { index: 0 } });
    expect(await chunks.next()).toMatchObject({ value: { index: 1 } });
    expect(codeOf(() => streams.accept('c', 'peer', chunk(3)))).toBe(undefined);
    expect(codeOf(() => streams.accept('c', 'peer', chunk(4)))).toBe('E2003');
    for (const index of [2, 3]) expect(await chunks.next()).toMatchObject({ value: { index } });
    await expect(chunks.next()).rejects.toMatchObject({ code: 'E2003' });
  });

  test('an endless stream that is read needs a bounded buffer only', async () => {
    const { streams, journal } = receiver({ maxBuffered: 4 });
    const chunks = iterator(streams);
    for (let index = 0; index < 2000; index += 2) {
      streams.accept('c', 'peer', chunk(index + 1));
      streams.accept('c', 'peer', chunk(index));
      expect(await chunks.next()).toMatchObject({ value: { index } });
      expect(await chunks.next()).toMatchObject({ value: { index: index + 1 } });
    }
    journal.close();
  });

  test('the number of unread streams is limited; unread failed ones make room', async () => {
    const { streams, events } = receiver({ maxStreams: 2 });
    streams.accept('one', 'peer', chunk(0));
    streams.accept('two', 'peer', chunk(0));
    expect(codeOf(() => streams.accept('three', 'peer', chunk(0)))).toBe('E2003');
    streams.end('two', 'peer');
    expect(codeOf(() => streams.accept('three', 'peer', chunk(0)))).toBe(undefined);
    expect(events).toContain('stream-discarded');
    expect(await read(streams.open('two'))).toEqual(['E3003']);
    expect(streams.pending()).toEqual(['one', 'three']);
    streams.accept('one', 'peer', chunk(1, { final: true }));
    expect(await read(streams.open('one'))).toEqual([0, 1]);
    expect(codeOf(() => streams.accept('four', 'peer', chunk(0)))).toBe(undefined);
  });

  test('the number of stored ended streams is limited', async () => {
    const { streams } = receiver();
    for (let number = 0; number <= 4096; number++) {
      streams.accept(`c${number}`, 'peer', chunk(0, { final: true }));
      await read(streams.open(`c${number}`));
    }
    expect(codeOf(() => streams.accept('c1', 'peer', chunk(1)))).toBe('E3003');
    expect(codeOf(() => streams.accept('c0', 'peer', chunk(1)))).toBe(undefined);
  });

  test('the characters of all unread chunks are bounded', async () => {
    const { streams } = receiver({ maxCharacters: 100 });
    // 40 characters each, with their quotes.
    const data = 'x'.repeat(38);
    streams.accept('one', 'peer', chunk(0, { data }));
    streams.accept('two', 'peer', chunk(0, { data }));
    expect(codeOf(() => streams.accept('three', 'peer', chunk(0, { data })))).toBe('E2003');
    expect(streams.pending()).toEqual(['one', 'two']);
    // What the reader has in hand does not count.
    const chunks = iterator(streams, 'one');
    await chunks.next();
    streams.accept('two', 'peer', chunk(1, { data }));
    expect(codeOf(() => streams.accept('one', 'peer', chunk(1, { data: { list: [data] } })))).toBe('E2003');
    await expect(chunks.next()).rejects.toMatchObject({ code: 'E2003' });
    expect(codeOf(() => streams.accept('two', 'peer', chunk(2, { data: [1, true, null] })))).toBe(undefined);
  });

  test('unread failed streams make room for characters, too', async () => {
    const { streams } = receiver({ maxCharacters: 100 });
    const data = 'x'.repeat(80);
    streams.accept('failed', 'peer', chunk(0, { data }));
    streams.end('failed', 'peer');
    streams.accept('next', 'peer', chunk(0, { data, final: true }));
    expect(streams.pending()).toEqual(['next']);
    for await (const got of streams.open('next')) expect(got.data).toBe(data);
    streams.accept('last', 'peer', chunk(0, { data }));
  });

  test('a chunk that a reader waits for is accepted at any length, and takes no room', async () => {
    const { streams } = receiver({ maxCharacters: 100 });
    const chunks = iterator(streams);
    for (let index = 0; index < 5; index++) {
      const next = chunks.next();
      streams.accept('c', 'peer', chunk(index, { data: 'x'.repeat(200) }));
      expect(await next).toMatchObject({ value: { index } });
    }
    expect(codeOf(() => streams.accept('other', 'peer', chunk(0, { data: 'x'.repeat(98) })))).toBe(undefined);
  });

  test('invalid limits are rejected', () => {
    const { journal } = receiver();
    for (const limits of [
      { maxBuffered: 0 },
      { maxCharacters: 0 },
      { maxStreams: 1.5 },
      { timeoutMs: 0 },
      { timeoutMs: Number.NaN },
    ]) {
      expect(() => createStreams({ journal, now: () => 0, emit: () => {}, ...limits })).toThrow(TypeError);
    }
  });
});

describe('readers', () => {
  test('a stream has one reader', async () => {
    const { streams } = receiver();
    streams.open('c');
    expect(() => streams.open('c')).toThrow(TypeError);
  });

  test('leaving the loop drops the rest, and the sender is not informed', async () => {
    const { streams, events } = receiver();
    for (const index of [0, 1, 2]) streams.accept('c', 'peer', chunk(index));
    const got: number[] = [];
    for await (const { index } of streams.open('c')) {
      got.push(index);
      if (index === 1) break;
    }
    expect(got).toEqual([0, 1]);
    expect(streams.pending()).toEqual([]);
    streams.accept('c', 'peer', chunk(3));
    streams.accept('c', 'peer', chunk(3));
    streams.end('c', 'peer');
    expect(events.filter((type) => type === 'stream-dropped')).toHaveLength(2);
    expect(streams.pending()).toEqual([]);
    expect(await read(streams.open('c'))).toEqual(['E3003']);
  });

  test('leaving ends waiting reads', async () => {
    const { streams } = receiver();
    const chunks = iterator(streams);
    const waiting = [chunks.next(), chunks.next()];
    await chunks.return?.();
    for (const each of [...waiting, chunks.next(), chunks.return?.()])
      expect(await each).toEqual({ done: true, value: undefined });
  });

  test('reads after the end of the stream end, too', async () => {
    const { streams } = receiver();
    const chunks = iterator(streams);
    const waiting = [chunks.next(), chunks.next(), chunks.next()];
    streams.accept('c', 'peer', chunk(0, { final: true }));
    expect(await Promise.all(waiting)).toEqual([
      { done: false, value: chunk(0, { final: true }) },
      { done: true, value: undefined },
      { done: true, value: undefined },
    ]);
    const failing = iterator(streams, 'failing');
    const both = [failing.next(), failing.next()];
    streams.abort('failing', CANCELLED);
    await expect(both[0]).rejects.toMatchObject({ code: 'E5001' });
    expect(await both[1]).toEqual({ done: true, value: undefined });
  });

  test('every step is logged', async () => {
    const { streams, events } = receiver();
    streams.accept('c', 'peer', chunk(0, { final: true }));
    await read(streams.open('c'));
    streams.accept('d', 'peer', chunk(0));
    streams.end('d', 'peer');
    for await (const _ of streams.open('d')) break;
    expect(events).toEqual(['stream-started', 'stream-read', 'stream-started', 'stream-failed', 'stream-abandoned']);
  });
});
