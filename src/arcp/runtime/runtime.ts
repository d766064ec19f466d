/** A runtime: its registered tools, workflows and agents, and the connections of its clients. */
import type * as z from 'zod';
import { assertDurations } from '../../async/durations.js';
import { notifyListener } from '../../async/listeners.js';
import { after, every } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { MAX_MESSAGE_BYTES } from '../protocol/codec.js';
import { storableMs } from '../protocol/durations.js';
import { newId } from '../protocol/ids.js';
import { memoryStore } from '../store/memory.js';
import { type ArcpStore, LIVE_STATES, type TrimReport } from '../store/store.js';
import type { RateLimit } from '../streams/writer.js';
import { Connection } from './connections/connection.js';
import type { ConnectionContext, Core, Settings } from './core.js';
import type { Engine } from './engine/engine.js';
import { cancelChildren, cancelJob, jobsOf, outcomeOf, startJob, untilEnded } from './engine/jobs.js';
import { Scheduler, type SchedulerOptions } from './engine/scheduler.js';
import { EventBus, EventLog } from './events/log.js';
import { resolveRetry } from './job/spec.js';
import { Mailbox } from './mail/mailbox.js';
import { meterOf, OBSERVED_METRICS } from './metrics.js';
import { type Page, pagesOf } from './pages.js';
import { Peers } from './peers.js';
import { AnswerWaiters } from './permissions/leases.js';
import { definePolicy, type Policy } from './permissions/policy.js';
import { Presence } from './presence.js';
import { type Authenticate, anonymous, type Peer } from './sessions/auth.js';
import {
  CAPABILITIES,
  type Capabilities,
  changeSession,
  SESSIONS,
  type Sent,
  type Session,
  sessionOf,
  sessionRecord,
} from './sessions/session.js';
import { removeMailOfEnded } from './status.js';
import { StreamRegistry } from './streams.js';
import { safeTelemetry } from './telemetry.js';
import type { AgentInput, Handler, HandlerOptions, Registration, Telemetry, ToolOptions } from './types.js';
import { endLostUploads } from './uploads/rows.js';
import { Uploads } from './uploads/uploads.js';

/** Options of a runtime. */
export interface RuntimeOptions {
  /** The store of jobs, events and sessions. @default `memoryStore()` */
  readonly store?: ArcpStore | undefined;
  /** Authenticates clients. @default `anonymous()`: all clients are one principal of constrained trust */
  readonly auth?: Authenticate | undefined;
  /** The policy that decides permission requests. @default `definePolicy()` */
  readonly policy?: Policy | undefined;
  /** A receiver of spans and metrics besides the clients: `openTelemetry(api)`. @default none */
  readonly telemetry?: Telemetry | undefined;
  /** Capabilities to add or override. @default all that the protocol defines */
  readonly capabilities?: Capabilities | undefined;
  /** Options of the workers, which run jobs. */
  readonly workers?: WorkerOptions | undefined;
  /** Milliseconds between heartbeats of running jobs, and of silence before a ping; `Infinity` for none. @default 15000 */
  readonly heartbeatMs?: number | undefined;
  /** Limits that clients receive in `session.accepted`. */
  readonly limits?: RuntimeLimits | undefined;
  /** Milliseconds for which a disconnected session can be resumed; `Infinity` for always. @default 604800000 (7 days) */
  readonly resumeWindowMs?: number | undefined;
  /**
   * Milliseconds for which ended jobs, and messages without a job, are stored; `Infinity` for always. Sessions are stored while they are
   * connected or resumable, or have live jobs. @default 604800000 (7 days)
   */
  readonly retentionMs?: number | undefined;
  /** The name of the runtime, which `pegwire arcp status` shows. @default none */
  readonly name?: string | undefined;
  /** The wall clock, in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Receives errors that no call reports, such as those of the store. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Options of the workers of a runtime. */
export interface WorkerOptions {
  /** The number of concurrent jobs, without those that wait for a permission or a child. @default 64 */
  readonly concurrency?: number | undefined;
  /** The queues whose jobs to run. @default ['default'] */
  readonly queues?: readonly string[] | undefined;
  /**
   * Milliseconds without a renewal after which other runtimes take over a job, by the clock of the store. @default 15000
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds that a handler may continue after its cancellation; 0 for none, `Infinity` for no limit. @default 30000 */
  readonly cancelGraceMs?: number | undefined;
  /** The number of consecutive attempts without progress whose worker may be lost before the job fails with `HEARTBEAT_LOST`. @default 10 */
  readonly maxLostAttempts?: number | undefined;
}

/** Options of a cancellation by the runtime. */
export interface RuntimeCancelOptions {
  /** The cause that the client receives. @default 'runtime' */
  readonly cause?: 'runtime' | 'policy' | undefined;
  /** The reason that the client receives. */
  readonly reason?: string | undefined;
  /** Milliseconds that the handler may continue; 0 for none, `Infinity` for no limit. @default `workers.cancelGraceMs` */
  readonly deadlineMs?: number | undefined;
}

/** Limits of a runtime. */
export interface RuntimeLimits {
  /** The longest message in bytes. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number | undefined;
  /** The maximum number of waiting jobs in a queue. @default 100000 */
  readonly maxJobs?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const TRIM_INTERVAL_MS = 10 * 60 * 1000;
/** Answers to stateless sessions are stored for this time, so that repeated commands find them. */
const TRANSIENT_RETENTION_MS = 60_000;

/**
 * Creates a runtime. It runs jobs after `start`, or after its first connection.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const runtime = createRuntime({ store: await sqliteStore('arcp.db') });
 * runtime.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b);
 * runtime.accept(channel);
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}

/** A runtime. Create one with {@link createRuntime}. */
export class Runtime {
  readonly #registrations = new Map<string, Registration>();
  readonly #connections = new Set<Connection>();
  readonly #core: Core;
  readonly #presence: Presence;
  /** Begins the observation of metrics. Returns the function that ends it. */
  readonly #observe: () => () => void;
  readonly #peers: Peers;
  #isDraining = false;
  #maintenance: readonly (() => void)[] | undefined;

