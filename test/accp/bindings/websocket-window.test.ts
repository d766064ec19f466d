/** Limits the frames that are sent before a pong confirms that they were processed. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SendWindow } from '../../../src/accp/bindings/link/send-window.js';

const frame = (mid: string, intent = 'sync'): string => `@a>${intent}:note{}[mid:${mid},seq:1,ts:1]`;
const pong = (cid: string): string => `@b>pong:heartbeat{}[mid:z1,seq:1,ts:1,cid:${cid}]`;
const gap = (aid: string): string =>
  `@b>fail:error{code:E3003|expected:2|msg:gap|retry:true|schema:ER}[mid:z2,seq:1,ts:1,cid:c1,aid:${aid}]`;

/** Of an outbox of 64 frames, 16 may be unconfirmed. */
const opened = (): SendWindow => new SendWindow(64);
const fill = (window: SendWindow, count: number): void => {
  for (let n = 0; n < count; n++) window.sent(frame(`m${n}`));
};
/** A full window, with the unanswered ping `p1`. */
const full = (): SendWindow => {
  const window = opened();
  fill(window, 15);
  window.sent(frame('p1', 'ping'));
  return window;
};
const isOpen = (window: SendWindow): boolean => window.ready() === undefined;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a window', () => {
  test('requests one ping when it is half full', () => {
    const window = opened();
    fill(window, 7);
    expect(window.takePingDue()).toBe(false);
    fill(window, 1);
    expect([window.takePingDue(), window.takePingDue()]).toEqual([true, false]);
    window.sent(frame('p1', 'ping'));
    expect(window.takePingDue()).toBe(false);
  });

  test('is full only while a ping is unanswered: nothing else would open it', () => {
    const window = opened();
    fill(window, 100);
    expect(isOpen(window)).toBe(true);
    window.sent(frame('p1', 'ping'));
    expect(isOpen(window)).toBe(false);
  });

  test.each<[string, (window: SendWindow) => void]>([
    ['the pong of its ping', (window) => window.arrived(pong('p1'))],
    ['the pong of a later one', (window) => [window.sent(frame('p2', 'ping')), window.arrived(pong('p2'))]],
    ['another connection', (window) => window.restart()],
    ['release', (window) => window.release()],
    ['a gap in which its ping was rejected', (window) => window.arrived(gap('p1'))],
  ])('is opened by %s', async (_, happens) => {
    const window = full();
    const ready = window.ready();
    expect(ready).toBeDefined();
    happens(window);
    await ready;
    expect(isOpen(window)).toBe(true);
  });

  test.each([
    ['a pong from another sender', pong('p9')],
    ['a gap in which another frame was rejected', gap('m3')],
    ['any other frame', frame('x1')],
    ['the text of a pong in another frame', '@b>sync:note{t:\\@b\\>pong\\:heartbeat}[mid:z,seq:1,ts:1,cid:p1]'],
    ['a text that is not a frame', 'pong'],
  ])('is not opened by %s', (_, text) => {
    const window = full();
    window.arrived(text);
    expect(isOpen(window)).toBe(false);
  });

  test('counts the frames that were sent after the ping', () => {
    const window = full();
    fill(window, 10);
    window.arrived(pong('p1'));
    expect(window.takePingDue()).toBe(true);
    fill(window, 5);
    window.sent(frame('p2', 'ping'));
    expect(isOpen(window)).toBe(false);
  });

  test('also counts characters', () => {
    const window = opened();
    window.sent(`@a>sync:note{t:${'x'.repeat(1_100_000)}}[mid:m1,seq:1,ts:1]`);
    expect(window.takePingDue()).toBe(true);
    window.sent(frame('p1', 'ping'));
    expect(isOpen(window)).toBe(false);
  });

  test('waits for a silent peer, but not for one that sends frames and answers no pings', async () => {
    const window = full();
    let isReady = false;
    void window.ready()!.then(() => {
      isReady = true;
    });
    await vi.advanceTimersByTimeAsync(300_000);
    expect(isReady).toBe(false);
    window.arrived(frame('x1'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isReady).toBe(true);
    fill(window, 100);
    expect(isOpen(window)).toBe(true);
    // It does answer, after all.
    window.arrived(pong('p1'));
    window.sent(frame('p2', 'ping'));
    expect(isOpen(window)).toBe(false);
  });

  test('waits without a limit for a peer that has answered before', async () => {
    const window = full();
    window.arrived(pong('p1'));
    fill(window, 15);
    window.sent(frame('p2', 'ping'));
    const ready = window.ready();
    window.arrived(frame('x1'));
    await vi.advanceTimersByTimeAsync(600_000);
    expect(isOpen(window)).toBe(false);
    window.arrived(pong('p2'));
    await ready;
  });
});
