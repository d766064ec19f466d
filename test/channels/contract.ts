/** The contract of `Channel`, which every transport fulfils. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { nextTurn } from '../../src/async/timers.js';
import type { Channel } from '../../src/channels/channel.js';

/** Both ends of a connection. */
export interface Ends {
  readonly here: Channel;
  readonly there: Channel;
  /** Breaks the connection in the middle, as seen by both ends; absent if that is impossible. */
  readonly cut?: () => void;
  /** Closes what `open` started. */
  readonly close: () => Promise<void>;
}

/** Opens a connection whose ends accept texts of at most `maxTextBytes` bytes. */
export type Open = (options?: { readonly maxTextBytes?: number }) => Promise<Ends>;

/** The input of one end. */
export interface Heard {
  readonly texts: string[];
  readonly tooLong: number[];
  readonly invalid: string[];
  /** The arguments of all calls of `ended`. */
  readonly ends: (Error | undefined)[];
  /** Resolves when `ended` was called. */
  readonly ended: Promise<void>;
  /** Resolves when this number of texts has arrived. @throws Error if the channel ends before */
  readonly count: (count: number) => Promise<void>;
}

/** Starts a channel and collects what it delivers. */
export function hear(channel: Channel, onText?: (text: string) => void): Heard {
  const waiting = new Set<() => void>();
  const changed = (): void => {
    for (const check of waiting) check();
  };
  const ends: (Error | undefined)[] = [];
  let finish!: () => void;
  const heard = {
    ...{ texts: [] as string[], tooLong: [] as number[], invalid: [] as string[], ends },
    ended: new Promise<void>((resolve) => {
      finish = resolve;
    }),
    count: (count: number) =>
      new Promise<void>((resolve, reject) => {
        const check = (): void => {
          const isThere = heard.texts.length >= count;
          if (!isThere && ends.length === 0) return;
          waiting.delete(check);
          if (isThere) resolve();
          else reject(new Error(`ended after ${heard.texts.length} of ${count} texts`, { cause: ends[0] }));
        };
        waiting.add(check);
        check();
      }),
  };
  channel.start({
    text: (text, isUnterminated = false) => {
      // The beginning of a text, after a cut.
      if (isUnterminated) return;
      heard.texts.push(text);
      onText?.(text);
      changed();
    },
    invalid: (reason) => heard.invalid.push(reason),
    tooLong: (limit) => heard.tooLong.push(limit),
    ended: (error) => {
      ends.push(error);
      finish();
      changed();
    },
  });
  return heard;
}

const KIB = 1024;
/** More than the buffers of a connection hold: those of both processes and of the system. */
const MAX_BUFFERED = 96 * KIB * KIB;
/** Milliseconds without progress after which a writer counts as stopped. */
const STALLED_MS = 400;

/** Sends texts of 64 KiB until the channel makes the writer wait. @returns the number of texts, and the wait */
async function fill(channel: Channel): Promise<{ sent: number; ready: Promise<void> }> {
  const filler = 'x'.repeat(64 * KIB);
  for (let sent = 0; sent * filler.length < MAX_BUFFERED; ) {
    channel.send(JSON.stringify([sent++, filler]));
    const ready = channel.ready();
    if (ready === undefined) await new Promise<void>((resolve) => nextTurn(resolve));
    else if ((await Promise.race([ready, sleep(STALLED_MS, 'stalled')])) === 'stalled') return { sent, ready };
  }
  throw new Error('the writer was never made to wait');
}

const numberOf = (text: string): number => (JSON.parse(text) as [number])[0];
const upTo = (count: number): number[] => Array.from({ length: count }, (_, number) => number);

/** Options of {@link channelContract}. */
export interface ContractOptions {
  /** `false` if the channel has no limit of its own. @default true */
  readonly isLimited?: boolean;
  /** Returns the reason for which the tests are skipped, ` (skipped: ...)`, or an empty text. */
  readonly hint?: string;
}