  constructor(options: RuntimeOptions) {
    const settings = resolveSettings(options);
    const find = (kind: Registration['kind'], name: string): Registration | undefined =>
      this.#registrations.get(`${kind} ${name}`);
    const { now } = settings;
    const { concurrency = 64, queues = ['default'], leaseMs = 15_000 } = options.workers ?? {};
    const { cancelGraceMs = 30_000, maxLostAttempts = 10 } = options.workers ?? {};
    assertPositive({ concurrency });
    assertDurations({ cancelGraceMs }, 0);
    if (!(Number.isFinite(leaseMs) && leaseMs > 0))
      throw new TypeError(`leaseMs must be a positive, finite number of milliseconds; got ${leaseMs}`);
    const common = {
      ...settings,
      concurrency,
      queues,
      leaseMs,
      cancelGraceMs,
      maxLostAttempts,
      find,
      telemetry: options.telemetry && safeTelemetry(options.telemetry),
      policy: options.policy ?? definePolicy(),
    };
    const { telemetry } = common;
    const connections = new Map<string, ConnectionContext>();
    const durable = createEngine(options.store ?? memoryStore({ now }), {
      ...common,
      drained: (sessionId) => peers.drained(sessionId),
      remoteLimit: (sessionId) => peers.limitOf(sessionId),
    });
    const { heartbeatMs, onError } = settings;
    const { worker } = durable.mailbox;
    const measure = meterOf(durable.store, { worker, name: options.name, counts: () => this.counts() });
    const measureOrReport = () =>
      measure().catch((error) => {
        onError(error);
        return [];
      });
    this.#observe = () => telemetry?.observe?.(OBSERVED_METRICS, measureOrReport) ?? (() => undefined);
    this.#presence = new Presence({
      store: durable.store,
      worker,
      leaseMs,
      describe: () => ({
        ...{ name: options.name, queues, concurrency, ...this.counts() },
        sessions: connections.size,
        isDraining: this.#isDraining,
      }),
      // Its clients find another runtime, since this one has no news for them.
      onExpired: () => {
        for (const connection of this.#connections) void connection.end();
      },
      onRenewed: () => endLostUploads(durable.log, (each) => presence.has(each)),
      onError,
    });
    const presence = this.#presence;
    const peers = new Peers({ engine: durable, connections, presence, queues, leaseMs, heartbeatMs, onError });
    this.#peers = peers;
    this.#core = {
      settings,
      find,
      boot: newId('sess'),
      connections,
      running: new Map(),
      registrations: () => this.#registrations.values(),
      durable,
      transient: createEngine(memoryStore({ now }), {
        ...common,
        drained: (sessionId) => connections.get(sessionId)?.subscription.caughtUp(),
        remoteLimit: async () => undefined,
      }),
      peers,
      isDraining: () => this.#isDraining,
      onDisconnected: (session, of, sent) => this.#onDisconnected(session, of, sent),
    };
  }

