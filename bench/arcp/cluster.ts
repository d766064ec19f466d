/**
 * Two runtimes, in processes of their own, on one PostgreSQL database: the rate of jobs that compute, at two processes against one; the round trip
 * of a job in the other runtime against that of one in the same runtime; and the cost of a short job for the database. The rounds alternate, and the
 * medians of the ratios count.
 *
 *     npx tsx bench/arcp/cluster.ts [postgres://...]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type Client, connect } from '../../src/arcp/client/index.js';
import { createRuntime, listenWebSocket } from '../../src/arcp/runtime/index.js';
import { postgresStore } from '../../src/arcp/store/postgres/index.js';

const DATABASE = process.argv[2] ?? 'postgres://postgres@127.0.0.1:5432/test';
const ROUNDS = 5;
/** So many that the last ones, which one process computes alone, count for little. */
const JOBS = 300;
/** The processor time of a job. */
const JOB_MS = 20;
const ROUND_TRIPS = 40;
const SHORT_JOBS = 2000;
/** The schema, which is replaced. */
const SCHEMA = 'pegwire_bench';

/** The queues of each runtime. */
const QUEUES = { east: ['one', 'both'], west: ['far', 'both'] };

async function serve(name: keyof typeof QUEUES): Promise<void> {
  const store = await postgresStore(DATABASE, { schema: SCHEMA });
  // More than one, so that the next jobs are claimed while one computes.
  const runtime = createRuntime({ store, name, workers: { queues: QUEUES[name], concurrency: 4 } });
  for (const queue of ['one', 'both', 'far']) {
    runtime.tool(`spin-${queue}`, { durable: true, queue }, async () => {
      const start = process.cpuUsage();
      for (let used = 0; used < JOB_MS * 1000; ) {
        const { user, system } = process.cpuUsage(start);
        used = user + system;
      }
      await nextTurn();
    });
    runtime.tool(`echo-${queue}`, { durable: true, queue }, (input) => input);
  }
  const { url } = await listenWebSocket(runtime, { port: 0 });
  runtime.start();
  process.send!(url);
  process.on('disconnect', () => process.exit());
}

async function main(): Promise<void> {
  const database = new pg.Client(DATABASE);
  await database.connect();
  await database.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  const children: ChildProcess[] = [];
  const start = async (name: string): Promise<string> => {
    const child = fork(fileURLToPath(import.meta.url), [DATABASE, name]);
    children.push(child);
    return new Promise((resolve) => child.once('message', (url) => resolve(String(url))));
  };
  const [east] = [await start('east'), await start('west')];
  const client = await connect(east);
  const [rates, hops]: [number[], number[]] = [[], []];
  for (let round = 0; round <= ROUNDS; round++) {
    const [one, both] = [await msOfJobs(client, 'spin-one'), await msOfJobs(client, 'spin-both')];
    const [near, far] = [await msOfRoundTrip(client, 'echo-one'), await msOfRoundTrip(client, 'echo-far')];
    // The first round warms up.
    if (round === 0) continue;
    rates.push(one / both);
    hops.push(far / near);
    console.log(`jobs per second: ${perSecond(one)} and ${perSecond(both)}; round trip: ${ms(near)} and ${ms(far)}`);
  }
  console.log(`rate of 2 processes against 1: ${median(rates).toFixed(2)}x`);
  console.log(`round trip to the other runtime against the same one: ${median(hops).toFixed(2)}x`);
  const [cpu, wal] = [cpuOfPostgres(), await walOf(database)];
  let left = SHORT_JOBS;
  const work = async (): Promise<void> => {
    while (left-- > 0) await client.invoke('echo-both').result();
  };
  await Promise.all(Array.from({ length: 64 }, work));
  console.log(`processor time of PostgreSQL for a short job: ${ms((cpuOfPostgres() - cpu) / SHORT_JOBS)}`);
  console.log(`WAL for a short job: ${(((await walOf(database)) - wal) / SHORT_JOBS / 1024).toFixed(1)} KiB`);
  await client.close();
  await database.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
  await database.end();
  for (const child of children) child.disconnect();
}

async function msOfJobs(client: Client, tool: string): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: JOBS }, () => client.invoke(tool).result()));
  return performance.now() - start;
}

async function msOfRoundTrip(client: Client, tool: string): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < ROUND_TRIPS; n++) {
    const start = performance.now();
    await client.invoke(tool, { n }).result();
    times.push(performance.now() - start);
  }
  return median(times);
}

/** Returns the processor time of all processes of a PostgreSQL server on this machine. Milliseconds; Linux only. */
function cpuOfPostgres(): number {
  let ticks = 0;
  for (const id of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${id}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      if (text.includes('(postgres)')) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // The process has ended.
    }
  }
  return ticks * 10;
}

async function walOf(database: pg.Client): Promise<number> {
  const { rows } = await database.query(`SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 AS bytes`);
  return (rows[0] as { readonly bytes: number }).bytes;
}

const perSecond = (total: number): string => ((JOBS / total) * 1000).toFixed(0);
const ms = (time: number): string => `${time.toFixed(1)} ms`;

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

const role = process.argv[3] as keyof typeof QUEUES | undefined;
await (role === undefined ? main() : serve(role));
