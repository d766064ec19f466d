/** What a handler is given. */

import { byteLength } from '../../../text/bytes.js';
import { CATALOGUE, type MessageType, type PayloadOf } from '../../protocol/catalogue.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { RecordChange } from '../../store/store.js';
import type { CheckpointOptions, JobContext } from '../contract.js';
import { askFor } from '../permissions/ask.js';
import type { Attempt } from './attempt.js';

/** Where checkpoints and steps stand in the store. */
export const CHECKPOINTS = 'checkpoint';
export const stepsOf = (jobId: string): string => `step:${jobId}`;

/** A checkpoint as it is kept. */
export interface KeptCheckpoint {
  readonly jobId: string;
  readonly sequence: number;
  readonly data: unknown;
  /** The message that told of it. */
  readonly messageId: string;
}

/** @param restored the data of the latest checkpoint */
export function contextOf(job: Attempt, restored: unknown): JobContext {
  const { row, spec, voice } = job;
  const say = async <T extends MessageType>(type: T, payload: PayloadOf<T>): Promise<void> => {
    assertPayload(type, payload);
    await job.outbox.add({ events: [voice.event(type, payload)] });
  };
  return {
    jobId: spec.isDurable ? row.jobId : undefined,
    commandId: spec.command.id,
    sessionId: row.sessionId,
    principal: row.principal,
    trust: spec.trust,
    attempt: row.attempt,
    signal: job.signal,
    traceId: spec.trace.traceId,
    spanId: spec.trace.spanId,
    restored,
    operationKey: spec.command.payload.operation_key,
    progress: async (progress) => {
      assertPayload('job.progress', progress);
      job.noteProgress();
      // Only jobs have messages of their own for it.
      if (spec.isDurable) await say('job.progress', progress);
      else await say('event.emit', { name: 'arcp.progress', attributes: progress });
    },
    log: (level, message, attributes) =>
      say('log', { level, message, ...(attributes === undefined ? {} : { attributes }) }),
    metric: (metric) => say('metric', metric),
    emit: (name, attributes) => say('event.emit', { name, ...(attributes === undefined ? {} : { attributes }) }),
    stream: (options) => job.openStream(options),
    checkpoint: (data, options) => checkpoint(job, data, options),
    permission: (wish) => askFor(job, wish),
    step: (key, work) => step(job, key, work),
  };
}

/** @throws ArcpError `INVALID_ARGUMENT` */
function assertPayload(type: MessageType, payload: unknown): void {
  const judged = CATALOGUE[type].payload.safeParse(payload);
  if (judged.success) return;
  const issues = judged.error.issues.map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const said = issues.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new ArcpError('INVALID_ARGUMENT', `Not a ${type}: ${said}`, { details: { issues } });
}

async function checkpoint(job: Attempt, data: unknown, options: CheckpointOptions = {}): Promise<string> {
  const { label, isVisible } = options;
  const checkpointId = newId('chk');
  const text = jsonOf(data, 'a checkpoint');
  const sequence = (job.status.checkpoints ?? 0) + 1;
  const payload = {
    ...{ checkpoint_id: checkpointId, sequence, attempt: job.row.attempt, size_bytes: byteLength(text) },
    ...(label === undefined ? {} : { label }),
    ...(isVisible === true ? { data } : {}),
  };
  const event = job.spec.isDurable
    ? job.voice.event('job.checkpoint', payload)
    : job.voice.event('event.emit', { name: 'arcp.checkpoint', attributes: payload });
  const kept: KeptCheckpoint = { jobId: job.row.jobId, sequence, data: JSON.parse(text), messageId: event.id };
  const record: RecordChange = {
    ...{ scope: CHECKPOINTS, key: checkpointId, value: JSON.stringify(kept), owner: job.row.jobId },
  };
  const status = job.changeStatus({ checkpointId, checkpoints: sequence });
  await job.outbox.add({ events: [event], records: [record], set: { status } });
  return checkpointId;
}

async function step<T>(job: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  const scope = stepsOf(job.row.jobId);
  const known = await job.log.store.readRecord(scope, key);
  if (known !== undefined) return (JSON.parse(known.value) as { readonly result: T }).result;
  job.signal.throwIfAborted();
  // Whoever has lost the job must not act for it any more.
  await job.outbox.add({});
  const result = await work(`${job.row.jobId}:${key}`);
  const value = result === undefined ? '{}' : `{"result":${jsonOf(result, `step ${key}`)}}`;
  await job.outbox.add({ records: [{ scope, key, value, owner: job.row.jobId }] });
  return result;
}

/** @throws ArcpError `INVALID_ARGUMENT` on what has no JSON */
function jsonOf(value: unknown, what: string): string {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new ArcpError('INVALID_ARGUMENT', `What ${what} holds has no JSON: ${(cause as Error).message}`, { cause });
  }
  return text ?? 'null';
}
