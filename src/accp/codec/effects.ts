/** The effects of a sent or received message on the session: on chains, state, streams and checkpoints. */
import { AccpError, accpError } from '../errors.js';
import { canonicalJson, isJsonObject, type Json, type JsonObject, nullObject, Reference } from '../message/json.js';
import type { Message } from '../message/message.js';
import type { KnownRequest, ProfileMessage } from '../profiles/profiles.js';
import { cancelled } from '../session/chains.js';
import { TOO_LARGE } from '../state/hot.js';
import type { CheckpointResult, HotFrame, SessionState } from '../state/state.js';
import { toText } from '../store/text.js';
import { ENDING_INTENTS } from '../vocabulary.js';
import { bodyText, type CodecSession } from './sender.js';

export interface Outbound extends ProfileMessage {
  readonly envelope: ProfileMessage['envelope'] & { readonly timestamp: number };
  /** `true` if the correlation identifier was chosen by the codec. */
  readonly hasShortCid: boolean;
}

interface Processed {
  readonly message: ProfileMessage;
  readonly text: string;
  /** The number of tokens of the text, if it is known. */
  readonly tokens?: number | undefined;
  /** The update of the shared state that the message has, if it was read before. */
  readonly sync?: StateSync | undefined;
  /** The payload for hot state, or a function that parses it. @default the payload of the message */
  readonly retained?: JsonObject | (() => JsonObject) | undefined;
  readonly mid: string;
  readonly cid: string;
}

type Checkpoint = CheckpointResult | Promise<CheckpointResult> | undefined;

export const REQUEST_INTENTS: ReadonlySet<string> = new Set(['req', 'qry', 'esc']);
const EXTENDING_INTENTS: ReadonlySet<string> = new Set(['ack', 'wait', 'stream']);

export function applySent(processed: Processed, session: CodecSession): Checkpoint {
  const { message, mid, cid } = processed;
  const { chains, sentStreams, runtime } = session;
  const checkpoint = apply(processed, session);
  sentStreams.sent(cid, message);
  if (REQUEST_INTENTS.has(message.intent)) chains.requested(cid, mid, chainOf(message), runtime.monotonic());
  else if (ENDING_INTENTS.has(message.intent)) chains.settled(cid);
  return checkpoint;
}

export function applyReceived(processed: Processed & { readonly message: Message }, session: CodecSession): Checkpoint {
  const { message, cid, retained } = processed;
  const { chains, runtime } = session;
  const checkpoint = apply(processed, session);
  if (REQUEST_INTENTS.has(message.intent)) {
    // A copy, since the caller owns the message.
    const payload = typeof retained === 'object' ? retained : message.payload;
    chains.received(cid, chainOf(message), { ...message, payload });
  } else if (ENDING_INTENTS.has(message.intent) && !isAboutDelivery(message)) chains.answered(cid);
  else if (EXTENDING_INTENTS.has(message.intent)) chains.prolong(cid, runtime.monotonic());
  return checkpoint;
}

/** Returns `true` for a report about the order of frames, which does not answer a request. */
export function isAboutDelivery({ intent, operation, payload }: ProfileMessage): boolean {
  const code = payload['code'];
  return intent === 'fail' && operation === 'error' && (code === 'E3002' || code === 'E3003');
}

function chainOf({ schema, payload }: ProfileMessage): KnownRequest {
  const transactionId = payload['transaction_id'];
  return { schema, transactionId: typeof transactionId === 'string' ? transactionId : undefined };
}

/** Applies a message. State comes first, since only state can reject a message. */
function apply(processed: Processed, session: CodecSession): Checkpoint {
  const { message, text, tokens, mid, cid, retained, sync } = processed;
  const { agent, intent, operation, schema, payload } = message;
  const { settings, state, chains, streams } = session;
  // Frames that maintain the session are not part of its context.
  const isContext = settings.state && !isProtocolMessage(message);
  if (isContext)
    addToHotState({ agent, intent, operation, schema, payload: retained ?? payload, cid, mid, text, tokens }, session);
  if (intent === 'sync' && operation === 'state') applyStateSync(sync ?? readStateSync(payload, state), state);
  if (intent === 'cancel') {
    chains.cancel(cid);
    if (streams.pending().includes(cid)) streams.abort(cid, cancelled(cid));
  }
  if (!isContext) return undefined;
  const trigger = state.dueTrigger(intent);
  if (trigger === null || settings.checkpoints === 'manual') return undefined;
  return state.checkpoint(trigger, settings.checkpointTools);
}

