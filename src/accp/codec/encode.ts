/** The encoding pipeline (draft-benzing-accp-00, section 7.2). */
import type { Diagnostic } from '../../text/diagnostic.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Param } from '../ast.js';
import { AccpError, accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { isPlainObject, type Json, type JsonObject, ref, type SchemaDefinition } from '../message/json.js';
import { inSeconds, type Loss, type MessageInput } from '../message/message.js';
import { createWriting, type Writing, writeParam } from '../message/write-value.js';
import { completeError } from '../profiles/error.js';
import { chatMessage, checkProfiles, PROFILES } from '../profiles/profiles.js';
import { fieldType, omitDefaults } from '../registry/defaults.js';
import { type Registry, requireSchema } from '../registry/registry.js';
import { ALLOWED_AFTER_CANCEL, cancelled } from '../session/chains.js';
import { metadataText, type Part } from '../session/envelope.js';
import { MAX_CHARACTERS, type Piece, splitParams, tooLong } from '../session/sequence.js';
import {
  addTokens,
  countFrame,
  type EncodeResult,
  type FramePart,
  type FrameTokens,
  isOverHardLimit,
  overLimits,
  warningOf,
} from './contract.js';
import { applySent, losesToOwnState, type Outbound } from './effects.js';
import { readPayload } from './read-payload.js';
import { bodyText, type CodecSession, type Sent } from './sender.js';

/** The length, in characters, above which strings are sent as references if possible (section 3.3, rule 4). */
export const LARGE_VALUE = 50;

interface Encoding {
  readonly session: CodecSession;
  readonly message: Outbound;
  readonly schema: SchemaDefinition | undefined;
  readonly writing: Writing;
  readonly warnings: Diagnostic[];
}

/** Encodes a message. Throws AccpError if it breaks a rule; the session is then unchanged. */
export function encode(input: MessageInput | string, session: CodecSession): EncodeResult {
  const { settings, registries, options, state } = session;
  const renamed: Loss[] = [];
  const message = normalize(typeof input === 'string' ? chatMessage(input) : input, session, renamed);
  const warnings: Diagnostic[] = [];
  const registry = session.ownRegistry();
  const schema = message.schema === undefined ? undefined : requireSchema(registry, message.schema, 'schema');
  checkAnnounced(message, registry, registries.announced, warnings);
  checkRules(message, session, warnings);
  const writing = createWriting({
    ...registries.writing(settings.text),
    externalize: (value, path) => {
      if (options.shared) return state.externalize(value);
      throw unshared(path);
    },
  });
  writing.losses.push(...renamed);
  const encoding: Encoding = { session, message, schema, writing, warnings };

  const params = writePayload(encoding);
  const frames = withinBudget(params, encoding);
  return emit(frames, params, encoding);
}

function normalize(input: MessageInput, { options, runtime, settings }: CodecSession, renamed: Loss[]): Outbound {
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
  const message: Outbound = {
    agent: input.agent ?? options.agent,
    intent,
    operation,
    schema,
    payload,
    envelope: {
      ...envelope,
      timestamp: wholeSeconds('timestamp', envelope.timestamp) ?? inSeconds(runtime.now()),
      ttl: wholeSeconds('ttl', envelope.ttl),
    },
  };
  return { ...message, payload: completeError(message) };
}

function withFullKeys(schema: string | undefined, input: JsonObject, renamed: Loss[]): Record<string, Json> {
  const table = keyTable(schema);
  const payload: Record<string, Json> = Object.create(null);
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
  if (cid !== undefined && chains.isCancelled(cid) && !ALLOWED_AFTER_CANCEL.has(intent)) throw cancelled(cid);
  if (intent === 'sync' && message.operation === 'state' && losesToOwnState(message.payload, state)) {
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
      request: cid === undefined ? undefined : chains.get(cid),
      warn: (code, text, path) => warnings.push(profileWarning(code, text, path)),
    },
    settings.profiles,
  );
  if (cid !== undefined) sentStreams.check(cid, message);
}

