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
  readonly floor?: number | undefined;
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
 * The rules that a query is about, best first, and none where nothing comes near. The same query finds the same rules in the
 * same order.
 *
 * @throws TypeError on an option that is none, never on the content of a query
 */
export type Find = (query: string, options?: FindOptions) => readonly FoundRule[];

/** What a word counts by where it stands. A name says what a rule is; a description says much else besides. */
const WEIGHTS = { name: 1, tags: 1, action: 0.9, phrases: 0.7, description: 0.5 } as const;

/** The rules that have a word, by their place in the list, and what it counts there. */
interface Postings {
  readonly rules: number[];
  readonly weights: number[];
  /** How much the word tells. */
  rarity: number;
}

interface AskedWord {
  readonly word: string;
  /** None where no rule has it. */
  readonly postings: Postings | undefined;
  readonly rarity: number;
  /** Rules without it do not count, however much else they have. */
  readonly required: boolean;
}

/** A rule, by its place in the list, with its score. */
interface Hit {
  readonly at: number;
  readonly score: number;
}

/** @param rules the rules to search; the index is made once */
export function createSearch(rules: readonly Rule[]): Find {
  const index = indexOf(rules);
  const known = rules.map(({ id, name, domain, task }) => ({
    id,
    domain: domain.toUpperCase(),
    task: task.toUpperCase(),
    // Of two rules that match alike, the one that says less besides is meant.
    words: searchWords(name).length,
  }));
  const scores = new Float64Array(rules.length);

  return (query, options = {}) => {
    const { domain, task, floor, limit } = resolveFind(query, options);
    // Nothing asked is nothing found.
    if (query === null || query === undefined) return [];
    const asked = askedWords(query, index, rules.length);
    const found = hits(asked, scores, floor).filter(({ at }) => {
      const { domain: own, task: does } = known[at]!;
      return (domain === null || own === domain) && (task === null || does === task);
    });
    found.sort((a, b) => {
      const [one, other] = [known[a.at]!, known[b.at]!];
      return b.score - a.score || one.words - other.words || byCodeUnit(one.id, other.id);
    });
    return found
      .slice(0, limit)
      .map(({ at, score }) => ({ rule: rules[at]!, score, matched: matchedWords(asked, at) }));
  };
}

function askedWords(query: string, index: ReadonlyMap<string, Postings>, size: number): readonly AskedWord[] {
  const asked: AskedWord[] = [];
  for (const { word, stem, whole } of searchWords(query)) {
    const postings = index.get(stem);
    // What no rule writes with a hyphen is looked for by its parts alone.
    if (postings === undefined && whole) continue;
    asked.push({ word, postings, rarity: postings?.rarity ?? rarityOf(1, size), required: isOtherAction(stem) });
  }
  return asked;
}

/** The rules that have enough of the words. `scores` is room to count in, all zero before and after. */
function hits(asked: readonly AskedWord[], scores: Float64Array, floor: number): Hit[] {
  const touched: number[] = [];
  let total = 0;
  for (const { postings, rarity } of asked) {
    total += rarity;
    if (postings === undefined) continue;
    const { rules, weights } = postings;
    for (let nth = 0; nth < rules.length; nth++) {
      const at = rules[nth]!;
      if (scores[at] === 0) touched.push(at);
      scores[at]! += rarity * weights[nth]!;
    }
  }
  const required = asked.filter((word) => word.required);
  const found: Hit[] = [];
  for (const at of touched) {
    // To three places, so that the last bit of a sum does not decide which rule comes first.
    const score = Math.round((scores[at]! / total) * 1000) / 1000;
    scores[at] = 0;
    if (score >= floor && required.every(({ postings }) => has(postings, at))) found.push({ at, score });
  }
  return found;
}

function indexOf(rules: readonly Rule[]): ReadonlyMap<string, Postings> {
  const index = new Map<string, Postings>();
  for (const [at, rule] of rules.entries()) {
    for (const [stem, weight] of weightsOf(rule)) {
      const postings = index.get(stem) ?? { rules: [], weights: [], rarity: 0 };
      postings.rules.push(at);
      postings.weights.push(weight);
      index.set(stem, postings);
    }
  }
  for (const postings of index.values()) postings.rarity = rarityOf(postings.rules.length, rules.length);
  return index;
}

