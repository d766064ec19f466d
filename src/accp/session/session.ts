/** One endpoint of a session (draft-benzing-accp-00, section 1.3: a bounded sequence of frames that make up one workflow). */

import { LONGEST_TIMER } from '../../async/timers.js';
import { resolveChoice } from '../../text/limits.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { type AccpError, accpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { Announcement } from '../registry/negotiation.js';
import {
  type CheckpointResult,
  createState,
  type MaybePromise,
  type SessionState,
  type StateBudgets,
} from '../state/state.js';
import { type Collection, Journal } from '../store/journal.js';
import { memoryStore } from '../store/memory.js';
import { type SessionStore, StoreError } from '../store/store.js';
import { SentStreams } from '../streams/sent-streams.js';
import { createStreams, type StreamChunk, type Streams } from '../streams/streams.js';
import { Chains, type PendingRequest } from './chains.js';
import { Delivery, type SequenceMode } from './delivery.js';
import { checkAgentName, isIdentifier } from './envelope.js';
import { Outbox } from './outbox.js';
import { Registries } from './registries.js';
import { createIds, createRuntime, type Runtime } from './runtime.js';
import { Sequences } from './sequences.js';

export interface SessionOptions {
  /** The sender of messages that name no agent, and of error frames. */
  readonly agent: string;
  /** The identifier shared by both ends: 1 to 256 visible ASCII characters. @default a new one */
  readonly id?: string | undefined;
  /**
   * `session`: one count for all parties, who speak in turn. `sender`: each party counts its own frames and may send at any time.
   * @default 'session'
   */
  readonly sequence?: SequenceMode | undefined;
  /** A session that the store knows is resumed. @default a new `memoryStore()` */
  readonly store?: SessionStore | undefined;
  /** Whether the other ends use the same store, so that values can be sent as references. @default false */
  readonly shared?: boolean | undefined;
  /** The number of the first frame. @default 1 */
  readonly firstSequence?: number | undefined;
  /** Milliseconds until an answer is overdue (E3001); `Infinity` for never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** Tokens of the tiers. @default those of section 5 */
  readonly budgets?: Partial<StateBudgets> | undefined;
  /** Other sessions of the store whose cold state may be read here. */
  readonly grants?: Iterable<string> | undefined;
  /** Most identifiers of messages remembered. @default 4096 */
  readonly maxSeen?: number | undefined;
  /** Most senders. @default 1024 */
  readonly maxSenders?: number | undefined;
  /** Most request chains remembered. @default 4096 */
  readonly maxChains?: number | undefined;
  /** Most sent frames kept for a resend after a gap. @default 1024 */
  readonly maxOutbox?: number | undefined;
  /** Most unread chunks of one stream. @default 1024 */
  readonly maxBuffered?: number | undefined;
  /** Milliseconds without a chunk until a stream fails; `Infinity` for never. @default 60000 */
  readonly streamTimeoutMs?: number | undefined;
  /** Returns the time in milliseconds since 1970; the codec's clock replaces it. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Counts tokens; replaced by the codec's counter. @default estimates */
  readonly counter?: TokenCounter | undefined;
}

/** An overdue answer or stream. */
export interface OverdueRequest {
  readonly correlationId: string;
  /** E3001. */
  readonly error: AccpError;
}

export interface Session {
  readonly id: string;
  readonly agent: string;
  /** Whether the store had data of it. */
  readonly resumed: boolean;
  /** Hot, warm and cold state (section 5). */
  readonly state: SessionState;
  /** The announcements of the other ends (section 6.4), by agent. */
  readonly peers: ReadonlyMap<string, Announcement>;
  /** Yields the chunks of a stream in order (section 10.4). One reader per stream. */
  readonly stream: (correlationId: string) => AsyncIterable<StreamChunk>;
  /** Streams that are not read to their end. */
  readonly pendingStreams: readonly string[];
  /**
   * Accepted requests without an answer, one for each chain, oldest first. In a resumed session, their handlers may have run already, in
   * part or completely.
   */
  readonly pendingRequests: readonly PendingRequest[];
  /** Aborted when a `cancel` frame names the chain (section 3.7, item 4). */
  readonly signal: (correlationId: string) => AbortSignal;
  /** Returns the answers that have become overdue, and fails stalled streams. */
  readonly tick: () => readonly OverdueRequest[];
  /** Stores what is in memory, and releases the endpoint. */
  readonly close: () => void;
}

/** The parts of a session, for the codec and the bindings. */
export interface SessionParts {
  readonly options: ResolvedSessionOptions;
  readonly runtime: Runtime;
  readonly delivery: Delivery;
  readonly outbox: Outbox;
  /** Incomplete messages in several frames. */
  readonly sequences: Sequences;
  readonly registries: Registries;
  readonly chains: Chains;
  readonly streams: Streams;
  readonly sentStreams: SentStreams;
  /** The state without a commit at each step: the operation commits at its end. Checkpoints that finish later commit themselves. */
  readonly state: SessionState;
  readonly facts: Collection<Json>;
  /** Runs one operation and stores its changes before it returns. */
  readonly commit: Commit;
}

