/** Uses rules as patterns: each slot of a phrase is a sample of its kind, which the value of the instruction replaces. */
import type { Rule } from '../rules/rule.js';
import { type PhraseSlot, type SlotKind as RuleSlotKind, readPhrase } from '../rules/slots.js';
import type { InstructionItem } from './instruction/ast.js';
import { resolveRelative } from './instruction/calendar.js';
import { parseInstruction } from './instruction/parse.js';
import type { Slot } from './instruction/slots.js';
import { isFunctionWord } from './instruction/words.js';
import type { MatchRequest } from './match.js';
import { matchPattern, type PacketResult, type Pair, type PatternResult, withoutInventions } from './match-pattern.js';
import { type Captured, type EncodeStep, packetOfRule, SlotFault } from './rule-values.js';
import { byRarity, keysOf, readWording, valueToken, type Wording } from './wording.js';

/** Sample values of each kind, which do not occur in instructions. */
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

/** The sample for phrases that accept only two-digit numbers, such as `net 30`. */
const SHORT_NUMBER = '87';

/** The sample for an amount after a currency sign of the phrase. */
const SIGNLESS = '1,987.65';
const SIGN = /(?:US|AU|A|CA|C|NZ|HK|SG|S|R)?[$]$|[£€¥₹]$/;

interface PlacedSlot extends PhraseSlot {
  readonly start: number;
  readonly end: number;
}

/** A slot that matches words, bounded by the words next to it; `null` at an end of the phrase, or next to another slot. */
interface WordSlot extends PhraseSlot {
  readonly before: string | null;
  readonly behind: string | null;
}

interface RulePattern {
  readonly rule: Rule;
  /** The phrase; `null` for a rule without phrases, whose name is used, alone or after the verb of its TASK. */
  readonly phrase: string | null;
  readonly wording: Wording;
  readonly slots: readonly PlacedSlot[];
  readonly wordSlots: readonly WordSlot[];
}

/** The verbs of the TASK values that are abbreviations. */
const VERBS: ReadonlyMap<string, string> = new Map(
  Object.entries({ PROC: 'process', CALC: 'calculate', ACK: 'acknowledge' }),
);

function patternsOf(rule: Rule): readonly RulePattern[] {
  const name = rule.name.toLowerCase();
  const verb = VERBS.get(rule.task) ?? rule.task.toLowerCase();
  const isNamed = rule.phrases.length === 0;
  const phrases = isNamed ? [name, `${verb} ${name}`] : rule.phrases;
  return phrases.flatMap((phrase) => {
    const read = readPattern(phrase);
    return read === null ? [] : [{ rule, phrase: isNamed ? null : phrase, ...read }];
  });
}

/** Reads a phrase. Returns `null` if it cannot be read. */
function readPattern(phrase: string): Pick<RulePattern, 'wording' | 'slots' | 'wordSlots'> | null {
  let parts: ReturnType<typeof readPhrase>;
  try {
    parts = readPhrase(phrase);
  } catch {
    // A rule that was not checked when it was loaded.
    return null;
  }
  let text = '';
  const slots: PlacedSlot[] = [];
  const wordSlots: WordSlot[] = [];
  parts.forEach((part, index) => {
    if (typeof part === 'string') {
      text += part;
      return;
    }
    let sample = SAMPLES[part.kind];
    // "${amount}" is an amount in that currency, not one after a sign.
    if (part.kind === 'amount' && SIGN.test(text)) sample = SIGNLESS;
    else if (part.kind === 'number' && /\bnet[ -]?$/i.test(text)) sample = SHORT_NUMBER;
    const start = text.length;
    text += sample;
    slots.push({ ...part, start, end: text.length });
    if (part.kind === 'text' || part.kind === 'list') wordSlots.push({ ...part, ...neighbours(parts, index) });
  });
  const wording = readWording(text);
  return wording === null ? null : { wording, slots, wordSlots };
}

