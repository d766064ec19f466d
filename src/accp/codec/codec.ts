/** The codec: the five operations of draft-benzing-accp-00, section 7.1, and what an endpoint needs besides. */

import { AccpError } from '../errors.js';
import type { JsonObject, SchemaDefinition } from '../message/json.js';
import type { Message, MessageInput } from '../message/message.js';
import { handlerErrorCode } from '../profiles/tool.js';
import { createRegistry, type Registry, registerSchema } from '../registry/registry.js';
import { createIds } from '../session/runtime.js';
import { partsOfSession, type Session, type SessionParts } from '../session/session.js';
import type { CheckpointResult, TokenBudget } from '../state/state.js';
import { type CodecOptions, type DecodeOutcome, type EncodeResult, resolveCodecOptions } from './contract.js';
import { changedHere, decode, sendFullState, sendRegistry } from './decode.js';
import { type CodecSession, encode } from './encode.js';
import { Sender } from './sender.js';

export interface Codec {
  /**
   * A message as one frame, or as several where it is over a hard limit (section 7.2). A string is what an assistant or user
   * says: a message of the chat profile.
   *
   * @throws AccpError for a message that cannot be said or breaks a rule; the session is as it was
   * @throws StoreError when the session's store fails; the frame was not sent then
   */
  readonly encode: (message: MessageInput | string, session: Session) => EncodeResult;
  /**
   * What becomes of a received frame (sections 7.3 and 3.7). It never throws because of the frame.
   *
   * @throws StoreError when the session's store fails; the frame was not processed then
   */
  readonly decode: (frame: string, session: Session) => DecodeOutcome;
  /** Compresses hot state (section 5.3), as at the end of a phase. */
  readonly checkpoint: (session: Session) => Promise<CheckpointResult>;
  /** What of the token budgets is used (section 5.1). */
  readonly getBudget: (session: Session) => TokenBudget;
  /**
   * Adds a schema to the registry (section 6).
   *
   * @throws AccpError E1004 with the path of what is wrong with it
   */
  readonly registerSchema: (name: string, schema: SchemaDefinition) => void;
  /** The schemas of this side. */
  readonly registry: Registry;
  /** The frame with which an endpoint begins (section 6.4): version and hash of the registry, and how text is written. */
  readonly announce: (session: Session) => EncodeResult;
  /** The frame that brings the other side's copy of the state to these values: a delta (section 5.4), or all of it. */
  readonly syncState: (values: JsonObject, session: Session, options?: { readonly full?: boolean }) => EncodeResult;
  /**
   * The error frame that answers a message whose handler threw: with the code of an AccpError, E4002 for tools, else E9999. The
   * words of other errors are not told, unless `reason` has them.
   */
  readonly fail: (
    message: Message,
    thrown: unknown,
    session: Session,
    options?: { readonly reason?: string },
  ) => string;
  /**
   * Sends again what the other side has not processed; `expected` is the number that it waits for (E3003). Where it was sent much
   * again and has processed little, these are the first frames only: the last of them makes it ask for the rest.
   */
  readonly resync: (expected: number, session: Session, options?: { readonly agent?: string }) => readonly string[];
}

/**
 * Makes a codec. One serves any number of sessions.
 *
 * Source: draft-benzing-accp-00, section 7.
 *
 * @throws TypeError on options that are none
 * @example
 * const codec = createCodec({ tokens: await loadTokenCounter('o200k_base') });
 * const session = createSession({ agent: 'planner' });
 * const { frames } = codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, session);
 */
export function createCodec(options: CodecOptions = {}): Codec {
  const settings = resolveCodecOptions(options, createIds());
  const source = { clock: settings.clock, tokens: settings.tokens, log: settings.log };
  const sessions = new WeakMap<SessionParts, CodecSession>();
  let registry = options.registry ?? createRegistry();

  function opened(parts: SessionParts): CodecSession {
    const known = sessions.get(parts);
    if (known !== undefined) return known;
    // A checkpoint that was begun before the session was resumed goes on now that its tools are there.
    parts.state.resumeCheckpoints(settings.checkpointTools);
    const ownRegistry = (): Registry => parts.registries.own(registry);
    const session = { ...parts, settings, sender: new Sender(parts, settings), ownRegistry };
    sessions.set(parts, session);
    return session;
  }

  /** Works on a session, and keeps what has changed before anything is given back. */
  const within = <T>(session: Session, operation: (session: CodecSession) => T): T => {
    const parts = partsOfSession(session);
    parts.runtime.bind(source);
    return parts.commit(() => operation(opened(parts)));
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
        changedHere(opened);
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

/**
 * An error as the other side is told of it. What was thrown by anything but the protocol may hold what is nobody's business:
 * host names, queries, passwords.
 */
function errorOf(
  thrown: unknown,
  reason: string | undefined,
  request: Parameters<typeof handlerErrorCode>[0],
): AccpError {
  if (thrown instanceof AccpError && reason === undefined) return thrown;
  const code = thrown instanceof AccpError ? thrown.code : handlerErrorCode(request);
  return new AccpError({ code, message: reason ?? (code === 'E4002' ? 'The tool failed.' : 'The handler failed.') });
}
