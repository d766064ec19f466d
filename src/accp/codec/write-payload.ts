/** The payload of a sent frame: abbreviated keys, references, text (draft-benzing-accp-00, section 7.2). */
import type { Diagnostic } from '../../text/diagnostic.js';
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Param } from '../ast.js';
import { type AccpError, accpError } from '../errors.js';
import { keyTable } from '../message/abbreviations.js';
import { type Json, type JsonObject, nullObject, ref, type SchemaDefinition } from '../message/json.js';
import type { Loss } from '../message/message.js';
import { DirectWriter } from '../message/write-direct.js';
import { createWriting, writeParam } from '../message/write-value.js';
import { addDefaults, fieldType } from '../registry/defaults.js';
import type { TextState } from '../session/registries.js';
import type { Outbound } from './effects.js';
import { lazyPayload, readPayload } from './read-payload.js';
import type { CodecSession } from './sender.js';

/** The length, in characters, above which strings are sent as references if possible (section 3.3, rule 4). */
export const LARGE_VALUE = 50;

/** A message that is being encoded. */
export interface Encoding {
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

/** The characters of names in a header. */
const AGENT = /^[\w-]+$/;
const INTENT = /^[A-Za-z]+$/;
const OPERATION = /^\w+$/;

/** Returns header and body, or `null` if the payload has anything that needs a tree. */
export function writeDirectly({ session, message, schema, fields, text }: Encoding): string | null {
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

export function paramsOf(encoding: Encoding): readonly Param[] {
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

export function noteInline({ session, message, fields }: Encoding): void {
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

/** Returns the message as the other side reads it: both sides store the values as written, including rounding (section 3.1.1). */
export function asWritten(encoding: Encoding): Outbound {
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
export function retainedOf(
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
