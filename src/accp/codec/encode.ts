/** The encoding pipeline (draft-benzing-accp-00, section 7.2). */
import type { Diagnostic } from '../../text/diagnostic.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Frame, Param } from '../ast.js';
import { AccpError, accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { isPlainObject, type Json, type JsonObject, nullObject, ref, type SchemaDefinition } from '../message/json.js';
import { inSeconds, type Loss, type MessageInput } from '../message/message.js';
import { DirectWriter } from '../message/write-direct.js';
import { createWriting, writeParam } from '../message/write-value.js';
import { completeError } from '../profiles/error.js';
import { chatMessage, checkProfiles, PROFILES } from '../profiles/profiles.js';
import { addDefaults, fieldType, omitDefaults } from '../registry/defaults.js';
import { type Registry, requireSchema } from '../registry/registry.js';
import { ALLOWED_AFTER_CANCEL, cancelled } from '../session/chains.js';
import type { CompactBody } from '../session/compaction.js';
import { metadataText, type Part } from '../session/envelope.js';
import type { TextState } from '../session/registries.js';
import { MAX_CHARACTERS, splitParams, tooLong } from '../session/sequence.js';
import { type EncodeResult, type FramePart, type FrameTokens, warningOf } from './contract.js';
import { applySent, losesToOwnState, type Outbound, REQUEST_INTENTS, readStateSync } from './effects.js';
import { addTokens, warnOfLimits } from './frame-tokens.js';
import { lazyPayload, readPayload } from './read-payload.js';
import { bodyText, type CodecSession, type Prepared } from './sender.js';

/** The length, in characters, above which strings are sent as references if possible (section 3.3, rule 4). */
export const LARGE_VALUE = 50;

interface Encoding {
  readonly session: CodecSession;
  readonly message: Outbound;
  readonly schema: SchemaDefinition | undefined;
  /** The payload without defaults. */
  readonly fields: JsonObject;
  readonly text: TextState;
  readonly losses: Loss[];
  readonly warnings: Diagnostic[];
  /** The tree of the payload, which most messages do not need. */
  params: readonly Param[] | undefined;
}

/** Encodes a message. Throws AccpError if it breaks a rule; the session is then unchanged. */
export function encode(input: MessageInput | string, session: CodecSession): EncodeResult {
  return session.compaction.write(() => encodeMessage(input, session));
}

function encodeMessage(input: MessageInput | string, session: CodecSession): EncodeResult {
  const { settings, registries, compaction } = session;
  const losses: Loss[] = [];
  const { interruptions } = compaction;
  const message = normalize(typeof input === 'string' ? chatMessage(input) : input, session, losses);
  const warnings: Diagnostic[] = [];
  const registry = session.ownRegistry();
  const schema = message.schema === undefined ? undefined : requireSchema(registry, message.schema, 'schema');
  checkAnnounced(message, registry, registries.announced, warnings);
  checkRules(message, session, warnings);
  const fields = schema === undefined ? message.payload : omitDefaults(message.payload, schema);
  const text = registries.writing(settings.text);
  const encoding: Encoding = { session, message, schema, fields, text, losses, warnings, params: undefined };
  noteInline(encoding);
  const { agent, intent, operation } = message;
  // Compact frames are made of the tree.
  const direct = settings.compact ? null : writeDirectly(encoding);
  const whole = direct ?? bodyText(agent, intent, operation, paramsOf(encoding));
  return emit(withinBudget(whole, encoding), encoding, interruptions);
}

function normalize(
  input: MessageInput,
  { options, runtime, settings, sender }: CodecSession,
  renamed: Loss[],
): Outbound {
  if (!isPlainObject(input))
    throw new TypeError('A message must be an object, or a string for a message of the chat profile');
  if (input.payload !== undefined && !isPlainObject(input.payload)) {
    throw accpError('E1004', 'payload', 'a payload must be a plain object');
  }
  const { intent, operation, schema, envelope = {} } = input;
  if (!settings.intents.has(intent)) {
    throw accpError('E1002', 'intent', `unknown intent "${intent}"`);
  }
  const payload = withFullKeys(schema, input.payload ?? {}, renamed);
  if (envelope.session_id !== undefined && envelope.session_id !== options.id) {
    throw accpError('E5001', 'envelope.session_id', `the session has the identifier ${options.id}`);
  }
  const { msg_id, sequence, correlation_id, causation_id, session_id } = envelope;
  // Copied field by field: a spread takes longer than all checks.
  const timestamp = wholeSeconds('timestamp', envelope.timestamp) ?? inSeconds(runtime.now());
  const ttl = wholeSeconds('ttl', envelope.ttl);
  const isFirst = correlation_id === undefined && REQUEST_INTENTS.has(intent);
  const cid = isFirst ? sender.shortCid() : correlation_id;
  return {
    agent: input.agent ?? options.agent,
    intent,
    operation,
    schema,
    payload: completeError({ schema, payload }),
    envelope: { msg_id, sequence, correlation_id: cid, causation_id, session_id, timestamp, ttl },
    hasShortCid: isFirst && cid !== undefined,
  };
}

function withFullKeys(schema: string | undefined, input: JsonObject, renamed: Loss[]): Record<string, Json> {
  const table = keyTable(schema);
  const payload = nullObject<Json>();
  const keys = Object.keys(input);
  if (keys.length > DEFAULT_LIMITS.maxItems) {
    throw accpError('E1004', 'payload', `a payload can have at most ${DEFAULT_LIMITS.maxItems} keys`);
  }
  for (const key of keys) {
    const value = input[key];
    if (value === undefined) continue;
    const full = table.expand(key);
    if (full in payload) {
      throw accpError('E1004', `payload.${key}`, `duplicate key "${full}", once abbreviated`);
    }
    payload[full] = value;
    if (full !== key) renamed.push({ path: `payload.${key}`, kind: 'renamed', from: key, to: full });
  }
  return payload;
}

function wholeSeconds(field: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw accpError('E1004', `envelope.${field}`, `the value must be a non-negative integer of seconds; got ${value}`);
}

/** Throws AccpError E1003 if the registry has changed since it was announced (section 6.4). */
function checkAnnounced(
  { schema }: Outbound,
  registry: Registry,
  announced: string | undefined,
  warnings: Diagnostic[],
): void {
  if (schema === undefined || PROFILE_CODES.has(schema) || announced === registry.hash) return;
  if (announced !== undefined) {
    throw accpError(
      'E1003',
      'schema',
      'the registry has changed since it was announced',
      'send the frames of codec.announce(session) first',
    );
  }
  const message = `The schema ${schema} was not announced; the other side may not know it.`;
  warnings.push(warningOf('not-announced', message, '6.4', 'send the frames of codec.announce(session) first'));
}

const PROFILE_CODES: ReadonlySet<string> = new Set(PROFILES.map(({ code }) => code));

function checkRules(message: Outbound, session: CodecSession, warnings: Diagnostic[]): void {
  const { delivery, chains, state, sentStreams, settings } = session;
  const { envelope, intent, agent } = message;
  const { correlation_id: cid, sequence, msg_id: mid } = envelope;
  const next = delivery.nextToSend(agent);
  if (sequence !== undefined && sequence !== next) {
    throw new AccpError({
      code: 'E3003',
      path: 'envelope.sequence',
      message: `the next number is ${next}`,
      details: { expected: next },
    });
  }
  if (mid !== undefined && delivery.hasSeen(mid)) {
    throw accpError('E3002', 'envelope.msg_id', `the identifier ${mid} is in use`);
  }
  if (intent === 'cancel' && cid === undefined) {
    throw accpError('E1004', 'envelope.correlation_id', 'cancel needs the correlation identifier of the chain');
  }
  const chain = cid === undefined ? undefined : chains.get(cid);
  if (chain?.cancelled === true && !ALLOWED_AFTER_CANCEL.has(intent)) throw cancelled(cid!);
  const isState = intent === 'sync' && message.operation === 'state';
  if (isState && losesToOwnState(readStateSync(message.payload, state), state)) {
    const { version } = state;
    throw new AccpError({
      code: 'E2001',
      path: 'payload.version',
      message: `this side already has version ${version} of the state`,
      details: { version },
    });
  }
  checkProfiles(
    message,
    {
      direction: 'send',
      dialect: 'strict',
      request: chain,
      warn: (code, text, path) => warnings.push(profileWarning(code, text, path)),
    },
    settings.profiles,
  );
  if (cid !== undefined) sentStreams.check(cid, message);
}

export function profileWarning(code: string, text: string, path: string | undefined): Diagnostic {
  return warningOf(code, path === undefined ? text : `${path}: ${text}`, '10');
}

/** The characters of names in a header. */
const AGENT = /^[\w-]+$/;
const INTENT = /^[A-Za-z]+$/;
const OPERATION = /^\w+$/;

/** Returns header and body, or `null` if the payload has anything that needs a tree. */
function writeDirectly({ session, message, schema, fields, text }: Encoding): string | null {
  const { agent, intent, operation } = message;
  if (!AGENT.test(agent) || !INTENT.test(intent) || !OPERATION.test(operation)) return null;
  const table = keyTable(message.schema);
  const writer = new DirectWriter(text.text);
  let written = `@${agent}>${intent}:${operation}{`;
  let separator = '';
  for (const key of Object.keys(fields)) {
    const value = fields[key]!;
    if (session.options.shared && isLarge(value, message)) return null;
    const param = writer.param(table.abbreviate(key), value, fieldType(schema, key));
    if (param === null) return null;
    written += separator + param;
    separator = '|';
  }
  return message.schema === undefined ? `${written}}` : `${written}${separator}schema:${message.schema}}`;
}

function paramsOf(encoding: Encoding): readonly Param[] {
  encoding.params ??= writePayload(encoding);
  return encoding.params;
}

/** Abbreviates keys, and replaces large values by references. */
function writePayload({ session, message, schema, fields, text, losses }: Encoding): Param[] {
  const { options, state } = session;
  const table = keyTable(message.schema);
  const externalize = (value: Json, path: string): string => {
    if (options.shared) return state.externalize(value);
    throw unshared(path);
  };
  const writing = createWriting({ text: text.text, peerDecodes: text.peerDecodes, externalize, losses });
  const params: Param[] = [];
  for (const key of Object.keys(fields)) {
    const value = fields[key]!;
    const sent = options.shared && isLarge(value, message) ? ref(state.externalize(value)) : value;
    params.push(writeParam(table.abbreviate(key), sent, writing, fieldType(schema, key), key));
  }
  if (message.schema !== undefined) params.push({ key: 'schema', value: { kind: 'string', value: message.schema } });
  return params;
}

/** Returns `true` for strings that are sent as references. Error frames must be readable even when state has failed. */
function isLarge(value: Json, { schema, intent }: Outbound): boolean {
  return typeof value === 'string' && value.length > LARGE_VALUE && schema !== 'ER' && intent !== 'sync';
}

function noteInline({ session, message, fields }: Encoding): void {
  const { options, runtime } = session;
  if (options.shared || runtime.log === undefined) return;
  for (const key of Object.keys(fields)) {
    if (!isLarge(fields[key]!, message)) continue;
    runtime.emit('inline', `payload.${key} is sent inline, since the other side shares no store.`);
  }
}

function unshared(path: string): AccpError {
  return accpError(
    'E1004',
    path,
    'the value cannot be written in a frame, and the other side shares no store',
    'use one store with shared: true on both ends, or text: "transliterate"',
  );
}

interface Draft {
  /** Header and body, in plain form. */
  readonly text: string;
  readonly part: Part | undefined;
  /** Header and body as sent, if the tables have learned from them already. */
  readonly compact: CompactBody | undefined;
}

/** The frames of a message, without metadata. */
interface Drafts {
  readonly drafts: readonly Draft[];
  /** The number of tokens of the plain text of the only draft; `undefined` if it was not counted, or if there are several. */
  readonly tokens: number | undefined;
  /** The number of tokens of header and body as sent, if they were counted. */
  readonly sent: number | undefined;
  /** The number of tokens of its body as sent. */
  readonly body: number | undefined;
}

function withinBudget(whole: string, encoding: Encoding): Drafts {
  const { session, message } = encoding;
  const { agent, intent, operation } = message;
  const { limits, counter } = session.settings;
  if (whole.length > MAX_CHARACTERS) throw tooLong(`${MAX_CHARACTERS} characters`);
  const { params: payload } = encoding;
  const tree: Frame | undefined = payload && { kind: 'frame', agent, intent, operation, payload, metadata: null };
  const compact = session.sender.shorten(agent, whole, { tree });
  const sent = compact.body;
  // A token has at least one character.
  if (sent.length <= limits.body.hard && sent.length + METADATA_LENGTH <= limits.total.hard) {
    const known = session.frameTokens.whole(sent, message, compact.tokens);
    return single(whole, compact, { tokens: compact.plainTokens ?? known, sent: known, body: undefined });
  }
  const tokens = compact.tokens ?? counter.count(sent);
  const known = session.frameTokens.whole(sent, message, tokens);
  const body = session.frameTokens.body(sent, message, known);
  const plainTokens = compact.plainTokens ?? tokens;
  const counts = { tokens: plainTokens, sent: known, body };
  if (body <= limits.body.hard && tokens <= limits.total.hard) {
    const metadata = sampleMetadata(encoding);
    const fits = tokens + metadata.length <= limits.total.hard;
    if (fits || tokens + counter.count(metadata) <= limits.total.hard) return single(whole, compact, counts);
  }
  const most = mostTokens(encoding);
  const { owners } = session.compaction;
  // Compact frames have room for more than plain ones if their pieces are about as short as the whole, and for less if they have marks.
  const ratio = tokens / plainTokens;
  let share = ratio > 1 ? COMPACT_SLACK * ratio : Math.min(1, COMPACT_SLACK * ratio);
  let drafts = split(encoding, most, share);
  if (drafts.length === 1) return single(whole, compact, counts);
  owners.rollBack();
  const allFit = (): boolean => {
    const isEach = drafts.every(({ text }) => {
      return session.frameTokens.body(session.sender.shorten(agent, text, { isPart: true }).body, message) <= most;
    });
    owners.rollBack();
    return isEach;
  };
  for (let attempt = 0; attempt < MAX_SPLITS && ratio !== 1 && !allFit(); attempt++) {
    share = share < 1 ? 1 : COMPACT_SLACK * share;
    drafts = split(encoding, most, share);
  }
  const around = sampleMetadata(encoding, drafts.at(-1)!.part).length + LONGEST_NUMBERS;
  const length = drafts.reduce((sum, { text }) => sum + text.length + around, 0);
  if (length > MAX_CHARACTERS) throw tooLong(`${MAX_CHARACTERS} characters`);
  return { drafts, tokens: undefined, sent: undefined, body: undefined };
}

/**
 * @param most the maximum number of tokens of a body
 * @param share the number of tokens of a parameter as sent, divided by those of the plain one
 */
function split(encoding: Encoding, most: number, share: number): Draft[] {
  const { agent, intent, operation } = encoding.message;
  const { counter } = encoding.session.settings;
  const room = Math.max(MIN_ROOM, most - counter.count(`:${operation}{}`) - BODY_SLACK);
  const pieces = splitParams(paramsOf(encoding), room, (param) => {
    return Math.ceil(share * (counter.count(bodyText('a', 'a', 'a', [param])) - PARAM_FRAME));
  });
  return pieces.map(({ params, cut }, index) => ({
    text: bodyText(agent, intent, operation, params),
    part: { index, total: pieces.length, cut },
    compact: undefined,
  }));
}

function single(text: string, compact: CompactBody, counts: Omit<Drafts, 'drafts'>): Drafts {
  return { drafts: [{ text, part: undefined, compact }], ...counts };
}

/** The number of characters of a metadata block with identifiers of usual length. */
const METADATA_LENGTH = 96;
/** An identifier of usual length. */
const SAMPLE_ID = 'a12345678901';
/** The number of characters by which a metadata block may exceed its sample: number and cut. */
const LONGEST_NUMBERS = 32;
/** The number of tokens of `@a>a:a{}`, less one for the bar between parameters. */
const PARAM_FRAME = 5;
/** The number of tokens that counting in pieces may miss. */
const BODY_SLACK = 6;
/** By how much pieces of a compact frame may be longer than the whole, in proportion. */
const COMPACT_SLACK = 1.15;
/** The maximum number of further attempts to split a message into compact frames. */
const MAX_SPLITS = 4;
/** The minimum number of tokens of payload in one frame, however low the limits are. */
const MIN_ROOM = 16;

function sampleMetadata({ message, session }: Encoding, part?: Part): string {
  const { agent, envelope } = message;
  return metadataText({
    mid: envelope.msg_id ?? SAMPLE_ID,
    seq: session.delivery.nextToSend(agent),
    ts: envelope.timestamp,
    // Parts have the identifier of the first one.
    cid: envelope.correlation_id ?? (part && SAMPLE_ID),
    aid: envelope.causation_id,
    sid: envelope.session_id ?? session.options.id,
    ttl: envelope.ttl,
    part,
  });
}

/** Returns the maximum number of tokens of the body of a part. */
function mostTokens(encoding: Encoding): number {
  const { session, message } = encoding;
  const { limits, counter } = session.settings;
  const sample = sampleMetadata(encoding, { index: 99, total: 99, cut: 1 });
  const around = session.frameTokens.header(message) + counter.count(sample);
  return Math.min(limits.body.hard, limits.total.hard - around);
}

/** Returns the message as the other side reads it: both sides store the values as written, including rounding (section 3.1.1). */
function asWritten(encoding: Encoding): Outbound {
  const { message, losses, text, session } = encoding;
  const { intent, operation } = message;
  if (intent !== 'sync' || operation !== 'state' || losses.length === 0) return message;
  const rules = {
    code: undefined,
    schema: undefined,
    types: undefined,
    transliterated: text.text === 'transliterate',
  };
  const { payload } = readPayload(paramsOf(encoding), rules, session.state.resolve);
  return { ...message, payload };
}

/**
 * Returns the payload for hot state as the other side reads it, with defaults; or a function that reads it from the text, if that has all of
 * it. A copy takes longer, and more memory.
 *
 * @param whole the plain text of a message in one frame
 */
function retainedOf(
  { session, message, schema, text, params, losses }: Encoding,
  whole: string | undefined,
): JsonObject | (() => JsonObject) {
  const { schema: code, payload } = message;
  // A payload that was written without a tree has no losses, and no values in cold state.
  const isComplete = params === undefined || (losses.length === 0 && !session.options.shared);
  if (whole !== undefined && whole.length <= DEFAULT_LIMITS.maxLength && isComplete) {
    const transliterated = text.text === 'transliterate';
    return lazyPayload(whole, 'strict', { code, schema, types: schema?.types, transliterated });
  }
  if (schema === undefined) return payload;
  const complete = Object.assign(nullObject<Json>(), payload);
  addDefaults(complete, schema);
  return complete;
}

/** @param before the number of interruptions before the payload was read */
function emit({ drafts: made, tokens: counted, ...ofSent }: Drafts, read: Encoding, before: number): EncodeResult {
  const { session, losses, warnings } = read;
  const { sender, compaction } = session;
  const written = compaction.interruptions;
  const mid = read.message.envelope.msg_id ?? sender.freshId();
  // The option createId may throw.
  const mids = [mid];
  while (mids.length < made.length) mids.push(sender.freshId(mids));
  const encoding = compaction.interruptions === before ? read : withOwnCid(read);
  const drafts = compaction.interruptions === written ? made : made.with(0, withoutTables(made[0]!));
  const { message } = encoding;
  const correlationId = message.envelope.correlation_id ?? mid;
  // The last check before the session is changed: a numbered frame must be sent.
  const { interruptions } = compaction;
  let first = prepare(drafts[0]!, mid, correlationId, encoding);
  const text = drafts.length === 1 ? drafts[0]!.text : drafts.map((draft) => draft.text).join('');
  const retained = retainedOf(encoding, drafts.length === 1 ? text : undefined);
  const processed = { message: asWritten(encoding), text, tokens: counted, retained, mid, cid: correlationId };
  // Before functions of the host can send requests.
  if (message.hasShortCid) sender.tookCid(correlationId);
  const checkpoint = applySent(processed, session);
  if (compaction.interruptions > interruptions)
    first = prepare(withoutTables(drafts[0]!), mid, correlationId, encoding);
  const frames: string[] = [];
  let tokens: FrameTokens | undefined;
  for (const [at, draft] of drafts.entries()) {
    const prepared = at === 0 ? first : prepare(draft, mids[at]!, correlationId, encoding);
    const sent = sender.send(prepared, true);
    // The other side learns from a frame that has a number, whatever happens to the next one.
    compaction.owners.settle();
    const isCounted = drafts.length === 1 && prepared.body === made[0]!.compact?.body;
    const ofFrame = session.frameTokens.frame(sent.text, sent.length, message, isCounted ? ofSent : {});
    warnOfFrame(ofFrame, encoding);
    tokens = tokens === undefined ? ofFrame : addTokens(tokens, ofFrame);
    sender.logFrame('sent', sent);
    frames.push(sent.text);
  }
  const own = tokens!;
  return checkpoint === undefined
    ? { frames, msgId: mid, correlationId, losses, warnings, tokens: own }
    : { frames, msgId: mid, correlationId, losses, warnings, tokens: own, checkpoint };
}

/** A function of the host, such as a getter of the payload, has sent a request, which may have the short identifier of this one. */
function withOwnCid(encoding: Encoding): Encoding {
  const { message, session } = encoding;
  if (!message.hasShortCid) return encoding;
  const envelope = { ...message.envelope, correlation_id: session.sender.shortCid() };
  return { ...encoding, message: { ...message, envelope } };
}

/** A function of the host has sent other frames, from which the tables have learned in the meantime. */
function withoutTables(draft: Draft): Draft {
  return { ...draft, compact: undefined };
}

function prepare({ text, part, compact }: Draft, mid: string, correlationId: string, encoding: Encoding): Prepared {
  const { session, message } = encoding;
  const { agent, envelope } = message;
  const { timestamp: ts, correlation_id, causation_id: aid, session_id, ttl } = envelope;
  // The frames of a sequence share their cid. Later parts are matched by cid and sender, and need no sid.
  const cid = part === undefined ? correlation_id : correlationId;
  const hasSid = part === undefined || part.index === 0 || session.settings.sessionId !== 'first';
  const sid = hasSid ? session_id : null;
  const frame = { agent, body: text, ts, cid, aid, sid, ttl, part };
  const isTransliterated = isOutsideAnnouncement(encoding) && (part !== undefined || /['"]/.test(text));
  return session.sender.prepare(isTransliterated ? { ...frame, isTransliterated } : frame, mid, compact);
}

/**
 * Returns `true` if strings are transliterated because this side has announced it, and the frame has a count of its own, so that it may be
 * read before the announcement.
 */
function isOutsideAnnouncement({ session, message, text }: Encoding): boolean {
  const { options, settings } = session;
  if (options.sequence === 'session' || message.agent === options.agent) return false;
  return settings.text === undefined && text.text === 'transliterate';
}

function warnOfFrame(tokens: FrameTokens, encoding: Encoding): void {
  const { session, message, warnings } = encoding;
  const { facts, frameTokens, settings } = session;
  const unavoidable = (part: FramePart): 'no' | 'first' | 'again' => {
    // Even the shortest frame of this sender exceeds the soft limit.
    const isUnavoidable = frameTokens.shortest(message, message.envelope.timestamp)[part] > settings.limits[part].soft;
    if (!isUnavoidable) return 'no';
    if (facts.has(WARNED[part])) return 'again';
    facts.set(WARNED[part], true);
    return 'first';
  };
  warnOfLimits(tokens, settings.limits, unavoidable, warnings);
}

/** The facts that record a soft-limit warning no frame of this sender can avoid. */
const WARNED: Readonly<Record<FramePart, string>> = {
  header: 'warned-soft-header',
  body: 'warned-soft-body',
  metadata: 'warned-soft-metadata',
  total: 'warned-soft-total',
};
