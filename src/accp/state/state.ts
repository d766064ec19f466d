/** The context state of one endpoint of a session (draft-benzing-accp-00, section 5). */

import { AccpError, accpError } from '../errors.js';
import type { Json, JsonObject } from '../message/json.js';
import type { EmitEvent } from '../store/events.js';
import type { Collection, Journal } from '../store/journal.js';
import { toText } from '../store/text.js';
import {
  type CheckpointResult,
  type CheckpointTools,
  type CheckpointTrigger,
  createCheckpoints,
  type MaybePromise,
} from './checkpoint.js';
import { createCold } from './cold.js';
import { type CheckpointEntry, digest, type Phase } from './digest.js';
import { createHot, type HotFrame } from './hot.js';
import {
  createLookUp,
  createResolver,
  type ReferenceLimits,
  replaceReferences,
  resolvePath,
  type Tiers,
} from './resolve.js';
import {
  checkKey,
  expiryOf,
  resolveBudgets,
  type StateBudgets,
  snapshot,
  snapshotObject,
  type Tier,
  type TierContext,
  type TokenBudget,
} from './tier.js';
import { createWarm } from './warm.js';

export type {
  CheckpointResult,
  CheckpointTools,
  CheckpointTrigger,
  HotSnapshot,
  HotSnapshotWithFacts,
  MaybePromise,
} from './checkpoint.js';
export type { Fact, FactValue } from './facts/text-facts.js';
export type { HotFrame, StoredFrame } from './hot.js';
export type { ReferenceLimits } from './resolve.js';
export type { StateBudgets, Tier, TokenBudget } from './tier.js';

export interface StateOptions extends Omit<TierContext, 'budgets'> {
  readonly session: string;
  /** Returns the time of checkpoints, in milliseconds since 1970. @default now */
  readonly wallClock?: (() => number) | undefined;
  readonly budgets?: Partial<StateBudgets> | undefined;
  /** The maximum number of checkpoints in warm state; older ones move to cold state and stay accessible. @default 16 */
  readonly keepCheckpoints?: number | undefined;
  /** The sessions whose cold state this endpoint may read. */
  readonly grants?: Iterable<string> | undefined;
  readonly emit: EmitEvent;
}

/** Options of `SessionState.set`. */
export interface SetOptions {
  /** Milliseconds after which the value expires; `Infinity` for never. @default Infinity */
  readonly ttlMs?: number | undefined;
}

