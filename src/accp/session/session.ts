/** One endpoint of a session (draft-benzing-accp-00, section 1.3: a bounded sequence of frames that make up one workflow). */

import { assertDurations } from '../../async/durations.js';
import { everyUnref } from '../../async/timers.js';
import { resolveChoice } from '../../text/limits.js';
import { anyText } from '../../text/visible.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { type AccpError, accpError } from '../errors.js';
import type { Json } from '../message/json.js';
import type { Announcement } from '../registry/negotiation.js';
import {
  type CheckpointResult,
  createState,
  type MaybePromise,
  replaceOperations,
  type SessionState,
  type StateBudgets,
} from '../state/state.js';
import { type Collection, Journal } from '../store/journal.js';
import { memoryStore } from '../store/memory.js';
import { type SessionStore, StoreError } from '../store/store.js';
import { SentStreams } from '../streams/sent-streams.js';
import { createStreams, type StreamChunk, type Streams } from '../streams/streams.js';
import { Chains, type PendingRequest } from './chains.js';
import { Compaction } from './compaction.js';
import { Delivery, type SequenceMode } from './delivery.js';
import { checkAgentName, isIdentifier } from './envelope.js';
import { Outbox } from './outbox.js';
import { Registries } from './registries.js';
import { createIds, Runtime } from './runtime.js';
import { Sequences } from './sequences.js';

/** Options of {@link createSession}. */
export interface SessionOptions {
  /** The name of this endpoint: the sender of messages that name no agent, and of error frames. */
  readonly agent: string;
  /** The identifier of the session, which both ends share: 1 to 256 visible ASCII characters. @default a new identifier */
  readonly id?: string | undefined;
  /**
   * The numbering of frames. `session`: one count for all parties, which send in turn. `sender`: each party counts its own frames and may
   * send at any time.
   * @default 'session'
   */
  readonly sequence?: SequenceMode | undefined;
  /** The store. A session that it has data of is resumed. @default a new `memoryStore()` */
  readonly store?: SessionStore | undefined;
  /** If true, the other ends use the same store, so that values can be sent as references. @default false */
  readonly shared?: boolean | undefined;
  /** The number of the first frame. @default 1 */
  readonly firstSequence?: number | undefined;
  /** Milliseconds after which an unanswered request is overdue (E3001); `Infinity` for never. @default 60000 */
  readonly timeoutMs?: number | undefined;
  /** The token budgets of the tiers. @default those of section 5 */
  readonly budgets?: Partial<StateBudgets> | undefined;
  /** The identifiers of other sessions of the store whose cold state this endpoint may read. @default none */
  readonly grants?: Iterable<string> | undefined;
  /** The maximum number of message identifiers that are stored to detect duplicates. @default 4096 */
  readonly maxSeen?: number | undefined;
  /** The maximum number of senders. @default 1024 */
  readonly maxSenders?: number | undefined;
  /** The maximum number of request chains that are stored. @default 4096 */
  readonly maxChains?: number | undefined;
  /** The maximum number of sent frames that are stored for a resend after a gap. @default 1024 */
  readonly maxOutbox?: number | undefined;
  /** The maximum number of unread chunks of one stream. @default 1024 */
  readonly maxBuffered?: number | undefined;
  /** Milliseconds without a chunk after which a stream fails; `Infinity` for never. @default 60000 */
  readonly streamTimeoutMs?: number | undefined;
  /** Returns the time in milliseconds since 1970; the clock of the codec replaces it. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** The counter of tokens; the counter of the codec replaces it. @default an estimate */
  readonly counter?: TokenCounter | undefined;
}

/** A sent request whose answer is overdue. */
export interface OverdueRequest {
  /** The correlation identifier of the request. */
  readonly correlationId: string;
  /** The error, with the code E3001. */
  readonly error: AccpError;
}

/** One endpoint of a session (draft-benzing-accp-00, sections 1.3, 3.5 and 5). */
export interface Session {
  /** The identifier of the session, which both ends share. */
  readonly id: string;
  /** The name of this endpoint. */
  readonly agent: string;
  /** `true` if the store had data of this endpoint. */
  readonly resumed: boolean;
  /** Hot, warm and cold state (section 5). */
  readonly state: SessionState;
  /** The announcements of the other ends (section 6.4), by agent. */
  readonly peers: ReadonlyMap<string, Announcement>;
  /**
   * Returns the chunks of a stream in order (section 10.4). A stream has one reader.
   *
   * The iteration throws AccpError E3003 if chunks are missing, E3001 after `streamTimeoutMs`, E2003 if the buffer was full, and E5001 if the
   * chain was cancelled.
   *
   * @throws TypeError if the stream has a reader
   */
  readonly stream: (correlationId: string) => AsyncIterable<StreamChunk>;
  /** The correlation identifiers of the streams that are not read to their end. */
  readonly pendingStreams: readonly string[];
  /**
   * The accepted requests that are not answered, one for each chain, oldest first. In a resumed session, their handlers may have run
   * already, in part or completely.
   */
  readonly pendingRequests: readonly PendingRequest[];
  /** Returns a signal that a `cancel` frame of the chain aborts (section 3.7, item 4). */
  readonly signal: (correlationId: string) => AbortSignal;
  /**
   * Returns the requests that have become overdue since the last call, and fails stalled streams. {@link startTimers} calls it.
   *
   * @throws StoreError if the store fails
   */
  readonly tick: () => readonly OverdueRequest[];
  /**
   * Stores all data, and releases the endpoint. Later operations throw StoreError `closed`.
   *
   * @throws StoreError if the store fails
   */
  readonly close: () => void;
}

