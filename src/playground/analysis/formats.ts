/** One JSON document in several formats, with the tokens of each. */
import { encode as encodeToon } from '@toon-format/toon';
import { createCodec, createSession, type Json, type MessageInput } from '../../accp/codec/index.js';
import { compactFrame } from '../../accp/compact/index.js';
import { parseFrame } from '../../accp/index.js';
import { renderForContext, renderJson } from '../../accp/render/index.js';
import { jsonLoss } from '../../text/json-loss.js';
import type { TokenCounter } from '../../tokens/counter.js';
import { MAX_COUNTED, shown } from './result.js';

export interface FormatsInput {
  readonly json: string;
  readonly encoding: string;
}

/** A document in one format. */
export interface Format {
  readonly name: string;
  readonly description: string;
  /** The text, cut if it is long; null if the format cannot write the document. */
  readonly text: string | null;
  readonly tokens: number | null;
  /** Characters of the whole text. */
  readonly length: number;
  readonly reason: string | null;
}

export interface FormatsResult {
  readonly formats: readonly Format[];
  readonly encoding: string;
  readonly exact: boolean;
  /** The losses of the document, since it is read as JavaScript reads JSON. */
  readonly loss: string | null;
  /** The error of the document, with its place. */
  readonly error: { readonly message: string; readonly from: number } | null;
}

const MAX_JSON = 1_000_000;

/** Writes the document in all formats. A message (`intent`, `operation`, `payload`) is a frame; anything else is the payload of one. */
export function compareFormats({ json, encoding }: FormatsInput, counter: TokenCounter): FormatsResult {
  const read = readDocument(json);
  if ('error' in read) return { formats: [], encoding, exact: counter.exact, loss: null, error: read.error };
  const { value } = read;
  const message = messageOf(value);
  const formats = [
    ['JSON', 'without white space', () => JSON.stringify(value)],
    ['JSON, indented', 'two spaces', () => JSON.stringify(value, null, 2)],
    ['TOON', 'Token-Oriented Object Notation', () => encodeToon(value)],
    ['ACCP', 'a plain frame, without metadata', () => plainFrames(message).join('\n')],
    ['ACCP, compact1', 'by the numbers of the common registry', () => compactFrames(message).join('\n')],
    [
      'ACCP, compact1, later',
      'as the second frame of a session that has learned from the first',
      () => learnedFrames(message).join('\n'),
    ],
    ['text for models', 'for the context of a model', () => textForModels(value, message)],
  ] as const;
  return {
    formats: formats.map(([name, description, write]) => formatOf(name, description, write, counter)),
    encoding,
    exact: counter.exact,
    loss: jsonLoss(json, value),
    error: null,
  };
}

function formatOf(name: string, description: string, write: () => string, { count }: TokenCounter): Format {
  try {
    const text = write();
    const tokens = text.length > MAX_COUNTED ? null : count(text);
    return { name, description, text: shown(text, 4_000), tokens, length: text.length, reason: null };
  } catch (thrown) {
    // Also errors of other formats, such as that of an unpaired surrogate.
    return { name, description, text: null, tokens: null, length: 0, reason: (thrown as Error).message };
  }
}

function readDocument(
  json: string,
): { readonly value: Json } | { readonly error: NonNullable<FormatsResult['error']> } {
  if (json.length > MAX_JSON)
    return {
      error: { message: `The document has ${json.length} characters; the limit is ${MAX_JSON}.`, from: MAX_JSON },
    };
  try {
    return { value: JSON.parse(json) as Json };
  } catch (thrown) {
    const { message } = thrown as Error;
    const position = /position (\d+)/.exec(message)?.[1];
    return { error: { message, from: position === undefined ? json.length : Number(position) } };
  }
}

function messageOf(value: Json): MessageInput {
  if (isObject(value)) {
    const { intent, operation, payload = {}, agent = 'agent', schema, ...others } = value;
    const isMessage = typeof intent === 'string' && typeof operation === 'string' && isObject(payload);
    const isWhole = typeof agent === 'string' && ['string', 'undefined'].includes(typeof schema);
    if (isMessage && isWhole && Object.keys(others).length === 0) {
      return {
        ...{ agent, intent, operation, payload },
        ...(typeof schema === 'string' ? { schema } : {}),
      };
    }
    return { agent: 'agent', intent: 'done', operation: 'data', payload: value };
  }
  return { agent: 'agent', intent: 'done', operation: 'data', payload: { data: value } };
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function plainFrames(message: MessageInput): readonly string[] {
  return encoded([message], false)[0]!.map(withoutMetadata);
}

function compactFrames(message: MessageInput): readonly string[] {
  return encoded([message], false)[0]!.map((frame) => withoutMetadata(compactFrame(parseFrame(frame))));
}

function learnedFrames(message: MessageInput): readonly string[] {
  return encoded([message, message], true)[1]!.map(withoutMetadata);
}

/** Encodes messages in one session, after the announcements of both sides. */
function encoded(messages: readonly MessageInput[], compact: boolean): readonly (readonly string[])[] {
  const options = { text: 'transliterate', state: false, compact } as const;
  const [codec, peer] = [createCodec(options), createCodec(options)];
  const agent = messages[0]!.agent ?? 'agent';
  const session = createSession({ agent, id: 's1', sequence: 'sender' });
  const other = createSession({ agent: agent === 'peer' ? 'other' : 'peer', id: 's1', sequence: 'sender' });
  try {
    if (compact) {
      codec.announce(session);
      for (const frame of peer.announce(other).frames) codec.decode(frame, session);
    }
    return messages.map((message) => codec.encode(message, session).frames);
  } finally {
    session.close();
    other.close();
  }
}

/** `}[` occurs only before the metadata. */
function withoutMetadata(frame: string): string {
  const end = frame.lastIndexOf('}[');
  return end < 0 ? frame : frame.slice(0, end + 1);
}

function textForModels(value: Json, message: MessageInput): string {
  const isMessage = isObject(value) && value['intent'] === message.intent;
  return isMessage ? renderForContext(message as Parameters<typeof renderForContext>[0]).text : renderJson(value).text;
}
