/** Two runtimes on one PostgreSQL database with two faults; `cluster.long.test.ts` has more of everything, in networks of their own. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { describePostgres, newSchema, postgresUrl } from '../../helpers/postgres.js';
import { Cluster } from './world.js';

const runtime = bundledProgram(new URL('./runtime.ts', import.meta.url));
const clients = bundledProgram(new URL('./clients.ts', import.meta.url));

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

const LEASE_MS = 1000;

describePostgres('two runtimes on one database', () => {
  // On a loaded machine, the last messages of a client were missing once; the cause is not known.
  test('a killed one and one that stops for three leases lose and repeat nothing', { retry: 1 }, async () => {
    const { schema, drop } = newSchema();
    const cluster = new Cluster({
      programs: { runtime: runtime(), clients: clients() },
      ...{ database: postgresUrl, schema, leaseMs: LEASE_MS },
      clients: { clients: 6, parallel: 4, pauseMs: 150, timeoutMs: 50_000 },
    });
    ending.push(drop, () => cluster.end());
    await cluster.begin();
    await cluster.startRuntime('east');
    await cluster.startRuntime('west', { skewMs: 3_600_000 });
    cluster.startClients();
    const has = (name: string, count: number) => () =>
      cluster.effects.filter((effect) => effect.runtime === name).length >= count;
    await cluster.until(has('east', 10));
    await cluster.until(has('west', 10));
    await cluster.fault('stop', 'west', () => cluster.signal('west', 'SIGSTOP'));
    await pause(3 * LEASE_MS);
    cluster.signal('west', 'SIGCONT');
    await cluster.fault('kill', 'east', () => cluster.signal('east', 'SIGKILL'));
    await cluster.startRuntime('north');
    cluster.stopClients();
    expect(await cluster.problems()).toEqual([]);
  });
});
