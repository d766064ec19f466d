/** The codec (draft-benzing-accp-00, section 7.1). */

import { AccpError, accpError } from '../errors.js';
import type { JsonObject, SchemaDefinition } from '../message/json.js';
import type { Message, MessageInput } from '../message/message.js';
import { handlerErrorCode } from '../profiles/tool.js';
import { createRegistry, type Registry, registerSchema } from '../registry/registry.js';
import { partsOfSession, type Session, type SessionParts } from '../session/session.js';
import type { CheckpointResult, TokenBudget } from '../state/state.js';
import { type CodecOptions, type DecodeOutcome, type EncodeResult, resolveCodecOptions } from './contract.js';
import { decode, resetAnswerBudget, sendFullState, sendRegistry } from './decode.js';
import { encode } from './encode.js';
import { FrameTokenCounter } from './frame-tokens.js';
import { type CodecSession, Sender } from './sender.js';

/** The operations on messages (draft-benzing-accp-00, section 7.1). One codec serves any number of sessions. */
export interface Codec {
  /**
   * Encodes a message as one frame, or as several if it exceeds a hard limit (section 7.2). A string is a message of the chat profile.
   *
   * @throws AccpError if the message breaks a rule; the session is unchanged
   * @throws StoreError if the store of the session fails; do not send the frame
   */
  readonly encode: (message: MessageInput | string, session: Session) => EncodeResult;
  /**
   * Decodes a received frame (sections 7.3 and 3.7). An invalid frame is an outcome, never an exception.
   *
   * @throws StoreError if the store of the session fails; the frame was not processed
   */
  readonly decode: (frame: string, session: Session) => DecodeOutcome;
  /**
   * Makes a checkpoint, which compresses hot state (section 5.3).
   *
   * @throws AccpError E2003 if not even an empty entry fits into warm state
   */
  readonly checkpoint: (session: Session) => Promise<CheckpointResult>;
  /** Returns the usage of the token budgets (section 5.1). */
  readonly getBudget: (session: Session) => TokenBudget;
  /**
   * Adds a schema to the registry (section 6).
   *
   * @throws AccpError E1004 with the path of the first error if the definition is invalid
   */
  readonly registerSchema: (name: string, schema: SchemaDefinition) => void;
  /** The schemas and operations of this side. */
  readonly registry: Registry;
  /** Announces the version and hash of the registry, and the spelling of text (section 6.4): the first frame of an endpoint. */
  readonly announce: (session: Session) => EncodeResult;
  /** Updates the state that both sides share to these values, by a delta (section 5.4) or, if `full` is true, completely. */
  readonly syncState: (values: JsonObject, session: Session, options?: { readonly full?: boolean }) => EncodeResult;
  /**
   * Returns the error frame that answers a message whose handler threw: with the code of an AccpError, E4002 for tools, or E9999. The
   * messages of other errors are private and not sent; `reason` is sent instead.
   */
  readonly fail: (
    message: Message,
    thrown: unknown,
    session: Session,
    options?: { readonly reason?: string },
  ) => string;
  /**
   * Returns the frames to send again after an E3003: those with the number `expected` or a higher one. A peer that asks often and processes
   * little gets only the first of them; the last frame then makes it ask for the rest.
   */
  readonly resync: (expected: number, session: Session, options?: { readonly agent?: string }) => readonly string[];
}

/**
 * Creates a codec. One codec serves any number of sessions.
 *
 * Source: draft-benzing-accp-00, section 7.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const codec = createCodec({ counter: await loadTokenCounter('o200k_base') });
 * const session = createSession({ agent: 'planner' });
 * const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, session);
 */
export function createCodec(options: CodecOptions = {}): Codec {
  const settings = resolveCodecOptions(options);
  const source = { now: settings.now, counter: settings.counter, log: settings.log };
  const sessions = new WeakMap<SessionParts, CodecSession>();
  let registry = options.registry ?? createRegistry();

  function opened(parts: SessionParts): CodecSession {
    const known = sessions.get(parts);
    if (known !== undefined) return known;
    // Finishes checkpoints that an earlier process began.
    parts.state.resumeCheckpoints(settings.checkpointTools);
    const ownRegistry = (): Registry => parts.registries.own(registry);
    const frameTokens = new FrameTokenCounter(
      settings.counter,
      settings.sessionId !== 'first' ? parts.options.id : undefined,
    );
    const registryOf = (hash: string): Registry | null => parts.registries.withHash(hash, ownRegistry());
    parts.compaction.owners.resume(registryOf);
    const sender = new Sender(parts, settings, ownRegistry);
    // Not by a spread, which V8 gives an object without a common shape: every access would search it.
    const session: CodecSession = {
      options: parts.options,
      runtime: parts.runtime,
      delivery: parts.delivery,
      outbox: parts.outbox,
      sequences: parts.sequences,
      registries: parts.registries,
      compaction: parts.compaction,
      chains: parts.chains,
      streams: parts.streams,
      sentStreams: parts.sentStreams,
      state: parts.state,
      facts: parts.facts,
      settings,
      sender,
      frameTokens,
      ownRegistry,
      registryOf,
    };
    sessions.set(parts, session);
    return session;
  }

  /** Runs an operation, and stores its changes before it returns the result. */
  const within = <T>(session: Session, operation: (session: CodecSession) => T): T => {
    const parts = partsOfSession(session);
    parts.runtime.bind(source);
    const run = (): T =>
      parts.commit(() => {
        const result = operation(opened(parts));
        parts.compaction.owners.settle();
        return result;
      });
    return parts.isBusy() ? parts.compaction.interrupt(run) : run();
  };

  return {
    encode: (message, session) => within(session, (opened) => encode(message, opened)),
    decode: (frame, session) => within(session, (opened) => decode(frame, opened)),
    checkpoint: async (session) => within(session, ({ state }) => state.checkpoint('phase', settings.checkpointTools)),
    getBudget: (session) => within(session, ({ state }) => state.budget()),
    registerSchema: (name, schema) => {
      registry = registerSchema(registry, name, schema);
    },
    get registry() {
      return registry;
    },
    announce: (session) =>
      within(session, (opened) => sendRegistry(opened.registries.announcing(opened.ownRegistry()), opened)),
    syncState: (values, session, { full = false } = {}) =>
      within(session, (opened) => {
        const { state } = opened;
        resetAnswerBudget(opened);
        if (full) return sendFullState(values, state.version + 1, opened);
        const { version, delta } = state.delta(values);
        return encode({ intent: 'sync', operation: 'state', payload: { version, delta } }, opened);
      }),
    fail: (message, thrown, session, { reason } = {}) =>
      within(session, ({ chains, sender }) => {
        const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
        chains.settled(cid);
        return sender.sendError(errorOf(thrown, reason, chains.get(cid)), { cid, mid });
      }),
    resync: (expected, session, { agent } = {}) =>
      within(session, ({ sender }) => sender.recover({ expected, agent }).frames),
  };
}

/** The messages of other errors may contain private data: host names, queries, passwords. */
function errorOf(
  thrown: unknown,
  reason: string | undefined,
  request: Parameters<typeof handlerErrorCode>[0],
): AccpError {
  if (thrown instanceof AccpError && reason === undefined) return thrown;
  const code = thrown instanceof AccpError ? thrown.code : handlerErrorCode(request);
  return accpError(code, undefined, reason ?? (code === 'E4002' ? 'The tool failed.' : 'The handler failed.'));
}
