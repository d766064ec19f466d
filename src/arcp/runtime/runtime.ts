/** A runtime: tools, workflows and agents, and the connections of those who call them. */
import type * as z from 'zod';
import { notifyListener } from '../../async/listeners.js';
import { after, every, monotonicClock } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { MAX_MESSAGE_BYTES } from '../protocol/codec.js';
import { assertDurations, storableMs } from '../protocol/durations.js';
import { newId } from '../protocol/ids.js';
import { memoryStore } from '../store/memory.js';
import { type ArcpStore, LIVE_STATES, type TrimReport } from '../store/store.js';
import { Connection } from './connections/connection.js';
import type { Core, Settings } from './core.js';
import type { Engine } from './engine/engine.js';
import { beginJob, cancelChildren, cancelJob, jobsOf, outcomeOf } from './engine/jobs.js';
import { Scheduler, type SchedulerOptions } from './engine/scheduler.js';
import { EventLog, Hub } from './events/log.js';
import { resolveRetry } from './job/spec.js';
import { type Page, pagesOf } from './pages.js';
import { AnswerWaiters } from './permissions/leases.js';
import { definePolicy, type Policy } from './permissions/policy.js';
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
import { StreamRegistry, Uploads } from './streams.js';
import { safeTelemetry } from './telemetry.js';
import type { AgentInput, Handler, HandlerOptions, Registration, Telemetry, ToolOptions } from './types.js';

