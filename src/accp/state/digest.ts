/** The default summary and warm entry of a checkpoint, within their budgets, by deterministic rules. */

import type { TokenCounter } from '../../tokens/counter.js';
import { accpError } from '../errors.js';
import type { Json, JsonObject, Reference } from '../message/json.js';
import { extractFacts } from './facts/extract.js';
import type { Fact, FactSource, FactValue } from './facts/text-facts.js';
import type { HotContent } from './hot.js';
import { type StateBudgets, stateText } from './tier.js';

/** The messages of a checkpoint, from which the entry in warm state is derived. */
export interface Phase {
  readonly trigger: string;
  /** Seconds since 1970: a value of the state, which references send to the other side. */
  readonly at: number;
  readonly version: number;
  readonly frames: readonly FactSource[];
}

/** Intents that report the outcome of a phase (Table 7). */
const OUTCOMES: ReadonlySet<string> = new Set(['done', 'fail', 'esc', 'wait', 'cancel']);

/** Returns facts, summary and entry by the default rules. */
export function digest(
  phase: Phase,
  budgets: StateBudgets,
  counter: TokenCounter,
  resolve: (reference: Reference) => Json,
): CheckpointEntry {
  const facts = extractFacts(phase.frames, resolve);
  return entryFor(phase, summarizeFacts(facts, budgets.summary, counter), facts, budgets, counter);
}

/**
 * Creates the entry of warm state. To save room, facts that the summary states are omitted first, then the last in `facts`. Throws
 * AccpError `E2003` if no entry fits.
 */
export function entryFor(
  { trigger, at, version, frames }: Phase,
  summary: string,
  facts: readonly Fact[],
  budgets: StateBudgets,
  counter: TokenCounter,
): CheckpointEntry {
  const status = frames.findLast(({ intent }) => OUTCOMES.has(intent))?.intent ?? 'open';
  const head = { status, version, frames: frames.length, trigger, at };
  const max = budgets.checkpoint;
  const shortened = cutSummary(head, summary, max, counter);
  const states = statedIn(shortened);
  const ranked = [...facts.filter((fact) => !states(fact)), ...facts.filter(states)];
  const included: Fact[] = [];
  const known = new Set<string>();
  let room = max - tokensOf(head, shortened, [], counter);
  for (const fact of ranked) {
    if (room <= 0) break;
    const isNew = !known.has(fact.entity);
    const cost = costOf(fact, isNew, counter);
    if (cost > room) continue;
    room -= cost;
    known.add(fact.entity);
    included.push(fact);
  }
  const rank = new Map(facts.map((fact, index) => [fact, index]));
  included.sort((a, b) => rank.get(a)! - rank.get(b)!);
  // The whole may have more tokens than the sum of its parts.
  let tokens = tokensOf(head, shortened, included, counter);
  while (tokens > max) {
    included.pop();
    tokens = tokensOf(head, shortened, included, counter);
  }
  return { entry: entryOf(head, shortened, included), facts: included, summary: shortened, tokens };
}

/** Returns the value of `$cold.ckpt_1`: the messages in order, and the other values of hot state. */
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

/** Returns one sentence per entity, such as `txn_001: amount 142.5, status settled.`, with the first facts that fit into `max` tokens. */
export function summarizeFacts(facts: readonly Fact[], max: number, counter: TokenCounter): string {
  const phrases = new Map<string, string[]>();
  let tokens = 0;
  for (const fact of facts) {
    if (tokens >= max) break;
    const known = phrases.get(fact.entity);
    const phrase = phraseOf(fact);
    const cost = counter.count(` ${phrase},`) + (known === undefined ? counter.count(` ${fact.entity}:`) : 0);
    // A shorter one may still fit.
    if (tokens + cost > max) continue;
    tokens += cost;
    if (known === undefined) phrases.set(fact.entity, [phrase]);
    else known.push(phrase);
  }
  const sentences = [...phrases].map(([entity, ofEntity]) =>
    ofEntity.length === 1 ? `${entity} ${ofEntity[0]!}.` : `${entity}: ${ofEntity.join(', ')}.`,
  );
  return cutToTokens(sentences.join(' '), max, counter);
}

function phraseOf({ relation, value }: Fact): string {
  return relation === 'is' || relation === 'says' ? String(value) : `${relation} ${value}`;
}

interface EntryHead extends Omit<Phase, 'frames'> {
  /** The intent of its last message with an outcome, or `open`. */
  readonly status: string;
  readonly frames: number;
}

export interface CheckpointEntry {
  /** `{ summary, facts: { entity: { relation: value } }, status, version, frames, trigger, at }` */
  readonly entry: JsonObject;
  /** The facts that fit, the most important first. */
  readonly facts: readonly Fact[];
  readonly summary: string;
  readonly tokens: number;
}

function cutSummary(head: EntryHead, summary: string, max: number, counter: TokenCounter): string {
  let shortened = summary;
  let excess = tokensOf(head, shortened, [], counter) - max;
  while (excess > 0 && shortened !== '') {
    shortened = cutToTokens(shortened, Math.max(0, counter.count(shortened) - excess), counter);
    excess = tokensOf(head, shortened, [], counter) - max;
  }
  if (excess <= 0) return shortened;
  throw accpError('E2003', undefined, `a checkpoint needs at least ${max + excess} tokens; its budget is ${max}`);
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

/** Groups facts by entity and relation, so that `$warm.ckpt_1.facts.txn_001.status` refers to one. Several values become a list. */
function groupFacts(facts: readonly Fact[]): JsonObject {
  const groups: Record<string, Record<string, Json>> = Object.create(null);
  for (const { entity, relation, value } of facts) {
    groups[entity] ??= Object.create(null) as Record<string, Json>;
    const group = groups[entity];
    const known = group[relation] as FactValue | readonly FactValue[] | undefined;
    group[relation] = known === undefined ? value : [known, value].flat();
  }
  return groups;
}

/** Returns a function that tests if one sentence has both the entity and the value of a fact. */
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

/** The length of the longest usual token: longer texts are cut before they are counted. */
const CHARACTERS_PER_TOKEN = 20;

/** A lone high surrogate at the end. */
const HALF = /[\ud800-\udbff]$/;

/** Cuts a text after a word, or within the first, to `max` tokens. Linear in the length, as only cut text is counted. */
export function cutToTokens(text: string, max: number, counter: TokenCounter): string {
  const clean = text
    .slice(0, max * CHARACTERS_PER_TOKEN)
    .replace(HALF, '')
    .replace(/\s+/g, ' ')
    .trim();
  const fits = (part: string): boolean => counter.count(part) <= max;
  if (fits(clean)) return clean;
  const words = clean.split(' ');
  const byWord = longest(words.length, (length) => fits(words.slice(0, length).join(' ')));
  if (byWord > 0) return words.slice(0, byWord).join(' ');
  const characters = Array.from(words[0]!);
  const byCharacter = longest(characters.length, (length) => fits(characters.slice(0, length).join('')));
  return characters.slice(0, byCharacter).join('');
}

/** Finds the longest length that fits, by bisection; approximate if a longer text has fewer tokens. */
function longest(length: number, fits: (length: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
