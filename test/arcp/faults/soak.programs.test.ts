/** Long use of a runtime: ended sessions and jobs leave nothing behind. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { openClient } from '../../../src/arcp/client/index.js';
import { createRuntime, type Runtime, sqliteStore } from '../../../src/arcp/runtime/index.js';
import { memoryChannels } from '../../../src/channels/memory.js';
import { memoryInUse } from '../../helpers/memory.js';
import { World } from './world.js';

const IS_LONG = process.env['LONG_RUNS'] !== undefined;
/** The number of sessions, each with some of everything. */
const SESSIONS = IS_LONG ? 2000 : 150;
/** The numbers of jobs and of killed runtimes in the run with faults. */
const JOBS = IS_LONG ? 2000 : 60;
const KILLS = IS_LONG ? 40 : 2;
/** The tolerated growth in megabytes. */
const SLACK = 6;

/** The megabytes that are in use. */
const megabytesInUse = (): number => memoryInUse() / 2 ** 20;

function furnish(runtime: Runtime): void {
  runtime
    .tool('echo', {}, (input) => input)
    .tool('fails', { durable: true, retry: { maxAttempts: 2, backoffMs: 1 } }, ({ text }, { attempt }) => {
      if (attempt === 1) throw new Error('once');
      return text;
    })
    .tool('talks', { durable: true, permissions: ['a.b'] }, async (_, { stream, permission, call, step }) => {
      const out = stream({ kind: 'text' });
      await permission({ permission: 'a.b' });
      for (let n = 0; n < 5; n++) await out.write('x'.repeat(1000));
      await call('echo', {});
      return step('end', () => 'done');
    })
    .tool(
      'waits',
      { durable: true },
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
}

/** A client that calls, answers, reads, cancels and disconnects, with or without closing its session. */
async function visit(runtime: Runtime, n: number): Promise<void> {
  const client = await openClient(
    () => {
      const [here, there] = memoryChannels();
      void runtime.accept(there);
      return here;
    },
    { onPermission: () => ({ decision: 'grant' }) },
  );
  const waiting = client.invoke('waits');
  const talking = client.invoke('talks');
  const reading = (async () => {
    for await (const _ of talking.stream('text')) if (n % 3 === 0) break;
  })();
  await Promise.all([
    client.invoke('echo', { n }).result(),
    client
      .invoke('fails', { text: 'x' })
      .result()
      .catch(() => {}),
    talking.result(),
    reading,
  ]);
  await waiting.cancel();
  await waiting.result().catch(() => {});
  if (n % 2 === 0) await client.close();
  else await client.disconnect();
}

describe('long use', () => {
  test('does not increase the memory of a runtime', { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'pegwire-soak-'));
    const runtime = createRuntime({ store: await sqliteStore(path.join(folder, 'arcp.db')) });
    furnish(runtime);
    const some = async (sessions: number): Promise<void> => {
      for (let n = 0; n < sessions; n += 10)
        await Promise.all(Array.from({ length: 10 }, (_, one) => visit(runtime, n + one)));
    };
    await some(SESSIONS);
    const before = megabytesInUse();
    await some(SESSIONS);
    const grown = megabytesInUse() - before;
    expect(runtime.counts()).toEqual({ connections: 0, jobs: 0 });
    await runtime.close();
    rmSync(folder, { recursive: true, force: true });
    expect(grown).toBeLessThan(SLACK);
  });

  test('with faults loses and repeats nothing', { timeout: 600_000 }, async () => {
    const world = new World();
    await world.begin();
    const isOver = (): boolean => made >= JOBS && world.kills >= KILLS;
    const results: Promise<unknown>[] = [];
    let made = 0;
    const busy = async (): Promise<void> => {
      while (!isOver()) {
        const work = world.client.invoke('work', { name: `w${made++}`, count: 5 + (made % 20) });
        if (made % 7 === 0) {
          await sleep(20);
          await work.cancel().catch(() => {});
        }
        const ended = work.result().catch((error: unknown) => (error as { readonly code?: string }).code);
        results.push(ended);
        await ended;
      }
    };
    const faults = async (): Promise<void> => {
      while (!isOver()) {
        await sleep(500 + Math.random() * (IS_LONG ? 4000 : 1000));
        if (!isOver()) await world.replaceRuntime();
      }
    };
    await Promise.all([...Array.from({ length: 8 }, busy), faults()]);
    const outcomes = await Promise.all(results);
    const problems = await world.problems();
    await world.end();
    expect(problems).toEqual([]);
    expect(world.kills).toBeGreaterThanOrEqual(KILLS);
    expect(outcomes.length).toBeGreaterThanOrEqual(JOBS);
    expect(outcomes.filter((outcome) => !/ done$|^CANCELLED$/.test(String(outcome)))).toEqual([]);
  });
});
