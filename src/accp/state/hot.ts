/** Tier 1: the context (draft-benzing-accp-00, section 5.1): the last messages, and parameters of the task. */

import { accpError } from '../errors.js';
import { type Json, type JsonObject, Reference } from '../message/json.js';
import type { Collection } from '../store/journal.js';
import { fromText, toText } from '../store/text.js';
import type { ColdTier } from './cold.js';
import { CHECKPOINT_KEY, isExpired, type Kept, type Lookup, stateText, type TierContext } from './tier.js';

export interface HotContent {
  readonly frames: readonly StoredFrame[];
  readonly values: Readonly<Record<string, Kept>>;
}

export type HotTier = ReturnType<typeof createHot>;

interface HotOptions extends TierContext {
  readonly cold: ColdTier;
  /** Reports keys moved to cold state to make room. */
  readonly moved: (keys: readonly string[]) => void;
}

/** Expired values are kept, to be told from missing ones, up to this number of entries. */
const MANY_VALUES = 256;

export function createHot({ journal, counter, now, budgets, cold, moved }: HotOptions) {
  const frames: Collection<StoredFrame> = journal.collection('state.frames');
  const values: Collection<Kept> = journal.collection('state.hot');
  let frameTokens = 0;
  let next = 0;
  for (const [key, { tokens }] of frames.entries()) {
    frameTokens += tokens;
    next = Number(key) + 1;
  }

  function keep(key: string, value: Json, expiresAt: number | null): Kept {
    return { value, tokens: counter.count(`${key}:${stateText(value)}`), expiresAt };
  }

  function liveTokens({ expiresAt, tokens }: Kept): number {
    return expiresAt !== null && isExpired(expiresAt, now()) ? 0 : tokens;
  }

  function tokens(): number {
    let used = frameTokens;
    for (const kept of values.values()) used += liveTokens(kept);
    return used;
  }

  /** Returns references that replace values, the oldest first, until `excess` tokens are saved. */
  function movable(except: string, excess: number): Map<string, Kept> {
    const plan = new Map<string, Kept>();
    let left = excess;
    for (const [key, kept] of values.entries()) {
      if (left <= 0) break;
      if (key === except || kept.value instanceof Reference || liveTokens(kept) === 0) continue;
      const reference = keep(key, new Reference(cold.pathOf(kept.value)), kept.expiresAt);
      if (reference.tokens >= kept.tokens) continue;
      left -= kept.tokens - reference.tokens;
      plan.set(key, reference);
    }
    if (left <= 0) return plan;
    throw accpError(
      'E2003',
      `hot.${except}`,
      `hot state would hold ${budgets.hot + left} tokens, and its budget is ${budgets.hot}`,
      'keep the value in cold state and refer to it, or make a checkpoint first',
    );
  }

  function put(key: string, value: Kept): void {
    values.set(key, value);
    if (values.size <= MANY_VALUES) return;
    for (const [old, { expiresAt }] of [...values.entries()]) if (isExpired(expiresAt, now())) values.delete(old);
  }

  function addKept(frame: StoredFrame): void {
    frames.set(String(next++), frame);
    frameTokens += frame.tokens;
  }

  function take(): HotContent {
    const content: { frames: StoredFrame[]; values: Record<string, Kept> } = {
      frames: [...frames.values()],
      values: Object.create(null),
    };
    for (const [key, kept] of values.entries()) {
      if (key !== CHECKPOINT_KEY && !isExpired(kept.expiresAt, now())) content.values[key] = kept;
    }
    const reference = values.get(CHECKPOINT_KEY);
    frames.clear();
    values.clear();
    if (reference !== undefined) values.set(CHECKPOINT_KEY, reference);
    frameTokens = 0;
    next = 0;
    return content;
  }

  return {
    find(key: string): Lookup {
      const kept = values.get(key);
      if (kept === undefined) return undefined;
      return isExpired(kept.expiresAt, now()) ? 'expired' : kept;
    },
    set(key: string, value: Json, expiresAt: number | null): void {
      const kept = keep(key, value, expiresAt);
      const former = values.get(key);
      const used = tokens() - (former === undefined ? 0 : liveTokens(former));
      const excess = used + kept.tokens - budgets.hot;
      if (excess > 0) {
        const plan = movable(key, excess);
        for (const [other, reference] of plan) {
          cold.externalize(values.get(other)!.value);
          values.set(other, reference);
        }
        moved([...plan.keys()]);
      }
      put(key, kept);
    },
    delete: (key: string) => values.delete(key),
    addFrame(frame: HotFrame): void {
      const counted = counter.count(frame.text);
      // A checkpoint can move all but the frame itself and the reference.
      const fixed = values.get(CHECKPOINT_KEY)?.tokens ?? 0;
      if (counted + fixed > budgets.hot) {
        throw accpError(
          'E2003',
          undefined,
          `a message of ${counted} tokens does not fit into hot state, whose budget is ${budgets.hot}`,
          'refer to large values instead of sending them',
        );
      }
      // The host makes the checkpoints itself: one is overdue.
      if (frameTokens > budgets.hotTrigger && tokens() + counted > budgets.hot) {
        throw accpError(
          'E2003',
          undefined,
          `hot state would hold ${tokens() + counted} tokens, and its budget is ${budgets.hot}`,
          'make a checkpoint first',
        );
      }
      addKept(new HeldFrame(frame, counted));
    },
    tokens,
    /** Removes everything but the reference to the last checkpoint. */
    take,
    /** Restores what `take` removed, before what has come since. */
    putBack(content: HotContent): void {
      const since = take();
      for (const frame of [...content.frames, ...since.frames]) addKept(frame);
      for (const [key, kept] of Object.entries({ ...content.values, ...since.values })) values.set(key, kept);
    },
    refer(id: string): void {
      values.set(CHECKPOINT_KEY, keep(CHECKPOINT_KEY, new Reference(`warm.${id}`), null));
    },
  };
}

export interface HotFrame {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string | undefined;
  /** Or a pure function that reads it when needed. Objects are copied. */
  readonly payload: JsonObject | (() => JsonObject);
  readonly cid?: string | undefined;
  readonly mid: string;
  /** The canonical frame without its metadata, for counting tokens. */
  readonly text: string;
}

export interface StoredFrame extends Omit<HotFrame, 'text' | 'payload'> {
  readonly payload: JsonObject;
  readonly tokens: number;
}

/** A class, as one getter must serve many messages: closures would cost more than all other data. */
class HeldFrame implements StoredFrame {
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
  const text = toText(payload);
  return () => fromText(text) as JsonObject;
}
