/** Queues, semaphores, abortable waiting and backoff. */
import { describe, expect, test } from 'vitest';
import { abortable, LazyAbort, within } from '../../src/async/abort.js';
import { AsyncQueue, Queue } from '../../src/async/queue.js';
import { Semaphore } from '../../src/async/semaphore.js';
import { backoff } from '../../src/async/timers.js';

describe('a semaphore', () => {
  test('admits as many holders as it has permits, and waiters in order', async () => {
    const semaphore = new Semaphore(2);
    const order: number[] = [];
    let active = 0;
    let maxActive = 0;
    const work = async (n: number): Promise<void> => {
      const release = await semaphore.acquire();
      maxActive = Math.max(maxActive, ++active);
      order.push(n);
      await null;
      active--;
      release();
      release();
    };
    await Promise.all([1, 2, 3, 4, 5].map(work));
    expect(order).toEqual([1, 2, 3, 4, 5]);
    expect(maxActive).toBe(2);
  });

  test('returns a free permit synchronously', () => {
    expect(new Semaphore(1).acquire()).toBeTypeOf('function');
  });

  test('skips aborted waiters', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const controller = new AbortController();
    const first = semaphore.acquire(controller.signal);
    const second = semaphore.acquire();
    controller.abort(new Error('aborted'));
    release();
    await expect(first).rejects.toThrow('aborted');
    expect(await second).toBeTypeOf('function');
    await expect(semaphore.acquire(controller.signal)).rejects.toThrow('aborted');
  });
});

describe('a queue', () => {
  test('returns items in order, after those that were inserted at its front', () => {
    const queue = new Queue<number>();
    for (const item of [1, 2, 3]) queue.push(item);
    expect(queue.take()).toBe(1);
    queue.unshift([8, 9]);
    expect(queue.peek(3)).toEqual([8, 9, 2]);
    expect(queue.clear()).toEqual([8, 9, 2, 3]);
    expect(queue.size).toBe(0);
  });

  test('can be awaited, and ends with its error after the last item', async () => {
    const queue = new AsyncQueue<number>();
    const first = queue.next();
    queue.push(1);
    queue.push(2);
    queue.end(new Error('lost'));
    expect(await first).toEqual({ done: false, value: 1 });
    expect(await queue.next()).toEqual({ done: false, value: 2 });
    await expect(queue.next()).rejects.toThrow('lost');
    expect(await queue.next()).toEqual({ done: true, value: undefined });
  });
});

test('waiting for a promise ends with a signal or a timeout', async () => {
  const never = new Promise<void>(() => {});
  const controller = new AbortController();
  const waiting = abortable(never, controller.signal);
  controller.abort(new Error('aborted'));
  await expect(waiting).rejects.toThrow('aborted');
  await expect(abortable(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
  expect(await within(0, never)).toBe(false);
  expect(await within(60_000, Promise.resolve())).toBe(true);
});

test('delays double up to a maximum', () => {
  expect([1, 2, 3, 40].map((failures) => backoff(failures, { minDelayMs: 100, maxDelayMs: 1000 }))).toEqual([
    100, 200, 400, 1000,
  ]);
});

test('a signal that is created on demand has the first reason, whether it is read before or after', () => {
  const [early, late] = [new LazyAbort(), new LazyAbort()];
  const { signal } = early;
  expect(signal.aborted).toBe(false);
  early.throwIfAborted();
  for (const abort of [early, late]) {
    abort.abort('first');
    abort.abort('second');
    expect(abort.signal).toMatchObject({ aborted: true, reason: 'first' });
    expect(abort.reason).toBe('first');
    expect(() => abort.throwIfAborted()).toThrow('first');
  }
  expect(early.signal).toBe(signal);
});
