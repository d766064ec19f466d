/** Jobs that may take only so long, whether they are worked on or wait (spec 003, "Jobs": "cancelled by ... timeout"). */
import { after } from '../../../async/timers.js';
import { ArcpError } from '../../protocol/errors.js';
import type { ArcpStore, JobRow } from '../../store/store.js';
import { IDLE_STATES, type JobSpec, specOf } from '../job/spec.js';
import { type Page, pagesOf } from '../pages.js';

const TRY_AGAIN = 1000;

export interface DeadlinesOptions {
  readonly log: { readonly store: ArcpStore };
  readonly now: () => number;
  readonly expire: (jobId: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #timers = new Map<string, () => void>();
  #isOver = false;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  watch({ jobId, createdAt }: Pick<JobRow, 'jobId' | 'createdAt'>, { timeoutMs }: JobSpec): void {
    if (timeoutMs === undefined || this.#isOver || this.#timers.has(jobId)) return;
    // The stored time may be of another process's clock: no job has longer than its time-out.
    const latest = this.#options.now() + timeoutMs;
    this.#later(jobId, Math.min(createdAt + timeoutMs, latest));
  }

  forget(jobId: string): void {
    this.#timers.get(jobId)?.();
    this.#timers.delete(jobId);
  }

  /** Watches jobs of earlier processes. */
  async watchAll(): Promise<void> {
    const { store } = this.#options.log;
    const list = (page: Page) => store.listJobs({ states: IDLE_STATES, ...page });
    for await (const rows of pagesOf(list, ({ jobId }) => jobId)) {
      if (this.#isOver) return;
      for (const row of rows) this.watch(row, specOf(row));
    }
  }

  stop(): void {
    this.#isOver = true;
    for (const jobId of [...this.#timers.keys()]) this.forget(jobId);
  }

  #later(jobId: string, at: number, ms = Math.max(0, at - this.#options.now())): void {
    const cancel = after(ms, () => void this.#due(jobId, at));
    this.#timers.set(jobId, cancel);
  }

  async #due(jobId: string, at: number): Promise<void> {
    // Timers are shorter than some time-outs.
    if (this.#options.now() < at) {
      this.#later(jobId, at);
      return;
    }
    try {
      await this.#options.expire(jobId);
      this.#timers.delete(jobId);
    } catch (error) {
      if (error instanceof ArcpError && error.code === 'NOT_FOUND') this.#timers.delete(jobId);
      else {
        this.#options.onError(error);
        if (!this.#isOver) this.#later(jobId, at, TRY_AGAIN);
      }
    }
  }
}
