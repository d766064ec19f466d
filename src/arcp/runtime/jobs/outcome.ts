/** What became of a job, for others that wait for it. */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError } from '../../protocol/errors.js';
import { outcomeIn } from '../../protocol/outcome.js';
import type { Engine } from '../engine-type.js';
import { statusOf } from './spec.js';
import { untilEnded } from './until-ended.js';

/**
 * Waits for the end of a job, whoever works on it.
 *
 * @returns its result
 * @throws ArcpError what it failed with; `CANCELLED` where it was cancelled; `DATA_LOSS` where it is not kept any more
 */
export async function outcomeOf(engine: Pick<Engine, 'hub' | 'store'>, jobId: string): Promise<unknown> {
  await untilEnded(engine, jobId);
  const row = await engine.store.readJob(jobId);
  const endId = row && statusOf(row).endId;
  const last = endId === undefined ? undefined : await engine.store.findEvent(endId);
  const outcome = last && outcomeIn(JSON.parse(last.body) as Envelope);
  if (outcome === undefined) throw new ArcpError('DATA_LOSS', 'It is not known any more what became of the job');
  if (outcome.state === 'completed') return outcome.result;
  throw outcome.error;
}
