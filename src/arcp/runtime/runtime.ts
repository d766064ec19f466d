/** A runtime: its registered tools, workflows and agents, and the connections of its clients. */
import type * as z from 'zod';
import { assertDurations } from '../../async/durations.js';
import { after } from '../../async/timers.js';
import type { Channel } from '../../channels/channel.js';
import { sha256Hex } from '../../text/sha256.js';
import { storableMs } from '../protocol/durations.js';
import { newId } from '../protocol/ids.js';
import { memoryStore } from '../store/memory.js';
import { type ArcpStore, LIVE_STATES, type TrimReport } from '../store/store.js';
import { Connection } from './connections/connection.js';
import type { ConnectionContext, Core, Settings } from './core.js';
import type { Engine } from './engine/engine.js';
import { cancelChildren, cancelJob, jobsOf, outcomeOf, startJob, untilEnded } from './engine/jobs.js';
import { Scheduler, type SchedulerOptions } from './engine/scheduler.js';
import { EventBus, EventLog } from './events/log.js';
import { resolveRetry } from './job/spec.js';
import { Mailbox } from './mail/mailbox.js';
import { meterOf, OBSERVED_METRICS } from './metrics.js';
import { type RuntimeCancelOptions, type RuntimeOptions, resolveSettings, type WorkerSettings } from './options.js';
import { Peers } from './peers.js';
import { AnswerWaiters } from './permissions/leases.js';
import { definePolicy } from './permissions/policy.js';
import { Presence } from './presence.js';
import { removeExpired, startRetention } from './retention.js';
import type { Peer } from './sessions/auth.js';
import { changeSession, type Sent, type Session } from './sessions/session.js';
import { type RemoteLimit, StreamRegistry } from './streams.js';
import { safeTelemetry } from './telemetry.js';
import type { AgentInput, Handler, HandlerOptions, Registration, ToolOptions } from './types.js';
import { endLostUploads } from './uploads/rows.js';
import { Uploads } from './uploads/uploads.js';

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

  constructor(options: RuntimeOptions, platform: { readonly sha256Hex: (text: string) => string } = { sha256Hex }) {
    const settings = { ...resolveSettings(options), ...platform };
    const find = (kind: Registration['kind'], name: string): Registration | undefined =>
      this.#registrations.get(`${kind} ${name}`);
    const { now, concurrency, queues, leaseMs, heartbeatMs, onError } = settings;
    const common = {
      ...settings,
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
        remoteLimit: () => undefined,
      }),
      peers,
      isDraining: () => this.#isDraining,
      onDisconnected: (session, of, sent) => this.#onDisconnected(session, of, sent),
    };
  }

  /** Registers a tool. @throws TypeError if the name is empty or already registered, an option is invalid, or the handler is missing */
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
    if (this.#maintenance !== undefined) return;
    this.#presence.start();
    this.#peers.start();
    this.#maintenance = [this.#observe(), ...startRetention(this.#core)];
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
  trim(): Promise<TrimReport> {
    return removeExpired(this.#core);
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
    const { kind, name, options, handler } = work;
    if (typeof name !== 'string' || name === '')
      throw new TypeError(`The name of a ${kind} must be a non-empty string`);
    if (typeof options !== 'object' || options === null || typeof handler !== 'function')
      throw new TypeError(
        `Register the ${kind} ${JSON.stringify(name)} as ${kind}(name, options, handler); options may be {}`,
      );
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
}

type EngineOptions = Settings &
  WorkerSettings &
  Pick<SchedulerOptions, 'find' | 'drained' | 'telemetry' | 'policy'> & {
    readonly remoteLimit: RemoteLimit;
  };

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
    readReports: () => mailbox.read(),
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