export interface RuntimeOptions {
  /** Stores jobs, events and sessions. @default in memory */
  readonly store?: ArcpStore | undefined;
  /** Identifies clients. @default everyone is the same principal of constrained trust */
  readonly auth?: Authenticate | undefined;
  /** Decides permissions. @default `definePolicy()` */
  readonly policy?: Policy | undefined;
  /** Receives spans and metrics besides the clients: `openTelemetry(api)`. @default none */
  readonly telemetry?: Telemetry | undefined;
  /** Adds and overrides capabilities. */
  readonly capabilities?: Capabilities | undefined;
  readonly workers?: WorkerOptions | undefined;
  /** Milliseconds between heartbeats of jobs, and of silent connections; `Infinity` for none. @default 15000 */
  readonly heartbeatMs?: number | undefined;
  readonly limits?: RuntimeLimits | undefined;
  /** Milliseconds for which a disconnected session can be resumed; `Infinity` for always. @default 604800000 (7 days) */
  readonly resumeWindowMs?: number | undefined;
  /**
   * Milliseconds for which ended jobs, and messages without a job, are kept; `Infinity` for always. Sessions are kept while they are
   * connected, resumable, or have live jobs. @default 604800000 (7 days)
   */
  readonly retentionMs?: number | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Receives errors that no call reports, such as those of the store. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface WorkerOptions {
  /** Concurrent jobs, without those that wait for something. @default 64 */
  readonly concurrency?: number | undefined;
  /** The queues to work on. @default ['default'] */
  readonly queues?: readonly string[] | undefined;
  /**
   * Milliseconds after which the jobs of a dead runtime are taken over, by the monotonic clock of the other one. Equal for all runtimes of
   * a store. @default 15000
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds that work may continue after its cancellation; 0 for none, `Infinity` for no limit. @default 30000 */
  readonly cancelGraceMs?: number | undefined;
  /** Restarts of a job whose worker was lost without progress. @default 10 */
  readonly maxLostAttempts?: number | undefined;
}

export interface RuntimeCancelOptions {
  /** The runtime's own decision, or a policy. @default 'runtime' */
  readonly cause?: 'runtime' | 'policy' | undefined;
  readonly reason?: string | undefined;
  /** Milliseconds that the work may continue. @default `workers.cancelGraceMs` */
  readonly deadlineMs?: number | undefined;
}

export interface RuntimeLimits {
  /** Limit of a message in bytes. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Limit of waiting jobs in a queue. @default 100000 */
  readonly maxJobs?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const TRIM_EVERY = 10 * 60 * 1000;
/** Milliseconds for which answers to stateless sessions are kept, for repeated commands. */
const PASSING_KEPT = 60_000;

/**
 * Creates a runtime, which starts working with `start` or its first connection.
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

export class Runtime {
  readonly #works = new Map<string, Registration>();
  readonly #connections = new Set<Connection>();
  readonly #core: Core;
  #isDraining = false;
  #upkeep: readonly (() => void)[] | undefined;

  constructor(options: RuntimeOptions) {
    const settings = resolveSettings(options);
    const find = (kind: Registration['kind'], name: string): Registration | undefined =>
      this.#works.get(`${kind} ${name}`);
    const { now } = settings;
    const { concurrency = 64, queues = ['default'], leaseMs = 15_000 } = options.workers ?? {};
    const { cancelGraceMs = 30_000, maxLostAttempts = 10 } = options.workers ?? {};
    assertPositive({ concurrency });
    assertDurations({ cancelGraceMs }, 0);
    if (!(leaseMs > 0 && Number.isFinite(leaseMs)))
      throw new TypeError(`leaseMs must be a positive, finite number of milliseconds; got ${leaseMs}`);
    const working = {
      ...settings,
      concurrency,
      queues,
      leaseMs,
      cancelGraceMs,
      maxLostAttempts,
      find,
      drained: (sessionId: string) => this.#core.connections.get(sessionId)?.feed.caughtUp(),
      telemetry: options.telemetry && safeTelemetry(options.telemetry),
      policy: options.policy ?? definePolicy(),
    };
    this.#core = {
      settings,
      find,
      boot: newId('sess'),
      connections: new Map(),
      running: new Map(),
      works: () => this.#works.values(),
      durable: createEngine(options.store ?? memoryStore({ now }), working),
      transient: createEngine(memoryStore({ now }), working),
      isDraining: () => this.#isDraining,
      onDisconnected: (session, of, sent) => this.#abandoned(session, of, sent),
    };
  }

  /** Registers a tool. */
  tool<I extends z.ZodType = z.ZodType<Record<string, unknown>>>(
    name: string,
    options: ToolOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'tool', name, options, handler: handler as Handler });
  }

  /** Registers a workflow, which is a job if client and session allow it. Its calls are reported. */
  workflow<I extends z.ZodType = z.ZodType<Record<string, unknown>>>(
    name: string,
    options: HandlerOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'workflow', name, options, handler: handler as Handler });
  }

  /** Registers an agent. Its input is the `task` with the arguments. */
  agent<I extends z.ZodType = z.ZodType<AgentInput>>(
    name: string,
    options: HandlerOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'agent', name, options, handler: handler as Handler });
  }

  /** Starts working on waiting jobs. */
  start(): void {
    if (this.#isDraining) return;
    this.#core.durable.scheduler.start();
    this.#core.transient.scheduler.start();
    const { onError, resumeWindowMs } = this.#core.settings;
    if (this.#upkeep !== undefined) return;
    const often = Math.min(TRIM_EVERY, Math.max(1000, resumeWindowMs / 4));
    this.#upkeep = [
      every(TRIM_EVERY, () => void this.trim().catch(onError)),
      every(often, () => void this.#noteSeen().catch(onError)),
    ];
  }

  /** Serves a connection. Resolves when it has ended. */
  accept(channel: Channel, peer: Peer = { kind: 'memory' }): Promise<void> {
    this.start();
    const connection = new Connection(this.#core, channel, peer);
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    return connection.closed;
  }

  /** Cancels a job of any client, with a deadline. @returns `false` if it had ended @throws ArcpError `NOT_FOUND`, `UNAVAILABLE` */
  async cancel(jobId: string, options: RuntimeCancelOptions = {}): Promise<boolean> {
    const { cause = 'runtime', reason, deadlineMs } = options;
    const { durable } = this.#core;
    assertDurations({ deadlineMs }, 0);
    const { outcome } = await cancelJob(durable, jobId, { cause, reason, deadlineMs: storableMs(deadlineMs) });
    return outcome === 'asked';
  }

  /** Counts connections and live jobs. */
  counts(): { readonly connections: number; readonly jobs: number } {
    const { durable, transient } = this.#core;
    return { connections: this.#connections.size, jobs: durable.scheduler.size + transient.scheduler.size };
  }

  /**
   * Removes expired data in portions and frees its space, as the runtime does every ten minutes. @throws StoreError if the store fails;
   * removed data stay removed
   */
  async trim(): Promise<TrimReport> {
    const { settings, durable, transient } = this.#core;
    const passed = transient.now() - PASSING_KEPT;
    await transient.store.trim({ endedBefore: passed, before: passed });
    await this.#noteSeen();
    const ofSessions = await this.#dropSessions();
    const before = durable.now() - settings.retentionMs;
    const { jobs, events, records } = await durable.store.trim({ endedBefore: before, before });
    return { jobs, events: events + ofSessions.events, records: records + ofSessions.records };
  }

  /**
   * Starts no more jobs, and waits for the running ones; those that exceed the deadline are requeued for the next start.
   * @param deadlineMs @default 10000
   */
  async drain(deadlineMs = 10_000): Promise<void> {
    assertDurations({ deadlineMs }, 0);
    this.#isDraining = true;
    const schedulers = [this.#core.durable.scheduler, this.#core.transient.scheduler];
    const cancel = after(deadlineMs, () => {
      for (const scheduler of schedulers) scheduler.requeueAll('drain');
    });
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
    cancel();
  }

  /** Ends all connections and the store. Live jobs continue after the next start, when their leases have expired. */
  async close(): Promise<void> {
    this.#isDraining = true;
    for (const stop of this.#upkeep ?? []) stop();
    const { durable, transient } = this.#core;
    for (const { scheduler } of [durable, transient]) {
      scheduler.abandon();
      await scheduler.stop();
    }
    await Promise.all([...this.#connections].map((connection) => connection.end()));
    await Promise.all([durable.store.close(), transient.store.close()]);
  }

  #add(work: Registration): this {
    const { kind, name, options } = work;
    if (typeof name !== 'string' || name === '') throw new TypeError(`A ${kind} has a name`);
    resolveRetry(options.retry);
    assertDurations({ timeoutMs: options.timeoutMs });
    const key = `${kind} ${name}`;
    if (this.#works.has(key)) throw new TypeError(`There is a ${kind} ${JSON.stringify(name)} already`);
    this.#works.set(key, work);
    for (const { announceWork } of this.#core.connections.values()) announceWork({ kind, name });
    return this;
  }

  async #abandoned(session: Session, engine: Engine, sent: Sent | undefined): Promise<void> {
    const { store, now, log, scheduler, streams } = engine;
    // Without a reader, streams are not paced.
    streams.forget(session.id);
    if (session.mode === 'stateless') {
      for await (const { jobId } of jobsOf(store, { sessionId: session.id, states: LIVE_STATES }))
        scheduler.find(jobId)?.cancel({ cause: 'runtime', reason: 'The connection has ended' });
      await store.trim({ session: session.id });
      return;
    }
    await changeSession(log, session.id, { seenAt: now() }, sent);
  }

  /** Marks sessions with a connection as in use, so that the end of the process does not expire them. */
  async #noteSeen(): Promise<void> {
    const { connections, durable } = this.#core;
    for (const [id, carrier] of [...connections]) {
      const { engine, feed, session } = carrier;
      if (engine !== durable || connections.get(id) !== carrier) continue;
      const record = await durable.store.readRecord(SESSIONS, id);
      if (record !== undefined && sessionOf(record).tokenDigest !== session.tokenDigest) {
        if (connections.get(id) === carrier) await carrier.handOver('The session goes on elsewhere');
        continue;
      }
      await changeSession(durable.log, id, { seenAt: durable.now() }, feed.sent);
    }
  }

  async #dropSessions(): Promise<{ readonly events: number; readonly records: number }> {
    const { settings, connections, durable } = this.#core;
    const { store, log, now } = durable;
    const { retentionMs, resumeWindowMs } = settings;
    let [events, records] = [0, 0];
    const list = (page: Page) => store.listRecords(SESSIONS, page);
    for await (const page of pagesOf(list, ({ key }) => key)) {
      for (const record of page) {
        const session = sessionOf(record);
        const keptMs = session.closedAt === undefined ? Math.max(retentionMs, resumeWindowMs) : retentionMs;
        if (connections.has(record.key) || now() - session.seenAt <= keptMs) continue;
        const [working] = await store.listJobs({ sessionId: record.key, states: LIVE_STATES, limit: 1 });
        if (working !== undefined) continue;
        // From now on nobody can resume it.
        const closed = sessionRecord(record.key, { ...session, closedAt: session.closedAt ?? now() }, record.version);
        if ((await log.commit({ records: [closed] })).outcome !== 'done') continue;
        const removed = await store.trim({ session: record.key });
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
  Pick<SchedulerOptions, 'find' | 'drained' | 'telemetry' | 'policy'> &
  Pick<SchedulerOptions, 'concurrency' | 'queues' | 'leaseMs' | 'cancelGraceMs' | 'maxLostAttempts'>;

function createEngine(store: ArcpStore, { maxMessageBytes, ...options }: EngineOptions): Engine {
  const { now } = options;
  const clock = store.now ?? monotonicClock(now);
  const hub = new Hub();
  const log = new EventLog(store, hub, now, maxMessageBytes);
  const streams = new StreamRegistry(clock);
  const answers = new AnswerWaiters();
  const uploads = new Uploads();
  const scheduler: Scheduler = new Scheduler({
    ...options,
    now: clock,
    log,
    hub,
    streams,
    uploads,
    answers,
    madeRoom: () => scheduler.wake(),
    outcomeOf: (jobId) => outcomeOf({ hub, store }, jobId),
    startChild: (job) => beginJob(engine, job),
    expire: async (jobId) => {
      await cancelJob(engine, jobId, { cause: 'timeout', reason: 'It took too long' });
    },
    cancelChildren: (jobId) => cancelChildren(engine, jobId),
  });
  const engine: Engine = { store, now: clock, hub, log, scheduler, streams, uploads, answers };
  return engine;
}
