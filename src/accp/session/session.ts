/** One endpoint of a session (draft-benzing-accp-00, section 1.3: a bounded sequence of frames that make up one workflow). */

import { resolveChoice } from '../../text/limits.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { AccpError } from '../errors.js';
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
  /** Who sends from here: the agent of messages that name none, and of error frames. */
  readonly agent: string;
  /** The identifier that both ends agree on; 1 to 256 visible ASCII characters. @default a new one */
  readonly id?: string | undefined;
  /**
   * `session`: one count for all parties, who speak in turn. `sender`: each counts its own frames, for parties who may speak at
   * any time. @default 'session'
   */
  readonly sequence?: SequenceMode | undefined;
  /** Where the data lies. A session that the store knows goes on where it ended. @default a new `memoryStore()` */
  readonly store?: SessionStore | undefined;
  /** Whether the other ends use the same store, so that a value can be sent as a reference. @default false */
  readonly shared?: boolean | undefined;
  /** The number of the first frame. @default 1 */
  readonly firstSequence?: number | undefined;
  /** Seconds until an answer is overdue (E3001); 0 for never. @default 60 */
  readonly timeout?: number | undefined;
  /** Tokens of the tiers. @default those of section 5 */
  readonly budgets?: Partial<StateBudgets> | undefined;
  /** Other sessions of the store whose cold state may be read here. */
  readonly grants?: Iterable<string> | undefined;
  /** Identifiers of messages that are remembered. @default 4096 */
  readonly maxSeen?: number | undefined;
  /** Senders that are told apart. @default 1024 */
  readonly maxSenders?: number | undefined;
  /** Request chains that are remembered. @default 4096 */
  readonly maxChains?: number | undefined;
  /** Sent frames that are kept, to be sent again after a gap. @default 1024 */
  readonly maxOutbox?: number | undefined;
  /** Chunks of one stream that wait for their reader. @default 1024 */
  readonly maxBuffered?: number | undefined;
  /** Seconds without a chunk until a stream has failed; 0 for never. @default 60 */
  readonly streamTimeout?: number | undefined;
  /** Seconds since 1970, before a codec works on the session; from then on it is the codec's. @default the system's clock */
  readonly clock?: (() => number) | undefined;
  /** Counts tokens before a codec works on the session; from then on it is the codec's. @default estimates */
  readonly tokens?: TokenCounter | undefined;
}

/** An answer or a stream that did not come in time. */
export interface Overdue {
  readonly correlationId: string;
  /** E3001. */
  readonly error: AccpError;
}

export interface Session {
  readonly id: string;
  readonly agent: string;
  /** Whether it goes on with what a store has kept. */
  readonly resumed: boolean;
  /** Hot, warm and cold state (section 5). */
  readonly state: SessionState;
  /** What the other ends have announced (section 6.4), by agent. */
  readonly peers: ReadonlyMap<string, Announcement>;
  /** The chunks of a stream in their order, as they come (section 10.4). One reader a stream. */
  readonly stream: (correlationId: string) => AsyncIterable<StreamChunk>;
  /** Streams that are under way or not read to their end. */
  readonly pendingStreams: readonly string[];
  /**
   * Requests of the other side that were accepted and are not answered, one for each chain, the oldest first. In a session that a store has
   * kept, they are those that its last process has not answered: their handlers may have run, in part or to their end.
   */
  readonly pendingRequests: readonly PendingRequest[];
  /** Aborted when a `cancel` frame names the chain (section 3.7, item 4). */
  readonly signal: (correlationId: string) => AbortSignal;
  /** Looks at the clock: gives the answers that are overdue, each once, and ends streams that have stalled. */
  readonly tick: () => readonly Overdue[];
  /** Keeps what is in memory, and gives the endpoint back. */
  readonly close: () => void;
}

/** What a session consists of, for the codec and the bindings that work on it. */
export interface SessionParts {
  readonly options: ResolvedSessionOptions;
  /** Clock, token counter and log. */
  readonly runtime: Runtime;
  /** Numbers and identifiers of frames, both ways. */
  readonly delivery: Delivery;
  /** Frames that may have to be sent again. */
  readonly outbox: Outbox;
  /** Messages that come in several frames. */
  readonly sequences: Sequences;
  readonly registries: Registries;
  /** Requests and their answers. */
  readonly chains: Chains;
  readonly streams: Streams;
  readonly sentStreams: SentStreams;
  /** The state without a commit at each step: an operation has one at its end. Only checkpoints that end later have their own. */
  readonly state: SessionState;
  /** Single values that a session keeps. */
  readonly facts: Collection<Json>;
  /** Runs one operation and keeps what it has changed. What it returns is given only when that is safe. */
  readonly commit: Commit;
}

type Commit = <T>(operation: () => T) => T;

interface ResolvedSessionOptions {
  readonly id: string;
  readonly agent: string;
  readonly sequence: SequenceMode;
  readonly shared: boolean;
  /** Seconds until an answer is overdue; 0 for never. */
  readonly timeout: number;
}

const PARTS = new WeakMap<Session, SessionParts>();

/** @throws TypeError on what `createSession` has not made */
export function partsOfSession(session: Session): SessionParts {
  const parts = PARTS.get(session);
  if (parts === undefined) throw new TypeError('A session is made by createSession');
  return parts;
}

