/** What is done once over all attempts at a job, and where it stands (spec 003, "Resumability": "checkpoint snapshots"). */
import { byteLength } from '../../../text/bytes.js';
import { newId } from '../../protocol/ids.js';
import { jsonOf } from '../../protocol/json.js';
import type { ArcpStore, JobRow, NewEvent, RecordChange } from '../../store/store.js';
import type { Attempt } from '../job/attempt.js';
import type { JobMessages } from '../job/messages.js';
import { forgiveLostAttempts, type JobSpec, type JobStatus } from '../job/spec.js';
import type { CheckpointOptions } from '../types.js';

export const stepsOf = (jobId: string): string => `step:${jobId}`;

export async function knownStep(attempt: Attempt, key: string): Promise<{ readonly result: unknown } | undefined> {
  const known = await attempt.log.store.readRecord(stepsOf(attempt.row.jobId), `${attempt.stepPrefix}${key}`);
  return known && { result: (JSON.parse(known.value) as { readonly result?: unknown }).result };
}

export function keepStep<T>(
  attempt: Attempt,
  key: string,
  result: T,
): { readonly record: RecordChange; readonly kept: T } {
  const { jobId } = attempt.row;
  const text = result === undefined ? undefined : jsonOf(result, `the result of step ${key}`);
  const value = text === undefined ? '{}' : `{"result":${text}}`;
  const record = { scope: stepsOf(jobId), key: `${attempt.stepPrefix}${key}`, value, owner: jobId };
  return { record, kept: (text === undefined ? undefined : JSON.parse(text)) as T };
}

/** Carries out a step once. Concurrent calls share the promise. */
export function step<T>(attempt: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  return attempt.once(`${attempt.stepPrefix}${key}`, () => carryOut(attempt, key, work));
}

async function carryOut<T>(attempt: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  const known = await knownStep(attempt, key);
  if (known !== undefined) return known.result as T;
  attempt.signal.throwIfAborted();
  // A worker that has lost the job must not act for it.
  await attempt.outbox.add({});
  const result = await work(`${attempt.row.jobId}:${attempt.stepPrefix}${key}`);
  const further = forgiveLostAttempts(attempt.row, attempt.status);
  const isNews = attempt.status.forgiven !== further.forgiven;
  const set = isNews ? { status: attempt.changeStatus(further) } : {};
  const { record, kept } = keepStep(attempt, key, result);
  await attempt.outbox.add({ records: [record], set });
  return kept;
}

export const CHECKPOINTS = 'checkpoint';

export interface KeptCheckpoint {
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
  const kept: KeptCheckpoint = { jobId, sequence, data: JSON.parse(text), messageId: event.id };
  const record = { scope: CHECKPOINTS, key: checkpointId, value: JSON.stringify(kept), owner: jobId };
  return { checkpointId, event, record };
}

export async function latestData(store: ArcpStore, { checkpointId }: JobStatus): Promise<unknown> {
  const kept = checkpointId === undefined ? undefined : await store.readRecord(CHECKPOINTS, checkpointId);
  return kept === undefined ? undefined : (JSON.parse(kept.value) as KeptCheckpoint).data;
}

export interface CheckpointRequest {
  readonly correlationId: string;
  readonly record: (answerId: string) => RecordChange;
}

/** Stores a checkpoint. A call within the job does not move the job's own. @returns `undefined` if the same was requested before */
export async function checkpoint(
  attempt: Attempt,
  data: unknown,
  options?: CheckpointOptions,
  asked?: CheckpointRequest,
): Promise<string | undefined> {
  const { row, spec, status, messages } = attempt;
  const sequence = (status.checkpoints ?? 0) + 1;
  const { checkpointId, event, record } = newCheckpoint(messages, row, spec, {
    sequence,
    data,
    options,
    correlationId: asked?.correlationId,
  });
  const kept = attempt.isCall ? {} : { checkpointId };
  const changed = attempt.changeStatus({ ...kept, checkpoints: sequence, ...forgiveLostAttempts(row, status) });
  const records = asked === undefined ? [record] : [record, asked.record(event.id)];
  const entry = { events: [event], records, set: { status: changed } };
  if (asked === undefined) await attempt.outbox.add(entry);
  else if (!(await attempt.outbox.tryAdd(entry))) return undefined;
  return checkpointId;
}
