/** Scheduling of jobs: claims, leases and heartbeats. */
import { after, every } from '../../../async/timers.js';
import { ArcpError } from '../../protocol/errors.js';
import type { JobRow } from '../../store/store.js';
import { forgetStream, openStreamsOf } from '../context/stream.js';
import type { EventBus } from '../events/log.js';
import type { JobHost } from '../job/attempt.js';
import { causeOf, isTerminal, type JobSpec, lostAttempts, specOf } from '../job/spec.js';
import type { Mailbox } from '../mail/mailbox.js';
import { inlineWorkflow } from '../workflow.js';
import { Deadlines } from './deadlines.js';
import { LiveJob } from './live-job.js';
import { obeyCancellation, obeyOrders } from './orders.js';

export interface SchedulerOptions extends JobHost {
  readonly onDeadline: (jobId: string) => Promise<void>;
  readonly bus: EventBus;
  readonly mailbox: Mailbox;
  readonly worker: string;
  readonly concurrency: number;
  readonly queues: readonly string[];
  /** Milliseconds; leases are renewed three times as often. */
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly maxLostAttempts: number;
  readonly onError: (error: unknown) => void;
}

/** The longest interval between two polls for changes of other processes. */
const MAX_POLL_INTERVAL_MS = 1000;
const POLL_RETRY_MS = 500;

export class Scheduler {
  readonly worker: string;
  readonly deadlines: Deadlines;
  readonly #options: SchedulerOptions;
  /** The jobs that run, or were claimed and are about to. */
  readonly #live = new Map<string, LiveJob>();
  /** The ids of new jobs that are to start at once, while they are being stored. */
  readonly #reserved = new Set<string>();
  #isClaiming = false;
  /** The jobs with orders that wait: this process has not yet learned that it runs them, or the store could not be read. */
  readonly #ordered = new Set<string>();
  /** The reason for which jobs do not run any more. */
  #requeueReason: string | undefined;
  #isAbandoned = false;
  /** `true` while queued jobs may wait for a slot; they start before new ones. */
  #isBacklogged = true;
  #leasesExpireAt = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #isPolling = false;
  #isPollPending = false;
  /** The monotonic time of the last look for changes of other processes. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timers: (() => void)[] = [];
  #cancelPoll: (() => void) | undefined;
  #idle: (() => void)[] = [];

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.worker = options.worker;
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

  get leaseMs(): number {
    return this.#options.leaseMs;
  }

  /** Notes that a lease starts at the earliest now. */
  leaseStarts(): void {
    this.#leasesExpireAt = Math.min(this.#leasesExpireAt, this.#options.now() + this.leaseMs);
  }

