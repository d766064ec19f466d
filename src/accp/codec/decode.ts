/**
 * From frame to message: the decoding pipeline (draft-benzing-accp-00, section 7.3), and before it the checks of delivery
 * (sections 3.5 and 3.7), in an order that is part of the contract: grammar, required fields, expiry, duplicate, sequence,
 * permission, intent, parts, schema, references.
 */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { Frame, Param } from '../ast.js';
import { AccpError, type AccpErrorCode, ERROR_CODES } from '../errors.js';
import { type Json, type JsonObject, Reference } from '../message/json.js';
import type { Envelope, Loss, Message } from '../message/message.js';
import { tryParseFrame } from '../parse.js';
import { checkProfiles } from '../profiles/profiles.js';
import type { SchemaDefinition } from '../registry/definition.js';
import { ANNOUNCEMENT_TYPES } from '../registry/negotiation.js';
import { cancelled } from '../session/chains.js';
import type { Arrival } from '../session/delivery.js';
import { type ReceivedEnvelope, readEnvelope, sourceText } from '../session/envelope.js';
import type { SessionParts } from '../session/session.js';
import { StoreError } from '../store/store.js';
import { toText } from '../store/text.js';
import { ENDS_A_CHAIN } from './check-message.js';
import type { DecodeOutcome, Rejected } from './contract.js';
import { ASKS, applyReceived, isAboutDelivery, isTaken, readStateSync } from './effects.js';
import { LARGE_VALUE } from './encode.js';
import { type Engine, noteFrame, registryOf, textState } from './engine.js';
import { countOf, expectedOf, isErrorFrame, sendError } from './error-frame.js';
import { answerAtLength, unanswered } from './long-answers.js';
import { negotiate } from './negotiate.js';
import { heldPayload, type Resolve, readPayload, rereading, wireKindOf } from './read-payload.js';
import { recover } from './recover.js';
import { fullState } from './state-sync.js';

/** What the steps hand on. */
interface Decoding {
  readonly engine: Engine;
  readonly parts: SessionParts;
  readonly text: string;
  readonly frame: Frame;
  readonly envelope: ReceivedEnvelope;
  readonly losses: Loss[];
  readonly warnings: Diagnostic[];
  readonly replies: string[];
}

/** Options take a look at each of them; none is faster. */
const LENIENT = { dialect: 'lenient' } as const;

export function decode(text: string, parts: SessionParts, engine: Engine): DecodeOutcome {
  const parsed = tryParseFrame(text, engine.settings.dialect === 'strict' ? undefined : LENIENT);
  if (!parsed.ok) {
    const { message, span, help } = parsed.error;
    const error = new AccpError({ code: 'E1001', message, text: typeof text === 'string' ? text : '', span, help });
    return reject(error, null, undefined, parts, engine);
  }
  const frame = parsed.value;
  let envelope: ReceivedEnvelope | undefined;
  try {
    const reading = readEnvelope(frame);
    envelope = reading.envelope;
    const arrival = arrivalOf(frame, envelope);
    const isOurs = envelope.sid === undefined || envelope.sid === parts.options.id;
    if (reading.fault === undefined && isExpired(envelope, parts)) return drop(text, isOurs ? arrival : null, parts);
    // A frame of another session has not come to the right place, and its number is none of ours.
    if (!isOurs)
      throw new AccpError({ code: 'E5001', path: 'metadata.sid', message: 'the frame belongs to another session' });
    parts.delivery.admit(arrival);
    if (reading.fault !== undefined) throw reading.fault;
    if (parts.runtime.log !== undefined) noteFrame('received', { text, seq: envelope.seq }, parts, engine);
    return process({ engine, parts, text, frame, envelope, losses: [], warnings: [], replies: [] });
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    return reject(refusalOf(thrown), frame, envelope, parts, engine);
  }
}

/** What the host's own checks throw must not take the session down, nor be told to the other side. */
function refusalOf(thrown: unknown): AccpError {
  if (thrown instanceof AccpError) return thrown;
  const error = new AccpError({ code: 'E9999', message: 'The frame could not be processed.' });
  error.cause = thrown;
  return error;
}

function arrivalOf(frame: Frame, { mid, seq }: ReceivedEnvelope): Arrival {
  const { agent, intent, operation } = frame;
  if (intent === 'sync' && operation === 'resync')
    return { agent, mid, seq, kind: 'resync', from: countOf(frame, 'from') };
  return { agent, mid, seq, kind: expectedOf(frame) === undefined ? 'ordinary' : 'gap-report' };
}

