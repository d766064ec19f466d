/** What one attempt at a job has to say, in order: each thing is committed once, or the attempt is over. */
import { ArcpError } from '../../protocol/errors.js';
import type { JobPatch, NewEvent, RecordChange } from '../../store/store.js';
import type { EventLog } from '../events/log.js';

export interface OutboxEntry {
  readonly events?: readonly NewEvent[] | undefined;
  readonly set?: JobPatch | undefined;
  readonly records?: readonly RecordChange[] | undefined;
}

interface Waiting {
  readonly entry: OutboxEntry;
  /** Its records may be found otherwise than expected: it is committed by itself. */
  readonly isTried: boolean;
  readonly resolve: (isDone: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Most entries of one commit. */
const LARGEST = 128;
/** Most entries that wait while nothing can be kept. */
const MOST = 10_000;
/** Milliseconds between attempts to commit while the store fails: at first, and at most. */
const RETRY = 50;
const LONGEST_RETRY = 2000;

interface OutboxOptions {
  readonly log: EventLog;
  readonly jobId: string;
  readonly attempt: number;
  /** Told once when another attempt has begun elsewhere, or the job has ended: nothing more is committed. */
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

  /**
   * Resolves when it is committed. While the store fails it waits; what was said before is committed before.
   *
   * @throws ArcpError `ABORTED` when the attempt is over
   * @throws ArcpError `RESOURCE_EXHAUSTED` when too much waits
   */
  add(entry: OutboxEntry): Promise<void> {
    return this.#put(entry, false) as Promise<unknown> as Promise<void>;
  }

  /**
   * The same, where records may have been changed meanwhile by somebody else.
   *
   * @returns whether it was committed; else a record was not as expected
   */
  tryAdd(entry: OutboxEntry): Promise<boolean> {
    return this.#put(entry, true);
  }

  #put(entry: OutboxEntry, isTried: boolean): Promise<boolean> {
    const added = new Promise<boolean>((resolve, reject) => {
      if (this.#isLost) reject(over());
      else if (this.#waiting.length >= MOST) reject(new ArcpError('RESOURCE_EXHAUSTED', 'Too much waits to be kept'));
      else this.#waiting.push({ entry, isTried, resolve, reject });
    });
    // Whoever does not wait for it must not be ended by it.
    added.catch(() => {});
    if (!this.#isRunning) void this.#run();
    return added;
  }

  /** The attempt is over: what waits is dropped. */
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

  /** How many of those that wait are committed together. */
  #together(): number {
    const tried = this.#waiting.findIndex(({ isTried }) => isTried);
    return tried === -1 ? LARGEST : Math.min(LARGEST, Math.max(1, tried));
  }

  /** @returns whether the batch is settled, one way or the other */
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

/** Whether the store may well work again; after its end it does not, and what it refuses it refuses again. */
function isPassing({ details }: ArcpError): boolean {
  return details?.['reason'] !== 'closed' && details?.['reason'] !== 'failed';
}

function over(): ArcpError {
  return new ArcpError('ABORTED', 'This attempt at the job is over');
}
