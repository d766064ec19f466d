/** Tier 2: summaries of checkpoints, and values that the host has set (draft-benzing-accp-00, section 5.1). */
import { accpError } from '../errors.js';
import { isJsonObject, type Json, type JsonObject } from '../message/json.js';
import type { Collection } from '../store/journal.js';
import type { ColdTier } from './cold.js';
import type { CheckpointEntry } from './digest.js';
import { isExpired, type Lookup, type StateEntry, stateText, type TierContext, type TokenBudget } from './tier.js';

export type WarmTier = ReturnType<typeof createWarm>;

interface WarmOptions extends TierContext {
  readonly cold: ColdTier;
  readonly keep: number;
  readonly digest: (raw: JsonObject) => CheckpointEntry;
}

/** The mark of an entry that is computed when first read. */
const DEFERRED = 'deferred';

const PREFIX = 'ckpt_';
const CHECKPOINT_ID = /^ckpt_[0-9]+$/;

const archiveKey = (id: string): string => `warm_${id}`;

export function createWarm({ journal, counter, now, budgets, cold, keep, digest }: WarmOptions) {
  const values: Collection<StateEntry | typeof DEFERRED> = journal.collection('state.warm');

  const checkpoints = [...values.keys()].filter((key) => CHECKPOINT_ID.test(key)).sort(byNumber);

  /** The entries being computed: a message may refer to the checkpoint that contains it. */
  const computing = new Set<string>();

  function compute(id: string): StateEntry | undefined {
    const raw = computing.has(id) ? undefined : cold.find(id);
    if (raw === undefined || raw === 'expired' || !isJsonObject(raw.value)) return undefined;
    const { value } = raw;
    const { entry, tokens } = withoutEntry(id, () => digest(value));
    return { value: entry, tokens, expiresAt: null };
  }

  function withoutEntry<T>(id: string, work: () => T): T {
    computing.add(id);
    try {
      return work();
    } finally {
      computing.delete(id);
    }
  }

  function known(key: string): StateEntry | undefined {
    const stored = values.get(key);
    if (stored !== DEFERRED) return stored;
    const entry = compute(key);
    if (entry !== undefined) values.set(key, entry);
    return entry;
  }

  function archived(id: string): Lookup {
    return cold.find(archiveKey(id)) ?? compute(id);
  }

  return {
    find(key: string): Lookup {
      const entry = known(key);
      if (entry === undefined) return CHECKPOINT_ID.test(key) ? archived(key) : undefined;
      return isExpired(entry.expiresAt, now()) ? 'expired' : entry;
    },
    set(key: string, value: Json, expiresAt: number | null): void {
      const tokens = counter.count(`${key}:${stateText(value)}`);
      if (tokens > budgets.checkpoint) {
        throw accpError(
          'E2003',
          `warm.${key}`,
          `an entry of ${tokens} tokens does not fit into warm state; the budget of one entry is ${budgets.checkpoint}`,
          'store the value in cold state',
        );
      }
      values.set(key, { value, tokens, expiresAt });
    },
    delete: (key: string) => values.delete(key),
    /** Computes an entry, which is unknown meanwhile. */
    withoutEntry,
    /** Adds a checkpoint; a `null` entry is computed when it is read. If there are too many, the oldest one moves to cold state. */
    addCheckpoint(id: string, fitted: CheckpointEntry | null): void {
      values.set(id, fitted === null ? DEFERRED : { value: fitted.entry, tokens: fitted.tokens, expiresAt: null });
      // Checkpoints may finish out of order.
      const inOrder = checkpoints.length === 0 || byNumber(checkpoints.at(-1)!, id) < 0;
      checkpoints.push(id);
      if (!inOrder) checkpoints.sort(byNumber);
      for (const old of checkpoints.splice(0, Math.max(0, checkpoints.length - keep))) {
        const entry = values.get(old)!;
        if (entry !== DEFERRED) cold.set(archiveKey(old), entry.value, null);
        values.delete(old);
      }
    },
    budget(): TokenBudget['warm'] {
      let used = 0;
      for (const key of values.keys()) {
        const entry = known(key);
        if (entry !== undefined && !isExpired(entry.expiresAt, now())) used += entry.tokens;
      }
      return {
        used,
        perCheckpoint: budgets.checkpoint,
        checkpoints: checkpoints.map((id) => ({ id, tokens: known(id)?.tokens ?? 0 })),
      };
    },
  };
}

function byNumber(a: string, b: string): number {
  return Number(a.slice(PREFIX.length)) - Number(b.slice(PREFIX.length));
}