  /** Registers a tool. @throws TypeError if the name is empty or already registered, or an option is invalid */
  tool<I extends z.ZodType = z.ZodType<Record<string, unknown>>>(
    name: string,
    options: ToolOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'tool', name, options, handler: handler as Handler });
  }

  /** Registers a workflow. A call becomes a durable job where client and session allow it. @throws TypeError as {@link tool} */
  workflow<I extends z.ZodType = z.ZodType<Record<string, unknown>>>(
    name: string,
    options: HandlerOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'workflow', name, options, handler: handler as Handler });
  }

  /** Registers an agent. Its input is the `task` with the arguments of the command. @throws TypeError as {@link tool} */
  agent<I extends z.ZodType = z.ZodType<AgentInput>>(
    name: string,
    options: HandlerOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'agent', name, options, handler: handler as Handler });
  }

  /**
   * Removes a tool, workflow or agent, and informs the connected clients. Its running calls and jobs continue; later calls, and jobs that wait,
   * fail with `NOT_FOUND`.
   *
   * @returns `false` if it is not registered
   */
  remove(name: string, kind: 'tool' | 'workflow' | 'agent' = 'tool'): boolean {
    const work = this.#registrations.get(`${kind} ${name}`);
    if (work === undefined) return false;
    this.#registrations.delete(`${kind} ${name}`);
    for (const { announce } of this.#core.connections.values()) announce('removed', work);
    return true;
  }

  /** Starts to run waiting jobs. */
  start(): void {
    if (this.#isDraining) return;
    this.#core.durable.scheduler.start();
    this.#core.transient.scheduler.start();
    const { onError, resumeWindowMs } = this.#core.settings;
    if (this.#maintenance !== undefined) return;
    this.#presence.start();
    this.#peers.start();
    const touchIntervalMs = Math.min(TRIM_INTERVAL_MS, Math.max(1000, resumeWindowMs / 4));
    this.#maintenance = [
      this.#observe(),
      every(TRIM_INTERVAL_MS, () => void this.trim().catch(onError)),
      every(touchIntervalMs, () => void this.#touchSessions().catch(onError)),
    ];
  }

  /** Serves a connection. Resolves when it has ended. @param peer the origin of the connection, for authentication */
  accept(channel: Channel, peer: Peer = { kind: 'memory' }): Promise<void> {
    this.start();
    const connection = new Connection(this.#core, channel, peer);
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    return connection.closed;
  }

  /**
   * Cancels a job of any client.
   *
   * @returns `false` if it had already ended
   * @throws ArcpError `NOT_FOUND` if there is no such job, `UNAVAILABLE` if the store cannot write, `ABORTED` if the job kept changing meanwhile
   * @throws TypeError if `deadlineMs` is invalid
   */
  async cancel(jobId: string, options: RuntimeCancelOptions = {}): Promise<boolean> {
    const { cause = 'runtime', reason, deadlineMs } = options;
    const { durable } = this.#core;
    assertDurations({ deadlineMs }, 0);
    const { outcome } = await cancelJob(durable, jobId, { cause, reason, deadlineMs: storableMs(deadlineMs) });
    return outcome === 'requested';
  }

  /** The state: `draining` after `drain` or `close`, `lost` while the store has not been reached for the duration of a lease. */
  get state(): 'running' | 'draining' | 'lost' {
    if (this.#isDraining) return 'draining';
    return this.#presence.isExpired ? 'lost' : 'running';
  }

  /** Returns the numbers of connections and running jobs. */
  counts(): { readonly connections: number; readonly jobs: number } {
    const { durable, transient } = this.#core;
    return { connections: this.#connections.size, jobs: durable.scheduler.size + transient.scheduler.size };
  }

  /**
   * Removes expired data in batches and frees its space, as the runtime does every ten minutes.
   *
   * @throws StoreError if the store fails; what was removed before stays removed
   */
  async trim(): Promise<TrimReport> {
    const { settings, durable, transient } = this.#core;
    const passed = transient.now() - TRANSIENT_RETENTION_MS;
    const storedBefore = Math.min(passed, transient.uploads.oldestAt);
    await transient.store.trim({ endedBefore: passed, storedBefore });
    await this.#touchSessions();
    await removeMailOfEnded(durable.store);
    const ofSessions = await this.#removeSessions();
    const before = durable.now() - settings.retentionMs;
    const { jobs, events, records } = await durable.store.trim({ endedBefore: before, storedBefore: before });
    return { jobs, events: events + ofSessions.events, records: records + ofSessions.records };
  }

  /**
   * Stops starting jobs, and waits for the running ones. Those that exceed the deadline are requeued: other runtimes of the store continue them
   * at once, or the next start does. Connections stay open meanwhile: new commands of resumable sessions are queued, others are refused with
   * `UNAVAILABLE`. Close the runtime afterwards; its clients then resume their sessions elsewhere.
   *
   * @param deadlineMs milliseconds; `Infinity` for no limit. @default 10000
   */
  async drain(deadlineMs = 10_000): Promise<void> {
    assertDurations({ deadlineMs }, 0);
    this.#isDraining = true;
    if (this.#maintenance !== undefined) void this.#presence.renew();
    const schedulers = [this.#core.durable.scheduler, this.#core.transient.scheduler];
    const cancel = after(deadlineMs, () => {
      for (const scheduler of schedulers) scheduler.requeueAll('drain');
    });
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
    cancel();
  }

  /**
   * Closes all connections and the store. Running jobs continue in other runtimes or after the next start, once their leases have expired; call
   * {@link drain} before so that they continue at once.
   */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const stop of this.#maintenance ?? []) stop();
    const { durable, transient } = this.#core;
    for (const { scheduler } of [durable, transient]) {
      scheduler.abandon();
      await scheduler.stop();
    }
    await Promise.all([...this.#connections].map((connection) => connection.end()));
    this.#peers.stop();
    await this.#presence.stop().catch(this.#core.settings.onError);
    await Promise.all([durable.store.close(), transient.store.close()]);
  }

  #add(work: Registration): this {
    const { kind, name, options } = work;
    if (typeof name !== 'string' || name === '')
      throw new TypeError(`The name of a ${kind} must be a non-empty string`);
    resolveRetry(options.retry);
    assertDurations({ timeoutMs: options.timeoutMs });
    const key = `${kind} ${name}`;
    if (this.#registrations.has(key)) throw new TypeError(`The ${kind} ${JSON.stringify(name)} is already registered`);
    this.#registrations.set(key, work);
    for (const { announce } of this.#core.connections.values()) announce('added', work);
    return this;
  }

  async #onDisconnected(session: Session, engine: Engine, sent: Sent | undefined): Promise<void> {
    const { store, now, log, scheduler, streams } = engine;
    // Without a reader, the rate of streams is not limited.
    streams.forget(session.id);
    if (session.epoch > 0) await this.#core.peers.unlimit(session);
    if (session.mode === 'stateless') {
      for await (const { jobId } of jobsOf(store, { sessionId: session.id, states: LIVE_STATES }))
        scheduler
          .find(jobId)
          ?.cancel({ cause: 'runtime', reason: 'The connection of the stateless session has ended' });
      await store.trim({ sessionId: session.id });
      return;
    }
    await changeSession(log, session.id, { seenAt: now() }, sent);
  }

  /** Updates the last use of connected sessions, so that a crash of the process does not expire them. */
  async #touchSessions(): Promise<void> {
    const { connections, durable } = this.#core;
    for (const [id, connection] of [...connections]) {
      const { engine, subscription, session } = connection;
      if (session.epoch === 0 || connections.get(id) !== connection) continue;
      await changeSession(engine.log, id, { seenAt: durable.now() }, subscription.sent);
    }
  }

  async #removeSessions(): Promise<{ readonly events: number; readonly records: number }> {
    const { settings, connections, durable } = this.#core;
    const { store, log, now } = durable;
    const { retentionMs, resumeWindowMs } = settings;
    let [events, records] = [0, 0];
    const list = (page: Page) => store.listRecords(SESSIONS, page);
    for await (const page of pagesOf(list, ({ key }) => key)) {
      for (const record of page) {
        const session = sessionOf(record);
        const storedMs = session.closedAt === undefined ? Math.max(retentionMs, resumeWindowMs) : retentionMs;
        if (connections.has(record.key) || now() - session.seenAt <= storedMs) continue;
        const [live] = await store.listJobs({ sessionId: record.key, states: LIVE_STATES, limit: 1 });
        if (live !== undefined) continue;
        // A closed session cannot be resumed while its data are removed.
        const closed = sessionRecord(record.key, { ...session, closedAt: session.closedAt ?? now() }, record.version);
        if ((await log.commit({ records: [closed] })).outcome !== 'done') continue;
        const removed = await store.trim({ sessionId: record.key });
        events += removed.events;
        records += removed.records;
      }
    }
    return { events, records };
  }
}

function resolveSettings(options: RuntimeOptions): Settings {
  const { auth = anonymous(), capabilities = {}, heartbeatMs = 15_000, limits = {}, now = Date.now, onError } = options;
  const { resumeWindowMs = 7 * DAY_MS, retentionMs = 7 * DAY_MS } = options;
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxJobs = 100_000 } = limits;
  assertPositive({ maxMessageBytes, maxJobs });
  assertDurations({ heartbeatMs, resumeWindowMs, retentionMs });
  return {
    authenticate: auth,
    capabilities: { ...Object.fromEntries(CAPABILITIES.map((name) => [name, true])), ...capabilities },
    heartbeatMs,
    maxMessageBytes,
    maxJobs,
    now,
    version: '0.1.0',
    resumeWindowMs,
    retentionMs,
    onError: (error) => notifyListener(() => onError?.(error)),
  };
}

function assertPositive(options: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(options))
    if (!(value >= 1)) throw new TypeError(`${name} must be at least 1; got ${value}`);
}

type EngineOptions = Settings &
  Pick<SchedulerOptions, 'find' | 'drained' | 'telemetry' | 'policy'> & {
    readonly remoteLimit: (sessionId: string) => Promise<RateLimit | undefined>;
  } & Pick<SchedulerOptions, 'concurrency' | 'queues' | 'leaseMs' | 'cancelGraceMs' | 'maxLostAttempts'>;

function createEngine(store: ArcpStore, { maxMessageBytes, ...options }: EngineOptions): Engine {
  const { now } = options;
  const clock = store.now;
  const bus = new EventBus();
  const log = new EventLog(store, bus, now, maxMessageBytes);
  const streams = new StreamRegistry(clock, options.remoteLimit);
  const worker = newId('lease').replace('lease', 'worker');
  const mailbox = new Mailbox({ store, worker, onError: options.onError });
  const answers = new AnswerWaiters();
  const uploads = new Uploads({
    ...{ log, bus, worker, now: clock, onError: options.onError },
    report: (to, report) => mailbox.send(to, { kind: 'upload', ...report }),
    untilEnded: (jobId) => untilEnded({ bus, store }, jobId),
  });
  const scheduler: Scheduler = new Scheduler({
    ...options,
    now: clock,
    log,
    bus,
    mailbox,
    worker,
    streams,
    uploads,
    answers,
    onSlotFree: () => scheduler.wake(),
    outcomeOf: (jobId) => outcomeOf({ bus, store }, jobId),
    startChild: (job) => startJob(engine, job),
    onDeadline: async (jobId) => {
      await cancelJob(engine, jobId, { cause: 'timeout', reason: 'The job exceeded its timeout' });
    },
    cancelChildren: (jobId) => cancelChildren(engine, jobId),
  });
  const engine: Engine = { store, now: clock, bus, log, scheduler, mailbox, streams, uploads, answers };
  return engine;
}
