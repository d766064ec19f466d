/**
 * The decoding pipeline (draft-benzing-accp-00, section 7.3). The order of its checks is part of the contract: grammar, required
 * fields, expiry, duplicate, sequence, permission, intent, parts, schema, references.
 */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { Frame, Param, Value } from '../ast.js';
import { AccpError, type AccpErrorCode, accpError, ERROR_CODES } from '../errors.js';
import { type Json, type JsonObject, Reference } from '../message/json.js';
import { type Envelope, inSeconds, type Loss, type Message } from '../message/message.js';
import { sourceText } from '../message/read-value.js';
import { tryParseFrame } from '../parse.js';
import { checkProfiles } from '../profiles/profiles.js';
import { ANNOUNCEMENT_TYPES, type Step } from '../registry/negotiation.js';
import { requireSchema } from '../registry/registry.js';
import { ALLOWED_AFTER_CANCEL, cancelled } from '../session/chains.js';
import { WANTED_PLAIN, WANTED_TABLES } from '../session/compaction.js';
import type { Arrival } from '../session/delivery.js';
import { isIdentifier, type ReceivedEnvelope, readEnvelope } from '../session/envelope.js';
import type { Joined } from '../session/sequences.js';
import type { SessionParts } from '../session/session.js';
import { StoreError } from '../store/store.js';
import { toText } from '../store/text.js';
import { type DecodeOutcome, type EncodeResult, type Rejected, warningOf } from './contract.js';
import { applyReceived, isAboutDelivery, losesToOwnState, REQUEST_INTENTS, readStateSync } from './effects.js';
import { encode, profileWarning } from './encode.js';
import { lazyPayload, readPayload, retainedPayload, wireKindOf } from './read-payload.js';
import type { CodecSession } from './sender.js';
import { LARGE_VALUE } from './write-payload.js';

interface Findings {
  readonly losses: Loss[];
  readonly warnings: Diagnostic[];
  readonly replies: string[];
}

/** A frame in progress, and its results so far. */
interface Reception {
  readonly text: string;
  readonly frame: Frame;
  readonly session: CodecSession;
  readonly findings: Findings;
}

const LENIENT = { dialect: 'lenient' } as const;

export function decode(text: string, session: CodecSession): DecodeOutcome {
  const { settings, options, runtime, delivery, sender, compaction, registries, registryOf } = session;
  const parsed = tryParseFrame(text, settings.dialect === 'strict' ? undefined : LENIENT);
  if (!parsed.ok) {
    const { message, span, help } = parsed.error;
    const error = new AccpError({ code: 'E1001', message, text: typeof text === 'string' ? text : '', span, help });
    return reject(error, null, undefined, session);
  }
  let frame = parsed.value;
  let envelope: ReceivedEnvelope | undefined;
  try {
    const reading = readEnvelope(frame);
    envelope = reading.envelope;
    const [agent, isAmbiguous] = compaction.agentOf(frame, envelope.table, registryOf);
    if (agent !== frame.agent) frame = { ...frame, agent };
    // The count of its agent is not known.
    if (isAmbiguous && options.sequence === 'sender') throw gapOf(frame);
    const mayBeCompact = registries.mayBeCompact(agent, settings.compact);
    const isContinuous = !isAmbiguous && compaction.isContinuous(frame, envelope.table, mayBeCompact);
    const arrival = arrivalOf(frame, envelope, isContinuous);
    const isOurs = envelope.sid === undefined || envelope.sid === options.id;
    if (reading.fault === undefined && isExpired(envelope, runtime)) {
      // No answer: the sender is not informed (section 3.7, item 5).
      if (isOurs && delivery.expire(arrival)) expanded(frame, envelope, session);
      runtime.emit('dropped', 'A frame expired.', { frame: text });
      return { outcome: 'dropped', reason: 'expired' };
    }
    // The numbers of a frame of another session are not those of this one.
    if (!isOurs) throw accpError('E5001', 'metadata.sid', 'the frame belongs to another session');
    admit(arrival, isAmbiguous, session);
    const [plain, whole = text] = expanded(frame, envelope, session);
    if (reading.fault !== undefined) throw reading.fault;
    sender.logFrame('received', { text, plain: whole, seq: envelope.seq });
    return process(whole, plain, envelope, session);
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    return reject(toAccpError(thrown), frame, envelope, session);
  }
}

