/** Many concurrent connections, in short; `many-connections.long.test.ts` has more of them, for longer. */
import { spawnSync } from 'node:child_process';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { describeConnections, measureConnections } from './programs/measure-connections.js';

test('a hundred connections: every request gets its own answer', async () => {
  const figures = await measureConnections(100, 2);
  expect(figures, describeConnections(figures)).toMatchObject({
    connections: 100,
    connected: 100,
    errors: 0,
    messages: [],
  });
  expect(figures.requests).toBeGreaterThanOrEqual(100);
  expect(figures.handled).toBe(figures.requests);
});

test('too few file descriptors are reported before anything is started', () => {
  const script = fileURLToPath(new URL('../../../scripts/connections.ts', import.meta.url));
  const command = 'ulimit -n 400 && exec "$0" --import tsx "$1" --connections 500 --seconds 1';
  const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath, script], { encoding: 'utf8' });
  expect(stderr).toContain(
    '500 connections need 564 open files in a process, and the system allows 400 (see ulimit -Hn).',
  );
  expect(status).toBe(1);
});