export function profileWarning(code: string, text: string, path: string | undefined): Diagnostic {
  return warningOf(code, path === undefined ? text : `${path}: ${text}`, '10');
}

/** Abbreviates keys, replaces large values by references, and omits defaults. */
function writePayload({ session, message, schema, writing }: Encoding): Param[] {
  const table = keyTable(message.schema);
  const fields = schema === undefined ? message.payload : omitDefaults(message.payload, schema);
  // Error frames must be readable even when state has failed.
  const isCompressed = message.schema !== 'ER' && message.intent !== 'sync';
  const params = Object.entries(fields).map(([key, value]) => {
    const sent = isCompressed ? compressed(key, value, session) : value;
    return writeParam(table.abbreviate(key), sent, writing, fieldType(schema, key), key);
  });
  if (message.schema !== undefined) params.push({ key: 'schema', value: { kind: 'string', value: message.schema } });
  return params;
}

function compressed(key: string, value: Json, { options, state, runtime }: CodecSession): Json {
  if (typeof value !== 'string' || value.length <= LARGE_VALUE) return value;
  if (options.shared) return ref(state.externalize(value));
  runtime.emit('inline', `payload.${key} is sent inline, since the other side shares no store.`);
  return value;
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
  readonly body: string;
  readonly part: Part | undefined;
}

function withinBudget(params: readonly Param[], encoding: Encoding): readonly Draft[] {
  const { agent, intent, operation } = encoding.message;
  const { limits, counter } = encoding.session.settings;
  const whole = bodyText(agent, intent, operation, params);
  // A token has at least one character.
  if (whole.length <= limits.body.hard && whole.length + METADATA_LENGTH <= limits.total.hard) {
    return [{ body: whole, part: undefined }];
  }
  if (whole.length > MAX_CHARACTERS) throw tooLong(`${MAX_CHARACTERS} characters`);
  const counted = countFrame(whole, counter);
  const total = counted.total + counter.count(sampleMetadata(encoding));
  if (!isOverHardLimit({ ...counted, total }, limits)) return [{ body: whole, part: undefined }];
  const pieces = splitParams(params, roomFor(encoding), (param) => {
    return counter.count(bodyText('a', 'a', 'a', [param])) - PARAM_FRAME;
  });
  if (pieces.length === 1) return [{ body: whole, part: undefined }];
  const drafts = pieces.map(({ params: some, cut }: Piece, index) => ({
    body: bodyText(agent, intent, operation, some),
    part: { index, total: pieces.length, cut },
  }));
  const around = sampleMetadata(encoding, drafts.at(-1)!.part).length + LONGEST_NUMBERS;
  const length = drafts.reduce((sum, { body }) => sum + body.length + around, 0);
  if (length > MAX_CHARACTERS) throw tooLong(`${MAX_CHARACTERS} characters`);
  return drafts;
}

/** The number of characters of a metadata block with identifiers of usual length. */
const METADATA_LENGTH = 96;
/** The number of characters by which a metadata block may exceed its sample: number, cut, and a generated `cid`. */
const LONGEST_NUMBERS = 48;
/** The number of tokens of `@a>a:a{}`, less one for the bar between parameters. */
const PARAM_FRAME = 5;
/** The number of tokens that counting in pieces may miss. */
const BODY_SLACK = 6;
/** The minimum number of tokens of payload in one frame, however low the limits are. */
const MIN_ROOM = 16;

function sampleMetadata({ message, session }: Encoding, part?: Part): string {
  const { agent, envelope } = message;
  return metadataText({
    mid: envelope.msg_id ?? 'a12345678901',
    seq: session.delivery.nextToSend(agent),
    ts: envelope.timestamp,
    cid: envelope.correlation_id,
    aid: envelope.causation_id,
    sid: envelope.session_id ?? session.options.id,
    ttl: envelope.ttl,
    part,
  });
}

