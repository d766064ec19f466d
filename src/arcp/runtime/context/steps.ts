/** Steps, which a job executes once over all its attempts, and checkpoints (spec 003, "Resumability": "checkpoint snapshots"). */
import { byteLength } from '../../../text/bytes.js';
import { newId } from '../../protocol/ids.js';
import { jsonOf } from '../../protocol/json.js';
import type { ArcpStore, JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { Attempt } from '../job/attempt.js';
import type { JobMessages } from '../job/messages.js';
import { forgiveLostAttempts, type JobSpec, type JobStatus } from '../job/spec.js';
import type { CheckpointOptions } from '../types.js';

export const stepsOf = (jobId: string): string => `step:${jobId}`;

export async function findStep(attempt: Attempt, key: string): Promise<{ readonly result: unknown } | undefined> {
  const known = await attempt.log.store.readRecord(stepsOf(attempt.row.jobId), `${attempt.stepPrefix}${key}`);
  return known && { result: (JSON.parse(known.value) as { readonly result?: unknown }).result };
}

export function stepRecord<T>(
  attempt: Attempt,
  key: string,
  result: T,
): { readonly record: RecordChange; readonly stored: T } {
  const { jobId } = attempt.row;
  const text = result === undefined ? undefined : jsonOf(result, `the result of step ${key}`);
  const value = text === undefined ? '{}' : `{"result":${text}}`;
  const record = { scope: stepsOf(jobId), key: `${attempt.stepPrefix}${key}`, value, owner: jobId };
  return { record, stored: (text === undefined ? undefined : JSON.parse(text)) as T };
}

/** Executes a step once. Concurrent calls share the promise. */
export function step<T>(attempt: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  return attempt.once(`${attempt.stepPrefix}${key}`, () => runStep(attempt, key, work));
}

async function runStep<T>(attempt: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  const known = await findStep(attempt, key);
  if (known !== undefined) return known.result as T;
  attempt.signal.throwIfAborted();
  await confirmAttempt(attempt);
  const result = await work(`${attempt.row.jobId}:${attempt.stepPrefix}${key}`);
  const change = forgiveLostAttempts(attempt.row, attempt.status);
  const isChange = attempt.status.forgiven !== change.forgiven;
  const set = isChange ? { status: attempt.changeStatus(change) } : {};
  const { record, stored } = stepRecord(attempt, key, result);
  await attempt.outbox.add({ records: [record], set });
  return stored;
}

/** Fails if the worker has lost the job, and then must not act for it. An answer that is older than a lease, since the process slept, is not current. */
async function confirmAttempt({ outbox, host: { leaseMs } }: Attempt): Promise<void> {
  for (;;) {
    const askedAt = performance.now();
    await outbox.add({});
    if (performance.now() - askedAt < leaseMs) return;
  }
}

export const CHECKPOINTS = 'checkpoint';

export interface StoredCheckpoint {
  readonly jobId: string;
  readonly sequence: number;
  readonly data: unknown;
  readonly messageId: string;
}

interface Draft {
  readonly sequence: number;
  readonly data: unknown;
  readonly options?: CheckpointOptions | undefined;
  readonly correlationId?: string | undefined;
}

export function newCheckpoint(
  messages: JobMessages,
  { jobId, attempt }: JobRow,
  { isDurable }: JobSpec,
  { sequence, data, options = {}, correlationId }: Draft,
): { readonly checkpointId: string; readonly event: NewEvent; readonly record: RecordChange } {
  const { label, isVisible } = options;
  const checkpointId = newId('chk');
  const text = jsonOf(data, 'a checkpoint');
  const payload = {
    checkpoint_id: checkpointId,
    sequence,
    attempt: Math.max(1, attempt),
    size_bytes: byteLength(text),
    label,
    data: isVisible === true ? (JSON.parse(text) as unknown) : undefined,
  };
  const event = isDurable
    ? messages.event('job.checkpoint', payload, { correlationId })
    : messages.event('event.emit', { name: 'arcp.checkpoint', attributes: payload });
  const stored: StoredCheckpoint = { jobId, sequence, data: JSON.parse(text), messageId: event.id };
  const record = { scope: CHECKPOINTS, key: checkpointId, value: JSON.stringify(stored), owner: jobId };
  return { checkpointId, event, record };
}

export async function latestData(store: ArcpStore, { checkpointId }: JobStatus): Promise<unknown> {
  const stored = checkpointId === undefined ? undefined : await store.readRecord(CHECKPOINTS, checkpointId);
  return stored === undefined ? undefined : (JSON.parse(stored.value) as StoredCheckpoint).data;
}

export interface CheckpointRequest {
  readonly correlationId: string;
  readonly records: (answerId: string) => readonly RecordChange[];
}

/**
 * Stores a checkpoint. One that a called tool stores does not become the latest checkpoint of the job.
 *
 * @returns the id; `undefined` if the same checkpoint was requested before
 */
export async function checkpoint(
  attempt: Attempt,
  data: unknown,
  options?: CheckpointOptions,
  request?: CheckpointRequest,
): Promise<string | undefined> {
  const { row, spec, status, messages } = attempt;
  const sequence = (status.checkpoints ?? 0) + 1;
  const { checkpointId, event, record } = newCheckpoint(messages, row, spec, {
    sequence,
    data,
    options,
    correlationId: request?.correlationId,
  });
  const latest = attempt.isCall ? {} : { checkpointId };
  const changed = attempt.changeStatus({ ...latest, checkpoints: sequence, ...forgiveLostAttempts(row, status) });
  const records = request === undefined ? [record] : [record, ...request.records(event.id)];
  const entry = { events: [event], records, set: { status: changed } };
  if (request === undefined) await attempt.outbox.add(entry);
  else if (!(await attempt.outbox.tryAdd(entry))) return undefined;
  return checkpointId;
}
