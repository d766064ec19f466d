/** The words of an instruction without its values. Instructions with the same words can share a packet. */
import type { InstructionItem } from './instruction/ast.js';
import { relativeUnitOf, type Unit } from './instruction/calendar.js';
import { findNames } from './instruction/names.js';
import { parseInstruction } from './instruction/parse.js';
import { plainSlot, type Slot, slotOf } from './instruction/slots.js';
import { wordSet } from './instruction/words.js';
import type { Candidate } from './match.js';

/** A word or mark in lower case, or `{kind}` for a value. */
interface Token {
  readonly key: string;
  /** The original spelling if capital letters may change the meaning; otherwise the same as `key`. */
  readonly written: string;
  /** The value; `null` for a word. */
  readonly slot: Slot | null;
}

export interface Wording {
  /** The tokens in order, without `asides`. */
  readonly tokens: readonly Token[];
  /** Polite phrases and articles, in which instructions may differ. */
  readonly asides: readonly string[];
  readonly slots: readonly Slot[];
  /** The finest unit of the relative times; `null` if there are none. */
  readonly unit: Unit | null;
}

const POLITE_PHRASES = phrases(
  `please; kindly; many thanks; thanks in advance; thank you in advance; thank you very much; thanks; thank you`,
);

/** Polite phrases before a command. */
const LEADS = phrases(
  `hi; hello; hi team; hello team; good morning; good afternoon; could you; can you; would you; will you; i need you to;
  we need you to; i want you to; we want you to; i would like you to; we would like you to; i'd like you to; we'd like you to`,
);

/** Pronouns that mean something else in capital letters. */
const CAPITALS = wordSet('IT US WHO AM OR');

/** Nouns before a number that is a name: `ticket 4711`. */
const ID_NOUNS = wordSet(`
  ticket invoice order po employee customer case lead contract account request incident id number no claim project quote supplier
  policy change asset device batch payment transaction shipment opportunity campaign complaint clause section article version matter
  contractor badge booking receipt expense journal applicant vacancy
`);

/** Words that may follow such a number. Before any other word, the number counts: "order 30 laptops". */
const BEHIND_ID = wordSet(
  'a an the and or for from to of in on at by with without as is was has if before after until since please',
);

const SILENT = /^["`\u2018-\u201F\u00AB\u00BB]$/;

/** Reads an instruction. Returns `null` if it is too long or has no words. */
export function readWording(instruction: string): Wording | null {
  const items = parseInstruction(instruction);
  if (items === null) return null;
  const [tokens, asides] = withoutAsides(withIds(tokensOf(items, instruction)));
  if (!tokens.some(({ key }) => /[\p{L}\p{N}]/u.test(key))) return null;
  const slots = tokens.flatMap(({ slot }) => (slot === null ? [] : [slot]));
  return { tokens, asides, slots, unit: relativeUnitOf(items, instruction) };
}

function tokensOf(items: readonly InstructionItem[], source: string): readonly Token[] {
  // If all letters are capitals, names cannot be distinguished from words.
  const names = new Map((/\p{Ll}/u.test(source) ? findNames(items, source) : []).map((run) => [run.from, run]));
  const tokens: Token[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at]!;
    const name = names.get(at);
    if (name !== undefined) {
      tokens.push(valueToken(name.slot));
      if (name.genitive) tokens.push(markToken("'s"));
      at = name.to;
      continue;
    }
    at++;
    if (item.kind === 'word' || item.kind === 'mark') {
      const text = item.text.replaceAll('\u2019', "'");
      const key = CAPITALS.has(text) ? text : text.toLowerCase();
      const begins = tokens.length === 0 || /^[.!?:;]$/.test(tokens.at(-1)!.key);
      if (!SILENT.test(key)) tokens.push({ key, written: begins ? key : text, slot: null });
    } else if (item.kind === 'span') {
      item.items.forEach((value, index) => {
        if (index > 0) tokens.push(markToken(item.joints[index - 1] ?? 'and'));
        tokens.push(valueToken(slotOf(value, source)));
      });
    } else tokens.push(valueToken(slotOf(item, source)));
  }
  return tokens;
}

export function valueToken(slot: Slot): Token {
  return { ...markToken(`{${slot.kind}}`), slot };
}

