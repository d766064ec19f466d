/** Connections that are lost repeatedly, during messages, replays and handshakes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, describe, expect, test } from 'vitest';
import { connect, dialOf, openClient } from '../../../src/arcp/client/index.js';
import type { Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  createRuntime,
  listenUnix,
  listenWebSocket,
  memoryStore,
  type StoredEvent,
  sqliteStore,
} from '../../../src/arcp/runtime/index.js';
import type { Channel } from '../../../src/channels/channel.js';
import { cuttingProxy } from '../../helpers/cutting-proxy.js';

const ending: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const MOST_CUTS = process.env['LONG_RUNS'] === undefined ? 60 : 1000;
const JOBS = 5;
/** The number of messages of each job. */
const MESSAGES = process.env['LONG_RUNS'] === undefined ? 400 : 8000;

interface Judged {
  readonly cuts: number;
  /** The violations in the received messages. */
  readonly problems: readonly string[];
}

/** Jobs with many messages, and a client that is disconnected repeatedly. */
async function followThrough(store: ArcpStore, reading: ArcpStore = store): Promise<Judged> {
  const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-cut-'));
  ending.push(() => rmSync(folder, { recursive: true, force: true }));
  const runtime = createRuntime({ store: reading }).tool(
    'talk',
    { durable: true },
    async ({ count }, { progress, stream }) => {
      const out = stream({ kind: 'event', name: 'words' });
      for (let n = 0; n < Number(count); n++) {
        await (n % 2 === 0 ? progress({ current: n }) : out.write({ n, filler: 'x'.repeat(n % 300) }));
        if (n % 10 === 9) await new Promise((resolve) => setImmediate(resolve));
      }
      await out.close();
      return count;
    },
  );
  ending.push(() => runtime.close());
  const listener = await listenUnix(runtime, path.join(folder, 'runtime'));
  ending.push(() => listener.close());
  let left = MOST_CUTS;
  const proxy = await cuttingProxy({
    target: path.join(folder, 'runtime'),
    listen: path.join(folder, 'proxy'),
    bytes: () => (left-- > 0 ? 500 + Math.floor(Math.random() * 30_000) : Number.POSITIVE_INFINITY),
  });
  ending.push(() => proxy.close());
  const heard: Envelope[] = [];
  const client = await connect(`unix:${path.join(folder, 'proxy')}`, {
    reconnect: { minDelayMs: 1, maxDelayMs: 5 },
    onMessage: (message) => heard.push(message),
  });
  ending.push(() => client.disconnect());
  const works = Array.from({ length: JOBS }, () => client.invoke('talk', { count: MESSAGES }));
  const words = works.map(async (work) => {
    const read: unknown[] = [];
    for await (const word of work.stream('words')) read.push((word as { readonly n: number }).n);
    return read;
  });
  // Checked below; until then, rejections are ignored.
  for (const one of words) one.catch(() => {});
  const problems: string[] = [];
  for (const work of works) if ((await work.result()) !== MESSAGES) problems.push('a wrong result');
  const odd = Array.from({ length: MESSAGES / 2 }, (_, n) => 2 * n + 1);
  for (const read of words) {
    const got = await read.catch((error: unknown) => String(error));
    if (String(got) !== String(odd)) problems.push('a stream was read with gaps, twice or out of order');
  }
  for (const work of works) {
    const jobId = (await work.accepted)!;
    const stored = await store.readEvents({ jobId: jobId, limit: Number.POSITIVE_INFINITY });
    const received = heard.filter(({ job_id, type }) => job_id === jobId && type !== 'job.heartbeat');
    if (received.map(({ id }) => id).join() !== stored.map(({ id }) => id).join())
      problems.push(`${jobId}: ${received.length} of ${stored.length} messages arrived, or their order differs`);
  }
  return { cuts: proxy.cuts(), problems };
}

/** `npm run test:long` uses ten times as many. */
const CLIENTS = process.env['LONG_RUNS'] === undefined ? 40 : 400;
const STORMS = 5;

describe('many clients', () => {
  test('that are repeatedly disconnected at once reconnect and miss nothing', { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-storm-'));
    ending.push(() => rmSync(folder, { recursive: true, force: true }));
    const store = await sqliteStore(path.join(folder, 'arcp.db'));
    let hasPassed = false;
    const runtime = createRuntime({ store, workers: { concurrency: 2 * CLIENTS } }).tool(
      'talk',
      { durable: true },
      async (_, { progress }) => {
        for (let n = 0; n < 5 || !hasPassed; n++) {
          await progress({ current: n });
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        return 'done';
      },
    );
    ending.push(() => runtime.close());
    const listener = await listenWebSocket(runtime, { port: 0 });
    ending.push(() => listener.close());
    const open = new Set<Channel>();
    const dial = dialOf(listener.url);
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const heard: Envelope[] = [];
        const client = await openClient(
          async () => {
            const channel = await dial();
            open.add(channel);
            return channel;
          },
          { reconnect: { minDelayMs: 1, maxDelayMs: 50 }, onMessage: (message) => heard.push(message) },
        );
        ending.push(() => client.disconnect());
        return { heard, work: client.invoke('talk') };
      }),
    );
    await Promise.all(clients.map(({ work }) => work.accepted));
    for (let n = 0; n < STORMS; n++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const cut = [...open];
      open.clear();
      for (const channel of cut) channel.destroy();
    }
    hasPassed = true;
    for (const { heard, work } of clients) {
      expect(await work.result()).toBe('done');
      const jobId = (await work.accepted)!;
      const stored = await store.readEvents({ jobId: jobId, limit: Number.POSITIVE_INFINITY });
      const received = heard.filter(({ job_id, type }) => job_id === jobId && type !== 'job.heartbeat');
      expect(received.map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
    }
  });
});

describe('a client whose connection is lost', () => {
  test('receives each message once, in order and without gaps', { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-cut-'));
    ending.push(() => rmSync(folder, { recursive: true, force: true }));
    const { cuts, problems } = await followThrough(await sqliteStore(path.join(folder, 'arcp.db')));
    expect(problems).toEqual([]);
    expect(cuts).toBeGreaterThan(MOST_CUTS / 3);
  });

  test('detects a store that loses or repeats events', { timeout: 600_000 }, async () => {
    const store = memoryStore();
    const { problems } = await followThrough(store, {
      ...store,
      durable: store.durable,
      readEvents: async (query) => {
        const events = await store.readEvents(query);
        // Sometimes the previous event replaces another one. The end is always delivered, so that the test ends.
        const isForgotten = ({ sequence, type }: StoredEvent): boolean =>
          sequence % 97 === 0 && /progress|chunk/.test(type);
        return events.map((event, at) =>
          at > 0 && isForgotten(event) ? { ...event, body: events[at - 1]!.body } : event,
        );
      },
    } as ArcpStore);
    expect(problems).not.toEqual([]);
  });
});
