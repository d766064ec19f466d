/** Compression checkpoints (draft-benzing-accp-00, sections 5.2 and 5.3): six steps, one function each. */

import { isThenable } from '../../text/guards.js';
import { AccpError } from '../errors.js';
import { inSeconds } from '../message/message.js';
import type { EmitEvent } from '../store/events.js';
import type { Collection } from '../store/journal.js';
import { fromText, toText } from '../store/text.js';
import { type CheckpointEntry, cutToTokens, digest, entryFor, type Phase, rawOf, summarizeFacts } from './digest.js';
import { extractFacts } from './facts/extract.js';
import type { Fact, FactValue } from './facts/text-facts.js';
import type { HotContent } from './hot.js';
import { createLookUp, type Tiers } from './resolve.js';
import type { TierContext } from './tier.js';

/** The condition that triggers a checkpoint (draft-benzing-accp-00, section 5.2). The host signals `phase`. */
export type CheckpointTrigger = 'done' | 'hot-tokens' | 'esc' | 'phase' | 'comp';

/** The content of hot state when a checkpoint began. */
export interface HotSnapshot extends HotContent {
  /** The identifier of the checkpoint, such as `ckpt_1`. */
  readonly id: string;
  /** The condition that triggered the checkpoint. */
  readonly trigger: CheckpointTrigger;
  /** The time at which the checkpoint began, in milliseconds since 1970. */
  readonly frozenAt: number;
  /** The version of the state that both sides share. */
  readonly version: number;
  /** The number of tokens of hot state. */
  readonly tokens: number;
}

/** The content of hot state when a checkpoint began, with its facts. */
export interface HotSnapshotWithFacts extends HotSnapshot {
  /** The facts, the most important first. */
  readonly facts: readonly Fact[];
}

/**
 * Functions that replace the default rules of checkpoints. If a tool throws, rejects, returns an invalid value or takes more than 60 seconds,
 * the default is used, with an event in the log. Tools receive frozen copies.
 */
export interface CheckpointTools {
  /** Returns the key facts, the most important first. */
  readonly extractFacts?: ((frozen: HotSnapshot) => MaybePromise<readonly Fact[]>) | undefined;
  /** Returns a summary; one that exceeds the budget is cut at a word. */
  readonly summarize?: ((frozen: HotSnapshotWithFacts) => MaybePromise<string>) | undefined;
}

/** The result of a checkpoint. Without checkpoint tools, `summary`, `facts` and `warmTokens` are computed when first read. */
export interface CheckpointResult {
  /** The identifier, such as `ckpt_1`: the key in warm and cold state. */
  readonly id: string;
  /** The condition that triggered the checkpoint. */
  readonly trigger: CheckpointTrigger;
  /** The summary in warm state. */
  readonly summary: string;
  /** The facts that fit into warm state, the most important first. */
  readonly facts: readonly Fact[];
  /** The number of tokens of hot state before the checkpoint. */
  readonly tokensBefore: number;
  /** The number of tokens of hot state after the checkpoint: the reference, and frames received meanwhile. */
  readonly tokensAfter: number;
  /** The number of tokens of the entry in warm state. */
  readonly warmTokens: number;
  /** `true` if the numbers are exact; `false` if they are estimates. */
  readonly exact: boolean;
}

interface CheckpointOptions extends TierContext {
  readonly tiers: Tiers;
  readonly wallClock: () => number;
  readonly version: () => number;
  readonly emit: EmitEvent;
}

/** The estimated number of characters of a token, and of the data stored for a message besides its text. */
const TOKEN_LENGTH = 4;
const HEAD_LENGTH = 400;

/** The maximum duration of the tools of the host, in milliseconds. */
const TOOL_TIMEOUT_MS = 60_000;
/** The maximum number of checkpoints that wait for the tools; beyond it, the oldest one is finished without them. */
const MAX_PENDING = 4;

interface PendingCheckpoint {
  since: number;
  /** The result without the tools, if they are too late; otherwise `null`. */
  outcome: Promise<CheckpointResult> | null;
  finish: () => void;
}

/** A number of tokens that no entry without facts and summary reaches. */
const MAX_EMPTY_ENTRY = 100;

