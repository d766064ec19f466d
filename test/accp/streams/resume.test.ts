/** A session that is resumed in another process resumes its streams. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AccpError } from '../../../src/accp/errors.js';
import type { SessionStore } from '../../../src/accp/store/store.js';
import { createStreams } from '../../../src/accp/streams/streams.js';
import { runs } from '../../helpers/runs.js';
import { freshFiles } from '../../storage/folder.js';
import { STORES } from '../store/stores.js';
import { chunk, codeOf, type Receiver, read, receiver } from './helpers.js';

const fresh = freshFiles();

/** Closes a receiver, and opens the one that continues. */
function resumed({ streams, journal }: Receiver, store: SessionStore): Receiver {
  streams.close();
  journal.close();
  return receiver({}, store);
}

/** The stores of the tests that open them very often. */
const EMBEDDED = STORES.filter(([name]) => !name.startsWith('PostgreSQL'));

describe.each(EMBEDDED)('%s', (_name, place) => {
  test('unread chunks are available, and read ones are not', async () => {
    const store = await place(fresh).open();
    const before = receiver({}, store);
    for (const index of [0, 1, 2, 4]) before.streams.accept('c', 'peer', chunk(index, { total: 6 }));
    before.streams.accept('open', 'peer', chunk(4));
    const chunks = before.streams.open('c')[Symbol.asyncIterator]();
    for (const index of [0, 1]) expect(await chunks.next()).toMatchObject({ value: { index } });
    const pending = chunks.next();
    expect(await pending).toMatchObject({ value: { index: 2 } });

    const after = resumed(before, store);
    // The loop of the old session has ended with an error, and cannot touch what is kept.
    await expect(chunks.next()).rejects.toMatchObject({ code: 'E9999' });
    expect(after.streams.pending()).toEqual(['c', 'open']);
    // Chunks are checked by the stored data.
    expect(codeOf(() => after.streams.accept('c', 'peer', chunk(1)))).toBe('E3002');
    expect(codeOf(() => after.streams.accept('c', 'peer', chunk(4)))).toBe('E3002');
    expect(codeOf(() => after.streams.accept('c', 'stranger', chunk(3)))).toBe('E5001');
    expect(codeOf(() => after.streams.accept('c', 'peer', chunk(6)))).toBe('E1004');
    expect(codeOf(() => after.streams.accept('c', 'peer', chunk(5, { total: 7 })))).toBe('E1004');
    expect(codeOf(() => after.streams.accept('open', 'peer', chunk(3, { final: true })))).toBe('E1004');
    after.streams.accept('c', 'peer', chunk(5, { final: true }));
    after.streams.accept('c', 'peer', chunk(3));
    // Chunk 2 was being worked on.
    expect(await read(after.streams.open('c'))).toEqual([2, 3, 4, 5]);
    store.close();
  });

  test('failed and ended streams are known', async () => {
    const store = await place(fresh).open();
    const before = receiver({}, store);
    const { streams } = before;
    streams.accept('failed', 'peer', chunk(0));
    streams.end('failed', 'peer');
    streams.accept('cancelled', 'peer', chunk(0));
    streams.abort('cancelled', new AccpError({ code: 'E5001', message: 'no', details: { by: 'user' } }));
    streams.accept('read', 'peer', chunk(0, { final: true }));
    await read(streams.open('read'));
    streams.accept('left', 'peer', chunk(0));
    for await (const _ of streams.open('left')) break;
    streams.accept('whole', 'peer', chunk(0, { final: true }));

    const after = resumed(before, store);
    expect(after.streams.pending()).toEqual(['failed', 'cancelled', 'whole']);
    expect(codeOf(() => after.streams.accept('read', 'peer', chunk(1)))).toBe('E3003');
    expect(codeOf(() => after.streams.accept('left', 'peer', chunk(1)))).toBe(undefined);
    expect(codeOf(() => after.streams.accept('failed', 'peer', chunk(1)))).toBe('E3003');
    expect(await read(after.streams.open('failed'))).toEqual([0, 'E3003']);
    const cancelled = after.streams.open('cancelled')[Symbol.asyncIterator]();
    await expect(cancelled.next()).rejects.toMatchObject({ code: 'E5001', message: 'no', details: { by: 'user' } });
    expect(await read(after.streams.open('whole'))).toEqual([0]);
    expect(after.streams.pending()).toEqual([]);
    store.close();
  });

  test('a stream has its full timeout again after a restart', async () => {
    const store = await place(fresh).open();
    const before = receiver({}, store);
    before.streams.accept('c', 'peer', chunk(0));
    before.streams.close();
    before.journal.close();
    const after = receiver({ now: () => 1_000_000, timeoutMs: 10 }, store);
    after.streams.tick(1_000_000);
    after.streams.tick(1_000_009);
    expect(codeOf(() => after.streams.accept('c', 'peer', chunk(1)))).toBe(undefined);
    after.streams.tick(1_000_010);
    expect(await read(after.streams.open('c'))).toEqual([0, 1, 'E3001']);
    store.close();
  });

  test('leaving the loop after the session is closed drops nothing', async () => {
    const store = await place(fresh).open();
    const before = receiver({}, store);
    before.streams.accept('c', 'peer', chunk(0, { final: true }));
    const chunks = before.streams.open('c')[Symbol.asyncIterator]();
    await chunks.next();
    before.streams.close();
    await chunks.return?.();
    before.journal.close();
    expect(await read(receiver({}, store).streams.open('c'))).toEqual([0]);
    store.close();
  });

  test('chunks that can never be read are not stored', async () => {
    const store = await place(fresh).open();
    const before = receiver({}, store);
    for (const cid of ['failed', 'left', 'cancelled']) {
      for (const index of [0, 2]) before.streams.accept(cid, 'peer', chunk(index, { data: `${cid} ${index}` }));
    }
    before.streams.end('failed', 'peer');
    for await (const _ of before.streams.open('left')) break;
    before.streams.abort('cancelled', new AccpError({ code: 'E5001', message: 'no' }));
    before.journal.close();
    const kept = [...store.claim('s', 'a').entries()].map(({ value }) => value ?? '');
    const data = kept.flatMap((value) => /"(\w+ \d)"/.exec(value)?.[1] ?? []);
    expect(data).toEqual(['failed 0']);
    store.close();
  });

  test('wherever a session is interrupted, all chunks arrive in order, and none is lost', async () => {
    const runsOf = fc.integer({ min: 1, max: 8 }).chain((count) =>
      fc.record({
        order: fc.shuffledSubarray([...Array(count).keys()], { minLength: count }),
        breaks: fc.array(fc.boolean(), { minLength: count, maxLength: count }),
        reads: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: count, maxLength: count }),
      }),
    );
    const property = fc.asyncProperty(runsOf, async ({ order, breaks, reads }) => {
      const store = await place(fresh).open();
      let current = receiver({}, store);
      let chunks = current.streams.open('c')[Symbol.asyncIterator]();
      const got: number[] = [];
      let inHand = false;
      for (const [at, index] of order.entries()) {
        current.streams.accept('c', 'peer', chunk(index, { final: index === order.length - 1 }));
        for (let left = reads[at]!; left > 0; left--) {
          const has = order.slice(0, at + 1);
          // Only what is there is asked for: what waits would end with an error.
          const next = got.length;
          if (!has.includes(next)) break;
          const { value } = await chunks.next();
          got.push((value as { index: number }).index);
          inHand = true;
        }
        if (!breaks[at]) continue;
        // The chunk in hand comes again.
        if (inHand) got.pop();
        inHand = false;
        current = resumed(current, store);
        chunks = current.streams.open('c')[Symbol.asyncIterator]();
      }
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) break;
        got.push(value.index);
      }
      expect(got).toEqual([...Array(order.length).keys()]);
      current.journal.close();
      store.close();
    });
    await fc.assert(property, runs(30));
  });
});

