/** What became of a job, for others that wait for it. */
import type { Envelope } from '../../protocol/envelope.js';
import { ArcpError, type ErrorBody } from '../../protocol/errors.js';
import type { Engine } from '../core.js';
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
  if (last === undefined) throw new ArcpError('DATA_LOSS', 'It is not known any more what became of the job');
  return resultOf(JSON.parse(last.body) as Envelope);
}

/** The last message of some work, as what its caller gets. */
function resultOf(last: Envelope): unknown {
  switch (last.type) {
    case 'job.completed':
    case 'tool.result':
      return last.payload.result;
    case 'workflow.complete': {
      const { status, outputs, error } = last.payload;
      if (status === 'completed') return outputs;
      throw ArcpError.fromBody(error ?? { code: 'CANCELLED', message: 'The workflow was cancelled' });
    }
    case 'job.cancelled': {
      const { cause, reason } = last.payload;
      const code = cause === 'timeout' ? 'DEADLINE_EXCEEDED' : 'CANCELLED';
      throw new ArcpError(code, reason ?? `It was cancelled by ${cause}`, { retryable: false, details: { cause } });
    }
    default:
      throw ArcpError.fromBody(last.payload as ErrorBody);
  }
}
