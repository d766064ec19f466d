/** A runtime that crashes right before or after each of its commits. */
import { describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { checkLog, type Envelope } from '../../../src/arcp/index.js';
import {
  type ArcpStore,
  type Commit,
  createRuntime,
  memoryStore,
  type Runtime,
} from '../../../src/arcp/runtime/index.js';
import type { Channel } from '../../../src/channels/channel.js';
import { memoryChannels } from '../../../src/channels/memory.js';

const LEASE_MS = 60;
/** Milliseconds for a job; one that crashes once takes two or three leases. */
const PATIENCE_MS = 2000;

/** Crashes before or after a commit, or falsely reports one as done and crashes. */
type Death = 'before' | 'behind' | 'lying';

interface World {
  readonly commits: number;
  readonly problems: readonly string[];
  /** The executions of the work, by operation key. */
  readonly tried: readonly string[];
  readonly result: unknown;
}

/** A job with two steps, a checkpoint and a stream, in a runtime that crashes at one of its commits and is replaced. */
async function play(at: number, death: Death): Promise<World> {
  const stored = memoryStore();
  const store: ArcpStore = { ...stored, durable: true, close: async () => {} };
  const tried: string[] = [];
  const heard: Envelope[] = [];
  const open = new Set<Channel>();
  let commits = 0;
  let current: Runtime;
  const begin = (over: ArcpStore): Runtime =>
    createRuntime({ store: over, workers: { leaseMs: LEASE_MS } }).tool(
      'work',
      { durable: true },
      async (_, { step, checkpoint, stream, progress }) => {
        const out = stream({ kind: 'text' });
        await step('first', (key) => tried.push(key));
        await out.write('half');
        await checkpoint({ at: 1 });
        await progress({ percent: 50 });
        await step('second', (key) => tried.push(key));
        await out.close();
        return 'done';
      },
    );
  const die = (): void => {
    const former = current;
    current = begin(store);
    for (const channel of open) channel.destroy();
    open.clear();
    void former.close();
  };
  const first = mortal(store, {
    isLast: () => ++commits === at,
    ...{ death, die },
  });
  current = begin(first);
  const client = await openClient(
    () => {
      const [here, there] = memoryChannels();
      open.add(there);
      void current.accept(there);
      return here;
    },
    { reconnect: { minDelayMs: 1, maxDelayMs: 5 }, timeoutMs: 1000, onMessage: (message) => heard.push(message) },
  );
  const ended = client
    .invoke('work')
    .result()
    .catch((error: unknown) => error);
  const patience = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS, 'nothing'));
  const result = await Promise.race([ended, patience]);
  await client.disconnect();
  // The runtime may crash at its last commit, which is about the end of the connection.
  await expect.poll(() => current.counts().connections, { interval: 1 }).toBe(0);
  await current.close();
  const events = await stored.readEvents({ limit: Number.POSITIVE_INFINITY });
  const messages = events.map(({ body }) => JSON.parse(body) as Envelope);
  const problems = checkLog(messages, { isComplete: true }).map(({ rule, message }) => `${rule}: ${message}`);
  const received = heard.filter(({ job_id }) => job_id !== undefined).map(({ id }) => id);
  const ids = messages.filter(({ job_id }) => job_id !== undefined).map(({ id }) => id);
  if (received.join() !== ids.join())
    problems.push(`${received.length} of ${ids.length} messages arrived, or their order differs`);
  return { commits, problems, tried, result };
}

/** A store as seen by a process that crashes: later calls have no effect and do not settle. */
function mortal(
  store: ArcpStore,
  { isLast, death, die }: { readonly isLast: () => boolean; readonly death: Death; readonly die: () => void },
): ArcpStore {
  let isDead = false;
  const never = new Promise<never>(() => {});
  const end = (): Promise<never> => {
    isDead = true;
    die();
    return never;
  };
  const alive = Object.entries(store).map(([name, value]) => [
    name,
    typeof value === 'function' && !['close', 'now', 'watch'].includes(name)
      ? (...args: unknown[]): unknown => (isDead ? never : (value as (...args: unknown[]) => unknown)(...args))
      : value,
  ]);
  return {
    ...(Object.fromEntries(alive) as ArcpStore),
    commit: async (commit: Commit) => {
      if (isDead) return never;
      // The presence of a runtime is renewed at intervals, so that the number of these commits differs.
      const isPresence = commit.records?.some(({ scope }) => scope === 'presence') === true;
      if (isPresence || !isLast()) return store.commit(commit);
      if (death === 'before') return end();
      if (death === 'behind') {
        await store.commit(commit);
        return end();
      }
      setTimeout(() => void end(), 5);
      const positions = (commit.events ?? []).map((_, n) => ({ sequence: 1e9 + n, previous: 0 }));
      return { outcome: 'done', positions };
    },
  };
}

const points = async (): Promise<number[]> => {
  const { commits, problems, result } = await play(0, 'before');
  expect({ problems, result }).toEqual({ problems: [], result: 'done' });
  return Array.from({ length: commits }, (_, n) => n + 1);
};

describe('a runtime that crashes', () => {
  test.each(['before', 'behind'] as const)('%s any of its commits loses and repeats nothing', async (death) => {
    const all = await points();
    expect(all.length).toBeGreaterThan(5);
    for (const at of all) {
      const { problems, tried, result } = await play(at, death);
      expect({ at, problems, result }).toEqual({ at, problems: [], result: 'done' });
      // Only a step whose result was not stored is repeated, with the same key.
      expect(new Set(tried).size).toBe(2);
      expect(tried.length).toBeLessThanOrEqual(3);
    }
  });

  test('after a false commit is detected', async () => {
    const worlds = await Promise.all((await points()).map((at) => play(at, 'lying')));
    expect(worlds.filter(({ problems }) => problems.length > 0).length).toBeGreaterThan(3);
  });
});
