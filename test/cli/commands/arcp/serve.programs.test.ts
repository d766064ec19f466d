/** `pegwire arcp serve` on a database that several runtimes share. */
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { dialOf, openClient } from '../../../../src/arcp/client/index.js';
import type { Envelope } from '../../../../src/arcp/index.js';
import type { StoreStatus } from '../../../../src/arcp/runtime/index.js';
import { type Ended, ended, start } from '../../../helpers/child.js';
import { cli, PROGRAM, scratchFolder } from '../../../helpers/cli.js';

const scratch = scratchFolder();
const db = path.join(scratch.path, 'arcp.db');
const stopping: (() => unknown)[] = [];
afterEach(() => {
  for (const stop of stopping.splice(0)) stop();
});

interface Serving {
  readonly url: string;
  readonly stop: () => Promise<Ended>;
}

async function serve(name: string, ...more: readonly string[]): Promise<Serving> {
  const args = ['--db', db, '--name', name, '--ws', '0', '--lease', '10m', '--grace', '300ms', ...more];
  const child = start([...PROGRAM, 'arcp', 'serve', ...args]);
  stopping.push(() => child.kill('SIGKILL'));
  const over = ended(child);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk).trim()));
    void over.then(({ stderr }) => reject(new Error(stderr)));
  });
  const stop = (): Promise<Ended> => {
    child.kill('SIGTERM');
    return over;
  };
  return { url, stop };
}

async function status(): Promise<StoreStatus> {
  return JSON.parse((await cli(['arcp', 'status', '--db', db, '--json'])).stdout) as StoreStatus;
}

describe('serve', () => {
  test('ends at SIGTERM although clients are connected; they continue with another runtime', async () => {
    const first = await serve('first', '--queue', 'default', '--queue', 'reports');
    const second = await serve('second');
    await expect
      .poll(async () => (await status()).runtimes.map(({ presence }) => [presence?.name, presence?.queues]))
      .toEqual([
        ['first', ['default', 'reports']],
        ['second', ['default']],
      ]);
    const dials = [first, second].map(({ url }) => dialOf(url));
    let dialed = 0;
    const heard: Envelope[] = [];
    const client = await openClient(() => dials[dialed++ % 2]!(), {
      reconnect: { minDelayMs: 10, maxDelayMs: 50 },
      onMessage: (message) => heard.push(message),
    });
    stopping.push(() => client.disconnect());
    const job = client.invoke('count', { to: 20, ms: 50 });
    await expect.poll(() => heard.some(({ type }) => type === 'job.progress')).toBe(true);
    expect(await first.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(await job.result()).toEqual({ counted: 20 });
    // The second attempt starts where the first one was, at once and not after the end of the lease.
    const started = heard.flatMap((one) => (one.type === 'job.started' ? [one.payload] : []));
    expect(started).toMatchObject([{ attempt: 1 }, { attempt: 2, restored_from: expect.stringMatching(/^chk_/) }]);
    const counted = heard.flatMap((one) => (one.type === 'job.progress' ? [one.payload.percent] : []));
    expect(counted).toEqual([...new Set(counted)]);
    const { runtimes } = await status();
    // The first has ended; a message to it may be left.
    expect(runtimes.filter(({ state }) => state !== 'ended')).toMatchObject([{ presence: { name: 'second' } }]);
    await client.close();
    expect(await second.stop()).toMatchObject({ code: 0, stderr: '' });
    expect(await status()).toMatchObject({ queues: [], expiredJobs: [] });
  });
});
