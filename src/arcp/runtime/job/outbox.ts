/** The outbox of an attempt: its events and changes are committed once and in order, or the attempt ends. */
import { ArcpError } from '../../protocol/errors.js';
import type { Commit, JobPatch } from '../../store/store.js';
import type { EventLog } from '../events/log.js';

export interface OutboxEntry extends Pick<Commit, 'events' | 'records'> {
  readonly set?: JobPatch | undefined;
}

interface PendingEntry {
  readonly entry: OutboxEntry;
  /** `true` if the entry is committed alone, since its records may conflict. */
  readonly mayConflict: boolean;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_BATCH = 128;
const MAX_PENDING = 10_000;
const RETRY_MS = 50;
const MAX_RETRY_MS = 2000;

interface OutboxOptions {
  readonly log: EventLog;
  readonly jobId: string;
  readonly attempt: number;
  /** Called once if another attempt has started or the job has ended. */
  readonly onLost: () => void;
}

export class JobOutbox {
  readonly #options: OutboxOptions;
  #pending: PendingEntry[] = [];
  #isRunning = false;
  #isLost = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Adds an entry; resolves when it is committed. While the store fails, it waits. @throws ArcpError `ABORTED`, `RESOURCE_EXHAUSTED` */
  add(entry: OutboxEntry): Promise<void> {
    return this.#put(entry, false) as Promise<unknown> as Promise<void>;
  }

  /** Adds an entry whose records may conflict. @returns `false` if they did */
  tryAdd(entry: OutboxEntry): Promise<boolean> {
    return this.#put(entry, true);
  }

  #put(entry: OutboxEntry, mayConflict: boolean): Promise<boolean> {
    const added = new Promise<boolean>((resolve, reject) => {
      if (this.#isLost) reject(attemptEnded());
      else if (this.#pending.length >= MAX_PENDING)
        reject(
          new ArcpError(
            'RESOURCE_EXHAUSTED',
            `${MAX_PENDING} messages of the job wait for the store; await the earlier ones`,
          ),
        );
      else this.#pending.push({ entry, mayConflict, resolve, reject });
    });
    // A rejection that the caller does not await must not crash the process.
    added.catch(() => {});
    if (!this.#isRunning) void this.#run();
    return added;
  }

  stop(): void {
    this.#isLost = true;
    for (const { reject } of this.#pending.splice(0)) reject(attemptEnded());
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let wait = RETRY_MS; this.#pending.length > 0; ) {
      const batch = this.#pending.splice(0, this.#nextBatchSize());
      if (await this.#commit(batch)) {
        wait = RETRY_MS;
        continue;
      }
      this.#pending.unshift(...batch);
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(MAX_RETRY_MS, wait * 2);
      if (this.#isLost) this.stop();
    }
    this.#isRunning = false;
  }

  #nextBatchSize(): number {
    const conflicting = this.#pending.findIndex(({ mayConflict }) => mayConflict);
    return conflicting === -1 ? MAX_BATCH : Math.min(MAX_BATCH, Math.max(1, conflicting));
  }

  /** Commits a batch. @returns `false` if it must be retried */
  async #commit(batch: readonly PendingEntry[]): Promise<boolean> {
    const { log, jobId, attempt, onLost } = this.#options;
    const { set = {}, events, records } = batch.length === 1 ? batch[0]!.entry : merged(batch);
    let outcome: string;
    try {
      ({ outcome } = await log.commit({ records, events, jobs: [{ jobId, attempt, set }] }));
    } catch (error) {
      if (error instanceof ArcpError && isTransient(error)) return false;
      for (const { reject } of batch) reject(error);
      return true;
    }
    if (outcome === 'done' || (outcome === 'conflict' && batch[0]!.mayConflict)) {
      for (const { resolve } of batch) resolve(outcome === 'done');
      return true;
    }
    for (const { reject } of batch) reject(attemptEnded());
    this.stop();
    onLost();
    return true;
  }
}

function merged(batch: readonly PendingEntry[]): OutboxEntry {
  return {
    set: Object.assign({}, ...batch.map(({ entry }) => entry.set)) as JobPatch,
    events: batch.flatMap(({ entry }) => entry.events ?? []),
    records: batch.flatMap(({ entry }) => entry.records ?? []),
  };
}

/** A store that is closed or refuses the data does not recover. */
function isTransient({ details }: ArcpError): boolean {
  return details?.['reason'] !== 'closed' && details?.['reason'] !== 'failed';
}

function attemptEnded(): ArcpError {
  return new ArcpError('ABORTED', 'The attempt has ended, since the job continues elsewhere or has ended');
}