/** Accepts a frame, which uses up its number. A frame whose agent is not certain is one after a gap, and is sent again as a plain one. */
function admit(arrival: Arrival, isAmbiguous: boolean, { delivery }: CodecSession): void {
  try {
    delivery.admit(arrival);
  } catch (thrown) {
    if (!isAmbiguous || !(thrown instanceof AccpError)) throw thrown;
    const { code, message, details } = thrown;
    throw new AccpError({ code, message, details: { ...details, want: WANTED_PLAIN } });
  }
}

function gapOf({ agent }: Frame): AccpError {
  const message = `The number ${agent} is that of several agents.`;
  return new AccpError({ code: 'E3003', message, details: { want: WANTED_PLAIN } });
}

/** Every frame that uses up a number teaches the tables for compact frames, even if it is rejected afterwards. */
function expanded(frame: Frame, { table }: ReceivedEnvelope, { compaction, registryOf }: CodecSession) {
  return compaction.expand(frame, table, registryOf);
}

/** Errors of the checks of the host must neither end the session nor reach the other side. */
function toAccpError(thrown: unknown): AccpError {
  if (thrown instanceof AccpError) return thrown;
  const error = accpError('E9999', undefined, 'The frame could not be processed.');
  error.cause = thrown;
  return error;
}

function arrivalOf(frame: Frame, { mid, seq }: ReceivedEnvelope, isContinuous: boolean): Arrival {
  const { agent, intent, operation } = frame;
  if (intent === 'sync' && operation === 'resync')
    return { agent, mid, seq, kind: 'resync', from: countOf(frame, 'from') };
  return { agent, mid, seq, kind: expectedOf(frame) === undefined ? 'ordinary' : 'gap-report', isContinuous };
}

/** A frame expires only with a time stamp and a positive `ttl` (section 3.5); after a jump of the clock, the lower age counts. */
function isExpired({ ts, ttl }: ReceivedEnvelope, runtime: SessionParts['runtime']): boolean {
  if (ts === undefined || ttl === undefined || ttl <= 0) return false;
  const age = inSeconds(runtime.now()) - ts;
  const other = inSeconds(runtime.monotonic()) - ts;
  const lower = Math.min(age, other);
  return (lower >= 0 ? lower : Math.max(age, other)) > ttl;
}

function reject(
  error: AccpError,
  frame: Frame | null,
  envelope: ReceivedEnvelope | undefined,
  { runtime, sender, compaction, options }: CodecSession,
): Rejected {
  const { details, code } = error;
  // With one count for all, the number may be that of a frame of ours, which was then not read.
  if (code === 'E3003' && options.sequence === 'session') compaction.reset(options.agent);
  runtime.emit('rejected', error.message, { details: { code, ...details } });
  // Error frames are never answered by error frames, which avoids loops.
  if (frame !== null && isErrorFrame(frame)) return { outcome: 'rejected', error, reply: null };
  // A request without a chain is answered under its own identifier (section 10.2). A frame rejected for its order (E3002, E3003) is
  // processed later.
  const mid = envelope?.mid ?? identifierIn(frame, 'mid');
  const isOrder = code === 'E3002' || code === 'E3003';
  const cid = envelope?.cid ?? identifierIn(frame, 'cid') ?? (isOrder ? undefined : mid);
  return { outcome: 'rejected', error, reply: sender.sendError(error, { cid, mid }) };
}

function identifierIn(frame: Frame | null, name: 'mid' | 'cid'): string | undefined {
  const value = frame?.metadata?.find(({ key }) => key === name)?.value;
  const text =
    value?.kind === 'integer' ? (value.text ?? String(value.value)) : value?.kind === 'string' ? value.value : '';
  return isIdentifier(text) ? text : undefined;
}