function markToken(key: string): Token {
  return { key, written: key, slot: null };
}

function withIds(tokens: readonly Token[]): readonly Token[] {
  return tokens.map((token, index) => {
    const { slot } = token;
    if ((slot?.kind !== 'number' && slot?.kind !== 'year') || !/^\d+$/.test(slot.text)) return token;
    const behind = tokens[index + 1]?.key ?? '';
    const counts = /^\p{L}/u.test(behind) && !BEHIND_ID.has(behind);
    return ID_NOUNS.has(tokens[index - 1]?.key ?? '') && !counts ? valueToken(plainSlot('id', slot.text, slot)) : token;
  });
}

/**
 * Separates "the", and polite phrases at the start and at the end, with the marks next to them. Elsewhere such words may be the subject of
 * the instruction: a thank you letter, "please" in a text.
 */
function withoutAsides(tokens: readonly Token[]): readonly [readonly Token[], readonly string[]] {
  const asides: string[] = [];
  const aside = (from: number, to: number): void => {
    const words = tokens.slice(from, to).map(({ key }) => key);
    asides.push(words.join(' '));
  };
  let start = 0;
  let asks = false;
  for (let length = openingAt(tokens, start); length > 0; length = openingAt(tokens, start)) {
    asks ||= /^(?:could|can|would|will)$/.test(tokens[start]!.key);
    aside(start, start + length);
    start += length;
    while (/^[,!.]$/.test(tokens[start]?.key ?? '')) start++;
  }
  let end = tokens.length;
  const dropMarks = (): void => {
    while (end > start && (/^[.!,;]$/.test(tokens[end - 1]!.key) || (asks && tokens[end - 1]!.key === '?'))) end--;
  };
  dropMarks();
  for (let length = closingAt(tokens, start, end); length > 0; length = closingAt(tokens, start, end)) {
    aside(end - length, end);
    end -= length;
    dropMarks();
  }
  const kept: Token[] = [];
  for (let at = start; at < end; at++) {
    if (tokens[at]!.written === 'the' && at + 1 < end && !STANDS_ALONE_BEFORE.has(tokens[at + 1]!.key))
      aside(at, at + 1);
    else kept.push(tokens[at]!);
  }
  return [kept, asides];
}

/** Words before which "the" is not an article: "replace the with a". */
const STANDS_ALONE_BEFORE = wordSet('and as at by for from in into is of on or the to with');

/** Returns the length of a polite phrase at a place where the instruction may begin. Thanks require a mark after them. */
function openingAt(tokens: readonly Token[], at: number): number {
  const lead = lengthAt(LEADS, tokens, at);
  if (lead > 0) return lead;
  const length = lengthAt(POLITE_PHRASES, tokens, at);
  const isThanks = tokens[at]?.key !== 'please' && tokens[at]?.key !== 'kindly';
  return length > 0 && isThanks && !/^[,!.;]$/.test(tokens[at + length]?.key ?? '') ? 0 : length;
}

/** Returns the length of a polite phrase that ends the tokens, after a mark; "no, thanks" is an answer. */
function closingAt(tokens: readonly Token[], start: number, end: number): number {
  for (const words of POLITE_PHRASES) {
    const from = end - words.length;
    if (from <= start || !words.every((word, index) => tokens[from + index]!.key === word)) continue;
    const isApart = /^[,!.;?]$/.test(tokens[from - 1]!.key);
    return isApart && !NEGATION.test(tokens[from - 2]?.key ?? '') ? words.length : 0;
  }
  return 0;
}

function phrases(list: string): readonly (readonly string[])[] {
  const found = list.split(';').map((phrase) => phrase.trim().split(/\s+/));
  return found.sort((a, b) => b.length - a.length);
}

function lengthAt(list: readonly (readonly string[])[], tokens: readonly Token[], at: number): number {
  return list.find((words) => words.every((word, index) => tokens[at + index]?.key === word))?.length ?? 0;
}

/** The weight of an article or a polite phrase. That of a word is 1. */
const ASIDE = 0.15;

/** The words that two instructions share, and those of only one. */
export type Overlap = Pick<Candidate, 'score' | 'shared' | 'extra' | 'missing'>;

