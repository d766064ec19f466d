/** What is done once over all attempts at a job. */
import type { RecordChange } from '../../store/store.js';
import type { Attempt } from './attempt.js';
import { jsonOf } from './json.js';
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

/** @throws ArcpError `INVALID_ARGUMENT` where the result has no JSON */
export function stepRecord(attempt: Attempt, key: string, result: unknown): RecordChange {
  const { jobId } = attempt.row;
  const value = result === undefined ? '{}' : `{"result":${jsonOf(result, `step ${key}`)}}`;
  return { scope: stepsOf(jobId), key: `${attempt.stepPrefix}${key}`, value, owner: jobId };
}

export async function step<T>(
  attempt: Attempt,
  key: string,
  work: (operationKey: string) => T | Promise<T>,
): Promise<T> {
  const known = await knownStep(attempt, key);
  if (known !== undefined) return known.result as T;
  attempt.signal.throwIfAborted();
  // Whoever has lost the job must not act for it any more.
  await attempt.outbox.add({});
  const result = await work(`${attempt.row.jobId}:${attempt.stepPrefix}${key}`);
  const further = cameFurther(attempt.row, attempt.status);
  const isNews = attempt.status.forgiven !== further.forgiven;
  const set = isNews ? { status: attempt.changeStatus(further) } : {};
  await attempt.outbox.add({ records: [stepRecord(attempt, key, result)], set });
  return result;
}