function neighbours(parts: readonly (string | PhraseSlot)[], index: number): Pick<WordSlot, 'before' | 'behind'> {
  const [before, behind] = [parts[index - 1], parts[index + 1]];
  return {
    before: typeof before === 'string' ? (/([\p{L}\p{N}'-]+)\s*$/u.exec(before)?.[1]?.toLowerCase() ?? null) : null,
    behind: typeof behind === 'string' ? (/^\s*([\p{L}\p{N}'-]+)/u.exec(behind)?.[1]?.toLowerCase() ?? null) : null,
  };
}

const MAX_RULES = 12;

/** Creates a function that compares the rules that share words with an instruction. */
export function createRuleReader(rules: readonly Rule[], encodeStep: EncodeStep | undefined) {
  const patterns = rules.flatMap(patternsOf);
  const index = new Map<string, number[]>();
  patterns.forEach(({ rule, wording }, number) => {
    for (const key of new Set(keysOf(wording))) {
      const name = `${rule.domain} ${key}`;
      const list = index.get(name) ?? [];
      list.push(number);
      index.set(name, list);
    }
  });
  return (request: MatchRequest, instruction: Wording, threshold: number): readonly PatternResult[] => {
    const postings = [...new Set(keysOf(instruction))].map((key) => index.get(`${request.domain} ${key}`) ?? []);
    const nearest = byRarity(postings, false).slice(0, MAX_RULES);
    return nearest.map((number) => {
      const pattern = patterns[number]!;
      const { rule, phrase, wording } = pattern;
      const reading = readFor(pattern, request.instruction, instruction);
      const given = withCalendar(reading?.wording ?? instruction, request.now);
      const write = (pairs: readonly Pair[]): PacketResult =>
        withoutInventions(packetOf(pattern, reading?.captured ?? null, pairs, encodeStep), request.instruction);
      const source = { kind: 'rule', rule, phrase } as const;
      return matchPattern({ source, domain: rule.domain, wording, anyId: true, write }, request, given, threshold);
    });
  };
}

function packetOf(
  pattern: RulePattern,
  captured: readonly Captured[] | null,
  pairs: readonly Pair[],
  encodeStep: EncodeStep | undefined,
): PacketResult {
  if (captured === null) {
    return { refusal: 'slot-missing', reason: 'the words next to a slot of the phrase are missing' };
  }
  const { values, other } = valuesOf(pattern, pairs);
  if (other !== null) {
    const reason = `the instruction has "${other.given.text}", but the rule is for "${other.stored.text}"`;
    return { refusal: 'slot-unplaced', reason };
  }
  try {
    const packet = packetOfRule(pattern.rule, { slots: values, captured }, encodeStep);
    const words = captured.map(({ name, text }) => [name, text] as const);
    const slots = Object.fromEntries([...[...values].map(([name, { text }]) => [name, text] as const), ...words]);
    return { packet, slots, refusal: null };
  } catch (thrown) {
    if (thrown instanceof SlotFault) return { refusal: thrown.refusal, reason: thrown.message };
    // A step encoder of the application may throw anything.
    const why = thrown instanceof Error ? thrown.message.replace(/\.$/, '') : 'the step failed';
    return { refusal: 'invalid-packet', reason: why };
  }
}

/** Returns the values of the slots by name. Samples that are paired with another kind are constants of the phrase. */
function valuesOf(
  pattern: RulePattern,
  pairs: readonly Pair[],
): { readonly values: ReadonlyMap<string, Slot>; readonly other: Pair | null } {
  const values = new Map<string, Slot>();
  let other: Pair | null = null;
  for (const pair of pairs) {
    const { stored, given } = pair;
    const slot = pattern.slots.find(({ start, end }) => start >= stored.start && end <= stored.end);
    // A currency in the phrase itself is not a slot.
    const isWhole = slot !== undefined && slot.start === stored.start && slot.end === stored.end;
    const isSame = stored.currency === given.currency && stored.kind === given.kind;
    if (slot !== undefined && (isWhole || isSame)) values.set(slot.name, given);
    else if (stored.value !== given.value) other ??= pair;
  }
  return { values, other };
}

/** Replaces "today", "last month" and so on by days and months. */
function withCalendar(wording: Wording, now: number): Wording {
  if (wording.unit === null) return wording;
  const tokens = wording.tokens.map((token) => {
    const slot = token.slot === null ? null : resolveRelative(token.slot, now);
    return slot === null ? token : valueToken(slot);
  });
  return { ...wording, tokens, slots: tokens.flatMap(({ slot }) => (slot === null ? [] : [slot])) };
}

/** The maximum number of words of a slot, and of items of a list. */
const MAX_WORDS = 4;
const MAX_LIST_ITEMS = 24;

interface Reading {
  readonly wording: Wording;
  readonly captured: readonly Captured[];
}

/**
 * Replaces the words for each slot by a quotation. Returns `null` if a neighbouring word is missing or occurs twice, or if the words are more
 * than a value.
 *
 * @param wording the wording of the unchanged instruction
 */
function readFor({ wordSlots }: RulePattern, instruction: string, wording: Wording): Reading | null {
  if (wordSlots.length === 0) return { wording, captured: [] };
  const items = parseInstruction(instruction);
  if (items === null) return null;
  const found: (Captured & { readonly start: number; readonly end: number })[] = [];
  for (const slot of wordSlots) {
    const range = rangeOf(items, slot);
    if (range === null) return null;
    const text = instruction.slice(range.start, range.end).replace(/^["'\u201C`]|["'\u201D`]$/g, '');
    if (text === '' || text.includes('"')) return null;
    found.push({ name: slot.name, text, ...range });
  }
  found.sort((a, b) => b.start - a.start);
  let text = instruction;
  for (const { start, end, text: inside } of found) text = `${text.slice(0, start)}"${inside}"${text.slice(end)}`;
  const read = readWording(text);
  return read === null ? null : { wording: read, captured: found };
}

function rangeOf(
  items: readonly InstructionItem[],
  { kind, before, behind }: WordSlot,
): { readonly start: number; readonly end: number } | null {
  if (before === null) return null;
  const starts = items.flatMap((item, index) => (isWord(item, before) ? [index + 1] : []));
  const [from] = starts;
  if (from === undefined || starts.length > 1) return null;
  const taken: Exclude<InstructionItem, { readonly kind: 'span' }>[] = [];
  for (const item of items.slice(from)) {
    if (item.kind === 'span' || (behind !== null && isWord(item, behind))) break;
    if (item.kind === 'mark' && !(kind === 'list' && /[,&]/.test(item.text))) break;
    // A value is complete by itself.
    if (kind === 'text' && taken.length > 0 && (item.kind !== 'word' || taken[0]?.kind !== 'word')) break;
    taken.push(item);
  }
  const most = kind === 'list' ? MAX_LIST_ITEMS : MAX_WORDS;
  const isPlain = taken.every((item) => isPlainItem(item, kind, taken.length));
  if (taken.length === 0 || taken.length > most || !isPlain) return null;
  return { start: taken[0]!.start, end: taken.at(-1)!.end };
}

function isWord(item: InstructionItem, word: string): boolean {
  return item.kind === 'word' && item.text.toLowerCase() === word;
}

/** Adverbs, which are not part of a value. */
const ADVERB = /ly$|^(?:asap|urgent|today|now)$/;

/** Excludes function words and adverbs: "jsmith except for VPN" and "jsmith at once" do not name users. */
function isPlainItem(item: InstructionItem, kind: PhraseSlot['kind'], words: number): boolean {
  if (item.kind !== 'word') return item.kind !== 'relative';
  const plain = item.text.toLowerCase();
  if (kind === 'list' && plain === 'and') return true;
  if (words > 1 && ADVERB.test(plain)) return false;
  return !isFunctionWord(plain);
}
