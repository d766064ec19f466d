/** The options of a runtime, and their defaults. */
import { assertDurations } from '../../async/durations.js';
import { notifyListener } from '../../async/listeners.js';
import { MAX_MESSAGE_BYTES } from '../protocol/codec.js';
import type { ArcpStore } from '../store/store.js';
import type { Settings } from './core.js';
import type { Policy } from './permissions/policy.js';
import { type Authenticate, anonymous } from './sessions/auth.js';
import { CAPABILITIES, type Capabilities } from './sessions/session.js';
import type { Telemetry } from './types.js';

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

/** The options of workers, with their defaults. */
export type WorkerSettings = { readonly [K in keyof WorkerOptions]-?: NonNullable<WorkerOptions[K]> };

/** Returns the settings of a runtime, with their defaults. @throws TypeError if an option is invalid */
export function resolveSettings(options: RuntimeOptions): Omit<Settings, 'sha256Hex'> & WorkerSettings {
  const { auth = anonymous(), capabilities = {}, heartbeatMs = 15_000, limits = {}, now = Date.now, onError } = options;
  const { resumeWindowMs = 7 * DAY_MS, retentionMs = 7 * DAY_MS, workers = {} } = options;
  const { maxMessageBytes = MAX_MESSAGE_BYTES, maxJobs = 100_000 } = limits;
  const { concurrency = 64, queues = ['default'], leaseMs = 15_000 } = workers;
  const { cancelGraceMs = 30_000, maxLostAttempts = 10 } = workers;
  assertPositive({ maxMessageBytes, maxJobs, concurrency });
  assertDurations({ heartbeatMs, resumeWindowMs, retentionMs });
  assertDurations({ cancelGraceMs }, 0);
  if (!(Number.isFinite(leaseMs) && leaseMs > 0))
    throw new TypeError(`leaseMs must be a positive, finite number of milliseconds; got ${leaseMs}`);
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
    concurrency,
    queues,
    leaseMs,
    cancelGraceMs,
    maxLostAttempts,
  };
}

function assertPositive(options: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(options))
    if (!(value >= 1)) throw new TypeError(`${name} must be at least 1; got ${value}`);
}