test('waiting readers get an error when the session is closed, and take nothing from the next one', async () => {
  const { streams, journal } = receiver();
  const waiting = read(streams.open('c'));
  streams.close();
  expect(await waiting).toEqual(['E9999']);
  expect(createStreams({ journal, now: () => 0, emit: () => {} }).pending()).toEqual([]);
});

describe('saving', () => {
  test('happens after a reader has taken a chunk, before the next one, and never for received chunks', async () => {
    let saved = 0;
    const { streams } = receiver({ save: () => saved++ });
    streams.accept('c', 'peer', chunk(0));
    const chunks = streams.open('c')[Symbol.asyncIterator]();
    await chunks.next();
    expect(saved).toBe(0);
    const second = chunks.next();
    expect(saved).toBe(1);
    streams.accept('c', 'peer', chunk(1, { final: true }));
    streams.end('c', 'peer');
    await second;
    expect(saved).toBe(1);
    // Chunk 1 is read, and so is the stream.
    expect(await chunks.next()).toMatchObject({ done: true });
    expect(saved).toBe(3);
    streams.accept('left', 'peer', chunk(0));
    for await (const _ of streams.open('left')) break;
    expect(saved).toBe(4);
    const [one, two] = [streams.open('two')[Symbol.asyncIterator](), [] as unknown[]];
    two.push(one.next(), one.next());
    streams.accept('two', 'peer', chunk(0));
    streams.accept('two', 'peer', chunk(1, { final: true }));
    expect(await Promise.all(two)).toMatchObject([{ value: { index: 0 } }, { value: { index: 1 } }]);
    expect(saved).toBe(4);
  });

  test('that fails is an error for the reader, which loses nothing', async () => {
    let works = true;
    const { streams } = receiver({
      save: () => {
        if (!works) throw new Error('the disk is full');
      },
    });
    for (const index of [0, 1, 2]) streams.accept('c', 'peer', chunk(index, { final: index === 2 }));
    const chunks = streams.open('c')[Symbol.asyncIterator]();
    expect(await chunks.next()).toMatchObject({ value: { index: 0 } });
    works = false;
    await expect(chunks.next()).rejects.toThrow('the disk is full');
    works = true;
    for (const index of [1, 2]) expect(await chunks.next()).toMatchObject({ value: { index } });
    works = false;
    // Neither that the last chunk was read nor that the stream was can be stored.
    for (const _ of [1, 2]) await expect(chunks.next()).rejects.toThrow('the disk is full');
    works = true;
    expect(await chunks.next()).toMatchObject({ done: true });
  });
});
