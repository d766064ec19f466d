/** Phrases of rules as patterns: each slot stands as a sample of its kind, and is replaced by what the instruction has. */

import { type PhraseSlot, type SlotKind as RuleSlotKind, readPhrase } from '../rules/slots.js';
import { analyse } from './analyse.js';
import type { Analysis } from './analysis.js';
import { type Captured, capture, type Neighbours, neighbours } from './captures.js';
import type { Slot } from './instruction/slots.js';
import type { Pair } from './pairing.js';

/** Values that are read as their kind, and that nobody writes. */
const SAMPLES: Readonly<Record<RuleSlotKind, string>> = {
  period: 'August 1987',
  quarter: 'Q3 1987',
  date: '29 August 1987',
  id: 'ZZ-19870829',
  amount: '£1,987.65',
  name: 'Zquorl Xanthy',
  email: 'zquorl@example.org',
  number: '19873',
  list: '"zquorl, xanthy"',
  text: '"zquorl xanthy"',
};

/** A phrase with two-digit numbers where only such are read: `net 30`. */
const SHORT_NUMBER = '87';

/** An amount behind a sign of its phrase, and the signs that may stand there. */
const SIGNLESS = '1,987.65';
const SIGN = /(?:US|AU|A|CA|C|NZ|HK|SG|S|R)?[$]$|[£€¥₹]$/;

/** Kinds that take words, which only their neighbours tell apart from the rest. */
const WORDED: ReadonlySet<RuleSlotKind> = new Set<RuleSlotKind>(['text', 'list']);

export interface PhrasePattern {
  readonly phrase: string;
  readonly analysis: Analysis;
  /** The slots, each with where its sample stands in the text that was analysed. */
  readonly slots: readonly (PhraseSlot & { readonly start: number; readonly end: number })[];
  /** Puts the names of slots, in braces, in the place of their samples: `{period}`. */
  readonly named: (text: string) => string;
  /** Of the slots that take words. */
  readonly worded: readonly (PhraseSlot & Neighbours)[];
}

/** @returns `null` for a phrase that cannot be read */
export function readPhrasePattern(phrase: string): PhrasePattern | null {
  const parts = partsOrNull(phrase);
  if (parts === null) return null;
  let text = '';
  const slots: (PhraseSlot & { readonly start: number; readonly end: number })[] = [];
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    // "${amount}" is an amount in that currency, and not one behind a sign.
    const [sign] = part.kind === 'amount' ? (SIGN.exec(text) ?? []) : [];
    if (sign !== undefined) text = text.slice(0, -sign.length);
    const sample =
      sign !== undefined
        ? `${sign}${SIGNLESS}`
        : part.kind === 'number' && /\bnet[ -]?$/i.test(text)
          ? SHORT_NUMBER
          : SAMPLES[part.kind];
    const start = text.length + (sign?.length ?? 0);
    slots.push({ ...part, start, end: text.length + sample.length });
    text += sample;
  }
  const analysis = analyse(text);
  if (analysis === null) return null;
  const worded = parts.flatMap((part, index) =>
    typeof part !== 'string' && WORDED.has(part.kind) ? [{ ...part, ...neighbours(parts, index) }] : [],
  );
  return { phrase, analysis, slots, named: namer(text, analysis, slots), worded };
}

function namer(text: string, analysis: Analysis, slots: PhrasePattern['slots']): PhrasePattern['named'] {
  const names = new Map<string, string>();
  const add = (sample: string, name: string): void => {
    if (!names.has(sample.toLowerCase())) names.set(sample.toLowerCase(), name);
  };
  for (const { name, kind, start, end } of slots) {
    // Two slots of a kind have the same sample.
    const shown = `{${slots.filter((other) => other.kind === kind).length > 1 ? kind : name}}`;
    add(text.slice(start, end), shown);
    for (const { slot } of analysis.slots) {
      if (slot.start > start || slot.end < end) continue;
      for (const sample of [slot.text, slot.value, slot.digits]) if (sample !== undefined) add(sample, shown);
    }
    for (const word of text.slice(start, end).match(/\p{L}{5,}/gu) ?? []) {
      // Months are words of instructions, too.
      if (/^(?:zquorl|xanthy)$/i.test(word)) add(word, shown);
    }
  }
  const samples = [...names.keys()].sort((a, b) => b.length - a.length);
  if (samples.length === 0) return (shown) => shown;
  const escaped = samples.map((sample) => sample.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${escaped.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return (shown) => shown.replace(pattern, (sample) => names.get(sample.toLowerCase()) ?? sample);
}

function partsOrNull(phrase: string): ReturnType<typeof readPhrase> | null {
  try {
    return readPhrase(phrase);
  } catch {
    // A rule that was not checked when it was loaded.
    return null;
  }
}

/** What an instruction says, slots with words taken out; `null` where the words around these are not there. */
export interface Reading {
  readonly analysis: Analysis;
  readonly captured: readonly Captured[];
}

/** @param analysis of the instruction as it stands */
export function readFor({ worded }: PhrasePattern, instruction: string, analysis: Analysis): Reading | null {
  if (worded.length === 0) return { analysis, captured: [] };
  const found = capture(instruction, worded);
  if (found === null) return null;
  const read = analyse(found.text);
  return read === null ? null : { analysis: read, captured: found.captured };
}

/** The values of the slots by name. Samples that were paired with something else are constants of the phrase. */
export function valuesOf(
  pattern: PhrasePattern,
  pairs: readonly Pair[],
): { readonly values: ReadonlyMap<string, Slot>; readonly other: Pair | null } {
  const values = new Map<string, Slot>();
  let other: Pair | null = null;
  for (const pair of pairs) {
    const slot = pattern.slots.find(({ start, end }) => start >= pair.stored.start && end <= pair.stored.end);
    // A currency that the phrase itself says is no slot.
    const isWhole = slot !== undefined && slot.start === pair.stored.start && slot.end === pair.stored.end;
    if (slot !== undefined && (isWhole || sameCurrency(pair))) values.set(slot.name, pair.given);
    else if (pair.stored.value !== pair.given.value) other ??= pair;
  }
  return { values, other };
}

function sameCurrency({ stored, given }: Pair): boolean {
  return stored.currency === given.currency && stored.kind === given.kind;
}
