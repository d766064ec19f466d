/** An ingestion that is limited, crashes and resumes: `npx tsx test/examples/data-ingestion-workflow.ts`. */
import { ArcpError } from '../../src/arcp/index.js';
import { run, type Scenario } from './arcp/stage.js';

/** The contents of the index, which must have each batch once. */
export const INDEX: string[] = [];
const BATCHES = ['2026-01', '2026-02', '2026-03', '2026-04'];

let isLimited = true;

export const scenario: Scenario = {
  title: 'Data ingestion, in batches',
  story:
    'A workflow ingests four months, and keeps a checkpoint after each. The source limits it once: it tries again. Then the runtime dies ' +
    'in the middle; another one goes on from the checkpoint, and the client misses nothing. No month is ingested twice.',
  setUp: (runtime) => {
    runtime.workflow(
      'ingest',
      { retry: { maxAttempts: 3, backoffMs: 1 } },
      async (_, { restored, step, checkpoint, progress, attempt, signal }) => {
        for (let at = Number(restored ?? 0); at < BATCHES.length; at++) {
          const batch = BATCHES[at]!;
          if (at === 1 && isLimited) {
            isLimited = false;
            throw new ArcpError('RATE_LIMITED', 'Upstream rate limit exceeded');
          }
          await step(batch, () => INDEX.push(batch));
          await checkpoint(at + 1, { label: batch });
          await progress({ current: at + 1, total: BATCHES.length, unit: 'months' });
          if (at === 2 && attempt === 2) {
            // Here it dies.
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          }
        }
        return { ingested: INDEX.length };
      },
    );
  },
  play: async (stage) => {
    INDEX.length = 0;
    isLimited = true;
    let reached = (): void => {};
    const isReached = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const client = await stage.connect({
      onMessage: (message) => {
        if (message.type === 'job.progress' && message.payload.current === 3) reached();
      },
    });
    stage.say('The workflow begins.');
    const work = client.startWorkflow('ingest');
    await isReached;
    stage.say('The runtime dies.');
    await stage.killRuntime();
    stage.say('Another one takes over.');
    stage.startRuntime();
    await work.result();
    stage.say(`In the index: ${INDEX.join(', ')}.`);
    await client.close();
  },
};

await run(scenario, import.meta.url);