/** Options that are numbers, and the least that they may be. */
const LEAST = {
  timeout: 0,
  streamTimeout: 0,
  maxSeen: 1,
  maxSenders: 1,
  maxChains: 1,
  maxOutbox: 1,
  maxBuffered: 1,
} as const;

function checkNumbers(options: SessionOptions): void {
  for (const [name, least] of Object.entries(LEAST)) {
    const value = options[name as keyof typeof LEAST];
    if (value === undefined || value >= least) continue;
    throw new TypeError(`${name} is a number from ${least} on; got ${value}`);
  }
}

/**
 * Opens one endpoint of a session. On a store that knows it, it goes on where it ended, in whatever process that was: numbers,
 * seen identifiers, state, registries, streams.
 *
 * Source: draft-benzing-accp-00, sections 3.5, 3.7 and 5.
 *
 * @throws TypeError on options that are none
 * @throws StoreError when the store fails
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
  checkNumbers(options);
  const endpoint = store.claim(id, agent);
  const journal = new Journal(endpoint, store.durable);
  const runtime = createRuntime({ session: id, agent, clock: options.clock, tokens: options.tokens });
  const { note } = runtime;
  const meta = journal.collection<Json>('session');
  const kept = meta.get('sequence');
  if (kept !== undefined && kept !== sequence) {
    endpoint.release();
    throw new TypeError(`The session ${id} counts by ${String(kept)}, not by ${sequence}`);
  }
  if (kept === undefined) meta.set('sequence', sequence);
  const delivery = new Delivery({
    journal,
    mode: sequence,
    first: firstSequence,
    maxSeen: options.maxSeen ?? 4096,
    maxSenders: options.maxSenders ?? 1024,
  });
  const outbox = new Outbox(journal, options.maxOutbox ?? 1024);
  const chains = new Chains({ journal, maxChains: options.maxChains ?? 4096, timeout: options.timeout ?? 60 });
  if (kept !== undefined) chains.restore();
  const sequences = new Sequences(journal);
  const streams = createStreams({
    journal,
    now: runtime.steady,
    maxBuffered: options.maxBuffered,
    timeout: options.streamTimeout,
    save: () => commit(() => undefined),
    note,
  });
  const facts = journal.collection<Json>('facts');
  const registries = new Registries(journal, facts, sequence);
  const state = createState({
    session: id,
    journal,
    counter: runtime.counter,
    now: runtime.steady,
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
      // An operation that the store has cut off is half done in memory.
      if (thrown instanceof StoreError) end ??= thrown;
      throw thrown;
    }
    try {
      journal.commit();
    } catch (thrown) {
      // Memory is ahead of the store now: going on would number frames twice after a restart.
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
        const now = runtime.steady();
        streams.tick(now);
        state.finishOverdue(now);
        const timeout = options.timeout ?? 60;
        const forgotten = timeout === 0 ? 0 : sequences.forget(now - timeout, now);
        if (forgotten > 0) note('timeout', `${forgotten} messages were not finished.`);
        return chains.overdue(runtime.monotonic()).map((correlationId) => {
          const error = new AccpError({
            code: 'E3001',
            message: `No answer to ${correlationId} has come within ${timeout} s.`,
          });
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
    options: { id, agent, sequence, shared: options.shared ?? false, timeout: options.timeout ?? 60 },
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

/** The state as hosts see it: what they set is kept before the call returns, like what frames bring. */
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

/**
 * The state with checkpoints that are stored when they are finished.
 *
 * @param now runs what is done at once
 */
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

/** A checkpoint that is finished later has to be stored then. */
function kept(result: MaybePromise<CheckpointResult>, commit: Commit): MaybePromise<CheckpointResult> {
  if (!(result instanceof Promise)) return result;
  const stored = result.then((finished) => commit(() => finished));
  // Whoever does not wait for it must not be brought down by it.
  stored.catch(() => undefined);
  return stored;
}

export interface KeepTimeOptions {
  /** Seconds between two looks at the clock. @default 1, or the session's `timeout` where that is shorter */
  readonly every?: number | undefined;
  /** Told each answer that is overdue, once. */
  readonly overdue?: ((overdue: Overdue) => void) | undefined;
  /** Told what a look at the clock threw: the session's store failed. @default it is thrown, out of the timer */
  readonly failed?: ((thrown: unknown) => void) | undefined;
}

/**
 * Calls `session.tick()` again and again, so that overdue answers (E3001) and stalled streams show by themselves. In Node, it
 * does not keep the process alive.
 *
 * @returns stops it
 * @throws TypeError on a time that is none
 * @example
 * const stop = keepTime(session, { overdue: ({ correlationId }) => retry(correlationId) });
 */
export function keepTime(session: Session, options: KeepTimeOptions = {}): () => void {
  const { timeout } = partsOfSession(session).options;
  const { every = timeout > 0 ? Math.min(1, timeout) : 1, overdue, failed } = options;
  if (!(every > 0)) throw new TypeError(`every is a number of seconds above 0; got ${every}`);
  const handle: unknown = setInterval(() => {
    try {
      for (const late of session.tick()) overdue?.(late);
    } catch (thrown) {
      stop();
      if (failed === undefined) throw thrown;
      failed(thrown);
    }
  }, every * 1000);
  (handle as { readonly unref?: () => void }).unref?.();
  const stop = (): void => clearInterval(handle as never);
  return stop;
}
