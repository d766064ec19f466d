/** `pegwire arcp status` on the database of runtimes that are in use. */
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { createRuntime, type Runtime, type RuntimeOptions, sqliteStore } from '../../../../src/arcp/runtime/index.js';
import { connectTo, deferred } from '../../../arcp/runtime/wire.js';
import { cli, scratchFolder } from '../../../helpers/cli.js';

const scratch = scratchFolder();
const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

async function runtimeOn(db: string, options: RuntimeOptions): Promise<Runtime> {
  const runtime = createRuntime({ store: await sqliteStore(db), ...options });
  runtimes.push(runtime);
  runtime.start();
  return runtime;
}

const columns = (text: string): string[][] => text.split('\n').map((line) => line.split(/ {2,}/));

describe('status', () => {
  test('shows the runtimes, queues and expired leases of a database, with warnings', async () => {
    const db = path.join(scratch.path, 'arcp.db');
    const end = deferred();
    const east = await runtimeOn(db, { name: 'east', workers: { concurrency: 4 } });
    await runtimeOn(db, { name: 'west\u001b', workers: { queues: ['slow'] } });
    east
      .tool('work', { durable: true }, () => end.promise)
      .tool('render', { durable: true, queue: 'gpu' }, () => 1)
      .tool('stuck', { durable: true, queue: 'cpu' }, () => 1);
    const wire = connectTo(east);
    await wire.open();
    await wire.startJob('work');
    const { jobId } = await wire.startJob('render');
    const { jobId: stuckId } = await wire.startJob('stuck');
    const other = await sqliteStore(db);
    await other.claimJobs({ worker: 'worker_gone', queues: ['cpu'], leaseMs: 0, limit: 1 });
    await other.commit({ records: [{ scope: 'mail:worker_gone', key: 'k', value: '{}' }] });
    void east.drain(Number.POSITIVE_INFINITY);
    await expect
      .poll(async () => (await cli(['arcp', 'status', '--db', db])).stdout)
      .toMatch(/^east +draining +default +1\/4 +1, \d+s left +1 +1 +0 +\d+s ago +\d+s ago$/m);

    const { code, stdout, stderr } = await cli(['arcp', 'status', '--db', db]);
    expect(code).toBe(0);
    const [runtimeTable, queueTable, jobTable] = stdout.trimEnd().split('\n\n');
    expect(columns(runtimeTable!).map(([name, state]) => [name, state])).toEqual([
      ['runtime', 'state'],
      ['east', 'draining'],
      ['west␛', 'running'],
      ['worker_gone', 'ended'],
    ]);
    expect(columns(queueTable!)).toEqual([
      ['queue', 'runtimes', 'waiting', 'due', 'oldest', 'since'],
      ['gpu', '0', '1', '1', jobId, expect.stringMatching(/^\d+s$/)],
      ['slow', '1', '0', '0'],
    ]);
    expect(columns(jobTable!)[1]!.slice(0, 5)).toEqual([stuckId, 'stuck', 'cpu', '1', 'worker_gone']);
    expect(stderr.trimEnd().split('\n')).toEqual([
      'warning[unserved]: No runtime starts jobs of the queue "gpu", in which 1 job waits.',
      'warning[lease]: The lease of 1 job has expired; see "expired job".',
    ]);
    await other.close();
    end.resolve();
  });

  test('prints JSON', async () => {
    const db = path.join(scratch.path, 'json.db');
    await runtimeOn(db, { name: 'east' });
    await expect
      .poll(async () => JSON.parse((await cli(['arcp', 'status', '--db', db, '--json'])).stdout) as object)
      .toMatchObject({
        at: expect.any(Number),
        runtimes: [{ state: 'running', presence: { name: 'east', concurrency: 64 }, running: 0, unread: 0 }],
        queues: [{ queue: 'default', queued: 0, due: 0, runtimes: 1 }],
        expiredJobs: [],
      });
  });

  test('of a database without runtimes is empty', async () => {
    const db = path.join(scratch.path, 'empty.db');
    await (await sqliteStore(db)).close();
    expect(await cli(['arcp', 'status', '--db', db])).toEqual({
      ...{ code: 0, stdout: 'No runtime uses the database.\n', stderr: '' },
    });
  });

  test.each([
    [[], 'error[usage]: arcp status requires a database: --db FILE'],
    [['--db', '/no/such/file.db'], 'error[unreadable]: Cannot read /no/such/file.db'],
  ])('%j is refused', async (args, message) => {
    const { code, stderr } = await cli(['arcp', 'status', ...args]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