/** The state of one endpoint of a session (draft-benzing-accp-00, section 5). */
export interface SessionState {
  /** Returns a value, or `undefined` if it is unknown or has expired. References are not followed; `resolve` follows them. */
  readonly get: (tier: Tier, key: string) => Json | undefined;
  /**
   * Stores a copy of a value. To make room in hot state, older values are replaced by references to cold state.
   *
   * @throws AccpError `E2003` if the value exceeds the budget of the tier, `E1004` if the key is invalid or reserved, or if the value is not
   * JSON, a big integer or a reference
   * @throws TypeError if `ttlMs` is not positive
   */
  readonly set: (tier: Tier, key: string, value: Json, options?: SetOptions) => void;
  /**
   * Deletes a value.
   *
   * @throws AccpError `E1004` if the key is invalid or reserved
   */
  readonly delete: (tier: Tier, key: string) => void;
  /** Allows this endpoint to read the cold state of another session of the store (section 9, item 3). */
  readonly grant: (session: string) => void;
  /**
   * Returns the value of a path: `hot.k`, `warm.ckpt_1.status`, `cold.k`, or `k` in any tier.
   *
   * @throws AccpError `E2001` if the path is unknown, `E2002` if the value has expired, `E5002` if only another session has it, without a grant
   */
  readonly resolve: (path: string) => Json;
  /**
   * Returns a variant of `resolve` for the references of one frame, which reads and freezes each value once. Beyond a limit it throws AccpError
   * `E2003` with the `details.reason` `reference-count` or `reference-bytes`.
   */
  readonly resolver: (limits: ReferenceLimits) => (path: string) => Json;
  /** Returns a copy of a payload in which values replace references; those without a value stay. */
  readonly resolveReferences: (payload: JsonObject) => JsonObject;
  /**
   * Stores a value in cold state under a key derived from it, and returns the path: `cold.v3fa91c`. Equal values share one key.
   *
   * @throws AccpError `E1004` if the value is not JSON, a big integer or a reference
   */
  readonly externalize: (value: Json) => string;
  /**
   * Adds a message to hot state; call `due` afterwards.
   *
   * @throws AccpError `E2003` if the message alone exceeds the budget, or if hot state is full and a checkpoint is overdue; nothing is changed
   */
  readonly addFrame: (frame: HotFrame) => void;
  /** Returns the number of tokens of hot state. */
  readonly hotTokens: () => number;
  /** Returns the usage of the token budgets. */
  readonly budget: () => TokenBudget;
  /** The version of the state that both sides share, which starts at 0. */
  readonly version: number;
  /** Returns the full state that both sides share. */
  readonly values: () => JsonObject;
  /**
   * Returns the delta from the current state to `next`, for `applyDelta` (section 5.4).
   *
   * @throws AccpError `E1004` with the path of a value that is `null`
   */
  readonly delta: (next: JsonObject) => Delta;
  /**
   * Applies a delta, which leads to `version`.
   *
   * @throws AccpError `E2001`, with the current version in `details.version`, if the delta has another base; nothing is changed
   */
  readonly applyDelta: (version: number, delta: JsonObject) => void;
  /**
   * Replaces the state that both sides share.
   *
   * @throws AccpError `E1004` if a value is `null` or the version is invalid
   */
  readonly applyFull: (version: number, values: JsonObject) => void;
  /** Returns the trigger if a checkpoint is due after a message of this intent, otherwise `null` (section 5.2). */
  readonly dueTrigger: (intent: string) => CheckpointTrigger | null;
  /**
   * Makes a checkpoint (section 5.3), synchronously unless a tool is asynchronous. Hot state is empty at once; its former content is
   * stored with the session until the promise is fulfilled.
   *
   * @throws AccpError `E2003` if not even an empty entry fits into warm state; hot state is unchanged
   */
  readonly checkpoint: (trigger: CheckpointTrigger, tools?: CheckpointTools) => MaybePromise<CheckpointResult>;
  /** Finishes the checkpoints that an earlier process began. */
  readonly resumeCheckpoints: (tools?: CheckpointTools) => readonly MaybePromise<CheckpointResult>[];
  /**
   * Finishes the checkpoints whose tools took more than 60 seconds by the default rules, and ignores later results. Every new checkpoint does
   * so, too. At most 4 checkpoints wait at a time. `now` is in milliseconds since 1970.
   */
  readonly finishOverdue: (now: number) => void;
}

const KEEP_CHECKPOINTS = 16;

/**
 * Opens the state of an endpoint from its journal, which stores all changes with its next commit. Throws TypeError if a budget is
 * invalid.
 */
export function createState(options: StateOptions): SessionState {
  const { session, journal, counter, now, emit } = options;
  const budgets = resolveBudgets(options.budgets);
  const keep = options.keepCheckpoints ?? KEEP_CHECKPOINTS;
  if (!Number.isSafeInteger(keep) || keep < 1)
    throw new TypeError(`keepCheckpoints must be a positive integer; got ${keep}`);

  const cold = createCold({ session, journal, now, grants: options.grants ?? [] });
  const onMoved = (keys: readonly string[]): void => {
    emit('moved', `${keys.join(', ')} moved to cold state to make room in hot state`, { details: { keys } });
  };
  const context = { journal, counter, now, budgets };
  const hot = createHot({ ...context, cold, onMoved });
  const digested = (raw: JsonObject): CheckpointEntry =>
    digest(raw as unknown as Phase, budgets, counter, createLookUp(tiers));
  const warm = createWarm({ ...context, cold, keep, digest: digested });
  const tiers: Tiers = { hot, warm, cold };
  const { version, ...versions } = createSharedState(journal);
  const { wallClock = now } = options;
  const checkpoints = createCheckpoints({ ...context, tiers, wallClock, version, emit });

  const operations: StateOperations = {
    get(tier, key) {
      const found = tiers[tier].find(key);
      return found === 'expired' ? undefined : found?.value;
    },
    set(tier, key, value, { ttlMs } = {}) {
      checkKey(tier, key);
      tiers[tier].set(key, snapshot(value, `${tier}.${key}`), expiryOf(ttlMs, now()));
    },
    delete(tier, key) {
      checkKey(tier, key);
      tiers[tier].delete(key);
    },
    grant: cold.grant,
    resolve: (path) => resolvePath(path, tiers),
    resolver: (limits) => createResolver(tiers, limits),
    resolveReferences: (payload) => replaceReferences(payload, createLookUp(tiers)) as JsonObject,
    externalize: (value) => cold.externalize(snapshot(value, 'value')),
    addFrame: hot.addFrame,
    hotTokens: hot.tokens,
    budget() {
      const { exact, encoding } = counter;
      const used = { used: hot.tokens(), max: budgets.hot, trigger: budgets.hotTrigger };
      return {
        hot: used,
        // Deferred entries are computed to be counted.
        get warm() {
          return warm.budget();
        },
        cold: { used: 0 },
        exact,
        encoding,
      };
    },
    ...versions,
    dueTrigger(intent) {
      if (intent === 'done' || intent === 'esc' || intent === 'comp') return intent;
      return hot.tokens() > budgets.hotTrigger ? 'hot-tokens' : null;
    },
    checkpoint: (trigger, tools = {}) => checkpoints.make(trigger, tools),
    resumeCheckpoints: (tools = {}) => checkpoints.resume(tools),
    finishOverdue: checkpoints.finishOverdue,
  };
  return stateOf(operations, version);
}

