/** Notices of changes to the other users of a database. They hold no data, and may be lost. */
import type { SqlClient } from '../../../storage/postgres/sql.js';
import { newId } from '../../protocol/ids.js';
import type { Commit, EventPosition, StoreChange } from '../store.js';

interface NoticesOptions {
  readonly client: SqlClient;
  readonly channel: string;
}

interface PendingChange {
  /** The last sequence numbers by the ids of their sessions. */
  readonly sessions: Map<string, number>;
  readonly queues: Set<string>;
  readonly mailboxes: Set<string>;
}

/** The maximum length of a payload; PostgreSQL allows 8000 bytes. */
const MAX_PAYLOAD = 7000;
/** Milliseconds in which changes join into one notice, since notices of all databases of a server wait for each other. */
const DELAY_MS = 2;

export class Notices {
  readonly #options: NoticesOptions;
  readonly #id = newId('msg');
  readonly #watchers = new Set<(change: StoreChange) => void>();
  #listening: Promise<(() => Promise<void>) | undefined> | undefined;
  #pending: PendingChange | undefined;
  #sending: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  /** Notes the changes of a commit, to tell them to the others soon. @param positions those of its events */
  tell({ records = [], newJobs = [], jobs = [], events = [] }: Commit, positions: readonly EventPosition[]): void {
    const isFirst = this.#pending === undefined;
    this.#pending ??= { sessions: new Map(), queues: new Set(), mailboxes: new Set() };
    const { sessions, queues, mailboxes } = this.#pending;
    for (const [index, { sessionId }] of events.entries())
      sessions.set(sessionId, Math.max(positions[index]!.sequence, sessions.get(sessionId) ?? 0));
    for (const { scope, value } of records)
      if (typeof value === 'string' && scope.startsWith('mail:')) mailboxes.add(scope);
    for (const { queue, state } of newJobs) if (state === 'queued') queues.add(queue);
    // The queue of a changed job is not known here.
    if (jobs.some(({ set }) => set.state === 'queued')) queues.add(ANY_QUEUE);
    if (isFirst) setTimeout(() => this.#send(), DELAY_MS);
  }

  watch(onChange: (change: StoreChange) => void): () => void {
    this.#watchers.add(onChange);
    this.#listening ??= this.#listen();
    return () => void this.#watchers.delete(onChange);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watchers.clear();
    this.#send();
    await this.#sending;
    const stopped = this.#listening?.then((stop) => stop?.()).catch(() => undefined);
    // A broken network may not answer.
    await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, CLOSING_MS).unref())]);
  }

  /** Listens, and tries again until the database can be reached. */
  async #listen(): Promise<(() => Promise<void>) | undefined> {
    const { client, channel } = this.#options;
    while (!this.#isClosed) {
      try {
        return await client.listen(
          channel,
          (payload) => this.#receive(payload),
          // Notices before were lost.
          () => this.#announce({}),
        );
      } catch {
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
    return undefined;
  }

  #receive(payload: string): void {
    const { from, ...change } = JSON.parse(payload) as StoreChange & { readonly from: string };
    if (from === this.#id) return;
    const isAnyQueue = change.queues?.includes(ANY_QUEUE) === true;
    this.#announce(isAnyQueue ? {} : change);
  }

  #announce(change: StoreChange): void {
    for (const onChange of [...this.#watchers]) onChange(change);
  }

  #send(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    if (pending === undefined) return;
    const { sessions, queues, mailboxes } = pending;
    if (sessions.size + queues.size + mailboxes.size === 0) return;
    const change: StoreChange = {
      ...(sessions.size > 0 ? { sessions: [...sessions].map(([sessionId, last]) => ({ sessionId, last })) } : {}),
      ...(queues.size > 0 ? { queues: [...queues] } : {}),
      ...(mailboxes.size > 0 ? { mailboxes: [...mailboxes] } : {}),
    };
    const text = JSON.stringify({ from: this.#id, ...change });
    // All that is not ASCII may take several bytes.
    const isShort = text.length * 3 < MAX_PAYLOAD && !text.includes('\\u');
    const payload = isShort ? text : JSON.stringify({ from: this.#id });
    const { client, channel } = this.#options;
    // A notice may be lost, so its transaction does not wait for the disk.
    const sql = `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`;
    // On several connections, they could overtake each other.
    this.#sending = this.#sending.then(() => client.query(sql, [channel, payload])).catch(() => undefined);
  }
}

const RETRY_MS = 500;
const CLOSING_MS = 1000;
/** Stands for a queue whose name is not known. */
const ANY_QUEUE = '*';