export function overlapOf(pattern: Wording, instruction: Wording): Overlap {
  const shared: string[] = [];
  const extra: string[] = [];
  const missing: string[] = [];
  let both = 0;
  let all = 0;
  const compare = (one: readonly string[], other: readonly string[], weight: number): void => {
    const here = countsOf(one);
    const there = countsOf(other);
    for (const key of new Set([...one, ...other])) {
      const [inOne, inOther] = [here.get(key) ?? 0, there.get(key) ?? 0];
      both += Math.min(inOne, inOther) * weight;
      all += Math.max(inOne, inOther) * weight;
      if (inOne > 0 && inOther > 0) shared.push(key);
      if (inOne < inOther) extra.push(key);
      if (inOne > inOther) missing.push(key);
    }
  };
  compare(keysOf(pattern), keysOf(instruction), 1);
  compare(pattern.asides, instruction.asides, ASIDE);
  return { score: all === 0 ? 0 : both / all, shared, extra, missing };
}

function countsOf(keys: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

export function keysOf({ tokens }: Wording): readonly string[] {
  return tokens.map(({ key }) => key);
}

/** Returns a word that only one of two wordings with the same words writes with capital letters: `total` and `Total` may be two columns. */
export function otherCapitals(one: Wording, other: Wording): string | null {
  // The first word of an instruction is capitalised in any case.
  const at = one.tokens.findIndex(({ written }, index) => index > 0 && written !== other.tokens[index]!.written);
  return at < 0 ? null : other.tokens[at]!.written;
}

/** Returns whether both have the same words, and values of the same kinds, in the same order. */
export function sameWords(one: Wording, other: Wording): boolean {
  const { tokens } = other;
  return one.tokens.length === tokens.length && one.tokens.every(({ key }, index) => key === tokens[index]!.key);
}

const NEGATION =
  /^(?:not|no|never|none|nobody|neither|nor|without|except|excluding|unless|cannot|\p{L}+n't|un(?!der|ti|i)\p{L}{3,}|in(?:active|valid|eligible|complete))$/u;

export function otherNegation({ extra, missing }: Overlap): string | null {
  return [...extra, ...missing].find((word) => NEGATION.test(word)) ?? null;
}

const MAX_TERMS = 16;

/** The number of terms that represent all words. */
export const SIGNATURE_COUNT = 2;

/**
 * Returns the terms under which a registry lists an instruction. The first two represent all words, with and without the values:
 * instructions that can match share the second. The others are words, long ones first, by which similar instructions are found.
 */
export function termsOf(instruction: string): readonly string[] {
  const wording = readWording(instruction);
  return wording === null ? [] : termsOfWording(wording);
}

export function termsOfWording(wording: Wording): readonly string[] {
  const keys = keysOf(wording);
  const values = wording.slots.map(({ kind, value }) => `${kind} ${value}`);
  const words = keys.filter((key) => /^\p{L}{4,}/u.test(key)).map((key) => key.slice(0, 40).replace(/(?<=[^s])s$/, ''));
  const longest = [...new Set(words)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return [signature([...keys, '', ...values]), signature(keys), ...longest.slice(0, MAX_TERMS - SIGNATURE_COUNT)];
}

/**
 * Sorts the numbers of entries by the rarity of the terms that they share. Of equal ones the latest comes first, since models improve.
 *
 * @param postings the entries that have each term
 */
export function byRarity(postings: readonly (readonly number[])[], latestFirst = true): readonly number[] {
  const weights = new Map<number, number>();
  for (const entries of postings) {
    const weight = 1 / entries.length;
    for (const entry of entries) weights.set(entry, (weights.get(entry) ?? 0) + weight);
  }
  return [...weights]
    .sort(([a, weightA], [b, weightB]) => weightB - weightA || (latestFirst ? b - a : a - b))
    .map(([entry]) => entry);
}

/** Returns a term for a list of words. It begins with a character that no word begins with. A collision costs one comparison. */
function signature(words: readonly string[]): string {
  const text = words.join('\n');
  return `=${hashOf(text, 0x811c9dc5)}${hashOf(text, 0x9747b28c)}`;
}

/** Returns the FNV-1a hash of the code units, from a basis, as 8 hexadecimal digits. */
function hashOf(text: string, basis: number): string {
  let hash = basis;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