/**
 * Frames without a time stamp never expire, nor those with a `ttl` of 0 (section 3.5). Where the wall clock here has jumped since the session
 * began, the frame is as old as the clock says that its sender goes by: the one by which it is youngest and not of the future.
 */
function isExpired({ ts, ttl }: ReceivedEnvelope, { runtime }: SessionParts): boolean {
  if (ts === undefined || ttl === undefined || ttl <= 0) return false;
  const ages = [runtime.now() - ts, runtime.steady() - ts].filter((age) => age >= 0);
  return ages.length > 0 && Math.min(...ages) > ttl;
}

/** Silently: who sent it learns nothing by it (section 3.7, item 5). */
function drop(text: string, arrival: Arrival | null, { delivery, note }: SessionParts): DecodeOutcome {
  if (arrival !== null) delivery.expire(arrival);
  note('dropped', 'A frame has expired.', { frame: text });
  return { outcome: 'dropped', reason: 'expired' };
}

function reject(
  error: AccpError,
  frame: Frame | null,
  envelope: ReceivedEnvelope | undefined,
  parts: SessionParts,
  engine: Engine,
): Rejected {
  const { details, code } = error;
  parts.note('rejected', error.message, { details: { code, ...details } });
  // An error frame is never answered by another, or two sides could go on for ever.
  if (frame !== null && isErrorFrame(frame)) return { outcome: 'rejected', error, reply: null };
  // A request without a chain of its own is answered under its identifier (section 10.2), so that its sender can settle it. What is refused for
  // its order alone (E3002, E3003) is answered later.
  const mid = envelope?.mid ?? identifierIn(frame, 'mid');
  const isOrder = code === 'E3002' || code === 'E3003';
  const cause = { cid: envelope?.cid ?? identifierIn(frame, 'cid') ?? (isOrder ? undefined : mid), mid };
  return { outcome: 'rejected', error, reply: sendError(error, cause, parts, engine) };
}

/** An identifier of a frame whose envelope is refused, if it can stand in an answer. */
function identifierIn(frame: Frame | null, name: 'mid' | 'cid'): string | undefined {
  const value = frame?.metadata?.find(({ key }) => key === name)?.value;
  const text =
    value?.kind === 'integer' ? (value.text ?? String(value.value)) : value?.kind === 'string' ? value.value : '';
  return /^[!-~]{1,256}$/.test(text) ? text : undefined;
}

/** What comes after delivery: the frame has used up its number whatever happens now. */
function process(decoding: Decoding): DecodeOutcome {
  const { engine, parts, frame, envelope } = decoding;
  checkPermission(frame, envelope, parts, engine);
  checkIntent(frame, engine);
  const whole = joinParts(decoding);
  if (whole === null) {
    const { losses, warnings, replies } = decoding;
    return {
      outcome: 'pending',
      part: 'sequence',
      correlationId: envelope.cid ?? envelope.mid,
      losses,
      warnings,
      replies,
    };
  }
  return settle(readMessage(whole.params, whole.envelope, decoding), whole.envelope, decoding);
}

function checkPermission(frame: Frame, { cid }: ReceivedEnvelope, parts: SessionParts, { settings }: Engine): void {
  if (cid !== undefined && parts.chains.isCancelled(cid) && !ENDS_A_CHAIN.has(frame.intent)) throw cancelled(cid);
  const verdict = settings.authorize?.(frame) ?? true;
  if (verdict === true) return;
  const message = typeof verdict === 'string' ? verdict : 'the frame is not authorized';
  throw new AccpError({ code: 'E5001', message });
}

function checkIntent({ intent }: Frame, { settings }: Engine): void {
  if (settings.intents.has(intent)) return;
  throw new AccpError({ code: 'E1002', path: 'intent', message: `"${intent}" is no intent of Table 7` });
}

interface Whole {
  readonly params: readonly Param[];
  readonly envelope: ReceivedEnvelope;
}

/** The parameters of a message, when all of its frames are there (section 3.4). */
function joinParts({ engine, parts, frame, envelope, text }: Decoding): Whole | null {
  const { part, cid } = envelope;
  if (part === undefined) return { params: frame.payload, envelope };
  const joined = parts.sequences.add({
    agent: frame.agent,
    intent: frame.intent,
    operation: frame.operation,
    part,
    envelope,
    params: frame.payload,
    text,
    dialect: engine.settings.dialect,
    now: parts.runtime.steady(),
  });
  if (joined === null) return null;
  // A sequence needs a cid; where the message had none, it is the identifier of its first frame.
  const first = joined.envelope;
  return {
    params: joined.params,
    envelope: first.cid === first.mid ? { ...first, cid: undefined } : { ...first, cid },
  };
}