/**
 * The parts of a session, for the codec and the bindings. None of them is an object literal with an accessor: V8 makes a hash table of each
 * of these after the first, and then optimizes no call of its functions.
 */
export interface SessionParts {
  readonly options: ResolvedSessionOptions;
  readonly runtime: Runtime;
  readonly delivery: Delivery;
  readonly outbox: Outbox;
  /** The incomplete messages in several frames. */
  readonly sequences: Sequences;
  readonly registries: Registries;
  readonly compaction: Compaction;
  readonly chains: Chains;
  readonly streams: Streams;
  readonly sentStreams: SentStreams;
  /** The state without a commit after each step: the operation commits at its end. Asynchronous checkpoints commit themselves. */
  readonly state: SessionState;
  readonly facts: Collection<Json>;
  /** Runs one operation and stores its changes before it returns. */
  readonly commit: Commit;
  /** `true` within an operation. */
  readonly isBusy: () => boolean;
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

/** Returns the parts of a session. Throws TypeError unless `createSession` created it. */
export function partsOfSession(session: Session): SessionParts {
  const parts = PARTS.get(session);
  if (parts === undefined) throw new TypeError('The session was not created by createSession');
  return parts;
}

/** The numeric options, each with its minimum and its default. */
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
  for (const [name, [min, fallback]] of Object.entries(NUMBERS) as [keyof Numbers, readonly [number, number]][]) {
    const { [name]: value = fallback } = options;
    if (!(typeof value === 'number' && value >= min))
      throw new TypeError(`${name} must be a number of at least ${min}; got ${anyText(value)}`);
    numbers[name] = value;
  }
  return numbers as Numbers;
}