type StateOperations = Omit<SessionState, 'version'>;

/** Returns a state with some of its operations replaced. */
export function replaceOperations(state: SessionState, replaced: Partial<StateOperations>): SessionState {
  return stateOf({ ...state, ...replaced }, () => state.version);
}

function stateOf(operations: StateOperations, version: () => number): SessionState {
  return new State(operations, version) as StateOperations & State;
}

/** The operations, and the version. A class, because V8 makes a hash table of each literal with an accessor after the first. */
class State {
  readonly #version: () => number;

  constructor(operations: StateOperations, version: () => number) {
    Object.assign(this, operations);
    this.#version = version;
  }

  get version(): number {
    return this.#version();
  }
}

/** A delta of the state that both sides share. */
interface Delta {
  /** The version to which it leads. */
  readonly version: number;
  /** New values by key; `null` for a removed key, written `~`. */
  readonly delta: JsonObject;
}

function createSharedState(journal: Journal) {
  const values: Collection<Json> = journal.collection('state.values');
  const meta: Collection<number> = journal.collection('state.version');
  const version = (): number => meta.get('version') ?? 0;

  function checkNoNulls(path: string, object: JsonObject): void {
    for (const key of Object.keys(object)) {
      if (object[key] !== null) continue;
      throw accpError(
        'E1004',
        `${path}.${key}`,
        'a value cannot be null, which means that the key is removed',
        'omit the key',
      );
    }
  }

  return {
    version,
    values(): JsonObject {
      const all: Record<string, Json> = Object.create(null);
      for (const [key, value] of values.entries()) all[key] = value;
      return all;
    },
    delta(next: JsonObject): Delta {
      const target = snapshotObject(next, 'values');
      checkNoNulls('values', target);
      const delta: Record<string, Json> = Object.create(null);
      for (const [key, value] of Object.entries(target)) if (!isSame(values.get(key), value)) delta[key] = value;
      for (const key of values.keys()) if (!Object.hasOwn(target, key)) delta[key] = null;
      return { version: version() + 1, delta };
    },
    applyDelta(next: number, delta: JsonObject): void {
      if (next !== version() + 1) {
        throw new AccpError({
          code: 'E2001',
          message: `a delta to version ${next} needs version ${next - 1}; this side has version ${version()}`,
          path: 'payload.version',
          help: 'request the full state',
          details: { version: version() },
        });
      }
      for (const [key, value] of Object.entries(snapshotObject(delta, 'payload.delta'))) {
        if (value === null) values.delete(key);
        else values.set(key, value);
      }
      meta.set('version', next);
    },
    applyFull(next: number, full: JsonObject): void {
      if (!Number.isSafeInteger(next) || next < 0) {
        throw accpError('E1004', 'payload.version', 'a version must be a non-negative integer');
      }
      const target = snapshotObject(full, 'values');
      checkNoNulls('values', target);
      for (const key of [...values.keys()]) if (!Object.hasOwn(target, key)) values.delete(key);
      for (const key of Object.keys(target)) {
        if (!isSame(values.get(key), target[key]!)) values.set(key, target[key]!);
      }
      meta.set('version', next);
    },
  };
}

/** Returns `true` if two snapshots are equal. Snapshots have sorted keys, so that equal values have equal texts. */
function isSame(known: Json | undefined, value: Json): boolean {
  if (known === value) return true;
  const areObjects = typeof known === 'object' && typeof value === 'object';
  return areObjects && toText(known) === toText(value);
}
