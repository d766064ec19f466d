/** The logs of a database while a job receives a stream of its client. */
import path from 'node:path';
import { expect, test } from 'vitest';
import { createRuntime, sqliteStore } from '../../../../src/arcp/runtime/index.js';
import { connectTo, deferred } from '../../../arcp/runtime/wire.js';
import { cli, scratchFolder } from '../../../helpers/cli.js';

const scratch = scratchFolder();

test('the streams that clients send are not part of them', async () => {
  const db = path.join(scratch.path, 'arcp.db');
  const got = deferred();
  const runtime = createRuntime({ store: await sqliteStore(db) });
  runtime.tool('reads', { durable: true }, async (_, { incoming }) => {
    for await (const piece of incoming()) got.resolve(void piece);
  });
  const wire = connectTo(runtime);
  await wire.open();
  const { jobId } = await wire.startJob('reads');
  wire.send('stream.open', { kind: 'text' }, { stream_id: 's', job_id: jobId });
  wire.send('stream.chunk', { data: 'secret' }, { stream_id: 's' });
  await got.promise;
  for (const args of [
    ['tail', db],
    ['tail', db, '--job', jobId],
    ['replay', db, '--speed', '0'],
  ]) {
    const { stdout, code } = await cli(['arcp', ...args, '--json']);
    expect({ code, types: stdout.match(/\bstream\.|secret/g) }).toEqual({ code: 0, types: null });
    expect(stdout).not.toBe('');
  }
  await runtime.close();
});