/** Adds a message to hot state; one that exceeds the budget is stored in cold state, and hot state refers to it (section 7.2, item 6). */
function addToHotState(frame: HotFrame, { state, runtime }: CodecSession): void {
  const { agent, intent, operation } = frame;
  try {
    state.addFrame(frame);
    return;
  } catch (thrown) {
    if (!(thrown instanceof AccpError && thrown.details['reason'] === TOO_LARGE)) throw thrown;
  }
  const { payload } = frame;
  const path = state.externalize(typeof payload === 'function' ? payload() : payload);
  runtime.emit('moved', `A message that exceeds the budget of hot state was stored in cold state, as $${path}.`);
  const short = bodyText(agent, intent, operation, [{ key: 'ref', value: { kind: 'ref', path } }]);
  state.addFrame({ ...frame, payload: { ref: new Reference(path) }, text: short, tokens: undefined });
}

function isProtocolMessage(message: ProfileMessage): boolean {
  const { intent, operation } = message;
  if (intent === 'ping' || intent === 'pong') return true;
  return (intent === 'sync' && operation !== 'state') || isAboutDelivery(message);
}

export type StateSync =
  | { readonly kind: 'delta'; readonly version: number; readonly delta: JsonObject }
  | { readonly kind: 'full'; readonly version: number; readonly values: JsonObject };

/** Reads a `sync:state` payload (section 5.4). Throws AccpError E1004 if it is invalid, E2001 if a delta has another base. */
export function readStateSync(payload: { readonly [key: string]: Json }, { version: base }: SessionState): StateSync {
  const { version, delta, state } = payload;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 0) {
    throw accpError('E1004', 'payload.version', 'the version of a state must be a non-negative integer');
  }
  const keys = Object.keys(payload).length - 1;
  if (delta !== undefined) {
    if (!isJsonObject(delta) || keys > 1) {
      throw accpError('E1004', 'payload.delta', 'a delta must be a map, without other parameters');
    }
    if (version !== base + 1) {
      throw new AccpError({
        code: 'E2001',
        path: 'payload.version',
        message: `the delta leads to version ${version}, but this side has version ${base}`,
        help: 'send the full state',
        details: { version: base, want: 'full_state' },
      });
    }
    return { kind: 'delta', version, delta };
  }
  const values = keys === 1 && isJsonObject(state) ? state : withoutVersion(payload);
  for (const key of Object.keys(values)) {
    if (values[key] !== null) continue;
    throw accpError('E1004', `payload.${key}`, 'a value of a state cannot be null, which means "removed"');
  }
  return { kind: 'full', version, values };
}

function withoutVersion(payload: { readonly [key: string]: Json }): JsonObject {
  const values = nullObject<Json>();
  for (const key of Object.keys(payload)) if (key !== 'version') values[key] = payload[key]!;
  return values;
}

/**
 * Returns `true` if a received full state loses to ours: the newer one wins. For equal versions, both sides must decide alike: by
 * text.
 */
export function losesToOwnState(sync: StateSync, state: SessionState): boolean {
  return sync.kind === 'full' && !wins(sync, state);
}

function wins({ version, values }: { version: number; values: JsonObject }, state: SessionState): boolean {
  if (version !== state.version) return version > state.version;
  const own = state.values();
  return Object.keys(own).length === 0 || sortedText(values) >= sortedText(own);
}

function sortedText(values: JsonObject): string {
  return canonicalJson(JSON.parse(toText(values)));
}

function applyStateSync(sync: StateSync, state: SessionState): void {
  if (sync.kind === 'delta') state.applyDelta(sync.version, sync.delta);
  else if (wins(sync, state)) state.applyFull(sync.version, sync.values);
}
