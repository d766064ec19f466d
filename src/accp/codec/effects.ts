/** Effects of a message, sent or received, on the session: chains, state, streams, checkpoints. */
import { AccpError, accpError } from '../errors.js';
import { canonicalJson, isJsonObject, type Json, type JsonObject, Reference } from '../message/json.js';
import type { Envelope, Message } from '../message/message.js';
import type { ProfileMessage } from '../profiles/profiles.js';
import { cancelled } from '../session/chains.js';
import type { CheckpointResult, HotFrame, SessionState } from '../state/state.js';
import { toText } from '../store/text.js';
import { ENDING_INTENTS } from '../vocabulary.js';
import { bodyText, type CodecSession } from './sender.js';

export interface Outbound extends ProfileMessage {
  readonly envelope: Partial<Envelope> & { readonly timestamp: number };
}

interface Processed {
  readonly message: ProfileMessage;
  readonly text: string;
  /** The payload for hot state, or a function that reads it. @default that of the message */
  readonly held?: JsonObject | (() => JsonObject) | undefined;
  readonly mid: string;
  readonly cid: string;
}

type Checkpoint = CheckpointResult | Promise<CheckpointResult> | undefined;

export const ASKS: ReadonlySet<string> = new Set(['req', 'qry', 'esc']);
const PROLONGS: ReadonlySet<string> = new Set(['ack', 'wait', 'stream']);

export function applySent(processed: Processed, session: CodecSession): Checkpoint {
  const { message, cid } = processed;
  const { chains, sentStreams, runtime } = session;
  const checkpoint = apply(processed, session);
  sentStreams.sent(cid, message);
  if (ASKS.has(message.intent)) chains.requested(cid, chainOf(message), runtime.monotonic());
  else if (ENDING_INTENTS.has(message.intent)) chains.settled(cid);
  return checkpoint;
}

export function applyReceived(processed: Processed & { readonly message: Message }, session: CodecSession): Checkpoint {
  const { message, cid, held } = processed;
  const { chains, runtime } = session;
  const checkpoint = apply(processed, session);
  const payload = typeof held === 'object' ? held : message.payload;
  if (ASKS.has(message.intent)) chains.received(cid, chainOf(message), { ...message, payload });
  else if (ENDING_INTENTS.has(message.intent) && !isAboutDelivery(message)) chains.answered(cid);
  else if (PROLONGS.has(message.intent)) chains.prolong(cid, runtime.monotonic());
  return checkpoint;
}

/** A report about the order of frames does not answer the request. */
export function isAboutDelivery({ intent, operation, payload }: ProfileMessage): boolean {
  const code = payload['code'];
  return intent === 'fail' && operation === 'error' && (code === 'E3002' || code === 'E3003');
}

function chainOf({ schema, payload }: ProfileMessage): { schema?: string; transactionId?: string } {
  const transactionId = payload['transaction_id'];
  return {
    ...(schema === undefined ? {} : { schema }),
    ...(typeof transactionId === 'string' ? { transactionId } : {}),
  };
}

/** State comes first: only state can refuse a message. */
function apply(processed: Processed, session: CodecSession): Checkpoint {
  const { message, text, mid, cid, held } = processed;
  const { agent, intent, operation, schema, payload } = message;
  const { settings, state, chains, streams } = session;
  // Frames that keep the session going are not part of its context.
  const isTaken = settings.state && !isUpkeep(message);
  if (isTaken) takeIn({ agent, intent, operation, schema, payload: held ?? payload, cid, mid, text }, session);
  if (intent === 'sync' && operation === 'state') applyStateSync(payload, state);
  if (intent === 'cancel') {
    chains.cancel(cid);
    if (streams.pending.includes(cid)) streams.abort(cid, cancelled(cid));
  }
  if (!isTaken) return undefined;
  const trigger = state.due(intent);
  if (trigger === null || settings.checkpoints === 'manual') return undefined;
  return state.checkpoint(trigger, settings.checkpointTools);
}

/** A message over the budget of hot state goes to cold state, and hot state refers to it (section 7.2, item 6). */
function takeIn(frame: HotFrame, { state, runtime }: CodecSession): void {
  const { agent, intent, operation, text } = frame;
  try {
    state.addFrame(frame);
    return;
  } catch (thrown) {
    const isRefused = thrown instanceof AccpError && thrown.code === 'E2003';
    if (!isRefused || runtime.counter.count(text) <= state.budget().hot.max) throw thrown;
  }
  const { payload } = frame;
  const path = state.externalize(typeof payload === 'function' ? payload() : payload);
  runtime.note('moved', `A message over the budget of hot state lies in cold state, as $${path}.`);
  const short = bodyText(agent, intent, operation, [{ key: 'ref', value: { kind: 'ref', path } }]);
  state.addFrame({ ...frame, payload: { ref: new Reference(path) }, text: short });
}

function isUpkeep(message: ProfileMessage): boolean {
  const { intent, operation } = message;
  if (intent === 'ping' || intent === 'pong') return true;
  return (intent === 'sync' && operation !== 'state') || isAboutDelivery(message);
}

type StateSync =
  | { readonly kind: 'delta'; readonly version: number; readonly delta: JsonObject }
  | { readonly kind: 'full'; readonly version: number; readonly values: JsonObject };

/** Reads a `sync:state` payload (section 5.4). Throws AccpError E1004 if invalid, E2001 for a delta to another base. */
function readStateSync(payload: { readonly [key: string]: Json }, { version: base }: SessionState): StateSync {
  const { version, delta, state } = payload;
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 0) {
    throw accpError('E1004', 'payload.version', 'the version of a state is a whole number');
  }
  const keys = Object.keys(payload).length - 1;
  if (delta !== undefined) {
    if (!isJsonObject(delta) || keys > 1) {
      throw accpError('E1004', 'payload.delta', 'a delta is a map, and stands alone');
    }
    if (version !== base + 1) {
      throw new AccpError({
        code: 'E2001',
        path: 'payload.version',
        message: `the delta leads to version ${version}; the state here is at ${base}`,
        help: 'send the whole state',
        details: { version: base, want: 'full_state' },
      });
    }
    return { kind: 'delta', version, delta };
  }
  const { version: _version, ...rest } = payload;
  const values = keys === 1 && isJsonObject(state) ? state : Object.assign(Object.create(null) as JsonObject, rest);
  for (const [key, value] of Object.entries(values)) {
    if (value !== null) continue;
    throw accpError('E1004', `payload.${key}`, 'a state holds no null, which means "removed"');
  }
  return { kind: 'full', version, values };
}

/** Whether a whole state loses against ours: the newer one wins. For equal versions, both sides must decide alike: by text. */
export function givesWay(payload: { readonly [key: string]: Json }, state: SessionState): boolean {
  const sync = readStateSync(payload, state);
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

function applyStateSync(payload: { readonly [key: string]: Json }, state: SessionState): void {
  const sync = readStateSync(payload, state);
  if (sync.kind === 'delta') state.applyDelta(sync.version, sync.delta);
  else if (wins(sync, state)) state.applyFull(sync.version, sync.values);
}
