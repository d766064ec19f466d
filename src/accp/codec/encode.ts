/** The encoding pipeline (draft-benzing-accp-00, section 7.2). */
import type { Diagnostic } from '../../text/diagnostic.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import { AccpError, accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { isPlainObject, type Json, type JsonObject, nullObject } from '../message/json.js';
import { inSeconds, type Loss, type MessageInput } from '../message/message.js';
import { completeError } from '../profiles/error.js';
import { chatMessage, checkProfiles, PROFILES } from '../profiles/profiles.js';
import { omitDefaults } from '../registry/defaults.js';
import { type Registry, requireSchema } from '../registry/registry.js';
import { ALLOWED_AFTER_CANCEL, cancelled } from '../session/chains.js';
import { type EncodeResult, type FramePart, type FrameTokens, warningOf } from './contract.js';
import { type Draft, type Drafts, withinBudget } from './drafts.js';
import { applySent, losesToOwnState, type Outbound, REQUEST_INTENTS, readStateSync } from './effects.js';
import { addTokens, warnOfLimits } from './frame-tokens.js';
import { bodyText, type CodecSession, type Prepared } from './sender.js';
import { asWritten, type Encoding, noteInline, paramsOf, retainedOf, writeDirectly } from './write-payload.js';

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
