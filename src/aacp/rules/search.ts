/** Ranked search in rules: an inverted index over their names, tags, phrases and descriptions. */

import { stemmer } from 'stemmer';
import { byCodeUnit } from '../../text/ascii.js';
import type { Rule } from './rule.js';

export interface FindOptions {
  /** Only rules of this domain; in any case of letters. */
  readonly domain?: string | undefined;
  /** Only rules of this task; in any case of letters. */
  readonly task?: string | undefined;
  /** The least score, from 0 to 1. @default 0.4 */
  readonly minScore?: number | undefined;
  /** The most rules. @default 10 */
  readonly limit?: number | undefined;
}

export interface FoundRule {
  readonly rule: Rule;
  /** Above 0 and up to 1: how much of the query, by the weight of its words, the rule covers. */
  readonly score: number;
  /** The words of the query that the rule has. */
  readonly matched: readonly string[];
}

/**
 * Finds the rules that a query is about, best first. The same query finds the same rules in the same order.
 *
 * @throws TypeError if an option is invalid, never on the content of a query
 */
export type Find = (query: string, options?: FindOptions) => readonly FoundRule[];

/** The weight of a word by its place: a description says much beside the subject of a rule. */
const WEIGHTS = { name: 1, tags: 1, action: 0.9, phrases: 0.7, description: 0.5 } as const;

/** A word of the rules. */
interface Postings {
  /** The weight of the word in each rule that has it, by the index of the rule. */
  readonly weights: Map<number, number>;
  rarity: number;
}

export function createSearch(rules: readonly Rule[]): Find {
  const index = indexOf(rules);
  const known = rules.map(({ id, name, domain, task }) => ({
    id,
    domain: domain.toUpperCase(),
    task: task.toUpperCase(),
    // Of two rules that match alike, the one with the shorter name comes first.
    words: searchWords(name).length,
  }));
  const scores = new Float64Array(rules.length);

  return (query, options = {}) => {
    const { domain, task, minScore, limit } = resolveFind(query, options);
    if (query === null || query === undefined) return [];
    const asked = askedWords(query, index, rules.length);
    const found = hits(asked, scores, minScore).filter(({ at }) => {
      const { domain: own, task: does } = known[at]!;
      return (domain === null || own === domain) && (task === null || does === task);
    });
    found.sort((a, b) => {
      const [one, other] = [known[a.at]!, known[b.at]!];
      return b.score - a.score || one.words - other.words || byCodeUnit(one.id, other.id);
    });
    return found.slice(0, limit).map(({ at, score }) => {
      const matched = asked.filter(({ postings }) => postings?.weights.has(at)).map(({ word }) => word);
      return { rule: rules[at]!, score, matched };
    });
  };
}

function askedWords(query: string, index: ReadonlyMap<string, Postings>, size: number) {
  const asked = [];
  for (const { word, stem, whole } of searchWords(query)) {
    const postings = index.get(stem);
    // A word that no rule writes with a hyphen is looked for by its parts alone.
    if (postings === undefined && whole) continue;
    // A word that no rule has is as rare as can be. Rules without a required word do not count.
    asked.push({ word, postings, rarity: postings?.rarity ?? rarityOf(1, size), required: OTHER_ACTIONS.has(stem) });
  }
  return asked;
}

/** Scores the rules. `scores` is a buffer, all zero before and after. */
function hits(asked: ReturnType<typeof askedWords>, scores: Float64Array, minScore: number) {
  const touched: number[] = [];
  let total = 0;
  for (const { postings, rarity } of asked) {
    total += rarity;
    for (const [at, weight] of postings?.weights ?? []) {
      if (scores[at] === 0) touched.push(at);
      scores[at]! += rarity * weight;
    }
  }
  const required = asked.filter((word) => word.required);
  const found = [];
  for (const at of touched) {
    // To three places, so that the last bit of a sum does not decide which rule comes first.
    const score = Math.round((scores[at]! / total) * 1000) / 1000;
    scores[at] = 0;
    if (score >= minScore && required.every(({ postings }) => postings?.weights.has(at))) found.push({ at, score });
  }
  return found;
}

function indexOf(rules: readonly Rule[]): ReadonlyMap<string, Postings> {
  const index = new Map<string, Postings>();
  for (const [at, rule] of rules.entries()) {
    for (const [stem, weight] of weightsOf(rule)) {
      const postings = index.get(stem) ?? { weights: new Map(), rarity: 0 };
      postings.weights.set(at, weight);
      index.set(stem, postings);
    }
  }
  for (const postings of index.values()) postings.rarity = rarityOf(postings.weights.size, rules.length);
  return index;
}

