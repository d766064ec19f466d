/** Who works on what, and for how long nobody else may. */
import { after, every } from '../../../async/timers.js';
import { ArcpError } from '../../protocol/errors.js';
import { newId } from '../../protocol/ids.js';
import type { JobRow, Lease } from '../../store/store.js';
import { openStreamsOf } from '../context/stream.js';
import type { Hub } from '../events/log.js';
import type { CancelRequest, JobHost } from '../job/attempt.js';
import { causeOf, IDLE_STATES, isTerminal, type JobSpec, lostAttempts, specOf } from '../job/spec.js';
import { type Page, pagesOf } from '../pages.js';
import { inlineWorkflow } from '../workflow.js';
import { LiveJob } from './live-job.js';

const TRY_AGAIN = 1000;

class Deadlines {
  readonly #options: SchedulerOptions;
  readonly #timers = new Map<string, () => void>();
  #isOver = false;

  constructor(options: SchedulerOptions) {
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

/** Cancellation requests, which outlive the process that received them. */
export const CANCELS = 'cancel';

export interface SchedulerOptions extends JobHost {
  readonly expire: (jobId: string) => Promise<void>;
  readonly hub: Hub;
  readonly concurrency: number;
  readonly queues: readonly string[];
  /** The lease is renewed three times in this time. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly maxLostAttempts: number;
  readonly onError: (error: unknown) => void;
}

/** Polls for changes of other processes. */
const LOOK_ANYWAY = 1000;
const LOOK_AGAIN = 500;

export class Scheduler {
  readonly worker = newId('lease').replace('lease', 'worker');
  readonly deadlines: Deadlines;
  readonly #options: SchedulerOptions;
  readonly #live = new Map<string, LiveJob>();
  #reserved = 0;
  /** Jobs may wait for room; they go before new ones. */
  #mayWait = true;
  #leasedUntil = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #heededAt = Number.NEGATIVE_INFINITY;
  /** The leases of other workers, and since when each is unchanged, by the monotonic clock. */
  #leases = new Map<string, { readonly lease: Lease; readonly since: number }>();
  #isPolling = false;
  #pollsAgain = false;
  #timers: (() => void)[] = [];
  #cancelLook: (() => void) | undefined;
  #idle: (() => void)[] = [];

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.deadlines = new Deadlines(options);
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { leaseMs, heartbeatMs } = this.#options;
    this.#timers = [
      every(Math.max(1, leaseMs / 3), () => void this.#renew()),
      ...(Number.isFinite(heartbeatMs) ? [every(heartbeatMs, () => this.#sendHeartbeats())] : []),
    ];
    this.wake();
    void this.deadlines.watchAll().catch(this.#options.onError);
  }

  get size(): number {
    return this.#live.size;
  }

  find(jobId: string): LiveJob | undefined {
    return this.#live.get(jobId);
  }

  leaseExpiresAt(): number {
    const until = this.#options.now() + this.#options.leaseMs;
    this.#leasedUntil = Math.min(this.#leasedUntil, until);
    return until;
  }

  /** Reserves a slot for a job that starts at once, unless others wait. */
  reserve(queue: string): boolean {
    if (!this.#options.queues.includes(queue)) return false;
    if (!this.#isRunning || this.#mayWait || this.#busy() >= this.#options.concurrency) return false;
    this.#reserved++;
    return true;
  }

  release(): void {
    this.#reserved--;
    if (this.#mayWait) this.wake();
  }

  begin(row: JobRow, spec: JobSpec): void {
    this.#reserved--;
    void this.#run(new LiveJob(row, spec, this.#options));
  }

  wake(): void {
    this.#mayWait = true;
    if (!this.#isRunning) return;
    if (this.#isPolling) this.#pollsAgain = true;
    else void this.#poll();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#cancelLook?.();
    this.deadlines.stop();
    if (this.#live.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    for (const stop of this.#timers.splice(0)) stop();
  }

  requeueAll(reason: string): void {
    for (const job of this.#live.values()) job.requeue({ reason, as: 'queued' });
  }

  abandon(): void {
    for (const job of this.#live.values()) job.abandon();
  }

  #busy(): number {
    let blocked = 0;
    for (const { state } of this.#live.values()) if (state === 'blocked') blocked++;
    return this.#live.size - blocked + this.#reserved;
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#cancelLook?.();
    let wait: number;
    try {
      do {
        this.#pollsAgain = false;
        await this.#options.log.checkExternalCommits();
        // After the machine slept, live jobs must not be taken for lost.
        if (this.#options.now() >= this.#leasedUntil) await this.#renew();
        await this.#checkCancellations();
        await this.#claim();
      } while (this.#pollsAgain && this.#isRunning);
      wait = await this.#untilNext();
    } catch (error) {
      this.#options.onError(error);
      wait = LOOK_AGAIN;
    } finally {
      this.#isPolling = false;
    }
    if (this.#isRunning) this.#cancelLook = after(Math.max(1, wait), () => this.wake());
  }

  async #claim(): Promise<void> {
    const { log, queues, concurrency, now } = this.#options;
    const limit = concurrency - this.#busy();
    if (limit <= 0) return;
    const lost = await this.#expiredLeases();
    const claim = { worker: this.worker, queues, now: now(), lost, leaseExpiresAt: this.leaseExpiresAt(), limit };
    const rows = await log.store.claimJobs(claim);
    if (rows.length < limit) this.#mayWait = false;
    for (const row of rows) void this.#resume(row);
  }

  /** Finds leases that were not renewed in time, measured by this monotonic clock: other workers may have another wall clock. */
  async #expiredLeases(): Promise<Lease[]> {
    const { log, queues, leaseMs } = this.#options;
    const now = performance.now();
    const seen = new Map<string, { readonly lease: Lease; readonly since: number }>();
    for (const lease of await log.store.listLeases(queues)) {
      const { jobId, leaseOwner } = lease;
      if (leaseOwner === this.worker && this.#live.has(jobId)) continue;
      const before = this.#leases.get(jobId);
      const isSame = before?.lease.attempt === lease.attempt && before.lease.leaseExpiresAt === lease.leaseExpiresAt;
      seen.set(jobId, isSame ? before : { lease, since: now });
    }
    this.#leases = seen;
    return [...seen.values()].filter(({ since }) => now - since >= leaseMs).map(({ lease }) => lease);
  }

  /** Another runtime may have received the cancellation of a job of this one. */
  async #checkCancellations(): Promise<void> {
    const now = performance.now();
    if (now - this.#heededAt < LOOK_ANYWAY) return;
    this.#heededAt = now;
    for (const job of [...this.#live.values()]) {
      const cancel = await this.#options.log.store.readRecord(CANCELS, job.row.jobId);
      if (cancel !== undefined) job.cancel(JSON.parse(cancel.value) as CancelRequest);
    }
  }

  async #untilNext(): Promise<number> {
    // The end of a job polls again; other processes' commits need a poll.
    if (this.#mayWait) return LOOK_ANYWAY;
    const { log, queues, leaseMs, now } = this.#options;
    const due = await log.store.nextDue(queues);
    const oldest = Math.min(...[...this.#leases.values()].map(({ since }) => since));
    const untilLost = oldest + leaseMs - performance.now();
    // Lost leases are not a matter of the wall clock.
    const isLease = [...this.#leases.values()].some(({ lease }) => lease.leaseExpiresAt === due);
    const untilDue = due === undefined || isLease ? LOOK_ANYWAY : due - now();
    return Math.min(LOOK_ANYWAY, untilDue, untilLost);
  }

  async #resume(row: JobRow): Promise<void> {
    // Its lease expired, since it could not be renewed.
    this.#live.get(row.jobId)?.abandon();
    const job = new LiveJob(row, specOf(row), this.#options);
    const { log, maxLostAttempts } = this.#options;
    const losses = lostAttempts(row);
    try {
      await this.#endLostStreams(job);
      const cancel = await log.store.readRecord(CANCELS, row.jobId);
      if (cancel !== undefined) job.cancel(JSON.parse(cancel.value) as CancelRequest);
      else if (losses > 0 && !job.spec.isDurable)
        job.failBeforeStart(new ArcpError('ABORTED', 'The runtime was restarted'));
      else if (losses > maxLostAttempts)
        job.failBeforeStart(
          new ArcpError('HEARTBEAT_LOST', `Whoever worked on it was lost ${losses} times`, { retryable: false }),
        );
      else {
        const told = { worker: this.worker, restored_from: job.status.checkpointId };
        await job.outbox.add({ events: job.messages.started(row.attempt, told, causeOf(row)) });
      }
    } catch (error) {
      // Another attempt has begun, or the store fails: the lease expires.
      this.#options.onError(error);
      return;
    }
    await this.#run(job);
  }

  /** The next attempt writes new streams. */
  async #endLostStreams({ row, messages, outbox, log }: LiveJob): Promise<void> {
    const scope = openStreamsOf(row.jobId);
    const error = { code: 'ABORTED', message: 'Whoever wrote the stream was lost', retryable: true };
    for (const { key } of await log.store.listRecords(scope, { limit: Number.POSITIVE_INFINITY }))
      await outbox.add({
        events: [messages.event('stream.error', error, { streamId: key })],
        records: [{ scope, key, value: null }],
      });
  }

  async #run(job: LiveJob): Promise<void> {
    const { row, spec } = job;
    const { find } = this.#options;
    this.#live.set(row.jobId, job);
    this.deadlines.watch(row, spec);
    await job.run(find(spec.kind, job.status.agent ?? spec.target) ?? inlineWorkflow(spec.command));
    if (isTerminal(job.state)) this.deadlines.forget(row.jobId);
    if (this.#live.get(row.jobId) === job) this.#live.delete(row.jobId);
    if (this.#live.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    if (this.#mayWait || job.state === 'queued') this.wake();
  }

  async #renew(): Promise<void> {
    const jobs = [...this.#live.values()].map(({ row: { jobId, attempt } }) => ({ jobId, attempt }));
    if (jobs.length === 0) {
      this.#leasedUntil = Number.POSITIVE_INFINITY;
      return;
    }
    try {
      const { worker } = this;
      const leaseExpiresAt = this.#options.now() + this.#options.leaseMs;
      const kept = await this.#options.log.store.renewLeases({ worker, leaseExpiresAt, jobs });
      this.#leasedUntil = leaseExpiresAt;
      const still = new Set(kept.map(({ jobId, attempt }) => `${attempt} ${jobId}`));
      for (const { jobId, attempt } of jobs) {
        const job = this.#live.get(jobId);
        // A job that ended meanwhile has released its lease.
        if (job?.row.attempt === attempt && !still.has(`${attempt} ${jobId}`) && !job.isOver) job.abandon();
      }
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #sendHeartbeats(): void {
    const { hub, heartbeatMs } = this.#options;
    for (const job of this.#live.values())
      if (job.spec.isDurable)
        hub.publishTransient(job.row, job.heartbeat(Math.max(2 * heartbeatMs, this.#options.leaseMs)));
  }
}
