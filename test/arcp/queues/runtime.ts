/** A runtime on NATS and PostgreSQL, in a process of its own. It ends with the process of the test. */
import process from 'node:process';
import { listenNats, serveNatsInbox } from '../../../src/arcp/queues/nats.js';
import { createRuntime } from '../../../src/arcp/runtime/index.js';
import { postgresStore } from '../../../src/arcp/store/postgres/index.js';
import type { ArcpStore } from '../../../src/arcp/store/store.js';

export interface RuntimeConfig {
  readonly database: string;
  readonly schema: string;
  readonly servers: string;
  readonly name: string;
  /** The URL of the service in which jobs have their effects. */
  readonly sink: string;
  readonly steps: number;
  readonly pauseMs: number;
  readonly leaseMs: number;
  /** Ends the process right after it has stored a job, before it acknowledges the command. */
  readonly diesAfterCommit?: boolean;
}

function deadly(store: ArcpStore): ArcpStore {
  return {
    ...store,
    commit: async (changes) => {
      const result = await store.commit(changes);
      if (changes.newJobs !== undefined && changes.newJobs.length > 0) process.kill(process.pid, 'SIGKILL');
      return result;
    },
  };
}

async function main(config: RuntimeConfig): Promise<void> {
  const { database, schema, servers, name, sink, steps, pauseMs, leaseMs, diesAfterCommit = false } = config;
  const store = await postgresStore(database, { schema });
  const runtime = createRuntime({ store: diesAfterCommit ? deadly(store) : store, workers: { leaseMs } });
  runtime.tool('work', { durable: true }, async (_, { step, jobId }) => {
    for (let n = 0; n < steps; n++) {
      await step(`step-${n}`, async (operation) => {
        await fetch(sink, { method: 'POST', body: JSON.stringify({ jobId, step: n, operation }) });
      });
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    return 'done';
  });
  await listenNats(runtime, { servers, name, heartbeatMs: 200, timeoutMs: 1000 });
  runtime.start();
  await serveNatsInbox(runtime, { servers, name, ackWaitMs: 2000 });
  process.send!('up');
  process.on('disconnect', () => process.exit());
}

await main(JSON.parse(process.argv[2]!) as RuntimeConfig);