export function createCheckpoints(options: CheckpointOptions) {
  const { journal, tiers, counter, budgets, now, wallClock, version, emit } = options;
  const { hot, warm, cold } = tiers;
  const counts: Collection<number> = journal.collection('state.checkpoints');
  /** The checkpoints that are not finished; empty unless tools are asynchronous. */
  const unfinished: Collection<HotSnapshot> = journal.collection('state.frozen');
  const interrupted = [...unfinished.values()];
  const pending = new Map<string, PendingCheckpoint>();
  let last = counts.get('last') ?? 0;

  /** Returns the identifier of the next checkpoint. Endpoints that share cold state share the numbers, too. */
  function nextId(): string {
    do last++;
    while (!journal.reserveCold(`ckpt_${last}`));
    counts.set('last', last);
    return `ckpt_${last}`;
  }

  function freezeHotState(trigger: CheckpointTrigger): HotSnapshot {
    const tokens = hot.tokens();
    const id = nextId();
    const { frames, values } = hot.take();
    return { id, trigger, frozenAt: wallClock(), version: version(), tokens, frames, values };
  }

  function extractKeyFacts(
    frozen: HotSnapshot,
    { extractFacts: custom }: CheckpointTools,
  ): MaybePromise<readonly Fact[]> {
    const own = (): Fact[] => extractFacts(frozen.frames, createLookUp(tiers));
    if (custom === undefined) return own();
    return withFallback(frozen, 'extractFacts', () => andThen(custom(frozenCopy(frozen)), checkFacts), own);
  }

  function generateSummary(frozen: HotSnapshotWithFacts, { summarize }: CheckpointTools): MaybePromise<string> {
    const own = (): string => summarizeFacts(frozen.facts, budgets.summary, counter);
    if (summarize === undefined) return own();
    const summary = (): MaybePromise<string> =>
      andThen(summarize(frozenCopy(frozen)), (answer) => cutSummary(frozen, checkSummary(answer)));
    return withFallback(frozen, 'summarize', summary, own);
  }

  /** Returns the answer of a tool, or the default with an event in the log if the tool fails. */
  function withFallback<T>(
    { id }: HotSnapshot,
    tool: keyof CheckpointTools,
    attempt: () => MaybePromise<T>,
    own: () => T,
  ): MaybePromise<T> {
    const failed = (error: unknown): T => {
      const reason = error instanceof Error ? error.message : String(error);
      emit('warning', `${tool} failed for ${id}; the default was used: ${reason}`, { details: { id, tool } });
      return own();
    };
    try {
      const value = attempt();
      return isThenable(value) ? Promise.resolve(value).catch(failed) : value;
    } catch (error) {
      return failed(error);
    }
  }

  function cutSummary({ id }: HotSnapshot, summary: string): string {
    const cut = cutToTokens(summary, budgets.summary, counter);
    if (cut.length < summary.trim().replace(/\s+/g, ' ').length) {
      emit('warning', `the summary of ${id} was cut to ${budgets.summary} tokens`, { details: { id } });
    }
    return cut;
  }

  function moveSummaryToWarm(frozen: HotSnapshotWithFacts, summary: string): CheckpointEntry {
    const fitted = entryFor(phaseOf(frozen), summary, frozen.facts, budgets, counter);
    warm.addCheckpoint(frozen.id, fitted);
    return fitted;
  }

  function moveRawDataToCold(frozen: HotSnapshot): void {
    const { id, tokens, frames } = frozen;
    cold.setLazily(
      id,
      () => rawOf({ ...frozen, at: inSeconds(frozen.frozenAt) }),
      tokens * TOKEN_LENGTH + frames.length * HEAD_LENGTH,
    );
  }

  function compress(
    frozen: HotSnapshot,
    tools: CheckpointTools,
    entry: PendingCheckpoint,
  ): MaybePromise<CheckpointResult> {
    return andThen(extractKeyFacts(frozen, tools), (facts) => {
      if (entry.outcome !== null) return entry.outcome;
      const known = { ...frozen, facts };
      return andThen(generateSummary(known, tools), (summary) => {
        if (entry.outcome !== null) return entry.outcome;
        const fitted = orRestore(frozen, () => moveSummaryToWarm(known, summary));
        moveRawDataToCold(frozen);
        hot.refer(frozen.id);
        unfinished.delete(frozen.id);
        return resultOf(frozen, () => fitted);
      });
    });
  }

  /**
   * Runs steps 2 to 6 by the default rules. Steps 2 to 4 depend only on the messages in cold state, so they run when the result is
   * first read.
   */
  function compressLazily(frozen: HotSnapshot): CheckpointResult {
    orRestore(frozen, () => checkRoom(frozen));
    warm.addCheckpoint(frozen.id, null);
    moveRawDataToCold(frozen);
    hot.refer(frozen.id);
    unfinished.delete(frozen.id);
    const compute = (): CheckpointEntry => digest(phaseOf(frozen), budgets, counter, createLookUp(tiers));
    return resultOf(frozen, () => warm.withoutEntry(frozen.id, compute));
  }

  /** Throws AccpError E2003 if small budgets leave no room for any entry. */
  function checkRoom(frozen: HotSnapshot): void {
    if (budgets.checkpoint < MAX_EMPTY_ENTRY) entryFor(phaseOf(frozen), '', [], budgets, counter);
  }

  function orRestore<T>(frozen: HotSnapshot, step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (error instanceof AccpError) {
        hot.restore(frozen);
        unfinished.delete(frozen.id);
      }
      throw error;
    }
  }

  function resultOf(
    { id, trigger, tokens: tokensBefore, frames }: HotSnapshot,
    compute: () => CheckpointEntry,
  ): CheckpointResult {
    const tokensAfter = hot.tokens();
    let computed: CheckpointEntry | undefined;
    const fitted = (): CheckpointEntry => {
      computed ??= compute();
      return computed;
    };
    const result: CheckpointResult = {
      id,
      trigger,
      get summary() {
        return fitted().summary;
      },
      get facts() {
        return fitted().facts;
      },
      tokensBefore,
      tokensAfter,
      get warmTokens() {
        return fitted().tokens;
      },
      exact: counter.exact,
    };
    emit('checkpoint', `${id}: hot state was compressed from ${tokensBefore} to ${tokensAfter} tokens`, {
      details: { id, trigger, frames: frames.length, tokensBefore, tokensAfter },
    });
    return result;
  }

  function run(frozen: HotSnapshot, tools: CheckpointTools): MaybePromise<CheckpointResult> {
    if (tools.extractFacts === undefined && tools.summarize === undefined) return compressLazily(frozen);
    const entry: PendingCheckpoint = { since: now(), outcome: null, finish: () => {} };
    const result = compress(frozen, tools, entry);
    return result instanceof Promise ? awaited(frozen, result, entry) : result;
  }

  function awaited(
    frozen: HotSnapshot,
    answered: Promise<CheckpointResult>,
    entry: PendingCheckpoint,
  ): Promise<CheckpointResult> {
    const { id } = frozen;
    // Stored until finished, which also reserves its number.
    unfinished.set(id, frozen);
    moveRawDataToCold(frozen);
    const result = new Promise<CheckpointResult>((resolve, reject) => {
      entry.finish = () => {
        pending.delete(id);
        entry.outcome = result;
        emit('warning', `the tools took too long for ${id}; the defaults were used`, { details: { id } });
        try {
          resolve(compressLazily(frozen));
        } catch (error) {
          reject(error as Error);
        }
      };
      answered.then(resolve, reject).finally(() => pending.delete(id));
    });
    pending.set(id, entry);
    if (pending.size > MAX_PENDING) pending.values().next().value!.finish();
    return result;
  }

  /** Finishes overdue checkpoints by the default rules; later results of the tools are ignored. */
  function finishOverdue(at: number): void {
    for (const entry of [...pending.values()]) if (at - entry.since > TOOL_TIMEOUT_MS) entry.finish();
  }

  return {
    make(trigger: CheckpointTrigger, tools: CheckpointTools): MaybePromise<CheckpointResult> {
      finishOverdue(now());
      return run(freezeHotState(trigger), tools);
    },
    /** Finishes the checkpoints that an earlier process began. */
    resume: (tools: CheckpointTools) => interrupted.splice(0).map((frozen) => run(frozen, tools)),
    finishOverdue,
  };
}

