/** A runtime: tools, workflows and agents, and the connections of those who call them. */
import type * as z from 'zod';
import { notifyListener } from '../../async/listeners.js';
import { after, every, monotonicClock } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { MAX_MESSAGE_BYTES } from '../protocol/codec.js';
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
import type { AgentInput, Handler, Telemetry, ToolOptions, Work, WorkOptions } from './types.js';

export interface RuntimeOptions {
  /** Where jobs, events and sessions are kept. @default in memory */
  readonly store?: ArcpStore | undefined;
  /** Says who a client is. @default everybody is the same, of constrained trust */
  readonly auth?: Authenticate | undefined;
  /** What is allowed to whom. @default `definePolicy()` */
  readonly policy?: Policy | undefined;
  /** Where spans and metrics go besides to clients: `openTelemetry(api)`. @default nowhere */
  readonly telemetry?: Telemetry | undefined;
  /** What it can do, beside and instead of what all can. */
  readonly capabilities?: Capabilities | undefined;
  readonly workers?: WorkerOptions | undefined;
  /** Milliseconds between signs of life of a job, and of a connection on which nothing is said. @default 15000 */
  readonly heartbeatMs?: number | undefined;
  readonly limits?: RuntimeLimits | undefined;
  /** Seconds for which a session without a connection can be taken up again. @default 7 days */
  readonly resumeWindowSeconds?: number | undefined;
  /**
   * Days for which jobs that have ended, and messages of no job, are kept. A session is kept as long as it has a connection, can be taken up
   * again, or has a job that has not ended. @default 7
   */
  readonly retentionDays?: number | undefined;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Told what goes wrong and is nobody's answer: a store that fails while work goes on, for one. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export interface WorkerOptions {
  /** Jobs that are worked on at once; those that wait for something else do not count. @default 64 */
  readonly concurrency?: number | undefined;
  /** Queues whose jobs are worked on here. @default ['default'] */
  readonly queues?: readonly string[] | undefined;
  /**
   * Milliseconds after which the work of a runtime that has died is begun again by another, measured by the other's monotonic clock from when it
   * first sees the lease. All runtimes of a store have the same. @default 15000
   */
  readonly leaseMs?: number | undefined;
  /** Milliseconds that work may go on after it was cancelled. @default 30000 */
  readonly cancelGraceMs?: number | undefined;
  /** How often a job is begun again after whoever worked on it was lost before it came any further. @default 10 */
  readonly maxLosses?: number | undefined;
}

export interface RuntimeCancel {
  /** Who wants it: the runtime by itself, or a rule that it keeps. @default 'runtime' */
  readonly cause?: 'runtime' | 'policy' | undefined;
  readonly reason?: string | undefined;
  /** Milliseconds that the work may go on. @default `workers.cancelGraceMs` */
  readonly deadlineMs?: number | undefined;
}