function process(text: string, frame: Frame, own: ReceivedEnvelope, session: CodecSession): DecodeOutcome {
  const { settings, chains } = session;
  const findings: Findings = { losses: [], warnings: [], replies: [] };
  const chain = own.cid === undefined ? undefined : chains.get(own.cid);
  if (chain?.cancelled === true && !ALLOWED_AFTER_CANCEL.has(frame.intent)) throw cancelled(own.cid!);
  const pending = chain?.request?.message;
  if (
    pending !== undefined &&
    frame.intent === 'req' &&
    pending.agent !== frame.agent &&
    /^[0-9]{1,6}$/.test(own.cid!)
  ) {
    // Agents that do not know of each other may choose the same short identifier.
    throw accpError('E5001', 'metadata.cid', `the chain ${own.cid} has an unanswered request of @${pending.agent}`);
  }
  const decision = settings.authorize?.(frame) ?? true;
  if (decision !== true) {
    throw accpError('E5001', undefined, typeof decision === 'string' ? decision : 'the frame is not authorized');
  }
  if (!settings.intents.has(frame.intent)) {
    throw accpError('E1002', 'intent', `unknown intent "${frame.intent}"`);
  }
  const reception = { text, frame, session, findings };
  const whole = joinParts(reception, own);
  if (whole === null) {
    return { outcome: 'pending', part: 'sequence', correlationId: own.cid ?? own.mid, ...findings };
  }
  return settle(reception, readMessage(reception, whole), whole.envelope);
}

function joinParts({ text, frame, session }: Reception, envelope: ReceivedEnvelope): Joined | null {
  const { part, cid } = envelope;
  const { agent, intent, operation } = frame;
  if (part === undefined) return { params: frame.payload, envelope };
  const { dialect } = session.settings;
  const now = session.runtime.monotonic();
  const joined = session.sequences.add({ agent, intent, operation, part, envelope, text, dialect, now });
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
  readonly body: string;
  /** The payload to store, with references for large values; or a function that parses it again. */
  readonly retained: JsonObject | (() => JsonObject);
}

function readMessage({ text, frame, session, findings }: Reception, { params, envelope }: Joined): MessageReading {
  const { settings, registries, ownRegistry, chains, state } = session;
  const { agent, intent, operation } = frame;
  const { dialect } = settings;
  const code = schemaCode(params);
  const schema =
    code === undefined ? undefined : requireSchema(registries.of(agent, ownRegistry()), code, 'payload.schema');
  const types = schema?.types ?? (isRegistrySync(frame) ? ANNOUNCEMENT_TYPES : undefined);
  const rules = {
    code,
    schema,
    types,
    transliterated: envelope.isTransliterated || registries.isTransliterated(agent, settings.text),
  };
  const references = new References(session);
  const { payload, losses } = readPayload(params, rules, references.resolve);
  for (const loss of losses) findings.losses.push(loss);
  const messageOwn = messageEnvelope(envelope);
  const message: Message =
    code === undefined
      ? { agent, intent, operation, payload, envelope: messageOwn }
      : { agent, intent, operation, schema: code, payload, envelope: messageOwn };
  checkProfiles(
    message,
    {
      direction: 'receive',
      dialect,
      wireKind: (key) => wireKindOf(params, key, rules),
      isExact: (key) => losses.every(({ path, kind }) => kind !== 'precision' || path !== `payload.${key}`),
      request: envelope.cid === undefined ? undefined : chains.get(envelope.cid),
      tools: settings.tools,
      warn: (name, text, path) => findings.warnings.push(profileWarning(name, text, path)),
    },
    settings.profiles,
  );
  const body = withoutMetadata(text);
  const { resolved } = references;
  if (resolved !== undefined && (settings.state || REQUEST_INTENTS.has(intent))) {
    for (const [path, value] of resolved) resolved.set(path, retainedValue(path, value, state));
  }
  const isReadAgain = params === frame.payload && resolved === undefined;
  const retained = isReadAgain
    ? lazyPayload(body, dialect, rules)
    : retainedPayload(params, rules, resolved ?? NO_REFERENCES);
  return { message, body, retained };
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
    throw accpError('E1004', 'payload.schema', `the code of a schema must be a string; got a ${value.kind}`);
  }
  return undefined;
}

const NO_REFERENCES: ReadonlyMap<string, Json> = new Map();

