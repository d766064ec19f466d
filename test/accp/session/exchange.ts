/** Messages through two ends of a session that share nothing but frames, and what has to come out. */

import {
  type Accepted,
  type Codec,
  type CodecOptions,
  createCodec,
  createRegistry,
  createSession,
  type EncodeResult,
  type Json,
  type JsonObject,
  type Loss,
  type Message,
  type MessageInput,
  type Session,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { keyTable } from '../../../src/accp/message/abbreviations.js';
import { pathText, type Step } from '../../../src/accp/message/message.js';
import { addDefaults } from '../../../src/accp/registry/defaults.js';

export interface Ends {
  readonly codec: Codec;
  readonly sender: Session;
  readonly receiver: Session;
}

export interface EndsOptions {
  readonly codec?: CodecOptions;
  readonly sender?: Partial<SessionOptions>;
  readonly receiver?: Partial<SessionOptions>;
  readonly both?: Partial<SessionOptions>;
}

export const NOW = 1_714_000_000;

/** Two ends with one clock; by default without state, whose budgets would refuse long messages. */
export function ends({ codec, sender, receiver, both }: EndsOptions = {}): Ends {
  return {
    codec: createCodec({ now: () => NOW * 1000, state: false, ...codec }),
    sender: createSession({ agent: 'a', id: 's', ...both, ...sender }),
    receiver: createSession({ agent: 'b', id: 's', ...both, ...receiver }),
  };
}

export interface Passed {
  readonly sent: EncodeResult;
  readonly received: Accepted;
  /** Of both ways. */
  readonly losses: readonly Loss[];
}

/** Sends a message from one end to the other. */
export function pass(message: MessageInput, { codec, sender, receiver }: Ends): Passed {
  const sent = codec.encode(message, sender);
  const received = receiveAll(sent.frames, codec, receiver);
  return { sent, received, losses: [...sent.losses, ...received.losses] };
}

/** The message that frames make up. */
export function receiveAll(frames: readonly string[], codec: Codec, session: Session): Accepted {
  for (const [index, frame] of frames.entries()) {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'rejected') throw outcome.error;
    if (outcome.outcome === 'message' && index === frames.length - 1) return outcome;
    if (outcome.outcome !== 'pending') throw new Error(`frame ${index} of ${frames.length} is ${outcome.outcome}`);
    if (outcome.message !== undefined) return { ...outcome, outcome: 'message', message: outcome.message };
  }
  throw new Error('the message is not whole');
}

const REGISTRY = createRegistry();

/** The payload as it is to come out: full keys, and the defaults of its schema. */
export function normalized({ payload, schema }: Pick<Message, 'payload' | 'schema'>): { readonly [key: string]: Json } {
  const table = keyTable(schema);
  const full: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(payload)) full[table.expand(key)] = value;
  const definition = schema === undefined ? undefined : REGISTRY.byCode(schema);
  if (definition !== undefined) addDefaults(full, definition);
  return full;
}

/** The paths at which two payloads differ, as losses name them; numbers are compared by sign, too. */
export function differences(before: JsonObject, after: JsonObject): string[] {
  return stepsBetween(before, after, []).map(pathText);
}

function stepsBetween(before: Json | undefined, after: Json | undefined, path: readonly Step[]): (readonly Step[])[] {
  if (Object.is(before, after)) return [];
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) return [path];
  if (Array.isArray(before) !== Array.isArray(after)) return [path];
  const [old, fresh] = [before as JsonObject, after as JsonObject];
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])].flatMap((key) => {
    const place = [...path, Array.isArray(before) ? Number(key) : key];
    if (Object.hasOwn(old, key) !== Object.hasOwn(fresh, key)) return [place];
    return stepsBetween(old[key], fresh[key], place);
  });
}
