/** Jobs of the principal who asks. */
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow } from '../../store/store.js';
import type { Carrier } from '../core.js';

/** @throws ArcpError `NOT_FOUND`: somebody else's job is not to be told from none */
export async function ownJob({ engine, session }: Carrier, jobId: string): Promise<JobRow> {
  const row = await engine.store.readJob(jobId);
  if (row === undefined || row.principal !== session.principal)
    throw new ArcpError('NOT_FOUND', 'There is no such job');
  return row;
}