/** Rare words say more than common ones; a word that no rule has is as rare as can be. */
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
    [rule.phrases.map(withoutSlots), WEIGHTS.phrases],
    [[rule.description], WEIGHTS.description],
  ] as const;
  for (const [list, weight] of texts) {
    for (const text of list) for (const { stem } of searchWords(text)) add(stem, weight);
  }
  for (const stem of actionsOf(rule.task)) add(stem, WEIGHTS.action);
  return weights;
}

function withoutSlots(phrase: string): string {
  return phrase.replace(/\{[^{}]*\}/g, ' ');
}

function matchedWords(asked: readonly AskedWord[], at: number): readonly string[] {
  return asked.filter(({ postings }) => has(postings, at)).map(({ word }) => word);
}

/** Rules stand in the order of the list, so halving finds them. */
function has(postings: Postings | undefined, at: number): boolean {
  if (postings === undefined) return false;
  const { rules } = postings;
  let low = 0;
  let high = rules.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rules[middle]! < at) low = middle + 1;
    else high = middle;
  }
  return rules[low] === at;
}

function resolveFind(query: unknown, options: FindOptions) {
  const { domain, task, floor = 0.4, limit = 10 } = options;
  if (typeof (query ?? '') !== 'string') throw new TypeError('query is a text');
  if (!(floor >= 0 && floor <= 1)) throw new TypeError('floor is a number from 0 to 1');
  if (!(Number.isInteger(limit) && limit > 0)) throw new TypeError('limit is a whole number above 0');
  return { domain: upperOrNull('domain', domain), task: upperOrNull('task', task), floor, limit };
}

function upperOrNull(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  if (typeof value !== 'string') throw new TypeError(`${name} is a text`);
  return value.toUpperCase();
}

/** One word of a query or of a rule. */
interface SearchWord {
  /** As it was written, in lower case. */
  readonly word: string;
  readonly stem: string;
  /** A word with hyphens as a whole; its parts are words, too. */
  readonly whole: boolean;
}

/** Longer runs of letters are no words. */
const MAX_WORD = 40;
/** How far a text is read, in UTF-16 code units, and the most words that are taken from it. Nobody looks for more. */
const MAX_LENGTH = 10_000;
const MAX_WORDS = 64;

/** Words that say nothing about what is looked for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all also am an and any are as at be been but by can could do does each either every few for from had has have he
  her here his how i if in into is it its just let like many may me might more most much must my need of off on once only or
  other our out over own please same shall she should so some such than thank thanks that the their them then there these
  they this those through to too under until up us very want was we were what when where which while who whom whose why will
  with within would you your yours`.split(/\s+/),
);

/** What the TASK values are asked for with, beside their own names. Not words that are nouns as often: a list, a record. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = stemmed({
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
});

/** What no TASK does, and what must never be taken for another action: a rule has to have the word itself. */
const OTHER_ACTIONS: ReadonlySet<string> = new Set(
  `abort approve archive authorise authorize cancel deactivate decline delete deny destroy disable discard dismiss erase
  exclude overwrite purge reject remove revoke suspend terminate undo unsubscribe wipe withdraw`
    .split(/\s+/)
    .map(stemmer),
);

/** The words of a text, each once, without those that say nothing. */
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

/** The base forms of the words that ask for what a TASK does; none for a TASK of somebody's own. */
function actionsOf(task: string): readonly string[] {
  return Object.hasOwn(ACTIONS, task) ? ACTIONS[task]! : [];
}

/** Whether the word asks for something that a rule does only if it says so. */
function isOtherAction(stem: string): boolean {
  return OTHER_ACTIONS.has(stem);
}

function stemOf(word: string): string {
  return word.length > MAX_WORD ? word : stemmer(word);
}

function stemmed(words: Readonly<Record<string, string>>): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(Object.entries(words).map(([task, list]) => [task, list.split(' ').map(stemmer)]));
}