function roomFor(encoding: Encoding): number {
  const { limits, counter } = encoding.session.settings;
  const { agent, intent, operation, envelope } = encoding.message;
  const sample = sampleMetadata(
    { ...encoding, message: { ...encoding.message, envelope: { correlation_id: 'a12345678901', ...envelope } } },
    { index: 99, total: 99, cut: 1 },
  );
  const around = counter.count(`@${agent}>${intent}`) + counter.count(sample);
  const frame = counter.count(`:${operation}{}`) + BODY_SLACK;
  return Math.max(MIN_ROOM, Math.min(limits.body.hard, limits.total.hard - around) - frame);
}

/** Returns the message as the other side reads it: both sides store the values as written, including rounding (section 3.1.1). */
function asWritten(params: readonly Param[], { message, writing, session }: Encoding): Outbound {
  const { intent, operation } = message;
  if (intent !== 'sync' || operation !== 'state' || writing.losses.length === 0) return message;
  const rules = {
    code: undefined,
    schema: undefined,
    types: undefined,
    transliterated: writing.text === 'transliterate',
  };
  const { payload } = readPayload(params, rules, session.state.resolve);
  return { ...message, payload };
}

function emit(drafts: readonly Draft[], params: readonly Param[], encoding: Encoding): EncodeResult {
  const { session, message, writing, warnings } = encoding;
  const { sender, settings } = session;
  const { agent, envelope } = message;
  const isSplit = drafts.length > 1;
  const mid = envelope.msg_id ?? sender.freshId();
  // The frames of a sequence share their cid.
  const cid = envelope.correlation_id ?? (isSplit ? mid : undefined);
  const correlationId = envelope.correlation_id ?? mid;
  // The last check before numbers are assigned: a numbered frame must be sent.
  sampleMetadata(encoding);
  const text = drafts.map(({ body }) => body).join('');
  const checkpoint = applySent({ message: asWritten(params, encoding), text, mid, cid: correlationId }, session);
  const sent = drafts.map(({ body, part }, index) =>
    sender.send({
      agent,
      body,
      ts: envelope.timestamp,
      cid,
      aid: envelope.causation_id,
      // Later parts are matched by cid and sender.
      sid: index === 0 || settings.sessionId === 'always' ? envelope.session_id : null,
      ttl: envelope.ttl,
      part,
      mid: index === 0 ? mid : undefined,
      keep: true,
    }),
  );
  const tokens = tokensOf(sent, encoding);
  for (const frame of sent) sender.logFrame('sent', frame);
  return {
    frames: sent.map((frame) => frame.text),
    msgId: mid,
    correlationId,
    losses: writing.losses,
    warnings,
    tokens,
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

function tokensOf(sent: readonly Sent[], encoding: Encoding): FrameTokens {
  const { session, warnings } = encoding;
  const { facts } = session;
  const { limits, counter } = session.settings;
  let sum: FrameTokens | undefined;
  for (const { text } of sent) {
    const tokens = countFrame(text, counter);
    for (const { part, over, warning } of overLimits(tokens, limits)) {
      if (over === 'hard' || !isUnavoidable(part, encoding)) warnings.push(warning);
      else if (!facts.has(`${WARNED}${part}`)) {
        facts.set(`${WARNED}${part}`, true);
        warnings.push({ ...warning, help: 'no frame of this session can meet the limit; the warning is not repeated' });
      }
    }
    sum = sum === undefined ? tokens : addTokens(sum, tokens);
  }
  return sum!;
}

/** Prefix of the facts that record a soft-limit warning no frame of this sender can avoid. */
const WARNED = 'warned-soft-';

/** Returns `true` if even the shortest frame of this sender exceeds the soft limit. */
function isUnavoidable(part: FramePart, { session, message }: Encoding): boolean {
  const { settings, options } = session;
  const sid = settings.sessionId === 'always' ? options.id : undefined;
  const metadata = metadataText({ mid: 'a', seq: 1, ts: message.envelope.timestamp, sid });
  const shortest = countFrame(`@${message.agent}>${message.intent}:a{}${metadata}`, settings.counter);
  return shortest[part] > settings.limits[part].soft;
}