/**
 * Opens one endpoint of a session. If the store has data of it, numbers, identifiers, state, registries and streams are resumed.
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
  if (!isIdentifier(id)) throw new TypeError('id must be 1 to 256 visible ASCII characters without spaces');
  if (!Number.isSafeInteger(firstSequence) || firstSequence < 0) {
    throw new TypeError(`firstSequence must be a non-negative integer; got ${firstSequence}`);
  }
  const sequence = resolveChoice('sequence', options.sequence, ['session', 'sender']);
  const { timeoutMs, streamTimeoutMs, maxSeen, maxSenders, maxChains, maxOutbox, maxBuffered } =
    resolveNumbers(options);
  const endpoint = store.claim(id, agent);
  const journal = new Journal(endpoint, store.durable);
  const runtime = new Runtime({ session: id, agent, now: options.now, counter: options.counter });
  const { emit } = runtime;
  const meta = journal.collection<Json>('session');
  const storedMode = meta.get('sequence');
  if (storedMode !== undefined && storedMode !== sequence) {
    endpoint.release();
    throw new TypeError(`The stored session ${id} has the sequence "${String(storedMode)}"; got "${sequence}"`);
  }
  if (storedMode === undefined) meta.set('sequence', sequence);
  const delivery = new Delivery({ journal, mode: sequence, first: firstSequence, maxSeen, maxSenders });
  const outbox = new Outbox(journal, maxOutbox, sequence === 'session');
  const chains = new Chains({ journal, maxChains, timeoutMs });
  const sequences = new Sequences(journal);
  const streams = createStreams({
    journal,
    now: runtime.monotonic,
    maxBuffered,
    timeoutMs: streamTimeoutMs,
    save: () => commit(() => undefined),
    emit,
  });
  const facts = journal.collection<Json>('facts');
  const registries = new Registries(journal, facts, sequence);
  const compaction = new Compaction({ journal, mode: sequence, counter: runtime.counter, peers: registries.peers });
  const state = createState({
    session: id,
    journal,
    counter: runtime.counter,
    now: runtime.monotonic,
    wallClock: runtime.now,
    budgets: options.budgets,
    grants: options.grants,
    emit,
  });

  let failure: StoreError | null = null;
  let depth = 0;
  const commit = <T>(operation: () => T): T => {
    if (failure !== null) throw failure;
    let result: T;
    depth++;
    try {
      result = operation();
    } catch (thrown) {
      // The operation may be incomplete in memory.
      if (thrown instanceof StoreError) failure ??= thrown;
      throw thrown;
    } finally {
      depth--;
    }
    try {
      journal.commit();
    } catch (thrown) {
      // Memory is ahead of the store: continuing would reuse numbers after a restart.
      const error =
        thrown instanceof StoreError ? thrown : new StoreError('failed', 'The store failed', { cause: thrown });
      failure = error;
      throw error;
    }
    return result;
  };

  const session: Session = {
    id,
    agent,
    resumed: storedMode !== undefined,
    state: committing(state, commit),
    get peers() {
      return new Map([...registries.peers.entries()].map(([name, { announcement }]) => [name, announcement]));
    },
    stream: (cid) => streams.open(cid),
    get pendingStreams() {
      return streams.pending();
    },
    get pendingRequests() {
      return chains.pending(state.resolveReferences);
    },
    signal: (cid) => chains.signal(cid),
    tick: () =>
      commit(() => {
        const now = runtime.monotonic();
        streams.tick(now);
        state.finishOverdue(now);
        const dropped = sequences.dropStale(now - timeoutMs, now);
        if (dropped > 0) emit('timeout', `${dropped} incomplete messages were dropped.`);
        return chains.overdue(now).map((correlationId) => {
          const error = accpError(
            'E3001',
            undefined,
            `No answer to ${correlationId} was received within ${timeoutMs} ms.`,
          );
          emit('timeout', error.message, { details: { correlationId } });
          return { correlationId, error };
        });
      }),
    close: () => {
      if (failure !== null) return;
      streams.close();
      journal.close();
      failure = new StoreError('closed', `The session ${id} is closed`);
    },
  };
  PARTS.set(session, {
    options: { id, agent, sequence, shared: options.shared ?? false, timeoutMs },
    runtime,
    delivery,
    outbox,
    sequences,
    registries,
    compaction,
    chains,
    streams,
    sentStreams: new SentStreams(journal),
    state: withAsyncCheckpoints(state, (step) => step(), commit),
    facts,
    commit,
    isBusy: () => depth > 0,
  });
  return session;
}

/** Returns a state that stores each change by the host before the call returns. */
function committing(state: SessionState, commit: Commit): SessionState {
  const own: Partial<SessionState> = {
    set: (tier, key, value, options) => commit(() => state.set(tier, key, value, options)),
    delete: (tier, key) => commit(() => state.delete(tier, key)),
    grant: (session) => commit(() => state.grant(session)),
    externalize: (value) => commit(() => state.externalize(value)),
    applyDelta: (version, delta) => commit(() => state.applyDelta(version, delta)),
    applyFull: (version, values) => commit(() => state.applyFull(version, values)),
    finishOverdue: (now) => commit(() => state.finishOverdue(now)),
  };
  return replaceOperations(withAsyncCheckpoints(state, commit, commit), own);
}

/** Returns a state that stores asynchronous checkpoints when they finish. `now` runs the synchronous part. */
function withAsyncCheckpoints(state: SessionState, now: Commit, commit: Commit): SessionState {
  const own: Partial<SessionState> = {
    checkpoint: (trigger, tools) => {
      const result = now(() => state.checkpoint(trigger, tools));
      return committed(result, commit);
    },
    resumeCheckpoints: (tools) => now(() => state.resumeCheckpoints(tools)).map((one) => committed(one, commit)),
  };
  return replaceOperations(state, own);
}

function committed(result: MaybePromise<CheckpointResult>, commit: Commit): MaybePromise<CheckpointResult> {
  if (!(result instanceof Promise)) return result;
  const stored = result.then((finished) => commit(() => finished));
  // Prevents an unhandled rejection if the caller does not await the result.
  stored.catch(() => undefined);
  return stored;
}

/** Options of {@link startTimers}. */
export interface TimerOptions {
  /** Milliseconds between two calls of `tick`. @default 1000, or the session's `timeoutMs` if that is shorter */
  readonly intervalMs?: number | undefined;
  /** A function that is called once for each overdue request. */
  readonly onOverdue?: ((overdue: OverdueRequest) => void) | undefined;
  /** A function that is called if the store fails; the timers stop. @default the error is thrown from the timer */
  readonly onError?: ((thrown: unknown) => void) | undefined;
}

/**
 * Calls `session.tick()` periodically, which reports overdue requests (E3001) and fails stalled streams. The timer does not keep a Node
 * process alive.
 *
 * @returns a function that stops the timer
 * @throws TypeError if `intervalMs` is invalid
 * @example
 * const stop = startTimers(session, { onOverdue: ({ correlationId }) => retry(correlationId) });
 */
export function startTimers(session: Session, options: TimerOptions = {}): () => void {
  const { timeoutMs } = partsOfSession(session).options;
  const { intervalMs = Math.min(1000, timeoutMs), onOverdue, onError } = options;
  assertDurations({ intervalMs });
  const stop = everyUnref(intervalMs, () => {
    try {
      for (const overdue of session.tick()) onOverdue?.(overdue);
    } catch (thrown) {
      stop();
      if (onError === undefined) throw thrown;
      onError(thrown);
    }
  });
  return stop;
}
