/** Compression checkpoints (draft-benzing-accp-00, sections 5.2 and 5.3): six steps, one function each. */

import { isThenable } from '../../text/guards.js';
import { AccpError } from '../errors.js';
import { inSeconds } from '../message/message.js';
import type { Note } from '../store/events.js';
import type { Collection } from '../store/journal.js';
import { fromText, toText } from '../store/text.js';
import { cutToTokens, digest, entryFor, type FittedEntry, type Phase, rawOf, summarizeFacts } from './digest.js';
import { extractFacts } from './facts/extract.js';
import type { Fact, FactValue } from './facts/text-facts.js';
import type { HotContent } from './hot.js';
import { createLookUp, type Tiers } from './resolve.js';
import type { TierContext } from './tier.js';

/** The five conditions of section 5.2. The host signals `phase`. */
export type CheckpointTrigger = 'done' | 'hot-tokens' | 'esc' | 'phase' | 'comp';

export interface HotSnapshot extends HotContent {
  readonly id: string;
  readonly trigger: CheckpointTrigger;
  /** The time at which hot state was frozen, in milliseconds since 1970. */
  readonly frozenAt: number;
  readonly version: number;
  readonly tokens: number;
}

/** Frozen hot state with its facts, the most important first. */
export interface HotSnapshotWithFacts extends HotSnapshot {
  readonly facts: readonly Fact[];
}

/**
 * Replacements of the defaults. A tool that throws, rejects, returns an invalid value or is too late is replaced by the default, with
 * an event in the log. Tools get frozen copies.
 */
export interface CheckpointTools {
  /** The key facts, the most important first. */
  readonly extractFacts?: ((frozen: HotSnapshot) => MaybePromise<readonly Fact[]>) | undefined;
  /** A summary; beyond the budget it is cut at a word. */
  readonly summarize?: ((frozen: HotSnapshotWithFacts) => MaybePromise<string>) | undefined;
}

/** By default, `summary`, `facts` and `warmTokens` are computed when first read. */
export interface CheckpointResult {
  /** `ckpt_1`: its key in warm and cold state. */
  readonly id: string;
  readonly trigger: CheckpointTrigger;
  readonly summary: string;
  /** The facts that fit into warm state, the most important first. */
  readonly facts: readonly Fact[];
  readonly tokensBefore: number;
  /** Tokens of hot state after it: the reference, and frames received meanwhile. */
  readonly tokensAfter: number;
  readonly warmTokens: number;
  readonly exact: boolean;
}

interface CheckpointOptions extends TierContext {
  readonly tiers: Tiers;
  readonly wallClock: () => number;
  readonly version: () => number;
  readonly note: Note;
}

/** Estimated characters of a token, and of the data kept for a message beside its text. */
const TOKEN_LENGTH = 4;
const HEAD_LENGTH = 400;

/** Milliseconds that the host's tools may take. */
const TOOL_TIMEOUT_MS = 60_000;
/** Most checkpoints waiting for the tools; beyond, the oldest one is finished without them. */
const MAX_WAITING = 4;

interface Waiting {
  since: number;
  /** The result without the tools, if they are too late. */
  outcome: Promise<CheckpointResult> | null;
  finish: () => void;
}

/** More tokens than an entry without facts and summary ever has. */
const AMPLE = 100;

