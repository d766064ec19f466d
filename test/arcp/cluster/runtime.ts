/** A runtime of the cluster, in a process of its own. It ends with the process of the test. */
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { createRuntime, listenWebSocket } from '../../../src/arcp/runtime/index.js';
import { postgresStore } from '../../../src/arcp/store/postgres/index.js';
import type { ArcpStore } from '../../../src/arcp/store/store.js';
import { type Effect, monotonicMs } from './effect.js';

/** A part that is switched off, so that the checks have something to find. */
export type Sabotage = 'fencing' | 'notices';

export interface RuntimeConfig {
  readonly name: string;
  readonly database: string;
  readonly schema: string;
  /** The URL of the service in which jobs have their effects. */
  readonly sink: string;
  readonly host: string;
  readonly leaseMs: number;
  /** The error of its wall clock in milliseconds. */
  readonly skewMs: number;
  /** The queues whose jobs it runs. @default that of all jobs */
  readonly queues?: readonly string[] | undefined;
  readonly sabotage?: Sabotage | undefined;
}

const STEPS = 10;

async function main(config: RuntimeConfig): Promise<void> {
  const { name, database, schema, sink, host, leaseMs, skewMs } = config;
  const store = await postgresStore(database, { schema, timeoutMs: 2 * leaseMs });
  const runtime = createRuntime({
    name,
    store: sabotaged(store, config.sabotage),
    workers: { leaseMs, queues: config.queues },
    heartbeatMs: leaseMs,
    now: () => Date.now() + skewMs,
  });
  const effect = async (jobId: string, operation: string, attempt: number): Promise<void> => {
    const body: Effect = { jobId, operation, runtime: name, attempt, at: monotonicMs() };
    await fetch(sink, { method: 'POST', body: JSON.stringify(body), signal: AbortSignal.timeout(leaseMs) });
  };
  runtime.tool('work', { durable: true }, async ({ pauseMs }, { jobId, attempt, step, progress, stream }) => {
    // Tells the time at which the attempt began.
    await effect(jobId!, `${jobId}:attempt-${attempt}`, attempt);
    const out = stream({ kind: 'text' });
    for (let n = 0; n < STEPS; n++) {
      await step(`step-${n}`, (operation) => effect(jobId!, operation, attempt));
      await progress({ current: n + 1, total: STEPS });
      await out.write(`${n}\n`);
      await pause(Number(pauseMs));
    }
    return 'done';
  });
  runtime.tool('spin', { durable: true }, ({ ms }) => {
    const { user } = process.cpuUsage();
    while (process.cpuUsage().user - user < Number(ms) * 1000);
  });
  const { url } = await listenWebSocket(runtime, { host, port: 0, insecure: true });
  runtime.start();
  process.send!(url);
  process.on('disconnect', () => process.exit());
}

function sabotaged(store: ArcpStore, sabotage: Sabotage | undefined): ArcpStore {
  if (sabotage === 'fencing')
    return {
      ...store,
      commit: ({ jobs = [], ...rest }) =>
        store.commit({ ...rest, jobs: jobs.map(({ attempt: _, status: __, ...change }) => change) }),
      renewLeases: async ({ jobs }) => jobs,
    };
  if (sabotage === 'notices')
    return {
      ...store,
      watch: () => () => {},
      lastSequences: async (sessionIds) => sessionIds.map(() => 0),
      listRecords: async (scope, options) => (scope.startsWith('mail:') ? [] : store.listRecords(scope, options)),
    };
  return store;
}

await main(JSON.parse(process.argv[2]!) as RuntimeConfig);
