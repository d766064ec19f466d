/** Tier 1: the context, with the last messages and parameters of the task (draft-benzing-accp-00, section 5.1). */

import { AccpError, accpError } from '../errors.js';
import { type Json, type JsonObject, nullObject, Reference } from '../message/json.js';
import type { Collection } from '../store/journal.js';
import { fromText, toText } from '../store/text.js';
import type { ColdTier } from './cold.js';
import { CHECKPOINT_KEY, isExpired, type Lookup, type StateEntry, stateText, type TierContext } from './tier.js';

/** The content of hot state. */
export interface HotContent {
  /** The messages, the oldest first. */
  readonly frames: readonly StoredFrame[];
  /** The values that the host has set, by key. */
  readonly values: Readonly<Record<string, StateEntry>>;
}

/** The reason in the details of the error for a message that does not fit, whatever a checkpoint moves. */
export const TOO_LARGE = 'size';

export type HotTier = ReturnType<typeof createHot>;

interface HotOptions extends TierContext {
  readonly cold: ColdTier;
  /** A function that receives the keys whose values were moved to cold state to make room. */
  readonly onMoved: (keys: readonly string[]) => void;
}

/** The number of entries up to which expired values are kept, which distinguishes them from missing ones. */
const MAX_VALUES = 256;

export function createHot({ journal, counter, now, budgets, cold, onMoved }: HotOptions) {
  const frames: Collection<StoredFrame> = journal.collection('state.frames');
  const values: Collection<StateEntry> = journal.collection('state.hot');
  let frameTokens = 0;
  let next = 0;
  for (const [key, { tokens }] of frames.entries()) {
    frameTokens += tokens;
    next = Number(key) + 1;
  }

  function entryFor(key: string, value: Json, expiresAt: number | null): StateEntry {
    return { value, tokens: counter.count(`${key}:${stateText(value)}`), expiresAt };
  }

  function liveTokens({ expiresAt, tokens }: StateEntry): number {
    return expiresAt !== null && isExpired(expiresAt, now()) ? 0 : tokens;
  }

  function tokens(): number {
    let used = frameTokens;
    for (const entry of values.values()) used += liveTokens(entry);
    return used;
  }

  /**
   * Returns the references that replace values, the oldest first, until `excess` tokens are saved. Throws AccpError E2003 if too few
   * can be moved.
   */
  function planMoves(except: string, excess: number): Map<string, StateEntry> {
    const plan = new Map<string, StateEntry>();
    let left = excess;
    for (const [key, entry] of values.entries()) {
      if (left <= 0) break;
      if (key === except || entry.value instanceof Reference || liveTokens(entry) === 0) continue;
      const reference = entryFor(key, new Reference(cold.pathOf(entry.value)), entry.expiresAt);
      if (reference.tokens >= entry.tokens) continue;
      left -= entry.tokens - reference.tokens;
      plan.set(key, reference);
    }
    if (left <= 0) return plan;
    throw accpError(
      'E2003',
      `hot.${except}`,
      `hot state would have ${budgets.hot + left} tokens; its budget is ${budgets.hot}`,
      'store the value in cold state and refer to it, or make a checkpoint first',
    );
  }

  function put(key: string, value: StateEntry): void {
    values.set(key, value);
    if (values.size <= MAX_VALUES) return;
    for (const [old, { expiresAt }] of [...values.entries()]) if (isExpired(expiresAt, now())) values.delete(old);
  }

  function addStored(frame: StoredFrame): void {
    frames.set(String(next++), frame);
    frameTokens += frame.tokens;
  }

  function take(): HotContent {
    const content: { frames: StoredFrame[]; values: Record<string, StateEntry> } = {
      frames: [...frames.values()],
      values: Object.create(null),
    };
    for (const [key, entry] of values.entries()) {
      if (key === CHECKPOINT_KEY) continue;
      if (!isExpired(entry.expiresAt, now())) content.values[key] = entry;
      values.delete(key);
    }
    frames.clear();
    frameTokens = 0;
    next = 0;
    return content;
  }

  return {
    find(key: string): Lookup {
      const entry = values.get(key);
      if (entry === undefined) return undefined;
      return isExpired(entry.expiresAt, now()) ? 'expired' : entry;
    },
    set(key: string, value: Json, expiresAt: number | null): void {
      const entry = entryFor(key, value, expiresAt);
      const previous = values.get(key);
      const used = tokens() - (previous === undefined ? 0 : liveTokens(previous));
      const excess = used + entry.tokens - budgets.hot;
      if (excess > 0) {
        const plan = planMoves(key, excess);
        for (const [other, reference] of plan) {
          cold.externalize(values.get(other)!.value);
          values.set(other, reference);
        }
        onMoved([...plan.keys()]);
      }
      put(key, entry);
    },
    delete: (key: string) => values.delete(key),
    addFrame(frame: HotFrame): void {
      const counted = frame.tokens ?? counter.count(frame.text);
      // A checkpoint can move everything except the frame itself and the reference.
      const fixed = values.get(CHECKPOINT_KEY)?.tokens ?? 0;
      if (counted + fixed > budgets.hot) {
        throw new AccpError({
          code: 'E2003',
          message: `A message of ${counted} tokens does not fit into hot state; its budget is ${budgets.hot}.`,
          help: 'send references instead of large values',
          details: { reason: TOO_LARGE },
        });
      }
      // The host makes checkpoints itself, and one is overdue.
      if (frameTokens > budgets.hotTrigger && tokens() + counted > budgets.hot) {
        throw accpError(
          'E2003',
          undefined,
          `hot state would have ${tokens() + counted} tokens; its budget is ${budgets.hot}`,
          'make a checkpoint first',
        );
      }
      addStored(new LazyFrame(frame, counted));
    },
    tokens,
    /** Removes and returns everything except the reference to the last checkpoint. */
    take,
    /** Restores the content that `take` removed, before the content added since. */
    restore(content: HotContent): void {
      const added = take();
      for (const frame of [...content.frames, ...added.frames]) addStored(frame);
      for (const [key, entry] of Object.entries({ ...content.values, ...added.values })) values.set(key, entry);
    },
    /** Refers to a checkpoint, unless the reference is to a later one, which finished earlier. */
    refer(id: string): void {
      const known = values.get(CHECKPOINT_KEY)?.value;
      if (known instanceof Reference && numberIn(known.path) > numberIn(id)) return;
      values.set(CHECKPOINT_KEY, entryFor(CHECKPOINT_KEY, new Reference(`warm.${id}`), null));
    },
  };
}

