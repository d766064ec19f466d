/**
 * Three runtimes on machines of their own with one PostgreSQL server, and all faults that the guide for three machines describes; and the same
 * with a part switched off, which the checks must find.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { administer, describePostgres, newSchema, postgresUrl } from '../../helpers/postgres.js';
import { Machines, missingForMachines } from './network.js';
import type { RuntimeConfig } from './runtime.js';
import { Cluster } from './world.js';

const runtime = bundledProgram(new URL('./runtime.ts', import.meta.url));
const clients = bundledProgram(new URL('./clients.ts', import.meta.url));
const programs = () => ({ runtime: runtime(), clients: clients() });

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).toReversed()) await end();
});

// Shorter leases expire on a busy machine.
const LEASE_MS = 2000;
const missing = missingForMachines();

describe.skipIf(missing !== undefined)(`three machines${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
  test('lose and repeat nothing in any fault', async () => {
    const machines = new Machines(['east', 'west', 'north']);
    ending.push(() => machines.remove());
    const ownDatabase = machines.openDatabase();
    ending.push(() => ownDatabase.end());
    ownDatabase.on('error', () => {});
    const cluster = new Cluster({
      programs: programs(),
      ...{ database: machines.database, ownDatabase, schema: 'cluster', leaseMs: LEASE_MS, placeOf: machines.placeOf },
      clients: { clients: 20, parallel: 1, pauseMs: 100, timeoutMs: 240_000 },
    });
    ending.push(() => cluster.end());
    await cluster.begin();
    await cluster.startRuntime('east');
    await cluster.startRuntime('west', { skewMs: 3_600_000 });
    await cluster.startRuntime('north');
    cluster.startClients();
    /** Makes a fault while all work, and waits until further jobs have ended after it. */
    const fault = async (name: string, at: string | undefined, make: () => void | Promise<void>): Promise<void> => {
      const before = cluster.ended;
      await cluster.until(() => cluster.ended > before + 20);
      await cluster.fault(name, at, make);
      const after = cluster.ended;
      await cluster.until(() => cluster.ended > after + 20);
      console.log(`${name} ${at ?? ''}: ${cluster.ended} jobs have ended`);
    };
    const away = async (begin: () => void, end: () => void): Promise<void> => {
      begin();
      await pause(3 * LEASE_MS);
      end();
    };
    await fault('kill', 'east', () => cluster.signal('east', 'SIGKILL'));
    await cluster.startRuntime('east-again');
    await fault('cut off', 'west', () =>
      away(
        () => machines.setLinks('west', 'down'),
        () => machines.setLinks('west', 'up'),
      ),
    );
    await fault('cut off from the database', 'north', () =>
      away(
        () => machines.setLinks('north', 'down', ['server']),
        () => machines.setLinks('north', 'up', ['server']),
      ),
    );
    await fault('stop', 'west', () =>
      away(
        () => cluster.signal('west', 'SIGSTOP'),
        () => cluster.signal('west', 'SIGCONT'),
      ),
    );
    await fault('restart of the database', undefined, () => machines.restartDatabase());
    await fault('end of all connections to the database, 20 times', undefined, async () => {
      for (let n = 0; n < 20; n++) {
        await ownDatabase.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_addr IS NOT NULL AND pid <> pg_backend_pid()',
        );
        await pause(100);
      }
    });
    await fault('kill', 'north', () => cluster.signal('north', 'SIGKILL'));
    cluster.stopClients();
    expect(await cluster.problems()).toEqual([]);
    const takeovers = cluster.takeovers();
    console.log(`time to a new attempt: ${takeovers.map(Math.round).join(', ')} ms; the lease is ${LEASE_MS} ms`);
    expect(Math.max(...takeovers)).toBeLessThan(LEASE_MS + 1000);
  });
});

describePostgres('the checks find what is wrong', () => {
  /** Stops one of two runtimes for three leases. @returns the violations */
  async function problemsWith(
    options: {
      readonly east?: Partial<RuntimeConfig>;
      readonly west?: Partial<RuntimeConfig>;
      readonly parallel?: number;
      readonly pauseMs?: number;
    },
    prepare = async (_schema: string): Promise<void> => {},
  ): Promise<string[]> {
    const { schema, drop } = newSchema();
    const cluster = new Cluster({
      programs: programs(),
      ...{ database: postgresUrl, schema, leaseMs: LEASE_MS },
      clients: { clients: 12, parallel: options.parallel ?? 2, pauseMs: options.pauseMs ?? 150, timeoutMs: 30_000 },
    });
    ending.push(drop, () => cluster.end());
    await cluster.begin();
    await cluster.startRuntime('east', options.east);
    await prepare(schema);
    await cluster.startRuntime('west', options.west);
    cluster.startClients();
    await cluster.until(() => new Set(cluster.effects.map(({ jobId }) => jobId)).size > 10);
    if (options.west?.sabotage === 'fencing')
      await cluster.fault('stop', 'west', async () => {
        cluster.signal('west', 'SIGSTOP');
        await pause(3 * LEASE_MS);
        cluster.signal('west', 'SIGCONT');
      });
    await pause(LEASE_MS);
    cluster.stopClients();
    return cluster.problems();
  }

  test('if nothing is switched off, there is nothing', async () => {
    expect(await problemsWith({})).toEqual([]);
  });

  test('without fencing', async () => {
    const sabotage = 'fencing';
    // The jobs last longer than the stop, so that both attempts run.
    const pauseMs = LEASE_MS / 2;
    expect(await problemsWith({ east: { sabotage }, west: { sabotage }, pauseMs })).not.toEqual([]);
  });

  test('without notices, and without looking at intervals', async () => {
    const sabotage = 'notices';
    // The jobs of the clients of west run at east. Of several jobs, the messages of one would lead to those of the others.
    const west = { sabotage, queues: ['none'] } as const;
    expect(await problemsWith({ east: { sabotage }, west, parallel: 1 })).not.toEqual([]);
  });

  test('with the clocks of the runtimes, of which one is an hour ahead', async () => {
    const url = new URL(postgresUrl);
    url.searchParams.set('options', '-c arcp.skew=3600000');
    const useOwnClock = (schema: string) =>
      administer(`CREATE OR REPLACE FUNCTION "${schema}".arcp_now() RETURNS double precision LANGUAGE sql VOLATILE AS
        $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) + coalesce(current_setting('arcp.skew', true), '0')::double precision $$`);
    expect(await problemsWith({ west: { database: url.href } }, useOwnClock)).not.toEqual([]);
  });
});
