/** The runtimes that use a store. Each renews a record, which expires soon after the end of the process, and is removed later. */
import { every } from '../../async/timers.js';
import type { ArcpStore, StoredRecord } from '../store/store.js';
import { type Page, pagesOf } from './pages.js';

/** The scope of the runtimes, by the ids of their workers. */
export const PRESENCES = 'presence';

/** Milliseconds for which a lost runtime is shown. */
const LOST_SHOWN_MS = 60 * 60 * 1000;

/** A runtime that uses a store. */
export interface RuntimePresence {
  /** The id of its worker, which owns the leases of its jobs. */
  readonly worker: string;
  /** The name of the runtime. */
  readonly name?: string | undefined;
  /** The queues whose jobs it runs. */
  readonly queues: readonly string[];
  /** The maximum number of concurrent jobs. */
  readonly concurrency: number;
  /** The number of jobs that it runs, direct calls included. */
  readonly jobs: number;
  /** The number of its connections. */
  readonly connections: number;
  /** The number of sessions that are open on them. */
  readonly sessions: number;
  /** `true` if it starts no more jobs. */
  readonly isDraining: boolean;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** The time of its last sign of life. Milliseconds since 1970. */
  readonly renewedAt: number;
  /** The time at which it counts as ended unless it renews its presence. Milliseconds since 1970. */
  readonly expiresAt: number;
}

interface PresenceOptions {
  readonly store: ArcpStore;
  readonly worker: string;
  readonly leaseMs: number;
  /** Returns the current values. */
  readonly describe: () => Omit<RuntimePresence, 'worker' | 'startedAt' | 'renewedAt' | 'expiresAt'>;
  /** Called once when the presence has expired, since the store could not be reached. */
  readonly onExpired: () => void;
  /** Called after each renewal, to end what other runtimes have left. */
  readonly onRenewed: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export class Presence {
  readonly #options: PresenceOptions;
  #startedAt = 0;
  #expiresAt = Number.POSITIVE_INFINITY;
  #isExpired = false;
  #stop: (() => void) | undefined;

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  start(): void {
    const { store, leaseMs } = this.#options;
    this.#startedAt = store.now();
    this.#stop = every(Math.max(1, leaseMs / 3), () => void this.renew());
    void this.renew();
  }

  /** `true` from the expiry to the next renewal. */
  get isExpired(): boolean {
    return this.#isExpired;
  }

  /** Writes the presence now. */
  async renew(): Promise<void> {
    const { store, worker, leaseMs, describe, onExpired, onError } = this.#options;
    const renewedAt = store.now();
    const expiresAt = renewedAt + leaseMs;
    const presence: RuntimePresence = { worker, ...describe(), startedAt: this.#startedAt, renewedAt, expiresAt };
    try {
      await store.commit({ records: [{ scope: PRESENCES, key: worker, value: JSON.stringify(presence) }] });
      this.#expiresAt = expiresAt;
      this.#isExpired = false;
      await this.#removeLost();
      await this.#options.onRenewed();
    } catch (error) {
      if (this.#stop === undefined) return;
      onError(error);
      if (store.now() < this.#expiresAt) return;
      this.#expiresAt = Number.POSITIVE_INFINITY;
      this.#isExpired = true;
      onExpired();
    }
  }

  /** Returns whether a runtime uses the store. */
  async has(worker: string): Promise<boolean> {
    const { store } = this.#options;
    const record = await store.readRecord(PRESENCES, worker);
    return record !== undefined && presenceOf(record).expiresAt > store.now();
  }

  async stop(): Promise<void> {
    const { store, worker } = this.#options;
    if (this.#stop === undefined) return;
    this.#stop();
    this.#stop = undefined;
    await store.commit({ records: [{ scope: PRESENCES, key: worker, value: null }] });
  }

  async #removeLost(): Promise<void> {
    const { store } = this.#options;
    for (const { scope, key, value, version } of await listPresences(store)) {
      const { expiresAt } = JSON.parse(value) as RuntimePresence;
      // It may have come back.
      if (store.now() > expiresAt + LOST_SHOWN_MS)
        await store.commit({ records: [{ scope, key, value: null, expect: version }] });
    }
  }
}

/** Returns the runtimes that use a store, including those that ended without removing their presence in the last hour. */
export async function runtimesOf(store: ArcpStore): Promise<RuntimePresence[]> {
  return (await listPresences(store)).map(presenceOf);
}

async function listPresences(store: ArcpStore): Promise<StoredRecord[]> {
  const all: StoredRecord[] = [];
  for await (const page of pagesOf(
    (page: Page) => store.listRecords(PRESENCES, page),
    ({ key }) => key,
  ))
    all.push(...page);
  return all;
}

function presenceOf({ value }: StoredRecord): RuntimePresence {
  return JSON.parse(value) as RuntimePresence;
}
