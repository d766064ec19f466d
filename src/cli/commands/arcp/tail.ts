import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { openClient } from '../../../arcp/client/index.js';
import { ArcpError, type Envelope } from '../../../arcp/index.js';
import { isUploadLog } from '../../../arcp/runtime/uploads/rows.js';
import { isPostgres } from '../../io/databases.js';
import { UsageError } from '../../io/errors.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { flag, text } from '../../options/option.js';
import { noteFailure, showMessage } from './lines.js';
import { openLog } from './logs.js';
import { bearer, connected, namedTarget, TARGET_OPTIONS, TARGETS, unreachable } from './targets.js';

const OPTIONS = {
  job: text('ID', 'Print only the messages of this job (FILE)'),
  session: text('ID', 'Print only the messages of this session (FILE)'),
  trace: text('ID', 'Print only the messages of this trace (FILE)'),
  follow: flag('Wait for new messages until Ctrl-C (FILE)', 'f'),
  ...TARGET_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: { words: 'FILE | TARGET JOB | JOB -- CMD [ARG...]' },
  options: OPTIONS,
  details: [
    `FILE is a database of pegwire arcp serve --db, which a runtime may be using. ${TARGETS}`,
    'With a target, ends when the job ends. With --json, prints each message unchanged, one per line.',
  ],
  example: ['pegwire arcp tail arcp.db --follow', 'pegwire arcp tail ws://127.0.0.1:7777/arcp job_01JABC'],
  run,
});

/** Milliseconds between reads of a database. */
const POLL_INTERVAL_MS = 200;
const PAGE = 500;

/** An address; anything else is a file, including `C:\\runtime.db`. */
const ADDRESS = /^[a-z][a-z0-9+.-]+:/i;

async function run(invocation: Run): Promise<number> {
  const [first] = invocation.words;
  if (invocation.program.length === 0 && first !== undefined && (isPostgres(first) || !ADDRESS.test(first)))
    return tailFile(invocation, first);
  const { target, dial, words, token } = namedTarget(invocation);
  const [jobId] = words;
  if (jobId === undefined) throw new UsageError('arcp tail requires a job: pegwire arcp tail TARGET JOB');
  const client = await connected(dial)
    .then((first) =>
      openClient(first, {
        // A program ends with its connection, so there is no reconnecting to it.
        reconnect: typeof target === 'string' ? {} : false,
        auth: bearer(token),
      }),
    )
    .catch((thrown: unknown) => {
      throw unreachable(thrown, target);
    });
  const job = client.job(jobId);
  let isStopped = false;
  let isOver = false;
  const stop = (): void => {
    isStopped = true;
    void client.disconnect();
  };
  process.once('SIGINT', stop);
  try {
    for await (const message of job.events()) await showMessage(invocation, message);
    isOver = true;
    await job.result();
    return 0;
  } catch (thrown) {
    // The list is incomplete.
    if (!isOver && !isStopped) await noteFailure(invocation, thrown);
    if (thrown instanceof ArcpError && thrown.code === 'NOT_FOUND')
      throw new UsageError(`Unknown job ${jobId}`, thrown.code);
    return 1;
  } finally {
    process.off('SIGINT', stop);
    await client.close().catch(() => client.disconnect());
  }
}

async function tailFile(invocation: Run, file: string): Promise<number> {
  const { session: sessionId, job, trace: traceId, follow } = invocation.options;
  const store = await openLog(file);
  const of = { sessionId, traceId, jobId: job };
  let isOver = !follow;
  const stop = (): void => {
    isOver = true;
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    for (let after = 0; ; ) {
      const events = await store.readEvents({ ...of, after, limit: PAGE });
      for (const { body, sequence, sessionId: logId } of events) {
        after = sequence;
        if (!isUploadLog(logId)) await showMessage(invocation, JSON.parse(body) as Envelope);
      }
      if (events.length === PAGE) continue;
      if (isOver) return 0;
      await sleep(POLL_INTERVAL_MS);
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await store.close();
  }
}
