/** A thousand connections for a minute, between two processes. */
import { expect, test } from 'vitest';
import { describeConnections, measureConnections } from './programs/measure-connections.js';

test('a thousand connections for a minute: every request is answered, in bounded memory', async () => {
  const figures = await measureConnections(1000, 60);
  console.log(describeConnections(figures));
  expect(figures).toMatchObject({ connections: 1000, connected: 1000, errors: 0, messages: [] });
  expect(figures.requests).toBeGreaterThanOrEqual(10_000);
  expect(figures.handled).toBe(figures.requests);
  expect(figures.server.peak).toBeLessThan(1_073_741_824);
});
