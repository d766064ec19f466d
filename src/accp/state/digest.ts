/** What becomes of messages at a checkpoint where the host has no tools of its own: always the same of the same messages. */
import type { TokenCounter } from '../../tokens/counter.js';
import type { Json, JsonObject } from '../message/json.js';
import type { Reference } from '../message/reference.js';
import type { StateBudgets } from './budgets.js';
import { extractFacts } from './facts/extract.js';
import type { Fact, FactSource } from './facts/fact.js';
import type { HotContent } from './hot.js';
import { summarizeFacts } from './summarize.js';
import { type FittedEntry, fitEntry } from './warm-entry.js';

/** What cold state keeps of a checkpoint, and what its entry in warm state is made from. */
export interface Phase {
  readonly trigger: string;
  /** Seconds since 1970. */
  readonly at: number;
  /** The version of the state at that time. */
  readonly version: number;
  readonly frames: readonly FactSource[];
}

/** The intents that tell how a phase stands (Table 7). */
const OUTCOMES: ReadonlySet<string> = new Set(['done', 'fail', 'esc', 'wait', 'cancel']);

/** Facts, summary and entry, by the default extractor and summarizer. */
export function digest(
  phase: Phase,
  budgets: StateBudgets,
  counter: TokenCounter,
  resolve: (reference: Reference) => Json,
): FittedEntry {
  const facts = extractFacts(phase.frames, resolve);
  return entryFor(phase, summarizeFacts(facts, budgets.summary, counter), facts, budgets, counter);
}

/**
 * The entry of warm state.
 *
 * @throws AccpError with code `E2003` when not even an entry without facts and words fits
 */
export function entryFor(
  { trigger, at, version, frames }: Phase,
  summary: string,
  facts: readonly Fact[],
  budgets: StateBudgets,
  counter: TokenCounter,
): FittedEntry {
  const status = frames.findLast(({ intent }) => OUTCOMES.has(intent))?.intent ?? 'open';
  const head = { status, version, frames: frames.length, trigger, at };
  return fitEntry(head, summary, facts, budgets.checkpoint, counter);
}

/** What `$cold.ckpt_1` gives: the messages in their order, and what hot state held besides. */
export function rawOf({ trigger, at, version, frames, values }: Omit<Phase, 'frames'> & HotContent): JsonObject {
  const raw = frames.map(({ agent, intent, operation, schema, payload, cid, mid }) => {
    const frame: Record<string, Json> = Object.assign(Object.create(null), { agent, intent, operation });
    if (schema !== undefined) frame['schema'] = schema;
    frame['payload'] = payload;
    if (cid !== undefined) frame['cid'] = cid;
    frame['mid'] = mid;
    return frame;
  });
  const hot: Record<string, Json> = Object.create(null);
  for (const [key, { value }] of Object.entries(values)) hot[key] = value;
  return Object.assign(Object.create(null), { trigger, at, version, frames: raw, hot });
}