type Commit = <T>(operation: () => T) => T;

interface ResolvedSessionOptions {
  readonly id: string;
  readonly agent: string;
  readonly sequence: SequenceMode;
  readonly shared: boolean;
  readonly timeoutMs: number;
}

const PARTS = new WeakMap<Session, SessionParts>();

/** @throws TypeError unless `createSession` made it */
export function partsOfSession(session: Session): SessionParts {
  const parts = PARTS.get(session);
  if (parts === undefined) throw new TypeError('A session is made by createSession');
  return parts;
}

/** Numeric options: the least value and the default. */
const NUMBERS = {
  timeoutMs: [1, 60_000],
  streamTimeoutMs: [1, 60_000],
  maxSeen: [1, 4096],
  maxSenders: [1, 1024],
  maxChains: [1, 4096],
  maxOutbox: [1, 1024],
  maxBuffered: [1, 1024],
} as const;

type Numbers = { -readonly [K in keyof typeof NUMBERS]: number };

function resolveNumbers(options: SessionOptions): Numbers {
  const numbers: Partial<Numbers> = {};
  for (const [name, [least, standard]] of Object.entries(NUMBERS) as [keyof Numbers, readonly [number, number]][]) {
    const value = options[name] ?? standard;
    if (!(value >= least)) throw new TypeError(`${name} must be at least ${least}; got ${value}`);
    numbers[name] = value;
  }
  return numbers as Numbers;
}

/**
 * Opens one endpoint of a session. If the store knows it, numbers, identifiers, state, registries and streams are resumed.
 *
 * Source: draft-benzing-accp-00, sections 3.5, 3.7 and 5.
 *
 * @throws TypeError if an option is invalid
 * @throws StoreError if the store fails
 * @example
 * const session = createSession({ agent: 'planner', id: 'sprint14', store: await sqliteStore('sessions.db') });
 */
export function createSession(options: SessionOptions): Session {
  const { agent, id = `s${createIds()()}`, store = memoryStore(), firstSequence = 1 } = options;
  checkAgentName(agent);
  if (!isIdentifier(id)) throw new TypeError('The id of a session is 1 to 256 visible ASCII characters without spaces');
  if (!Number.isSafeInteger(firstSequence) || firstSequence < 0) {
    throw new TypeError(`firstSequence is a whole number from 0 on; got ${firstSequence}`);
  }
  const sequence = resolveChoice('sequence', options.sequence, ['session', 'sender']);
  const { timeoutMs, streamTimeoutMs, maxSeen, maxSenders, maxChains, maxOutbox, maxBuffered } =
    resolveNumbers(options);
  const endpoint = store.claim(id, agent);
  const journal = new Journal(endpoint, store.durable);
  const runtime = createRuntime({ session: id, agent, now: options.now, counter: options.counter });
  const { note } = runtime;
  const meta = journal.collection<Json>('session');
  const kept = meta.get('sequence');
  if (kept !== undefined && kept !== sequence) {
    endpoint.release();
    throw new TypeError(`The session ${id} counts by ${String(kept)}, not by ${sequence}`);
  }
  if (kept === undefined) meta.set('sequence', sequence);
  const delivery = new Delivery({ journal, mode: sequence, first: firstSequence, maxSeen, maxSenders });
  const outbox = new Outbox(journal, maxOutbox);
  const chains = new Chains({ journal, maxChains, timeoutMs });
  const sequences = new Sequences(journal);
  const streams = createStreams({
    journal,
    now: runtime.monotonic,
    maxBuffered,
    timeoutMs: streamTimeoutMs,
    save: () => commit(() => undefined),
    note,
  });
  const facts = journal.collection<Json>('facts');
  const registries = new Registries(journal, facts, sequence);
  const state = createState({
    session: id,
    journal,
    counter: runtime.counter,
    now: runtime.monotonic,
    wallClock: runtime.now,
    budgets: options.budgets,
    grants: options.grants,
    note,
  });

  let end: StoreError | null = null;
  const commit = <T>(operation: () => T): T => {
    if (end !== null) throw end;
    let result: T;
    try {
      result = operation();
    } catch (thrown) {
      // The operation may be half done in memory.
      if (thrown instanceof StoreError) end ??= thrown;
      throw thrown;
    }
    try {
      journal.commit();
    } catch (thrown) {
      // Memory is ahead of the store: continuing would reuse numbers after a restart.
      const error =
        thrown instanceof StoreError ? thrown : new StoreError('failed', 'The store failed', { cause: thrown });
      end = error;
      throw error;
    }
    return result;
  };

  const session: Session = {
    id,
    agent,
    resumed: kept !== undefined,
    state: saved(state, commit),
    get peers() {
      return new Map([...registries.peers.entries()].map(([name, { announcement }]) => [name, announcement]));
    },
    stream: (cid) => streams.open(cid),
    get pendingStreams() {
      return streams.pending;
    },
    get pendingRequests() {
      return chains.pending(state.withValues);
    },
    signal: (cid) => chains.signal(cid),
    tick: () =>
      commit(() => {
        const now = runtime.monotonic();
        streams.tick(now);
        state.finishOverdue(now);
        const forgotten = sequences.forget(now - timeoutMs, now);
        if (forgotten > 0) note('timeout', `${forgotten} messages were not finished.`);
        return chains.overdue(now).map((correlationId) => {
          const error = accpError('E3001', undefined, `No answer to ${correlationId} has come within ${timeoutMs} ms.`);
          note('timeout', error.message, { details: { correlationId } });
          return { correlationId, error };
        });
      }),
    close: () => {
      if (end !== null) return;
      streams.close();
      journal.close();
      end = new StoreError('closed', `The session ${id} is closed`);
    },
  };
  PARTS.set(session, {
    options: { id, agent, sequence, shared: options.shared ?? false, timeoutMs },
    runtime,
    delivery,
    outbox,
    sequences,
    registries,
    chains,
    streams,
    sentStreams: new SentStreams(journal),
    state: withLateCheckpoints(state, (step) => step(), commit),
    facts,
    commit,
  });
  return session;
}

