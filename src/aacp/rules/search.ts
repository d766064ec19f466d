/** Ranked search in rules: an inverted index of their names, tags, phrases and descriptions. */

import { stemmer } from 'stemmer';
import { byCodeUnit } from '../../text/ascii.js';
import type { Rule } from './rule.js';

/** Options of `RuleLibrary.find`. */
export interface FindOptions {
  /** Finds only rules of this domain. Upper or lower case. @default any */
  readonly domain?: string | undefined;
  /** Finds only rules of this task. Upper or lower case. @default any */
  readonly task?: string | undefined;
  /** The minimum score, from 0 to 1. @default 0.4 */
  readonly minScore?: number | undefined;
  /** The maximum number of rules. @default 10 */
  readonly limit?: number | undefined;
}

/** A rule that was found. */
export interface FoundRule {
  /** The rule. */
  readonly rule: Rule;
  /** The score, above 0 and at most 1: the weight of the query's words that the rule contains, divided by that of all its words. */
  readonly score: number;
  /** The words of the query that the rule contains. */
  readonly matched: readonly string[];
}

/**
 * Finds the rules that match a query, best first. The result is deterministic.
 *
 * @throws TypeError if an argument or option has the wrong type
 */
export type Find = (query: string, options?: FindOptions) => readonly FoundRule[];

/** The weight of a word by its position. A description contains many words that are not about the subject of the rule. */
const WEIGHTS = { name: 1, tags: 1, action: 0.9, phrases: 0.7, description: 0.5 } as const;

/** The rules that contain a word. */
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
    // Of two rules with the same score, the one with the shorter name comes first.
    words: searchWords(name).length,
  }));
  const scores = new Float64Array(rules.length);

  return (query, options = {}) => {
    const { domain, task, minScore, limit } = resolveFind(query, options);
    if (query === null || query === undefined) return [];
    const words = queryWords(query, index, rules.length);
    const found = hits(words, scores, minScore).filter(({ at }) => {
      const { domain: own, task: does } = known[at]!;
      return (domain === null || own === domain) && (task === null || does === task);
    });
    found.sort((a, b) => {
      const [one, other] = [known[a.at]!, known[b.at]!];
      return b.score - a.score || one.words - other.words || byCodeUnit(one.id, other.id);
    });
    return found.slice(0, limit).map(({ at, score }) => {
      const matched = words.filter(({ postings }) => postings?.weights.has(at)).map(({ word }) => word);
      return { rule: rules[at]!, score, matched };
    });
  };
}

function queryWords(query: string, index: ReadonlyMap<string, Postings>, size: number) {
  const words = [];
  for (const { word, stem, whole } of searchWords(query)) {
    const postings = index.get(stem);
    // A word with a hyphen that no rule contains is searched by its parts only.
    if (postings === undefined && whole) continue;
    // An unknown word counts as one that a single rule contains. Rules that lack a required word are not found.
    words.push({ word, postings, rarity: postings?.rarity ?? rarityOf(1, size), required: OTHER_ACTIONS.has(stem) });
  }
  return words;
}

/** Scores the rules. `scores` is a buffer that contains zeros before and after the call. */
function hits(words: ReturnType<typeof queryWords>, scores: Float64Array, minScore: number) {
  const touched: number[] = [];
  let total = 0;
  for (const { postings, rarity } of words) {
    total += rarity;
    for (const [at, weight] of postings?.weights ?? []) {
      if (scores[at] === 0) touched.push(at);
      scores[at]! += rarity * weight;
    }
  }
  const required = words.filter((word) => word.required);
  const found = [];
  for (const at of touched) {
    // Rounded to three places, so that the last bit of a sum does not decide the order.
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

/** Returns the weight of a word: rare words count more than common ones. */
function rarityOf(count: number, size: number): number {
  return Math.log(1 + size / count);
}

/** Returns the stems of a rule's words, each with its highest weight. */
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
  if (typeof (query ?? '') !== 'string') throw new TypeError('query must be a string');
  if (!(minScore >= 0 && minScore <= 1)) throw new TypeError('minScore must be a number from 0 to 1');
  if (!(Number.isInteger(limit) && limit > 0)) throw new TypeError('limit must be a positive integer');
  if (domain !== undefined && typeof domain !== 'string') throw new TypeError('domain must be a string');
  if (task !== undefined && typeof task !== 'string') throw new TypeError('task must be a string');
  return { domain: domain?.toUpperCase() ?? null, task: task?.toUpperCase() ?? null, minScore, limit };
}

/** A word of a query or of a rule. */
interface SearchWord {
  /** The word in lower case. */
  readonly word: string;
  readonly stem: string;
  /** `true` for a word with hyphens. Its parts are words too. */
  readonly whole: boolean;
}

/** The maximum length of a word, the maximum length of a text in UTF-16 code units, and the maximum number of words of a text. */
const MAX_WORD = 40;
const MAX_LENGTH = 10_000;
const MAX_WORDS = 64;

/** Words that are not searched. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all also am an and any are as at be been but by can could do does each either every few for from had has have he
  her here his how i if in into is it its just let like many may me might more most much must my need of off on once only or
  other our out over own please same shall she should so some such than thank thanks that the their them then there these
  they this those through to too under until up us very want was we were what when where which while who whom whose why will
  with within would you your yours`.split(/\s+/),
);

/** Stems of the words for each TASK, except words that are nouns as often: list, record. */
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

/** Actions without a TASK. Only rules that contain the word itself are found. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set(
  `abort approve archive authorise authorize cancel deactivate decline delete deny destroy disable discard dismiss erase
  exclude overwrite purge reject remove revoke suspend terminate undo unsubscribe wipe withdraw`
    .split(/\s+/)
    .map(stemmer),
);

/** Returns the words of a text without duplicates and stop words. */
function searchWords(text: string): readonly SearchWord[] {
  const found = new Map<string, SearchWord>();
  for (const [run] of text
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}]+(?:[-_][\p{L}\p{N}]+)*/gu)) {
    const parts = run.split(/[-_]/);
    for (const part of parts) add(part, stemOf(part), false);
    // "opt-in" and "opt-out" differ only as a whole.
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
