/**
 * Small words and signs that turn an instruction round, and that a comparison of its telling words does not weigh. They are read
 * from the text itself, beside the analysis: where both texts do not have the same ones, the pattern is refused.
 */
import type { Slot } from '../instruction/slots.js';

/** What has to be the same in both texts, each by the name that is told when it is not. */
export type Guards = ReadonlyMap<string, string>;

/** Orders that cannot be taken back, where orders begin: of these, every word has to be the same. */
const GRAVE =
  /(?:^\s*|[.!?,;:\n]\s*|\b(?:and|then|please|now|to|must|should|not|never)\s+)(?:delete|remove|purge|erase|wipe|destroy|revoke|disable|deactivate|suspend|terminate|dismiss|cancel|transfer|pay|refund|approve|reject|wire|grant)\b/i;

/** Words that say nothing beside a grave action. */
const COURTESIES: ReadonlySet<string> = new Set(['please', 'kindly', 'the', 'thanks', 'thank', 'you']);

/** A negation with nothing behind it, or with the whole instruction: "You must not.", "No.", "Do not do it." */
const BARE_NEGATION =
  /(?:\b(?:not|no|never|nope|cannot)|n['\u2019]t)(?:\s+(?:do|be|so|now|yet|today|please|any\s?more)\b(?:\s+(?:it|this|that|so))?)?\s*(?:[.!?,;:\u2013\u2014]|$)|[-\u2013\u2014:]\s*(?:no|not|never)\b/gi;

/** Signs and marks that change a value and are no part of it: -£500, (£500), £500+, INV-1*, INV-1/INV-2. */
const MARKED_VALUE =
  /(?:^|[\s(])[-\u2212\u2013](?=[\u00A3$\u20AC]?\d)|\([\u00A3$\u20AC\d][^()\s]*\)|\d[-+*](?=[\s.,;!?]|$)|[A-Za-z]+-?\d+\/[A-Za-z]+-?\d/g;

/** Days and months in digits of which either could be the day. */
const EITHER_DAY = /\b(?:0?[1-9]|1[0-2])([./-])(?:0?[1-9]|1[0-2])\1\d{2,4}\b/g;

const TAXED = /\b([a-z]+)\s+(?:vat|tax|taxes|gst)\b/gi;
const OTHERS_OWN = /\b(?:their|theirs|his|her|hers)\b/gi;
const EACH = /\b(?:every|each)\b/gi;
const CONDITIONS = /\bif (?:you can|possible|so)\b|\bat your convenience\b|\bnow and then\b|\bhere\b/gi;

/** Beginnings of sentences that ask or tell something, and order nothing. */
const TELLING =
  /^(?:did|does|am|is|are|was|were|has|had|who|whose|what|which|when|where|why|how|they|he|she|it|do (?:we|they|you|i|he|she|it)|(?:we|i|you)(?!['\u2019]| (?:need|want|would|require|also|now|still|just|have|am|are|\W)))\b/i;

/** Questions that are orders. */
const POLITE = /^(?:can|could|will|would|may|might|please|any|shall)\b/i;

const SIDE = 'who stands on which side';
const GRAVE_WORDS = 'the words about what cannot be taken back';

/** What an instruction may have and a description not. */
const PLAIN: ReadonlySet<string> = new Set([SIDE, GRAVE_WORDS]);

/** Which side a name or an address stands on. */
const SIDES: Readonly<Record<string, string>> = {
  ...{ from: 'from', by: 'from', to: 'to', for: 'to', cc: 'cc', bcc: 'cc', against: 'against' },
};

/** The guards of an instruction, with its slots. */
export function guardsOf(instruction: string, slots: readonly Slot[]): Guards {
  const outside = withoutSlots(instruction, slots);
  return new Map([
    ['a negation of the whole', String(outside.match(BARE_NEGATION)?.length ?? 0)],
    ['a question or a statement', moodOf(outside)],
    ['a sign or mark at a value', [...listOf(instruction, MARKED_VALUE), ...listOf(instruction, EITHER_DAY)].join(' ')],
    ['what is said of tax', listOf(instruction, TAXED).join(', ')],
    ['whose it is', listOf(outside, OTHERS_OWN).length === 0 ? '' : 'theirs'],
    ['each or every', listOf(outside, EACH).length === 0 ? '' : 'each'],
    ['a condition', listOf(outside, CONDITIONS).join(', ')],
    [
      'times without a year',
      String(slots.filter(({ relative, item }) => relative && item?.kind !== 'relative').length),
    ],
    [SIDE, sidesOf(instruction, slots)],
    [GRAVE_WORDS, GRAVE.test(outside) ? wordsOf(outside) : ''],
  ]);
}

/** What differs, or `null`. */
export function otherGuard(one: Guards, other: Guards): string | null {
  for (const [name, value] of one) {
    const same = other.get(name) === value;
    // "the invoice of ABC" leaves open which side it is.
    const open = name === SIDE && (value === '' || other.get(name) === '');
    if (!same && !open) return name;
  }
  return null;
}

/** What of an instruction goes beyond what a description can say; `null` for nothing. */
export function beyondPlain(guards: Guards): string | null {
  for (const [name, value] of guards) if (!PLAIN.has(name) && value !== '' && value !== '0') return name;
  return null;
}

function withoutSlots(instruction: string, slots: readonly Slot[]): string {
  let text = '';
  let at = 0;
  for (const { start, end } of [...slots].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    text += `${instruction.slice(at, start)} \u00B7 `;
    at = end;
  }
  return text + instruction.slice(at);
}

function listOf(text: string, pattern: RegExp): readonly string[] {
  return (text.match(pattern) ?? []).map((found) => found.trim().toLowerCase()).sort();
}

function moodOf(text: string): string {
  const sentences = text.match(/[^.!?\n]+[.!?]*/g)?.map((sentence) => sentence.trim()) ?? [];
  const told = sentences.filter((sentence) => /\w/.test(sentence));
  const odd = told.filter((sentence) => {
    if (sentence.endsWith('?')) return !POLITE.test(sentence);
    return told.length === 1 && TELLING.test(sentence);
  });
  return odd.map((sentence) => /^\w+/.exec(sentence)?.[0].toLowerCase() ?? '?').join(' ');
}

function sidesOf(instruction: string, slots: readonly Slot[]): string {
  const sides = slots
    .filter(({ kind }) => kind === 'name' || kind === 'email')
    .map(({ kind, start }) => {
      const [, word = ''] = /([a-z]+):?\s+(?:the\s+)?$/i.exec(instruction.slice(Math.max(0, start - 24), start)) ?? [];
      const lower = word.toLowerCase();
      // An address that something is about is nobody's to send it to.
      if (kind === 'email' && /^(?:of|for|on|with|about)$/.test(lower)) return 'about';
      return Object.hasOwn(SIDES, lower) ? SIDES[lower] : '';
    });
  return sides.filter(Boolean).sort().join(' ');
}

function wordsOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\d'\u2019-]+|\u00B7/gu) ?? [];
  return words
    .filter((word) => !COURTESIES.has(word))
    .map((word) => word.replace(/^center/, 'centre').replace(/^license/, 'licence'))
    .sort()
    .join(' ');
}