/** Returns the number of a checkpoint, at the end of its identifier. */
function numberIn(id: string): number {
  return Number(id.slice(id.lastIndexOf('_') + 1));
}

/** A message to add to hot state. */
export interface HotFrame {
  /** The name of the sender. */
  readonly agent: string;
  /** The intent, such as `req`. */
  readonly intent: string;
  /** The operation, such as `schedule`. */
  readonly operation: string;
  /** The code of the schema, such as `TC`. */
  readonly schema?: string | undefined;
  /** The payload, which is copied, or a pure function that parses it when needed. */
  readonly payload: JsonObject | (() => JsonObject);
  /** The correlation identifier; absent outside chains of requests. */
  readonly cid?: string | undefined;
  /** The identifier of the message. */
  readonly mid: string;
  /** The canonical frame without its metadata, of which tokens are counted. */
  readonly text: string;
  /** The number of tokens of `text`, if it is known. @default counted */
  readonly tokens?: number | undefined;
}

/** A message in hot state. */
export interface StoredFrame extends Omit<HotFrame, 'text' | 'tokens' | 'payload'> {
  /** The payload. */
  readonly payload: JsonObject;
  /** The number of tokens of the message without its metadata. */
  readonly tokens: number;
}

/** A message whose payload is parsed when needed. A class, because closures would take more memory than all other data. */
class LazyFrame implements StoredFrame {
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

  toJSON(): StoredFrame {
    const { agent, intent, operation, schema, payload, cid, mid, tokens } = this;
    return { agent, intent, operation, schema, payload, cid, mid, tokens };
  }
}

function copyOf(payload: JsonObject): () => JsonObject {
  const flat = flatCopy(payload);
  if (flat !== null) return () => flat;
  const text = toText(payload);
  return () => fromText(text) as JsonObject;
}

/** Copies a payload without arrays and maps, in a fraction of the time of its text; `null` if it has any. */
function flatCopy(payload: JsonObject): JsonObject | null {
  const copy = nullObject<Json>();
  for (const key of Object.keys(payload)) {
    const value = payload[key];
    if (typeof value === 'object' && value !== null && !(value instanceof Reference)) return null;
    // As in JSON text, which has no -0.
    if (value !== undefined) copy[key] = value === 0 ? 0 : value;
  }
  return copy;
}