/** Each change by the host is stored before the call returns. */
function saved(state: SessionState, commit: Commit): SessionState {
  const own: Partial<SessionState> = {
    set: (tier, key, value, options) => commit(() => state.set(tier, key, value, options)),
    delete: (tier, key) => commit(() => state.delete(tier, key)),
    grant: (session) => commit(() => state.grant(session)),
    externalize: (value) => commit(() => state.externalize(value)),
    applyDelta: (version, delta) => commit(() => state.applyDelta(version, delta)),
    applyFull: (version, values) => commit(() => state.applyFull(version, values)),
    finishOverdue: (now) => commit(() => state.finishOverdue(now)),
  };
  return Object.assign(withLateCheckpoints(state, commit, commit), own);
}

/** Stores checkpoints when they finish. `now` runs the synchronous part. */
function withLateCheckpoints(state: SessionState, now: Commit, commit: Commit): SessionState {
  const own: Partial<SessionState> = {
    checkpoint: (trigger, tools) => {
      const result = now(() => state.checkpoint(trigger, tools));
      return kept(result, commit);
    },
    resumeCheckpoints: (tools) => now(() => state.resumeCheckpoints(tools)).map((one) => kept(one, commit)),
  };
  return Object.assign(Object.create(state) as SessionState, own);
}

function kept(result: MaybePromise<CheckpointResult>, commit: Commit): MaybePromise<CheckpointResult> {
  if (!(result instanceof Promise)) return result;
  const stored = result.then((finished) => commit(() => finished));
  // Prevents an unhandled rejection if the caller does not await it.
  stored.catch(() => undefined);
  return stored;
}

export interface TimerOptions {
  /** Milliseconds between two calls of `tick`. @default 1000, or the session's `timeoutMs` if that is shorter */
  readonly intervalMs?: number | undefined;
  /** Called once for each overdue answer. */
  readonly onOverdue?: ((overdue: OverdueRequest) => void) | undefined;
  /** Called when the store fails. @default the error is thrown from the timer */
  readonly onError?: ((thrown: unknown) => void) | undefined;
}

/**
 * Calls `session.tick()` periodically, to report overdue answers (E3001) and stalled streams. Does not keep a Node process alive.
 *
 * @returns a function that stops it
 * @throws TypeError if a time is invalid
 * @example
 * const stop = startTimers(session, { onOverdue: ({ correlationId }) => retry(correlationId) });
 */
export function startTimers(session: Session, options: TimerOptions = {}): () => void {
  const { timeoutMs } = partsOfSession(session).options;
  const { intervalMs = Math.min(1000, timeoutMs), onOverdue, onError } = options;
  if (!(intervalMs > 0 && intervalMs <= LONGEST_TIMER)) {
    throw new TypeError(`intervalMs must be a number of milliseconds from 1 to ${LONGEST_TIMER}; got ${intervalMs}`);
  }
  const handle: unknown = setInterval(() => {
    try {
      for (const late of session.tick()) onOverdue?.(late);
    } catch (thrown) {
      stop();
      if (onError === undefined) throw thrown;
      onError(thrown);
    }
  }, intervalMs);
  (handle as { readonly unref?: () => void }).unref?.();
  const stop = (): void => clearInterval(handle as never);
  return stop;
}