/** Rare words count more than common ones. */
function rarityOf(count: number, size: number): number {
  return Math.log(1 + size / count);
}

/** The base forms of a rule's words, with the most that each counts. */
function weightsOf(rule: Rule): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (stem: string, weight: number): void => {
    weights.set(stem, Math.max(weight, weights.get(stem) ?? 0));
  };
  const texts = [
    [[rule.name], WEIGHTS.name],
    [rule.tags, WEIGHTS.tags],
    [rule.phrases.map((phrase) => phrase.replace(/\{[^{}]*\}/g, ' ')), WEIGHTS.phrases],
    [[rule.description], WEIGHTS.description],
  ] as const;
  for (const [list, weight] of texts) {
    for (const text of list) for (const { stem } of searchWords(text)) add(stem, weight);
  }
  for (const stem of ACTIONS.get(rule.task) ?? []) add(stem, WEIGHTS.action);
  return weights;
}

function resolveFind(query: unknown, options: FindOptions) {
  const { domain, task, minScore = 0.4, limit = 10 } = options;
  if (typeof (query ?? '') !== 'string') throw new TypeError('query is a text');
  if (!(minScore >= 0 && minScore <= 1)) throw new TypeError('minScore must be a number from 0 to 1');
  if (!(Number.isInteger(limit) && limit > 0)) throw new TypeError('limit is a whole number above 0');
  if (domain !== undefined && typeof domain !== 'string') throw new TypeError('domain is a text');
  if (task !== undefined && typeof task !== 'string') throw new TypeError('task is a text');
  return { domain: domain?.toUpperCase() ?? null, task: task?.toUpperCase() ?? null, minScore, limit };
}

/** One word of a query or of a rule. */
interface SearchWord {
  /** As it was written, in lower case. */
  readonly word: string;
  readonly stem: string;
  /** A word with hyphens as a whole; its parts are words, too. */
  readonly whole: boolean;
}

/** The longest word, the longest text in UTF-16 code units, and the most words of a text. */
const MAX_WORD = 40;
const MAX_LENGTH = 10_000;
const MAX_WORDS = 64;

/** Words that are not searched for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all also am an and any are as at be been but by can could do does each either every few for from had has have he
  her here his how i if in into is it its just let like many may me might more most much must my need of off on once only or
  other our out over own please same shall she should so some such than thank thanks that the their them then there these
  they this those through to too under until up us very want was we were what when where which while who whom whose why will
  with within would you your yours`.split(/\s+/),
);

/** Stems of the words for each TASK. Not words that are nouns as often: a list, a record. */
const ACTIONS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    FETCH: 'fetch get retrieve pull obtain show lookup',
    PROC: 'process handle run',
    FLAG: 'flag highlight escalate',
    RESOLVE: 'resolve settle solve',
    LOG: 'log',
    SEND: 'send notify inform tell remind',
    BUILD: 'build create make provision prepare',
    MERGE: 'merge combine consolidate join',
    CALC: 'calculate compute',
    REPORT: 'report summarise summarize',
    ACK: 'acknowledge confirm accept',
    SYNC: 'sync synchronise synchronize align refresh',
  }).map(([task, words]) => [task, words.split(' ').map(stemmer)]),
);

/** Actions that no TASK stands for: only rules with the word itself are found. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set(
  `abort approve archive authorise authorize cancel deactivate decline delete deny destroy disable discard dismiss erase
  exclude overwrite purge reject remove revoke suspend terminate undo unsubscribe wipe withdraw`
    .split(/\s+/)
    .map(stemmer),
);

/** The words of a text, each once, without stop words. */
function searchWords(text: string): readonly SearchWord[] {
  const found = new Map<string, SearchWord>();
  for (const [run] of text
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu)) {
    const parts = run.split(/[-_]/);
    for (const part of parts) add(part, stemOf(part), false);
    // Of "opt-in" and "opt-out", only the whole tells which.
    if (parts.length > 1 && run.length <= MAX_WORD) add(run, parts.map(stemOf).join('-'), true);
    if (found.size >= MAX_WORDS) break;
  }
  return [...found.values()];

  function add(word: string, stem: string, whole: boolean): void {
    if (word.length < 2 || word.length > MAX_WORD || STOP_WORDS.has(word) || found.has(stem)) return;
    found.set(stem, { word, stem, whole });
  }
}

function stemOf(word: string): string {
  return word.length > MAX_WORD ? word : stemmer(word);
}
