/** A message as hot state holds it: its payload is read when somebody asks for it, which mostly nobody does. */
import type { JsonObject } from '../message/json.js';
import { fromText, toText } from '../store/text.js';

/** A message on its way into hot state. */
export interface HotFrame {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string | undefined;
  /** Or what reads it, always the same, for when somebody asks. An object is copied: its owner may change it. */
  readonly payload: JsonObject | (() => JsonObject);
  readonly cid?: string | undefined;
  readonly mid: string;
  /** The canonical frame without its envelope, by which its tokens are counted. */
  readonly text: string;
}

/** A message in hot state. */
export interface KeptFrame extends Omit<HotFrame, 'text' | 'payload'> {
  readonly payload: JsonObject;
  readonly tokens: number;
}

/** A class, because one getter has to serve many messages: it costs more than all else where each has its own. */
export class HeldFrame implements KeptFrame {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema: string | undefined;
  readonly cid: string | undefined;
  readonly mid: string;
  readonly tokens: number;
  readonly #read: () => JsonObject;

  constructor({ agent, intent, operation, schema, payload, cid, mid }: HotFrame, tokens: number) {
    this.agent = agent;
    this.intent = intent;
    this.operation = operation;
    this.schema = schema;
    this.cid = cid;
    this.mid = mid;
    this.tokens = tokens;
    this.#read = typeof payload === 'function' ? payload : copyOf(payload);
  }

  get payload(): JsonObject {
    return this.#read();
  }

  /** All of it as plain data, for stores and for the host's tools. */
  toJSON(): KeptFrame {
    const { agent, intent, operation, schema, payload, cid, mid, tokens } = this;
    return { agent, intent, operation, schema, payload, cid, mid, tokens };
  }
}

function copyOf(payload: JsonObject): () => JsonObject {
  const text = toText(payload);
  return () => fromText(text) as JsonObject;
}
