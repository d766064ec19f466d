import { type QueueStatus, type RuntimeStatus, type StoreStatus, statusOf } from '../../../arcp/runtime/index.js';
import { visible } from '../../../text/visible.js';
import { storeFault, UsageError } from '../../io/errors.js';
import { toJson } from '../../io/json.js';
import { labelled, type Paint } from '../../io/output.js';
import { count } from '../../io/report.js';
import { defineCommand, type Invocation } from '../../options/command.js';
import { text } from '../../options/option.js';
import { openLog } from './logs.js';

const OPTIONS = { db: text('FILE', 'The database of the runtimes, which may be in use') };

export const command = defineCommand({
  takes: 'nothing',
  options: OPTIONS,
  details: [
    'Prints the runtimes that use a database, their queues, and the jobs whose lease has expired. A runtime is draining while it starts no more ' +
      'jobs, lost if it has given no sign of life in time, and ended if only jobs or messages are left of it.',
    'Only reads, and does not affect the runtimes. With --json, prints one document; instants are milliseconds since 1970.',
  ],
  example: ['pegwire arcp status --db arcp.db', 'pegwire arcp status --db arcp.db --json'],
  run,
});

async function run({ options, output, json }: Invocation<typeof OPTIONS>): Promise<number> {
  if (options.db === undefined) throw new UsageError('arcp status requires a database: --db FILE');
  const store = await openLog(options.db);
  let status: StoreStatus;
  try {
    status = await statusOf(store);
  } catch (thrown) {
    throw storeFault(thrown);
  } finally {
    await store.close();
  }
  await output.result(json ? toJson(status) : statusText(status, output.paint));
  for (const warning of warningsOf(status)) await output.note(labelled('warning', ...warning, output.paintNote));
  return 0;
}

function statusText({ at, runtimes, queues, expiredJobs }: StoreStatus, paint: Paint): string {
  const tables = [
    table(
      ['runtime', 'state', 'queues', 'jobs', 'leases', 'connections', 'sessions', 'unread', 'started', 'seen'],
      runtimes.map((runtime) => runtimeCells(runtime, at)),
    ),
    table(
      ['queue', 'runtimes', 'waiting', 'due', 'oldest', 'since'],
      queues.map((queue) => queueCells(queue, at)),
    ),
    table(
      ['expired job', 'target', 'queue', 'attempt', 'runtime', 'expired'],
      expiredJobs.map(({ jobId, target, queue, attempt, worker, leaseExpiresAt }) => [
        ...[jobId, target, queue, String(attempt)],
        ...[nameOf(worker, runtimes), ago(at - leaseExpiresAt)],
      ]),
    ),
  ];
  const shown = tables.flatMap(([heading, ...rows]) => (rows.length === 0 ? [] : [[paint('bold', heading!), ...rows]]));
  return shown.length === 0 ? 'No runtime uses the database.' : shown.map((lines) => lines.join('\n')).join('\n\n');
}

function runtimeCells(runtime: RuntimeStatus, at: number): string[] {
  const { worker, state, presence, running, blocked, leaseLeftMs, unread } = runtime;
  const left = leaseLeftMs === undefined ? '' : `, ${leaseLeftMs > 0 ? `${age(leaseLeftMs)} left` : 'expired'}`;
  const leases = `${running + blocked}${left}`;
  if (presence === undefined) return [worker, state, '', '', leases, '', '', String(unread), '', ''];
  const { name = worker, queues, jobs, concurrency, connections, sessions, startedAt, renewedAt } = presence;
  return [
    ...[name, state, queues.join(','), `${jobs}/${concurrency}`, leases, String(connections), String(sessions)],
    ...[String(unread), ago(at - startedAt), ago(at - renewedAt)],
  ];
}

function queueCells({ queue, runtimes, queued, due, oldest }: QueueStatus, at: number): string[] {
  const first = oldest === undefined ? ['', ''] : [oldest.jobId, age(at - oldest.dueAt)];
  return [queue, String(runtimes), String(queued), String(due), ...first];
}

function warningsOf({ queues, expiredJobs }: StoreStatus): (readonly [code: string, text: string])[] {
  const unserved = queues.filter(({ queued, runtimes: serving }) => queued > 0 && serving === 0);
  return [
    ...unserved.map(({ queue, queued }) => {
      const what = `No runtime starts jobs of the queue "${visible(queue)}", in which ${count(queued, 'job')} wait`;
      return ['unserved', `${what}${queued === 1 ? 's' : ''}.`] as const;
    }),
    ...(expiredJobs.length === 0
      ? []
      : [['lease', `The lease of ${count(expiredJobs.length, 'job')} has expired; see "expired job".`] as const]),
  ];
}

function nameOf(worker: string, runtimes: readonly RuntimeStatus[]): string {
  return runtimes.find((runtime) => runtime.worker === worker)?.presence?.name ?? worker;
}

/** Formats a table, with its heading first. Names may contain any characters. */
function table(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heading, ...rows.map((cells) => cells.map(visible))];
  const widths = heading.map((_, column) => Math.max(...all.map((cells) => cells[column]!.length)));
  return all.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

/** Formats a duration in its largest unit: `90s` becomes `1m`. */
function age(ms: number): string {
  const [unit, size] = UNITS.find(([, length]) => ms >= length) ?? ['s', 1000];
  return `${Math.floor(Math.max(0, ms) / size)}${unit}`;
}

function ago(ms: number): string {
  return `${age(ms)} ago`;
}