function phaseOf({ trigger, frozenAt, version, frames }: HotSnapshot): Phase {
  return { trigger, at: inSeconds(frozenAt), version, frames };
}

/** The maximum number of facts: more than any entry of warm state holds. */
const MAX_FACTS = 1000;

/** Copies facts. Throws TypeError if the value is not a list of facts. */
function checkFacts(answer: unknown): Fact[] {
  if (!Array.isArray(answer)) throw new TypeError('extractFacts must return an array of facts');
  return answer.slice(0, MAX_FACTS).map((item: unknown, index) => {
    const { entity, relation, value } = (item ?? {}) as Readonly<Record<string, unknown>>;
    if (isName(entity) && isName(relation) && isValue(value)) return { entity, relation, value };
    throw new TypeError(`fact ${index} must have an entity, a relation and a value`);
  });
}

function checkSummary(answer: unknown): string {
  if (typeof answer !== 'string' || answer.trim() === '')
    throw new TypeError('summarize must return a non-empty string');
  return answer;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isValue(value: unknown): value is FactValue {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean';
}

/** Returns a frozen copy of plain data, or of values with `toJSON`. */
function frozenCopy<T extends object>(data: T): T {
  return frozen(fromText(toText(data))) as T;
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  for (const member of Object.values(value)) frozen(member);
  return Object.freeze(value);
}

export type MaybePromise<T> = T | Promise<T>;

function andThen<T, U>(value: MaybePromise<T>, next: (value: T) => MaybePromise<U>): MaybePromise<U> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value);
}
