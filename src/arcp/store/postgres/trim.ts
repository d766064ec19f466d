/** Removal of what a runtime need not store any longer. */
import type { SqlParameter, SqlRow } from '../../../storage/postgres/sql.js';
import { encodeText } from '../../../storage/postgres/text.js';
import type { TrimPolicy, TrimReport } from '../store.js';
import { arrayOfEncoded } from './rows.js';

interface TrimmerOptions {
  /** The quoted name. */
  readonly schema: string;
  readonly write: (sql: string, parameters: readonly SqlParameter[]) => Promise<readonly SqlRow[]>;
  readonly now: () => number;
  readonly isClosed: () => boolean;
}

/** The maximum number of rows that a statement removes. */
const TRIM_BATCH = 500;
const TRIM_JOBS = 20;
/** The last group of a writer is stored for a day, so that a lost answer can be asked for again. */
const WRITER_RETENTION_MS = 24 * 60 * 60 * 1000;
/** Compares with the values of a parameter that is an array. */
const IN_LIST = '= ANY($1::text::text[])';

export class Trimmer {
  readonly #options: TrimmerOptions;

  constructor(options: TrimmerOptions) {
    this.#options = options;
  }

  /** Removes data in batches. */
  async trim({ endedBefore, storedBefore, sessionId }: TrimPolicy): Promise<TrimReport> {
    const removed = { jobs: 0, events: 0, records: 0 };
    if (endedBefore !== undefined) await this.#trimJobs(endedBefore, removed);
    if (storedBefore !== undefined) {
      removed.events += await this.#drop('event', 'job_id IS NULL AND at < $1::double precision', String(storedBefore));
      removed.records += await this.#drop(
        'record',
        'owner IS NULL AND at < $1::double precision',
        String(storedBefore),
      );
      await this.#drop('writer', 'at < $1::double precision', String(this.#options.now() - WRITER_RETENTION_MS));
    }
    if (sessionId !== undefined) {
      const id = encodeText(sessionId);
      removed.events += await this.#drop('event', 'session_id = $1 AND job_id IS NULL', id);
      removed.records += await this.#drop('record', 'owner = $1', id);
      await this.#forget([id]);
    }
    return removed;
  }

  async #trimJobs(endedBefore: number, removed: { -readonly [K in keyof TrimReport]: number }): Promise<void> {
    const { schema, write } = this.#options;
    for (;;) {
      const rows = await write(
        `SELECT job_id, session_id FROM ${schema}.arcp_job WHERE ended_at < $1::double precision ORDER BY ended_at LIMIT ${TRIM_JOBS}`,
        [String(endedBefore)],
      );
      if (rows.length === 0) return;
      const ids = arrayOfEncoded(rows.map((row) => row['job_id'] as string));
      removed.events += await this.#drop('event', `job_id ${IN_LIST}`, ids);
      removed.records += await this.#drop('record', `owner ${IN_LIST}`, ids);
      // The jobs are removed last, since the next trim finds the rest by them.
      removed.jobs += await this.#drop('job', `job_id ${IN_LIST}`, ids);
      await this.#forget(rows.map((row) => row['session_id'] as string));
    }
  }

  /** Removes the rows of sessions that have no events. @param ids encoded texts */
  async #forget(ids: readonly string[]): Promise<void> {
    const { schema, write } = this.#options;
    await write(`SELECT ${schema}.arcp_forget($1::text::text[])`, [arrayOfEncoded(ids)]);
  }

  /** Removes rows in batches. @returns their number */
  async #drop(table: string, where: string, value: string): Promise<number> {
    const { schema, write, isClosed } = this.#options;
    const name = `${schema}.arcp_${table}`;
    for (let count = 0; ; ) {
      const [row] = await write(
        `WITH gone AS (DELETE FROM ${name} WHERE ctid = ANY(ARRAY(SELECT ctid FROM ${name} WHERE ${where} LIMIT ${TRIM_BATCH})) RETURNING 1)
         SELECT count(*)::double precision AS count FROM gone`,
        [value],
      );
      count += row!['count'] as number;
      // The next trim continues.
      if ((row!['count'] as number) < TRIM_BATCH || isClosed()) return count;
    }
  }
}
