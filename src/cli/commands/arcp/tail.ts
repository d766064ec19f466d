/** The work of `pegwire arcp tail`. */
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { dialOf, openClient } from '../../../arcp/client/index.js';
import { ArcpError, type Envelope } from '../../../arcp/index.js';
import { visible } from '../../../text/visible.js';
import { errorJson, toJson } from '../../io/json.js';
import { type Invocation, UsageError } from '../../options/command.js';
import { textOption } from '../../options/option.js';
import { lineOf } from './lines.js';
import { openLog } from './logs.js';
import { namedTarget, reached, unreachable } from './targets.js';

/** Milliseconds between two looks at a file. */
const LOOK = 200;
const PAGE = 500;

/** What names a runtime; all else is a file, and `C:\\runtime.db` too. */
const ADDRESS = /^[a-z][a-z0-9+.-]+:/i;

/** @returns the exit code: 1 where a job failed */
export async function runTail(invocation: Invocation): Promise<number> {
  const [first] = invocation.words;
  if (invocation.program.length === 0 && first !== undefined && !ADDRESS.test(first))
    return tailFile(invocation, first);
  const { target, words, token } = namedTarget(invocation);
  const [jobId] = words;
  if (jobId === undefined) throw new UsageError('arcp tail needs a job: pegwire arcp tail TARGET JOB');
  const client = await reached(dialOf(target, { token }))
    .then((dial) =>
      openClient(dial, {
        // A program ends with its connection.
        reconnect: typeof target === 'string' ? {} : false,
        auth: token === undefined ? undefined : { scheme: 'bearer', token },
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
    for await (const message of job.events()) await tell(invocation, message);
    isOver = true;
    await job.result();
    return 0;
  } catch (thrown) {
    if (!isOver && !isStopped) await tellLost(invocation, thrown);
    if (thrown instanceof ArcpError && thrown.code === 'NOT_FOUND') throw new UsageError(`There is no job ${jobId}`);
    return 1;
  } finally {
    process.off('SIGINT', stop);
    await client.close().catch(() => client.disconnect());
  }
}

async function tailFile(invocation: Invocation, file: string): Promise<number> {
  const { options } = invocation;
  const store = await openLog(file);
  const [sessionId, job, traceId] = ['session', 'job', 'trace'].map((name) => textOption(invocation, name));
  const of = { sessionId, traceId, ...(job === undefined ? {} : { jobIds: [job] }) };
  let isOver = options['follow'] !== true;
  const stop = (): void => {
    isOver = true;
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    for (let after = 0; ; ) {
      const events = await store.readEvents({ ...of, after, limit: PAGE });
      for (const { body, sequence } of events) {
        after = sequence;
        await tell(invocation, JSON.parse(body) as Envelope);
      }
      if (events.length === PAGE) continue;
      if (isOver) return 0;
      await sleep(LOOK);
    }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await store.close();
  }
}

/** The job may go on: without a word, what was told would pass for all of it. */
async function tellLost({ json, output }: Invocation, thrown: unknown): Promise<void> {
  const { code, message } = thrown instanceof ArcpError ? thrown : new ArcpError('UNKNOWN', String(thrown));
  await output.note(json ? errorJson(code, message) : `${output.paintNote('red', code)} ${visible(message)}`);
}

async function tell({ json, output }: Invocation, message: Envelope): Promise<void> {
  const line = json ? toJson(message) : lineOf(message, output.paint);
  if (line !== undefined) await output.result(line);
}