interface MessageReading {
  readonly message: Message;
  /** Header and body of the frame. */
  readonly body: string;
  /** The payload as it is kept: with references to its large values; or what reads it, where it has none. */
  readonly held: JsonObject | (() => JsonObject);
}

/** Steps 2 to 5 of section 7.3: schema, references, keys, defaults. */
function readMessage(params: readonly Param[], envelope: ReceivedEnvelope, decoding: Decoding): MessageReading {
  const { engine, parts, frame, text, warnings } = decoding;
  const { agent, intent, operation } = frame;
  const code = schemaCode(params);
  const schema = resolveSchema(code, decoding);
  const types = schema?.types ?? (isRegistrySync(frame) ? ANNOUNCEMENT_TYPES : undefined);
  const rules = { code, schema, types, transliterated: textState(engine, parts, agent).reading };
  const resolved = new Map<string, Json>();
  const { payload, losses } = readPayload(params, rules, createResolver(parts, engine, resolved));
  for (const loss of losses) decoding.losses.push(loss);
  const message = {
    agent,
    intent,
    operation,
    ...(code === undefined ? {} : { schema: code }),
    payload,
    envelope: messageEnvelope(envelope),
  };
  checkProfiles(
    message,
    {
      direction: 'receive',
      dialect: engine.settings.dialect,
      wireKind: (key) => wireKindOf(params, key, rules),
      isExact: (key) => losses.every(({ path, kind }) => kind !== 'precision' || path !== `payload.${key}`),
      request: envelope.cid === undefined ? undefined : parts.chains.get(envelope.cid),
      tools: engine.settings.tools,
      warn: (name, text, path) => {
        const said = path === undefined ? text : `${path}: ${text}`;
        warnings.push({ code: name, severity: 'warning', message: said, span: null, section: '10' });
      },
    },
    engine.settings.profiles,
  );
  const { dialect } = engine.settings;
  const body = withoutMetadata(text);
  if (engine.settings.state || ASKS.has(intent)) {
    for (const [path, value] of resolved) resolved.set(path, heldValue(path, value, parts));
  }
  const held =
    params === frame.payload && resolved.size === 0
      ? rereading(body, dialect, rules)
      : heldPayload(params, rules, resolved);
  return { message, body, held };
}

function isRegistrySync({ intent, operation }: Frame): boolean {
  return intent === 'sync' && operation === 'registry';
}

function schemaCode(params: readonly Param[]): string | undefined {
  for (let index = params.length - 1; index >= 0; index--) {
    const { key, value } = params[index]!;
    if (key !== 'schema') continue;
    const code = sourceText(value);
    if (code !== undefined) return code;
    throw new AccpError({ code: 'E1004', path: 'payload.schema', message: `a ${value.kind} is no code of a schema` });
  }
  return undefined;
}

function resolveSchema(code: string | undefined, { engine, parts, frame }: Decoding): SchemaDefinition | undefined {
  if (code === undefined) return undefined;
  const schema = registryOf(engine, parts, frame.agent).byCode(code);
  if (schema !== undefined) return schema;
  throw new AccpError({ code: 'E1003', path: 'payload.schema', message: `no schema "${code}" is registered` });
}

/** Step 2: what references stand for (section 5.1). `resolved` is filled with the values by path. */
function createResolver({ state }: SessionParts, { settings }: Engine, resolved: Map<string, Json>): Resolve {
  const resolve = state.resolver(settings.references);
  return (path, at) => {
    let value: Json;
    try {
      value = resolve(path);
    } catch (thrown) {
      if (!(thrown instanceof AccpError)) throw thrown;
      const { code, message, details, help } = thrown;
      // The draft writes amounts of money so: `budget:$42.30`.
      const isAmount = code !== 'E2003' && settings.dialect === 'lenient' && /^[0-9]/.test(path);
      if (!isAmount) throw new AccpError({ code, message, details, help, path: at });
      value = `$${path}`;
    }
    resolved.set(path, value);
    return value;
  };
}

/** The keys that cold state makes from values: what is under one never changes. */
const UNCHANGING = /^cold\.v[0-9a-f]{6,}$/;

/**
 * What hot state keeps in place of a reference: small values as they are, and large ones as references to a value that never
 * changes. Otherwise each short frame that names a large value would cost its size once more, in memory and in the store.
 */
function heldValue(path: string, value: Json, { state }: SessionParts): Json {
  if (UNCHANGING.test(path)) return new Reference(path);
  return toText(value).length <= LARGE_VALUE ? value : new Reference(state.externalize(value));
}

