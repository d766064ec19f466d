/** Many jobs, a portion at a time: what is done with them leaves others their turn. */
import { nextTurn } from '../../../async/timers.js';
import type { ArcpStore, JobQuery, JobRow } from '../../store/store.js';

/** Jobs that are read at once. */
const PAGE = 100;

/** Lists jobs in the order of their creation. Others have their turn between two portions. */
export async function* jobsOf(store: ArcpStore, query: Omit<JobQuery, 'after' | 'limit'>): AsyncGenerator<JobRow> {
  for (let after: string | undefined; ; ) {
    const rows = await store.listJobs({ ...query, after, limit: PAGE });
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)!.jobId;
    await new Promise<void>(nextTurn);
  }
}
