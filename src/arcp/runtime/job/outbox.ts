/** What one attempt at a job has to say, in order: each thing is committed once, or the attempt is over. */
import { ArcpError } from '../../protocol/errors.js';
import type { Commit, JobPatch } from '../../store/store.js';
import type { EventLog } from '../events/log.js';

export interface OutboxEntry extends Pick<Commit, 'events' | 'records'> {
  readonly set?: JobPatch | undefined;
}

interface Waiting {
  readonly entry: OutboxEntry;
  /** Committed alone, since its records may conflict. */
  readonly isTried: boolean;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

const LARGEST = 128;
const MOST = 10_000;
/** Milliseconds. */
const RETRY = 50;
const LONGEST_RETRY = 2000;

interface OutboxOptions {
  readonly log: EventLog;
  readonly jobId: string;
  readonly attempt: number;
  /** Called once if another attempt has begun or the job has ended. */
  readonly onLost: () => void;
}

export class JobOutbox {
  readonly #options: OutboxOptions;
  #waiting: Waiting[] = [];
  #isRunning = false;
  #isLost = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Resolves when the entry is committed, in order; waits while the store fails. @throws ArcpError `ABORTED`, `RESOURCE_EXHAUSTED` */
  add(entry: OutboxEntry): Promise<void> {
    return this.#put(entry, false) as Promise<unknown> as Promise<void>;
  }

  /** Adds an entry whose records may conflict. @returns `false` if they did */
  tryAdd(entry: OutboxEntry): Promise<boolean> {
    return this.#put(entry, true);
  }

  #put(entry: OutboxEntry, isTried: boolean): Promise<boolean> {
    const added = new Promise<boolean>((resolve, reject) => {
      if (this.#isLost) reject(over());
      else if (this.#waiting.length >= MOST) reject(new ArcpError('RESOURCE_EXHAUSTED', 'Too much waits to be kept'));
      else this.#waiting.push({ entry, isTried, resolve, reject });
    });
    // A caller that does not await it must not crash.
    added.catch(() => {});
    if (!this.#isRunning) void this.#run();
    return added;
  }

  stop(): void {
    this.#isLost = true;
    for (const { reject } of this.#waiting.splice(0)) reject(over());
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let wait = RETRY; this.#waiting.length > 0; ) {
      const batch = this.#waiting.splice(0, this.#together());
      if (await this.#commit(batch)) {
        wait = RETRY;
        continue;
      }
      this.#waiting.unshift(...batch);
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(LONGEST_RETRY, wait * 2);
      if (this.#isLost) this.stop();
    }
    this.#isRunning = false;
  }

  #together(): number {
    const tried = this.#waiting.findIndex(({ isTried }) => isTried);
    return tried === -1 ? LARGEST : Math.min(LARGEST, Math.max(1, tried));
  }

  /** @returns `false` if the batch is to be retried */
  async #commit(batch: readonly Waiting[]): Promise<boolean> {
    const { log, jobId, attempt, onLost } = this.#options;
    const set = Object.assign({}, ...batch.map(({ entry }) => entry.set ?? {})) as JobPatch;
    const events = batch.flatMap(({ entry }) => entry.events ?? []);
    const records = batch.flatMap(({ entry }) => entry.records ?? []);
    let outcome: string;
    try {
      ({ outcome } = await log.commit({ records, events, jobs: [{ jobId, attempt, set }] }));
    } catch (error) {
      if (error instanceof ArcpError && isPassing(error)) return false;
      for (const { reject } of batch) reject(error);
      return true;
    }
    if (outcome === 'done' || (outcome === 'conflict' && batch[0]!.isTried)) {
      for (const { resolve } of batch) resolve(outcome === 'done');
      return true;
    }
    for (const { reject } of batch) reject(over());
    this.stop();
    onLost();
    return true;
  }
}

/** A store that is closed or refuses the data does not recover. */
function isPassing({ details }: ArcpError): boolean {
  return details?.['reason'] !== 'closed' && details?.['reason'] !== 'failed';
}

function over(): ArcpError {
  return new ArcpError('ABORTED', 'This attempt at the job is over');
}
