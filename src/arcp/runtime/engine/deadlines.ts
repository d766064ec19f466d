/** The timeouts of jobs, also while they wait. */
import { after } from '../../../async/timers.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow } from '../../store/store.js';
import type { EventLog } from '../events/log.js';
import { IDLE_STATES, type JobSpec, specOf } from '../job/spec.js';
import { type Page, pagesOf } from '../pages.js';

interface DeadlinesOptions {
  readonly log: EventLog;
  readonly now: () => number;
  /** Cancels a job. */
  readonly onDeadline: (jobId: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

const RETRY_MS = 1000;

export class Deadlines {
  readonly #options: DeadlinesOptions;
  readonly #timers = new Map<string, () => void>();
  #isOver = false;

  constructor(options: DeadlinesOptions) {
    this.#options = options;
  }

  watch({ jobId, createdAt }: Pick<JobRow, 'jobId' | 'createdAt'>, { timeoutMs }: JobSpec): void {
    if (timeoutMs === undefined || this.#isOver || this.#timers.has(jobId)) return;
    // The stored time may come from another process's clock; the timeout bounds the wait.
    const latest = this.#options.now() + timeoutMs;
    this.#schedule(jobId, Math.min(createdAt + timeoutMs, latest));
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

  #schedule(jobId: string, at: number, ms = Math.max(0, at - this.#options.now())): void {
    const cancel = after(ms, () => void this.#onDue(jobId, at));
    this.#timers.set(jobId, cancel);
  }

  async #onDue(jobId: string, at: number): Promise<void> {
    // The longest timer is shorter than some timeouts.
    if (this.#options.now() < at) {
      this.#schedule(jobId, at);
      return;
    }
    try {
      await this.#options.onDeadline(jobId);
      this.#timers.delete(jobId);
    } catch (error) {
      if (error instanceof ArcpError && error.code === 'NOT_FOUND') this.#timers.delete(jobId);
      else {
        this.#options.onError(error);
        if (!this.#isOver) this.#schedule(jobId, at, RETRY_MS);
      }
    }
  }
}