/** The references of one message. Most messages have none. */
class References {
  readonly #session: CodecSession;
  #resolver: ((path: string) => Json) | undefined;
  /** The values by path; `undefined` if the message has no reference. */
  resolved: Map<string, Json> | undefined;

  constructor(session: CodecSession) {
    this.#session = session;
  }

  readonly resolve = (path: string, at: string): Json => {
    const { state, settings } = this.#session;
    this.#resolver ??= state.resolver(settings.references);
    this.resolved ??= new Map();
    let value: Json;
    try {
      value = this.#resolver(path);
    } catch (thrown) {
      if (!(thrown instanceof AccpError)) throw thrown;
      const { code, message, details, help } = thrown;
      // The draft writes amounts of money like this: `budget:$42.30`.
      const isAmount = code !== 'E2003' && settings.dialect === 'lenient' && /^[0-9]/.test(path);
      if (!isAmount) throw new AccpError({ code, message, details, help, path: at });
      value = `$${path}`;
    }
    this.resolved.set(path, value);
    return value;
  };
}

/** The paths of externalized values, which never change. */
const IMMUTABLE = /^cold\.v[0-9a-f]{6,}$/;

/** Large values remain references: otherwise, each short frame that names one would store it again. */
function retainedValue(path: string, value: Json, state: SessionParts['state']): Json {
  if (IMMUTABLE.test(path)) return new Reference(path);
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

function settle(
  reception: Reception,
  { message, body, retained }: MessageReading,
  envelope: ReceivedEnvelope,
): DecodeOutcome {
  const { frame, session, findings } = reception;
  const { state, streams, registries } = session;
  const { agent, intent, operation, payload } = message;
  const cid = envelope.cid ?? envelope.mid;
  if (intent === 'cancel' && envelope.cid === undefined) {
    throw accpError('E1004', 'metadata.cid', 'cancel needs the correlation identifier of the chain');
  }
  const sync = intent === 'sync' && operation === 'state' ? readStateSync(payload, state) : undefined;
  const answersState = sync !== undefined && losesToOwnState(sync, state);
  const checkpoint = applyReceived({ message, text: body, retained, sync, mid: envelope.mid, cid }, session);
  const streamed = takeChunk(message, streams);
  const step = isRegistrySync(frame) ? registries.received(agent, payload, session.ownRegistry()) : null;
  if (step !== null) answerWithinBudget(() => sendRegistry(step, session).frames, reception);
  if (isErrorFrame(frame)) answerError(reception, message);
  if (answersState) answerWithinBudget(() => fullState(session, payload['version'] as number), reception);
  const { losses, warnings, replies } = findings;
  if (streamed) return { outcome: 'pending', part: 'stream', correlationId: cid, message, losses, warnings, replies };
  return checkpoint === undefined
    ? { outcome: 'message', message, losses, warnings, replies }
    : { outcome: 'message', message, losses, warnings, replies, checkpoint };
}

function answerError(reception: Reception, message: Message): void {
  const { frame, session, findings } = reception;
  const { sender, streams, compaction, registries, delivery, options } = session;
  const { payload, envelope } = message;
  const { want } = payload;
  const { causation_id: aid } = envelope;
  const rejectedFrame = aid === undefined ? undefined : delivery.sentAs(aid);
  if (want === WANTED_PLAIN) {
    registries.refuseCompact('peer');
    registries.forgetDelta();
  }
  if (want === WANTED_PLAIN || want === WANTED_TABLES) compaction.reset(rejectedFrame?.[0] ?? options.agent);
  // A receiver that does not know the agent of a frame does not know its count either.
  const expected =
    expectedOf(frame) ?? (want === WANTED_PLAIN && isAboutDelivery(message) ? rejectedFrame?.[1] : undefined);
  if (expected !== undefined) {
    const { frames, warnings } = sender.recover({ expected, rejected: aid, reporter: frame.agent });
    findings.replies.push(...frames);
    findings.warnings.push(...warnings);
  } else if (payload['code'] === 'E2001' && payload['want'] === 'full_state') {
    answerWithinBudget(() => fullState(session), reception);
  }
  const { correlation_id: cid } = envelope;
  if (isAboutDelivery(message)) return;
  if (aid !== undefined) sender.refused(aid);
  if (cid === undefined) return;
  if (streams.pending().includes(cid)) streams.abort(cid, receivedError(message));
}

function receivedError({ agent, payload }: Message): AccpError {
  const { code, message } = payload;
  const known = typeof code === 'string' && Object.hasOwn(ERROR_CODES, code) ? (code as AccpErrorCode) : 'E9999';
  return accpError(known, undefined, `@${agent} reports: ${typeof message === 'string' ? message : String(code)}`);
}

/** Stores a chunk of a stream (section 10.4). Returns `true` for a mere chunk; an `end` message may carry the last chunk, too. */
function takeChunk({ agent, intent, schema, payload, envelope }: Message, streams: SessionParts['streams']): boolean {
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

export function sendRegistry(step: Step, session: CodecSession): EncodeResult {
  const { registries, settings } = session;
  const registry = session.ownRegistry();
  const payload = registries.payloadOf(step, registry, settings.text, settings.compact);
  const result = encode({ intent: 'sync', operation: 'registry', payload }, session);
  registries.sent(step, registry);
  return result;
}

/** The state is a map of its own, so that its keys are not read as abbreviations (section 5.4). */
export function sendFullState(values: JsonObject, version: number, session: CodecSession): EncodeResult {
  if (!Number.isSafeInteger(version)) throw accpError('E1004', 'version', 'must be an integer');
  return encode({ intent: 'sync', operation: 'state', payload: { version, state: values } }, session);
}

/** Encodes the whole state. `theirs` is the version of the other side, which the sent version must exceed. */
function fullState(session: CodecSession, theirs = -1): readonly string[] {
  const { state } = session;
  return sendFullState(state.values(), Math.max(state.version, theirs + 1), session).frames;
}

/** The maximum number of characters of answers per session, beyond those that requests earn. */
const MAX_ANSWER_CHARACTERS = 1_048_576;
/** The number of characters of answers that each character of a request earns. */
const ANSWER_CHARACTERS_PER_CHARACTER = 8;
const ANSWER_CHARACTERS = 'answer-characters';

/** Sends a long answer to a short request, within a budget per session. Lost answers are sent again by resync (section 3.7). */
function answerWithinBudget(answer: () => readonly string[], { text, session, findings }: Reception): void {
  const { facts, runtime } = session;
  const before = facts.get(ANSWER_CHARACTERS);
  const used = Math.max(0, (typeof before === 'number' ? before : 0) - ANSWER_CHARACTERS_PER_CHARACTER * text.length);
  if (used > MAX_ANSWER_CHARACTERS) {
    facts.set(ANSWER_CHARACTERS, used);
    runtime.emit('unanswered', UNANSWERED.message);
    findings.warnings.push(UNANSWERED);
    return;
  }
  const frames = answer();
  facts.set(
    ANSWER_CHARACTERS,
    frames.reduce((length, frame) => length + frame.length, used),
  );
  findings.replies.push(...frames);
}

/** Resets the budget: after a change of state on this side, the other side has a reason to ask again. */
export function resetAnswerBudget({ facts }: Pick<SessionParts, 'facts'>): void {
  facts.delete(ANSWER_CHARACTERS);
}

const UNANSWERED = warningOf(
  'unanswered',
  'The other side requests the state or the registry too often; this request is not answered.',
  '5.4',
  'the next change of the state on this side resets the limit',
);

function isErrorFrame({ intent, operation }: Pick<Frame, 'intent' | 'operation'>): boolean {
  return intent === 'fail' && operation === 'error';
}

function expectedOf(frame: Frame): number | undefined {
  if (!isErrorFrame(frame)) return undefined;
  const code = memberOf(frame, 'code');
  return code?.kind === 'string' && code.value === 'E3003' ? countOf(frame, 'expected') : undefined;
}

function countOf(frame: Frame, key: string): number | undefined {
  const value = memberOf(frame, key);
  const isCount = value?.kind === 'integer' && typeof value.value === 'number' && value.value >= 0;
  return isCount ? (value.value as number) : undefined;
}

function memberOf({ payload }: Frame, key: string): Value | undefined {
  return payload.find((param) => param.key === key)?.value;
}
