/** What warm state keeps of a checkpoint, within its budget (draft-benzing-accp-00, section 5.1, tier 2). */
import type { TokenCounter } from '../../tokens/counter.js';
import { AccpError } from '../errors/accp-error.js';
import type { Json, JsonObject } from '../message/json.js';
import { cutToTokens } from './cut.js';
import type { Fact, FactValue } from './facts/fact.js';
import { stateText } from './state-text.js';

/** The members of an entry that do not depend on the budget. */
export interface EntryHead {
  /** How the phase ended: the intent of its last message that reports an outcome, or `open`. */
  readonly status: string;
  /** The version of the state at the checkpoint. */
  readonly version: number;
  /** How many messages it stands for. */
  readonly frames: number;
  readonly trigger: string;
  /** Seconds since 1970. */
  readonly at: number;
}

export interface FittedEntry {
  /** `{ summary, facts: { entity: { relation: value } }, status, version, frames, trigger, at }` */
  readonly entry: JsonObject;
  /** The facts that the entry has room for, the most important first. */
  readonly facts: readonly Fact[];
  readonly summary: string;
  readonly tokens: number;
}

/**
 * Puts an entry together that has no more than `max` tokens, counted as JSON. Facts that the summary states give way to
 * those that it does not; then the least important ones.
 *
 * @param facts the most important first
 * @throws AccpError with code `E2003` when not even an entry without facts and words fits
 */
export function fitEntry(
  head: EntryHead,
  summary: string,
  facts: readonly Fact[],
  max: number,
  counter: TokenCounter,
): FittedEntry {
  const told = cutSummary(head, summary, max, counter);
  const states = statedIn(told);
  const ranked = [...facts.filter((fact) => !states(fact)), ...facts.filter(states)];
  const kept: Fact[] = [];
  const known = new Set<string>();
  let room = max - tokensOf(head, told, [], counter);
  for (const fact of ranked) {
    if (room <= 0) break;
    const isNew = !known.has(fact.entity);
    const cost = costOf(fact, isNew, counter);
    if (cost > room) continue;
    room -= cost;
    known.add(fact.entity);
    kept.push(fact);
  }
  const rank = new Map(facts.map((fact, index) => [fact, index]));
  kept.sort((a, b) => rank.get(a)! - rank.get(b)!);
  // What was added up fact by fact may fall into tokens differently as a whole.
  let tokens = tokensOf(head, told, kept, counter);
  while (tokens > max) {
    kept.pop();
    tokens = tokensOf(head, told, kept, counter);
  }
  return { entry: entryOf(head, told, kept), facts: kept, summary: told, tokens };
}

function cutSummary(head: EntryHead, summary: string, max: number, counter: TokenCounter): string {
  let told = summary;
  let excess = tokensOf(head, told, [], counter) - max;
  while (excess > 0 && told !== '') {
    told = cutToTokens(told, Math.max(0, counter.count(told) - excess), counter);
    excess = tokensOf(head, told, [], counter) - max;
  }
  if (excess <= 0) return told;
  throw new AccpError({
    code: 'E2003',
    message: `a checkpoint has at least ${max + excess} tokens, and its budget is ${max}`,
  });
}

function tokensOf(head: EntryHead, summary: string, facts: readonly Fact[], counter: TokenCounter): number {
  return counter.count(stateText(entryOf(head, summary, facts)));
}

function costOf({ entity, relation, value }: Fact, isNew: boolean, counter: TokenCounter): number {
  const member = counter.count(`${stateText(relation)}:${stateText(value)},`);
  return isNew ? member + counter.count(`${stateText(entity)}:{},`) - 1 : member;
}

function entryOf(head: EntryHead, summary: string, facts: readonly Fact[]): JsonObject {
  return Object.assign(Object.create(null), { summary, facts: groupFacts(facts), ...head });
}

/** Facts by entity and relation, so that `$warm.ckpt_1.facts.txn_001.status` finds one. Several values are a list. */
export function groupFacts(facts: readonly Fact[]): JsonObject {
  const groups: Record<string, Record<string, Json>> = Object.create(null);
  for (const { entity, relation, value } of facts) {
    groups[entity] ??= Object.create(null) as Record<string, Json>;
    const group = groups[entity];
    const known = group[relation] as FactValue | readonly FactValue[] | undefined;
    group[relation] = known === undefined ? value : [known, value].flat();
  }
  return groups;
}

/** Whether one sentence of a summary has both the entity and the value of a fact. */
function statedIn(summary: string): (fact: Fact) => boolean {
  const sentences = ` ${summary} `.split(/[.;](?= )/);
  return ({ entity, value }) =>
    sentences.some((sentence) => hasWord(sentence, entity) && hasWord(sentence, String(value)));
}

function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const isStart = at === 0 || !/[\w.-]/.test(text[at - 1]!);
    if (isStart && !/^\.?\w|^%/.test(text.slice(at + word.length, at + word.length + 2))) return true;
  }
  return false;
}
