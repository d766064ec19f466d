/** What is done once over all attempts at a job. */

import { jsonOf } from '../../protocol/kept-json.js';
import type { RecordChange } from '../../store/store.js';
import type { Attempt } from './attempt.js';
import { cameFurther } from './spec.js';

/** Where steps stand in the store. */
export const stepsOf = (jobId: string): string => `step:${jobId}`;

/** A step that was done before, in this attempt or another. */
export async function knownStep(attempt: Attempt, key: string): Promise<{ readonly result: unknown } | undefined> {
  const known = await attempt.log.store.readRecord(stepsOf(attempt.row.jobId), `${attempt.stepPrefix}${key}`);
  return known === undefined
    ? undefined
    : { result: (JSON.parse(known.value) as { readonly result?: unknown }).result };
}

/**
 * Makes the record of a step.
 *
 * @returns the record, and the result as later attempts get it
 * @throws ArcpError `INVALID_ARGUMENT` on a result that JSON would change or cannot hold
 */
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

/** Carries out a step, unless it was done before. A call while it is being carried out waits for it. */
export function step<T>(attempt: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  return attempt.once(`${attempt.stepPrefix}${key}`, () => carryOut(attempt, key, work));
}

async function carryOut<T>(attempt: Attempt, key: string, work: (operationKey: string) => T | Promise<T>): Promise<T> {
  const known = await knownStep(attempt, key);
  if (known !== undefined) return known.result as T;
  attempt.signal.throwIfAborted();
  // Whoever has lost the job must not act for it any more.
  await attempt.outbox.add({});
  const result = await work(`${attempt.row.jobId}:${attempt.stepPrefix}${key}`);
  const further = cameFurther(attempt.row, attempt.status);
  const isNews = attempt.status.forgiven !== further.forgiven;
  const set = isNews ? { status: attempt.changeStatus(further) } : {};
  const { record, kept } = keepStep(attempt, key, result);
  await attempt.outbox.add({ records: [record], set });
  return kept;
}