  /** Reserves a slot for a new job that starts at once, unless queued jobs wait. */
  reserve(jobId: string, queue: string): boolean {
    if (!this.#options.queues.includes(queue)) return false;
    if (!this.#isRunning || this.#isBacklogged || this.#busy() >= this.#options.concurrency) return false;
    this.#reserved.add(jobId);
    return true;
  }

  release(jobId: string): void {
    this.#reserved.delete(jobId);
    this.#obeyAll();
    if (this.#isBacklogged) this.wake();
    this.#checkIdle();
  }

  startReserved(row: JobRow, spec: JobSpec): void {
    this.#reserved.delete(row.jobId);
    const job = new LiveJob(row, spec, this.#options);
    this.#add(job);
    this.#obeyAll();
    void this.#run(job);
  }

  /** Looks for jobs to run. */
  wake(): void {
    this.#isBacklogged = true;
    if (!this.#isRunning && this.#isIdle) return;
    if (this.#isPolling) this.#isPollPending = true;
    else void this.#poll();
  }

  /** Stops starting jobs. Resolves when none runs; until then, leases are renewed, and orders and deadlines of running jobs are obeyed. */
  async stop(): Promise<void> {
    this.#isRunning = false;
    if (!this.#isIdle) await new Promise<void>((resolve) => this.#idle.push(resolve));
    this.#cancelPoll?.();
    this.deadlines.stop();
    for (const stop of this.#timers.splice(0)) stop();
  }

  get #isIdle(): boolean {
    if (this.#isAbandoned) return this.#live.size === 0;
    return this.#live.size + this.#reserved.size === 0 && !this.#isPolling;
  }

  #checkIdle(): void {
    if (this.#isIdle) for (const resolve of this.#idle.splice(0)) resolve();
  }

  /** Executes the orders of other runtimes to a job that runs here, now or as soon as possible. */
  obeyOrders(jobId: string): void {
    this.#ordered.add(jobId);
    void this.#obey(jobId);
  }

  async #obey(jobId: string): Promise<void> {
    const job = this.#live.get(jobId);
    if (job === undefined) {
      if (!this.#isClaiming && !this.#reserved.has(jobId)) this.#ordered.delete(jobId);
      return;
    }
    this.#ordered.delete(jobId);
    try {
      if (!job.isOver) await obeyOrders(job);
    } catch (error) {
      this.#options.onError(error);
      // Otherwise, the job was lost.
      if (this.#live.get(jobId) === job && !job.signal.aborted) this.#ordered.add(jobId);
    }
  }

  #add(job: LiveJob): void {
    const { jobId } = job.row;
    this.#live.set(jobId, job);
    if (this.#ordered.has(jobId)) void this.#obey(jobId);
  }

  #remove(job: LiveJob): void {
    if (this.#live.get(job.row.jobId) === job) this.#live.delete(job.row.jobId);
    this.#checkIdle();
  }

  /** Executes the orders that wait, or forgets them if their jobs do not run here. */
  #obeyAll(): void {
    for (const jobId of [...this.#ordered]) void this.#obey(jobId);
  }

  /** Ends the attempts of all jobs that run or are about to. Other runtimes continue them at once. */
  requeueAll(reason: string): void {
    this.#requeueReason = reason;
    for (const job of this.#live.values()) job.requeue({ reason, as: 'queued' });
  }

  /** Ends all attempts without a trace, as the end of the process does. */
  abandon(): void {
    this.#isAbandoned = true;
    for (const job of this.#live.values()) job.abandon();
    this.#checkIdle();
  }

  #busy(): number {
    let blocked = 0;
    for (const { state } of this.#live.values()) if (state === 'blocked') blocked++;
    return this.#live.size - blocked + this.#reserved.size;
  }

  async #poll(): Promise<void> {
    this.#isPolling = true;
    this.#cancelPoll?.();
    let wait = 0;
    try {
      do {
        this.#isPollPending = false;
        // After the machine slept, the leases of running jobs are renewed before others can claim them.
        if (this.#options.now() >= this.#leasesExpireAt) await this.#renew();
        if (performance.now() >= this.#lookedAt + MAX_POLL_INTERVAL_MS) await this.#look();
        if (this.#isRunning) await this.#claim();
        const msUntilDue = await this.#msUntilDue();
        wait = Math.min(msUntilDue, this.#lookedAt + MAX_POLL_INTERVAL_MS - performance.now());
      } while (this.#isPollPending && this.#isRunning);
    } catch (error) {
      this.#options.onError(error);
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      wait = POLL_RETRY_MS;
    } finally {
      this.#isPolling = false;
    }
    this.#checkIdle();
    if (this.#isRunning || !this.#isIdle) this.#cancelPoll = after(Math.max(1, wait), () => this.wake());
  }

  /** Looks for changes of other processes whose notices were lost. */
  async #look(): Promise<void> {
    const lookedAt = performance.now();
    const { log, mailbox } = this.#options;
    // Messages were sent before the events.
    await log.checkExternalCommits(undefined, () => mailbox.read());
    this.#lookedAt = lookedAt;
    this.#obeyAll();
  }

  async #claim(): Promise<void> {
    const { log, queues, concurrency, leaseMs } = this.#options;
    const limit = concurrency - this.#busy();
    if (limit <= 0) return;
    this.leaseStarts();
    this.#isClaiming = true;
    try {
      const rows = await log.store.claimJobs({ worker: this.worker, queues, leaseMs, limit });
      if (rows.length < limit) this.#isBacklogged = false;
      for (const row of rows) void this.#resume(row);
    } finally {
      this.#isClaiming = false;
      this.#obeyAll();
    }
  }

  async #msUntilDue(): Promise<number> {
    // The end of a job causes a poll.
    if (this.#isBacklogged || !this.#isRunning) return Number.POSITIVE_INFINITY;
    const { log, queues } = this.#options;
    return (await log.store.msUntilDue(queues)) ?? Number.POSITIVE_INFINITY;
  }

  async #resume(row: JobRow): Promise<void> {
    if (this.#isAbandoned) return;
    // The lease expired because it could not be renewed.
    this.#live.get(row.jobId)?.abandon();
    const job = new LiveJob(row, specOf(row), this.#options);
    this.#add(job);
    try {
      await this.#prepare(job);
    } catch (error) {
      // Another attempt has started, or the store fails and the lease expires.
      this.#options.onError(error);
      job.abandon();
      this.#remove(job);
      return;
    }
    await this.#run(job);
  }

  async #prepare(job: LiveJob): Promise<void> {
    const { row, spec, messages, outbox, status } = job;
    const { maxLostAttempts } = this.#options;
    const losses = lostAttempts(row);
    // An earlier attempt may have left something. The orders to the first one arrive from now on.
    const isContinued = row.attempt > 1;
    if (isContinued) await this.#endLostStreams(job);
    if (isContinued && (await obeyCancellation(job))) return;
    if (losses > 0 && !spec.isDurable)
      job.failBeforeStart(new ArcpError('ABORTED', 'The runtime was restarted during a direct call'));
    else if (losses > maxLostAttempts)
      job.failBeforeStart(
        new ArcpError('HEARTBEAT_LOST', `The worker of the job was lost ${losses} times without progress`, {
          retryable: false,
        }),
      );
    else {
      if (isContinued) await obeyOrders(job);
      const details = { worker: this.worker, restored_from: status.checkpointId };
      await outbox.add({ events: messages.started(row.attempt, details, causeOf(row)) });
    }
  }

  /** Ends the streams of a lost attempt; the next one opens its own. */
  async #endLostStreams({ row, messages, outbox, log }: LiveJob): Promise<void> {
    const scope = openStreamsOf(row.jobId);
    const error = { code: 'ABORTED', message: 'The worker that wrote the stream was lost', retryable: true };
    for (const { key } of await log.store.listRecords(scope, { limit: Number.POSITIVE_INFINITY }))
      await outbox.add({
        events: [messages.event('stream.error', error, { streamId: key })],
        records: forgetStream(row.jobId, key),
      });
  }

  async #run(job: LiveJob): Promise<void> {
    const { row, spec } = job;
    const { find } = this.#options;
    this.deadlines.watch(row, spec);
    if (this.#requeueReason !== undefined) job.requeue({ reason: this.#requeueReason, as: 'queued' });
    await job.run(find(spec.kind, job.status.agent ?? spec.target) ?? inlineWorkflow(spec.command));
    if (isTerminal(job.state)) this.deadlines.forget(row.jobId);
    this.#remove(job);
    if (this.#isBacklogged || job.state === 'queued') this.wake();
  }

  async #renew(): Promise<void> {
    const jobs = [...this.#live.values()].map(({ row: { jobId, attempt } }) => ({ jobId, attempt }));
    if (jobs.length === 0) {
      this.#leasesExpireAt = Number.POSITIVE_INFINITY;
      return;
    }
    try {
      const { worker, leaseMs } = this;
      const leasesExpireAt = this.#options.now() + leaseMs;
      const renewed = await this.#options.log.store.renewLeases({ worker, leaseMs, jobs });
      this.#leasesExpireAt = leasesExpireAt;
      const renewedKeys = new Set(renewed.map(({ jobId, attempt }) => `${attempt} ${jobId}`));
      for (const { jobId, attempt } of jobs) {
        const job = this.#live.get(jobId);
        // A job that has ended has released its lease.
        if (job?.row.attempt === attempt && !renewedKeys.has(`${attempt} ${jobId}`) && !job.isOver) job.abandon();
      }
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #sendHeartbeats(): void {
    const { bus, heartbeatMs } = this.#options;
    for (const job of this.#live.values())
      if (job.spec.isDurable)
        bus.publishTransient(job.row, job.heartbeat(Math.max(2 * heartbeatMs, this.#options.leaseMs)));
  }
}