export interface RuntimeLimits {
  /** Most bytes of a message. @default 4 MiB */
  readonly maxMessageBytes?: number | undefined;
  /** Most jobs of a queue that wait. @default 100000 */
  readonly maxJobs?: number | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const TRIM_EVERY = 10 * 60 * 1000;
/** Milliseconds for which answers to stateless sessions are kept, for repeated commands. */
const PASSING_KEPT = 60_000;

/**
 * Makes a runtime. It begins to work when it is started, or takes its first connection.
 *
 * @throws TypeError on options that are none
 * @example
 * const runtime = createRuntime({ store: await sqliteStore('arcp.db') });
 * runtime.tool('add', { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => a + b);
 * runtime.accept(channel);
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  return new Runtime(options);
}

export class Runtime {
  readonly #works = new Map<string, Work>();
  readonly #connections = new Set<Connection>();
  readonly #core: Core;
  #isDraining = false;
  #upkeep: readonly (() => void)[] | undefined;

  constructor(options: RuntimeOptions) {
    const settings = resolveSettings(options);
    const find = (kind: Work['kind'], name: string): Work | undefined => this.#works.get(`${kind} ${name}`);
    const { now, onError, heartbeatMs, maxMessageBytes } = settings;
    const { concurrency = 64, queues = ['default'], leaseMs = 15_000 } = options.workers ?? {};
    const { cancelGraceMs = 30_000, maxLosses = 10 } = options.workers ?? {};
    assertPositive({ concurrency, leaseMs });
    const working = {
      concurrency,
      queues,
      leaseMs,
      heartbeatMs,
      cancelGraceMs,
      maxLosses,
      maxMessageBytes,
      now,
      find,
      onError,
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

  /** Something that clients call by its name. */
  tool<I extends z.ZodType = z.ZodType<Record<string, unknown>>>(
    name: string,
    options: ToolOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'tool', name, options, handler: handler as Handler });
  }

  /** Work of several steps; a job, where client and session allow it. What it calls and delegates is told of. */
  workflow<I extends z.ZodType = z.ZodType<Record<string, unknown>>>(
    name: string,
    options: WorkOptions<I>,
    handler: Handler<I>,
  ): this {
    return this.#add({ kind: 'workflow', name, options, handler: handler as Handler });
  }

  /** Somebody to whom tasks are given. Its input is the `task`, beside the arguments. */
  agent<I extends z.ZodType = z.ZodType<AgentInput>>(name: string, options: WorkOptions<I>, handler: Handler<I>): this {
    return this.#add({ kind: 'agent', name, options, handler: handler as Handler });
  }

  /** Begins to work on jobs that wait. */
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

  /** Takes a connection. Resolves when it has ended. */
  accept(channel: Channel, peer: Peer = { kind: 'memory' }): Promise<void> {
    this.start();
    const connection = new Connection(this.#core, channel, peer);
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
    return connection.closed;
  }

  /**
   * Cancels a job, whoever has begun it: its work is asked to end, and ended after its deadline.
   *
   * @returns whether it had not ended
   * @throws ArcpError `NOT_FOUND`, `UNAVAILABLE`
   */
  async cancel(jobId: string, options: RuntimeCancel = {}): Promise<boolean> {
    const { cause = 'runtime', reason, deadlineMs } = options;
    const { durable } = this.#core;
    const { outcome } = await cancelJob(durable, jobId, { cause, reason, deadlineMs });
    return outcome === 'asked';
  }

  /** How much there is to do now. */
  counts(): { readonly connections: number; readonly jobs: number } {
    const { durable, transient } = this.#core;
    return { connections: this.#connections.size, jobs: durable.scheduler.size + transient.scheduler.size };
  }

  /**
   * Removes what is not to be kept any more, in portions that leave others their turn, and gives its space back. The runtime does this every ten
   * minutes.
   *
   * @throws StoreError when the store fails; what was removed before stays removed
   */
  async trim(): Promise<TrimReport> {
    const { settings, durable, transient } = this.#core;
    const passed = transient.clock() - PASSING_KEPT;
    await transient.store.trim({ endedBefore: passed, before: passed });
    await this.#noteSeen();
    const ofSessions = await this.#dropSessions();
    const before = durable.clock() - settings.retentionMs;
    const { jobs, events, records } = await durable.store.trim({ endedBefore: before, before });
    return { jobs, events: events + ofSessions.events, records: records + ofSessions.records };
  }

  /**
   * Begins nothing any more, and waits for what is being worked on; what has not ended in time is put back, and goes on after the next
   * start.
   *
   * @param deadlineMs milliseconds to wait. @default 10000
   */
  async drain(deadlineMs = 10_000): Promise<void> {
    this.#isDraining = true;
    const schedulers = [this.#core.durable.scheduler, this.#core.transient.scheduler];
    const cancel = after(deadlineMs, () => {
      for (const scheduler of schedulers) scheduler.requeueAll('drain');
    });
    await Promise.all(schedulers.map((scheduler) => scheduler.stop()));
    cancel();
  }

  /** Ends all connections, and the store. Work that has not ended goes on after the next start, once its lease has run out. */
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

  #add(work: Work): this {
    const { kind, name, options } = work;
    if (typeof name !== 'string' || name === '') throw new TypeError(`A ${kind} has a name`);
    resolveRetry(options.retry);
    const key = `${kind} ${name}`;
    if (this.#works.has(key)) throw new TypeError(`There is a ${kind} ${JSON.stringify(name)} already`);
    this.#works.set(key, work);
    for (const { announceWork } of this.#core.connections.values()) announceWork({ kind, name });
    return this;
  }

  async #abandoned(session: Session, engine: Engine, sent: Sent | undefined): Promise<void> {
    const { store, clock, log, scheduler, streams } = engine;
    // Without a reader, streams are not paced.
    streams.forget(session.id);
    if (session.mode === 'stateless') {
      for await (const { jobId } of jobsOf(store, { sessionId: session.id, states: LIVE_STATES }))
        scheduler.find(jobId)?.cancel({ cause: 'runtime', reason: 'The connection has ended' });
      await store.trim({ session: session.id });
      return;
    }
    await changeSession(log, session.id, { seenAt: clock() }, sent);
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
      await changeSession(durable.log, id, { seenAt: durable.clock() }, feed.sent);
    }
  }

  async #dropSessions(): Promise<{ readonly events: number; readonly records: number }> {
    const { settings, connections, durable } = this.#core;
    const { store, log, clock } = durable;
    const { retentionMs, resumeWindowMs } = settings;
    let [events, records] = [0, 0];
    const list = (page: Page) => store.listRecords(SESSIONS, page);
    for await (const page of pagesOf(list, ({ key }) => key)) {
      for (const record of page) {
        const session = sessionOf(record);
        const keptMs = session.closedAt === undefined ? Math.max(retentionMs, resumeWindowMs) : retentionMs;
        if (connections.has(record.key) || clock() - session.seenAt <= keptMs) continue;
        const [working] = await store.listJobs({ sessionId: record.key, states: LIVE_STATES, limit: 1 });
        if (working !== undefined) continue;
        // From now on nobody can resume it.
        const closed = sessionRecord(record.key, { ...session, closedAt: session.closedAt ?? clock() }, record.version);
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
  const { resumeWindowSeconds = 7 * 24 * 60 * 60, retentionDays = 7 } = options;
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxJobs = 100_000 } = limits;
  assertPositive({ heartbeatMs, maxMessageBytes, maxJobs });
  return {
    authenticate: auth,
    capabilities: { ...Object.fromEntries(CAPABILITIES.map((name) => [name, true])), ...capabilities },
    heartbeatMs,
    maxMessageBytes,
    maxJobs,
    now,
    version: '0.1.0',
    resumeWindowMs: resumeWindowSeconds * 1000,
    retentionMs: retentionDays * DAY_MS,
    onError: (error) => notifyListener(() => onError?.(error)),
  };
}

function assertPositive(options: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(options))
    if (!(value >= 1)) throw new TypeError(`${name} is a number from 1 on; got ${value}`);
}

type EngineOptions = Pick<SchedulerOptions, 'now' | 'find' | 'onError' | 'drained' | 'telemetry' | 'policy'> &
  Pick<SchedulerOptions, 'concurrency' | 'queues' | 'leaseMs' | 'heartbeatMs' | 'cancelGraceMs' | 'maxLosses'> & {
    readonly maxMessageBytes: number;
  };

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
  const engine: Engine = { store, clock, hub, log, scheduler, streams, uploads, answers };
  return engine;
}
