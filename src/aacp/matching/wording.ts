/** The words of an instruction without its values: instructions with the same words may serve each other. */
import type { InstructionItem } from './instruction/ast.js';
import { relativeUnitOf, type Unit } from './instruction/calendar.js';
import { findNames } from './instruction/names.js';
import { parseInstruction } from './instruction/parse.js';
import { plainSlot, type Slot, slotOf } from './instruction/slots.js';
import { wordSet } from './instruction/words.js';
import type { Candidate } from './match.js';

/** A word or mark in small letters, or `{kind}` for a value. */
interface Token {
  readonly key: string;
  /** `null` for a word. */
  readonly slot: Slot | null;
}

export interface Wording {
  /** In order, without `asides`. */
  readonly tokens: readonly Token[];
  /** Politeness and articles, in which texts may differ. */
  readonly asides: readonly string[];
  readonly slots: readonly Slot[];
  /** The finest unit of its relative times; `null` if it has none. */
  readonly unit: Unit | null;
}

const COURTESIES = phrases(
  `please; kindly; many thanks; thanks in advance; thank you in advance; thank you very much; thanks; thank you`,
);

/** Politeness before an order. */
const LEADS = phrases(
  `hi; hello; hi team; hello team; good morning; good afternoon; could you; can you; would you; will you; i need you to;
  we need you to; i want you to; we want you to; i would like you to; we would like you to; i'd like you to; we'd like you to`,
);

/** Pronouns that are other words in capital letters. */
const CAPITALS = wordSet('IT US WHO AM OR');

/** Nouns before a number that is a name: `ticket 4711`. */
const ID_NOUNS = wordSet(`
  ticket invoice order po employee customer case lead contract account request incident id number no claim project quote supplier
  policy change asset device batch payment transaction shipment opportunity campaign complaint clause section article version matter
  contractor badge booking receipt expense journal applicant vacancy
`);

/** Words that may follow such a number. Before any other, it counts: "order 30 laptops". */
const BEHIND_ID = wordSet(
  'a an the and or for from to of in on at by with without as is was has if before after until since please',
);

const SILENT = /^["`\u2018-\u201F\u00AB\u00BB]$/;

/** @returns `null` for a text that is too long, or has no words */
export function readWording(instruction: string): Wording | null {
  const items = parseInstruction(instruction);
  if (items === null) return null;
  const [tokens, asides] = withoutAsides(withIds(tokensOf(items, instruction)));
  if (!tokens.some(({ key }) => /[\p{L}\p{N}]/u.test(key))) return null;
  const slots = tokens.flatMap(({ slot }) => (slot === null ? [] : [slot]));
  return { tokens, asides, slots, unit: relativeUnitOf(items, instruction) };
}

function tokensOf(items: readonly InstructionItem[], source: string): readonly Token[] {
  // If all letters are capitals, names cannot be told from words.
  const names = new Map((/\p{Ll}/u.test(source) ? findNames(items, source) : []).map((run) => [run.from, run]));
  const tokens: Token[] = [];
  for (let at = 0; at < items.length; ) {
    const item = items[at]!;
    const name = names.get(at);
    if (name !== undefined) {
      tokens.push(valueToken(name.slot));
      if (name.genitive) tokens.push({ key: "'s", slot: null });
      at = name.to;
      continue;
    }
    at++;
    if (item.kind === 'word' || item.kind === 'mark') {
      const key = CAPITALS.has(item.text) ? item.text : item.text.toLowerCase().replaceAll('\u2019', "'");
      if (!SILENT.test(key)) tokens.push({ key, slot: null });
    } else if (item.kind === 'span') {
      item.items.forEach((value, index) => {
        if (index > 0) tokens.push({ key: item.joints[index - 1] ?? 'and', slot: null });
        tokens.push(valueToken(slotOf(value, source)));
      });
    } else tokens.push(valueToken(slotOf(item, source)));
  }
  return tokens;
}

function valueToken(slot: Slot): Token {
  return { key: `{${slot.kind}}`, slot };
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

/** Separates politeness and "the", and drops the marks beside politeness and at the end. */
function withoutAsides(tokens: readonly Token[]): readonly [readonly Token[], readonly string[]] {
  const kept: Token[] = [];
  const asides: string[] = [];
  let asks = false;
  let follows = false;
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at]!;
    const lead = kept.length === 0 ? lengthAt(LEADS, tokens, at) : 0;
    const length = Math.max(lead, lengthAt(COURTESIES, tokens, at), token.key === 'the' ? 1 : 0);
    if (length > 0) {
      asks ||= /^(?:could|can|would|will)$/.test(token.key);
      asides.push(
        tokens
          .slice(at, at + length)
          .map(({ key }) => key)
          .join(' '),
      );
      follows = token.key !== 'the';
      if (follows && kept.at(-1)?.key === ',') kept.pop();
      at += length;
      continue;
    }
    if (!(token.key === ',' && (follows || kept.length === 0)) && !(token.key === '!' && follows)) kept.push(token);
    follows = false;
    at++;
  }
  while (/^[.!,;]$/.test(kept.at(-1)?.key ?? '') || (asks && kept.at(-1)?.key === '?')) kept.pop();
  return [kept, asides];
}

function phrases(list: string): readonly (readonly string[])[] {
  const found = list.split(';').map((phrase) => phrase.trim().split(/\s+/));
  return found.sort((a, b) => b.length - a.length);
}

function lengthAt(list: readonly (readonly string[])[], tokens: readonly Token[], at: number): number {
  return list.find((words) => words.every((word, index) => tokens[at + index]?.key === word))?.length ?? 0;
}

/** The weight of an article or a courtesy; that of a word is 1. */
const ASIDE = 0.15;

/** The words that two instructions share, and those of one alone. */
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

/** Whether both have the same words, and values of the same kinds, in the same order. */
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

/** How many of the first terms stand for all words. */
export const SIGNATURES = 2;

/**
 * Returns the terms that a registry lists an instruction under. The first two stand for all words, with and without the values:
 * instructions that can serve each other share the second. The others are words, long ones first; they find what comes near.
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
  return [signature([...keys, '', ...values]), signature(keys), ...longest.slice(0, MAX_TERMS - SIGNATURES)];
}

/** Begins with a mark that no word begins with. A collision costs a look at an entry, and nothing else. */
function signature(words: readonly string[]): string {
  const text = words.join('\n');
  return `=${hashOf(text, 0x811c9dc5)}${hashOf(text, 0x9747b28c)}`;
}

/** FNV-1a of the code units, from a basis: 8 hexadecimal digits. */
function hashOf(text: string, basis: number): string {
  let hash = basis;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