/** Defines the tests of the contract for one transport. */
export function channelContract(name: string, open: Open, { isLimited = true, hint = '' }: ContractOptions = {}): void {
  describe.skipIf(hint !== '')(`a channel over ${name}${hint}`, () => {
    const opened: Ends[] = [];
    afterEach(async () => {
      for (const { here, there, close } of opened.splice(0)) {
        here.destroy();
        there.destroy();
        await close();
      }
    });

    async function connected(options?: { readonly maxTextBytes?: number }): Promise<Ends> {
      const ends = await open(options);
      opened.push(ends);
      return ends;
    }

    test('delivers the texts of both sides in order and unchanged', async () => {
      const { here, there } = await connected();
      const [mine, theirs] = [hear(here), hear(there)];
      const texts = upTo(500).map((number) =>
        JSON.stringify([number, 'é\u2028\u{1f600}\n\u0000"\\'.repeat(number % 7)]),
      );
      for (const text of texts) {
        here.send(text);
        there.send(text);
      }
      await Promise.all([mine.count(500), theirs.count(500)]);
      expect(mine.texts).toEqual(texts);
      expect(theirs.texts).toEqual(texts);
    });

    test('delivers texts that arrived before it was started', async () => {
      const { here, there } = await connected();
      hear(here);
      for (const number of upTo(5)) here.send(`[${number}]`);
      await sleep(20);
      const theirs = hear(there);
      await theirs.count(5);
      expect(theirs.texts.map(numberOf)).toEqual(upTo(5));
    });

    test('delivers texts of three megabytes in both directions', async () => {
      const { here, there } = await connected();
      const [mine, theirs] = [hear(here), hear(there)];
      const big = JSON.stringify('é漢x'.repeat(500 * KIB));
      here.send(big);
      there.send(big);
      await Promise.all([mine.count(1), theirs.count(1)]);
      expect(mine.texts[0] === big && theirs.texts[0] === big).toBe(true);
    });

    test('makes a writer wait while the other side does not read, which can still send', async () => {
      const { here, there } = await connected();
      const mine = hear(here);
      const theirs = hear(there);
      there.pause();
      const { sent, ready } = await fill(here);
      expect(here.backlog()).toBeGreaterThan(0);
      there.send('"still here"');
      await mine.count(1);
      const before = theirs.texts.length;
      there.resume();
      await Promise.all([theirs.count(sent), ready]);
      expect(theirs.texts.map(numberOf)).toEqual(upTo(sent));
      expect(before).toBeLessThan(sent);
      expect(await here.flushed?.()).not.toBe(false);
    });

    test('delivers nothing between a pause in the middle of a delivery and the next resume', async () => {
      const { here, there } = await connected();
      hear(here);
      const theirs = hear(there, () => there.pause());
      for (const number of upTo(20)) here.send(`[${number}]`);
      for (const number of upTo(20)) {
        await theirs.count(number + 1);
        await sleep(2);
        expect(theirs.texts.length).toBe(number + 1);
        there.resume();
      }
      expect(theirs.texts.map(numberOf)).toEqual(upTo(20));
    });

    test('delivers everything that was sent before the end, and then the end, once', async () => {
      const { here, there } = await connected();
      const [mine, theirs] = [hear(here), hear(there)];
      for (const number of upTo(300)) here.send(JSON.stringify([number, 'x'.repeat(2000)]));
      const ended = here.end();
      here.send('"after the end"');
      await theirs.ended;
      expect(theirs.texts.map(numberOf)).toEqual(upTo(300));
      expect(theirs.ends).toEqual([undefined]);
      await there.end();
      await Promise.all([ended, mine.ended]);
      expect(mine.ends).toEqual([undefined]);
    });

    test('delivers what had arrived when both sides have ended, after a pause', async () => {
      const { here, there } = await connected();
      const [mine, theirs] = [hear(here), hear(there)];
      here.pause();
      for (const number of upTo(40)) there.send(`[${number}]`);
      await Promise.race([there.flushed?.(), sleep(100)]);
      const ended = [there.end(), here.end()];
      await theirs.ended;
      here.resume();
      await Promise.all([mine.ended, ...ended]);
      expect(mine.texts.map(numberOf)).toEqual(upTo(40));
      expect([mine.ends, theirs.ends]).toEqual([[undefined], [undefined]]);
    });

    test('ends once on each side when both end at the same time', async () => {
      const { here, there } = await connected();
      const [mine, theirs] = [hear(here), hear(there)];
      await Promise.all([here.end(), there.end()]);
      await Promise.all([mine.ended, theirs.ended]);
      await sleep(20);
      expect([mine.ends.length, theirs.ends.length]).toEqual([1, 1]);
    });

    test('ends on both sides after it was destroyed on one, and then accepts all calls', async () => {
      const { here, there } = await connected();
      const [mine, theirs] = [hear(here), hear(there)];
      here.send('"first"');
      await theirs.count(1);
      there.destroy();
      await Promise.all([mine.ended, theirs.ended]);
      for (const channel of [here, there]) {
        channel.send('"lost"');
        await channel.ready();
        if (channel === there) expect((await channel.flushed?.()) ?? false).toBe(false);
        channel.pause();
        channel.resume();
        await channel.end();
        channel.destroy();
      }
      expect([mine.ends.length, theirs.ends.length]).toEqual([1, 1]);
    });

    test('releases a waiting writer when it is destroyed', async () => {
      const { here, there } = await connected();
      hear(here);
      hear(there);
      there.pause();
      const { ready } = await fill(here);
      const flushed = here.flushed?.();
      here.destroy();
      await ready;
      expect((await flushed) ?? false).toBe(false);
    });

    test('reports a cut to both sides, once, and releases a waiting writer', async (context) => {
      const { here, there, cut } = await connected();
      if (cut === undefined) context.skip();
      const [mine, theirs] = [hear(here), hear(there)];
      there.pause();
      const { ready } = await fill(here);
      const flushed = here.flushed?.();
      cut!();
      there.resume();
      await Promise.all([mine.ended, theirs.ended, ready]);
      expect((await flushed) ?? false).toBe(false);
      expect(theirs.texts.map(numberOf)).toEqual(upTo(theirs.texts.length));
      await Promise.all([here.end(), there.end()]);
      expect([mine.ends.length, theirs.ends.length]).toEqual([1, 1]);
    });

    test.skipIf(!isLimited)('delivers a text as long as the limit, and ends at a longer one', async () => {
      const limit = 10_000;
      const { here, there } = await connected({ maxTextBytes: limit });
      const [mine, theirs] = [hear(here), hear(there)];
      expect(there.maxTextBytes).toBe(limit);
      const longest = `"${'x'.repeat(limit - 2)}"`;
      here.send(longest);
      here.send(`"${'x'.repeat(limit - 1)}"`);
      here.send('"never read"');
      await theirs.ended;
      expect(theirs.texts.map((text) => text.length)).toEqual([limit]);
      expect(theirs.tooLong).toEqual([limit]);
      expect(theirs.ends.length).toBe(1);
      there.destroy();
      await mine.ended;
    });
  });
}