function messageEnvelope({ mid, seq, ts, cid, aid, sid, ttl }: ReceivedEnvelope): Envelope {
  const envelope: { -readonly [K in keyof Envelope]: Envelope[K] } = { msg_id: mid, sequence: seq };
  if (ts !== undefined) envelope.timestamp = ts;
  if (cid !== undefined) envelope.correlation_id = cid;
  if (aid !== undefined) envelope.causation_id = aid;
  if (sid !== undefined) envelope.session_id = sid;
  if (ttl !== undefined) envelope.ttl = ttl;
  return envelope;
}

/** What the message does to the session, and what has to be sent because of it. */
function settle(reading: MessageReading, envelope: ReceivedEnvelope, decoding: Decoding): DecodeOutcome {
  const { parts, engine, frame, losses, warnings, replies } = decoding;
  const { message, body, held } = reading;
  const { intent, operation, payload } = message;
  const cid = envelope.cid ?? envelope.mid;
  if (intent === 'cancel' && envelope.cid === undefined) {
    throw new AccpError({ code: 'E1004', path: 'metadata.cid', message: 'cancel names the chain that is to stop' });
  }
  const answersState = intent === 'sync' && operation === 'state' && isBehind(payload, parts);
  const checkpoint = applyReceived({ message, text: body, held, mid: envelope.mid, cid }, parts, engine);
  const streamed = takeChunk(message, parts);
  const registry = isRegistrySync(frame) ? negotiate(message, parts, engine) : null;
  if (registry !== null) addAnswer(registry, decoding);
  if (isErrorFrame(frame)) answerError(message, decoding);
  if (answersState) addAnswer(() => fullState(parts, engine, payload['version'] as number), decoding);
  const results = { losses, warnings, replies };
  if (streamed) return { outcome: 'pending', part: 'stream', correlationId: cid, message, ...results };
  return { outcome: 'message', message, ...results, ...(checkpoint === undefined ? {} : { checkpoint }) };
}

/** Whether the other side has a state that gives way to ours, and has to be told of it. */
function isBehind(payload: JsonObject, parts: SessionParts): boolean {
  const sync = readStateSync(payload, parts);
  return sync.kind === 'full' && !isTaken(sync, parts);
}

/** Answers what can be asked for by a short frame, as far as it may be. */
function addAnswer(answer: () => readonly string[], { text, parts, replies, warnings }: Decoding): void {
  const frames = answerAtLength(text.length, parts, answer);
  if (frames === null) warnings.push(unanswered);
  else replies.push(...frames);
}

/** What an error frame asks for by itself. */
function answerError(message: Message, decoding: Decoding): void {
  const { parts, engine, frame, replies, warnings } = decoding;
  const { payload, envelope } = message;
  const expected = expectedOf(frame);
  if (expected !== undefined) {
    const recovery = recover({ expected, refused: envelope.causation_id, reporter: frame.agent }, parts, engine);
    replies.push(...recovery.frames);
    warnings.push(...recovery.warnings);
  } else if (payload['code'] === 'E2001' && payload['want'] === 'full_state') {
    addAnswer(() => fullState(parts, engine), decoding);
  }
  const cid = envelope.correlation_id;
  if (cid === undefined || isAboutDelivery(message)) return;
  if (parts.streams.pending.includes(cid)) parts.streams.abort(cid, receivedError(message));
}

/** What a peer has told of, as an error. */
function receivedError({ agent, payload }: Message): AccpError {
  const { code, message } = payload;
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as AccpErrorCode) : 'E9999';
  return new AccpError({
    code: known,
    message: `@${agent} says: ${typeof message === 'string' ? message : String(code)}`,
  });
}

/**
 * Keeps a chunk of a stream for its reader (section 10.4). What ends a stream may be its last chunk, too, and is a message
 * besides.
 *
 * @returns whether the message was a chunk and nothing else
 */
function takeChunk({ agent, intent, schema, payload, envelope }: Message, { streams }: SessionParts): boolean {
  const cid = envelope.correlation_id;
  if (cid === undefined) return false;
  const { chunk_index: index, total_chunks: total, data = null, is_final: final } = payload;
  const isChunk = schema === 'ST' && (intent === 'stream' || (intent === 'end' && index !== undefined));
  if (isChunk) {
    streams.accept(cid, agent, {
      index: index as number,
      total: total as number | undefined,
      data,
      final: final === true,
    });
  }
  if (intent === 'end') streams.end(cid, agent);
  return isChunk && intent === 'stream';
}

function withoutMetadata(text: string): string {
  const close = text.lastIndexOf('}[');
  return close < 0 ? text : text.slice(0, close + 1);
}
