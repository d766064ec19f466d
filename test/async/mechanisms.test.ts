/** Queues, semaphores, and waiting that ends early. */
import { describe, expect, test } from 'vitest';
import { abortable, within } from '../../src/async/abort.js';
import { AsyncQueue, Queue } from '../../src/async/queue.js';
import { Semaphore } from '../../src/async/semaphore.js';
import { backoff } from '../../src/async/timers.js';

describe('a semaphore', () => {
  test('lets so many work at a time, and the others in the order in which they asked', async () => {
    const semaphore = new Semaphore(2);
    const order: number[] = [];
    let working = 0;
    let most = 0;
    const work = async (n: number): Promise<void> => {
      const release = await semaphore.acquire();
      most = Math.max(most, ++working);
      order.push(n);
      await null;
      working--;
      release();
      release();
    };
    await Promise.all([1, 2, 3, 4, 5].map(work));
    expect(order).toEqual([1, 2, 3, 4, 5]);
    expect(most).toBe(2);
  });

  test('gives a permit at once where one is free', () => {
    expect(new Semaphore(1).acquire()).toBeTypeOf('function');
  });

  test('leaves out those that have given up', async () => {
    const semaphore = new Semaphore(1);
    const release = await semaphore.acquire();
    const controller = new AbortController();
    const first = semaphore.acquire(controller.signal);
    const second = semaphore.acquire();
    controller.abort(new Error('not wanted'));
    release();
    await expect(first).rejects.toThrow('not wanted');
    expect(await second).toBeTypeOf('function');
    await expect(semaphore.acquire(controller.signal)).rejects.toThrow('not wanted');
  });
});

describe('a queue', () => {
  test('gives items in their order, those that were put back first', () => {
    const queue = new Queue<number>();
    for (const item of [1, 2, 3]) queue.push(item);
    expect(queue.take()).toBe(1);
    queue.unshift([8, 9]);
    expect(queue.peek(3)).toEqual([8, 9, 2]);
    expect(queue.clear()).toEqual([8, 9, 2, 3]);
    expect(queue.size).toBe(0);
  });

  test('can be waited for, and ends with its error behind the last item', async () => {
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

test('a promise can be given up by a signal, or after a while', async () => {
  const never = new Promise<void>(() => {});
  const controller = new AbortController();
  const given = abortable(never, controller.signal);
  controller.abort(new Error('enough'));
  await expect(given).rejects.toThrow('enough');
  await expect(abortable(Promise.resolve(1), new AbortController().signal)).resolves.toBe(1);
  expect(await within(0, never)).toBe(false);
  expect(await within(60_000, Promise.resolve())).toBe(true);
});

test('delays double up to the longest one', () => {
  expect([1, 2, 3, 40].map((failures) => backoff(failures, { minDelayMs: 100, maxDelayMs: 1000 }))).toEqual([100, 200, 400, 1000]);
});