export function createCheckpoints(options: CheckpointOptions) {
  const { journal, tiers, counter, budgets, now, wallClock, version, note } = options;
  const { hot, warm, cold } = tiers;
  const counts: Collection<number> = journal.collection('state.checkpoints');
  /** Begun and not finished; empty unless tools are asynchronous. */
  const unfinished: Collection<HotSnapshot> = journal.collection('state.frozen');
  const left = [...unfinished.values()];
  const waiting = new Map<string, Waiting>();
  let newest = counts.get('last') ?? 0;

  /** Endpoints that share cold state share the numbers, too. */
  function nextId(): string {
    do newest++;
    while (!journal.reserveCold(`ckpt_${newest}`));
    counts.set('last', newest);
    return `ckpt_${newest}`;
  }

  function freezeHotState(trigger: CheckpointTrigger): HotSnapshot {
    const tokens = hot.tokens();
    return { id: nextId(), trigger, frozenAt: wallClock(), version: version(), tokens, ...hot.take() };
  }

  function extractKeyFacts(
    frozen: HotSnapshot,
    { extractFacts: custom }: CheckpointTools,
  ): MaybePromise<readonly Fact[]> {
    const own = (): Fact[] => extractFacts(frozen.frames, createLookUp(tiers));
    if (custom === undefined) return own();
    return attempted(frozen, 'extractFacts', () => andThen(custom(frozenCopy(frozen)), checkFacts), own);
  }

  function generateSummary(frozen: HotSnapshotWithFacts, { summarize }: CheckpointTools): MaybePromise<string> {
    const own = (): string => summarizeFacts(frozen.facts, budgets.summary, counter);
    if (summarize === undefined) return own();
    const summary = (): MaybePromise<string> =>
      andThen(summarize(frozenCopy(frozen)), (answer) => cutSummary(frozen, checkSummary(answer)));
    return attempted(frozen, 'summarize', summary, own);
  }

  /** Returns the answer of a tool, or the default with an event in the log if the tool fails. */
  function attempted<T>(
    { id }: HotSnapshot,
    tool: keyof CheckpointTools,
    attempt: () => MaybePromise<T>,
    own: () => T,
  ): MaybePromise<T> {
    const failed = (error: unknown): T => {
      const reason = error instanceof Error ? error.message : String(error);
      note('warning', `${tool} failed for ${id}, and the default was used: ${reason}`, { details: { id, tool } });
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
      note('warning', `the summary of ${id} was cut to ${budgets.summary} tokens`, { details: { id } });
    }
    return cut;
  }

  function moveSummaryToWarm(frozen: HotSnapshotWithFacts, summary: string): FittedEntry {
    const fitted = entryFor(phaseOf(frozen), summary, frozen.facts, budgets, counter);
    warm.addCheckpoint(frozen.id, fitted);
    return fitted;
  }

  function moveRawDataToCold(frozen: HotSnapshot): void {
    const { id, tokens, frames } = frozen;
    cold.setLater(
      id,
      () => rawOf({ ...frozen, at: inSeconds(frozen.frozenAt) }),
      tokens * TOKEN_LENGTH + frames.length * HEAD_LENGTH,
    );
  }

  /** Step 6. A later checkpoint that was finished earlier stays referred to. */
  function resetHotState({ id }: HotSnapshot): void {
    const referred = counts.get('referred') ?? 0;
    const number = Number(id.slice('ckpt_'.length));
    if (number < referred) return;
    counts.set('referred', number);
    hot.refer(id);
  }

  function compress(frozen: HotSnapshot, tools: CheckpointTools, wait: Waiting): MaybePromise<CheckpointResult> {
    return andThen(extractKeyFacts(frozen, tools), (facts) => {
      if (wait.outcome !== null) return wait.outcome;
      const known = { ...frozen, facts };
      return andThen(generateSummary(known, tools), (summary) => {
        if (wait.outcome !== null) return wait.outcome;
        const fitted = orPutBack(frozen, () => moveSummaryToWarm(known, summary));
        moveRawDataToCold(frozen);
        resetHotState(frozen);
        unfinished.delete(frozen.id);
        return resultOf(frozen, () => fitted);
      });
    });
  }

  /** Steps 2 to 6 by the defaults. Steps 2 to 4 depend only on the messages in cold state, so they run when the result is first read. */
  function compressLater(frozen: HotSnapshot): CheckpointResult {
    orPutBack(frozen, () => checkRoom(frozen));
    warm.addCheckpoint(frozen.id, null);
    moveRawDataToCold(frozen);
    resetHotState(frozen);
    unfinished.delete(frozen.id);
    return resultOf(frozen, () => digest(phaseOf(frozen), budgets, counter, createLookUp(tiers)));
  }

  /** Small budgets may leave no room for any entry. */
  function checkRoom(frozen: HotSnapshot): void {
    if (budgets.checkpoint < AMPLE) entryFor(phaseOf(frozen), '', [], budgets, counter);
  }

  function orPutBack<T>(frozen: HotSnapshot, step: () => T): T {
    try {
      return step();
    } catch (error) {
      if (error instanceof AccpError) {
        hot.putBack(frozen);
        unfinished.delete(frozen.id);
      }
      throw error;
    }
  }

  function resultOf(
    { id, trigger, tokens: tokensBefore, frames }: HotSnapshot,
    make: () => FittedEntry,
  ): CheckpointResult {
    const tokensAfter = hot.tokens();
    note('checkpoint', `${id}: hot state went from ${tokensBefore} to ${tokensAfter} tokens`, {
      details: { id, trigger, frames: frames.length, tokensBefore, tokensAfter },
    });
    let made: FittedEntry | undefined;
    const fitted = (): FittedEntry => {
      made ??= make();
      return made;
    };
    return {
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
  }

  function run(frozen: HotSnapshot, tools: CheckpointTools): MaybePromise<CheckpointResult> {
    if (tools.extractFacts === undefined && tools.summarize === undefined) return compressLater(frozen);
    const wait: Waiting = { since: now(), outcome: null, finish: () => {} };
    const result = compress(frozen, tools, wait);
    return result instanceof Promise ? awaited(frozen, result, wait) : result;
  }

  function awaited(frozen: HotSnapshot, answered: Promise<CheckpointResult>, wait: Waiting): Promise<CheckpointResult> {
    const { id } = frozen;
    // Kept until finished, which also reserves its number.
    unfinished.set(id, frozen);
    moveRawDataToCold(frozen);
    const result = new Promise<CheckpointResult>((resolve, reject) => {
      wait.finish = () => {
        waiting.delete(id);
        wait.outcome = result;
        note('warning', `the tools were too late for ${id}, and the defaults were used`, { details: { id } });
        try {
          resolve(compressLater(frozen));
        } catch (error) {
          reject(error as Error);
        }
      };
      answered.then(resolve, reject).finally(() => waiting.delete(id));
    });
    waiting.set(id, wait);
    if (waiting.size > MAX_WAITING) waiting.values().next().value!.finish();
    return result;
  }

  /** Finishes overdue checkpoints with the defaults; later answers of the tools are ignored. */
  function finishOverdue(at: number): void {
    for (const wait of [...waiting.values()]) if (at - wait.since > TOOL_TIMEOUT_MS) wait.finish();
  }

  return {
    make(trigger: CheckpointTrigger, tools: CheckpointTools): MaybePromise<CheckpointResult> {
      finishOverdue(now());
      return run(freezeHotState(trigger), tools);
    },
    /** Finishes the checkpoints of an earlier process. */
    resume: (tools: CheckpointTools) => left.splice(0).map((frozen) => run(frozen, tools)),
    finishOverdue,
  };
}

function phaseOf({ trigger, frozenAt, version, frames }: HotSnapshot): Phase {
  return { trigger, at: inSeconds(frozenAt), version, frames };
}

/** More facts than any entry of warm state holds. */
const MAX_FACTS = 1000;

/** Copies the facts. Throws TypeError on anything else. */
function checkFacts(answer: unknown): Fact[] {
  if (!Array.isArray(answer)) throw new TypeError('the answer is no list of facts');
  return answer.slice(0, MAX_FACTS).map((given: unknown, index) => {
    const { entity, relation, value } = (given ?? {}) as Readonly<Record<string, unknown>>;
    if (isName(entity) && isName(relation) && isValue(value)) return { entity, relation, value };
    throw new TypeError(`item ${index} has no entity, relation and value`);
  });
}

function checkSummary(answer: unknown): string {
  if (typeof answer !== 'string' || answer.trim() === '') throw new TypeError('the answer is no text');
  return answer;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isValue(value: unknown): value is FactValue {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value === 'string' || typeof value === 'bigint' || typeof value === 'boolean';
}

/** Plain data, or values with `toJSON`; the copy is frozen. */
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
