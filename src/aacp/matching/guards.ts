/**
 * Small words and signs that turn an instruction round, and that a comparison of its telling words does not weigh. They are read
 * from the text itself, beside the analysis: where both texts do not have the same ones, the pattern is refused.
 */

import type { Guards, Structure } from './analysis.js';
import type { Slot } from './instruction/slots.js';

/** Orders that cannot be taken back, where orders begin: of these, every word has to be the same. */
const GRAVE =
  /(?:^\s*|[.!?,;:\n]\s*|\b(?:and|then|please|now|to|must|should|not|never)\s+)(?:delete|remove|purge|erase|wipe|destroy|revoke|disable|deactivate|suspend|terminate|dismiss|cancel|transfer|pay|refund|approve|reject|wire|grant)\b/i;

/** The same, as analyses have them. */
const GRAVE_ACTIONS: ReadonlySet<string> = new Set([
  ...[
    'delete',
    'remove',
    'destroy',
    'revoke',
    'disable',
    'suspend',
    'terminate',
    'dismiss',
    'cancel',
    'transfer',
    'pay',
  ],
  ...['refund', 'approve', 'reject', 'grant', 'settle'],
]);

/** Questions that ask to be told something do not turn round what only reads. */
const READING: ReadonlySet<string> = new Set(['fetch', 'count', 'calculate', 'compare']);
const ASKING =
  /^(?:what(?: is|\u2019s|'s| are| was| were| did we| do we)?|which|how many|how (?:do|does|did)|how much)\b/i;

/** "In Q2 2026, ..." */
const FRONTED = /^(?:for|in|during|on|as of)\b[^,?]{0,40},\s*/i;

/** "..., would you?" */
const TAG = /,?\s*\b(?:would|could|can|will) you(?: please)?\?$/i;

/** A negation with nothing behind it, or with the whole instruction: "You must not.", "No.", "Do not do it." */
const BARE_NEGATION =
  /(?:\b(?:not|no|never|nope|cannot)|n['\u2019]t)(?:\s+(?:do|be|so|now|yet|today|please|any\s?more)\b(?:\s+(?:it|this|that|so))?)?\s*(?:[.!?,;:\u2013\u2014]|$)|[-\u2013\u2014:]\s*(?:no|not|never)\b/gi;

/** Signs and marks that change a value and are no part of it: -£500, (£500), £500+, INV-1*, INV-1/INV-2. */
const MARKED_VALUE =
  /(?:^|[\s(])[-\u2212\u2013](?=[\u00A3$\u20AC]?\d)|\([\u00A3$\u20AC\d][^()\s]*\)|\d[-+*](?=[\s.,;!?]|$)|[A-Za-z]+-?\d+\/[A-Za-z]+-?\d/g;

/** Days and months in digits of which either could be the day. */
const EITHER_DAY = /\b(?:0?[1-9]|1[0-2])([./-])(?:0?[1-9]|1[0-2])\1\d{2,4}\b/g;

const TAXED =
  /\b(?:plus|including|incl|inclusive of|excluding|excl|exclusive of|before|after|with|without|net of|gross of|no|ex|less|minus)\.?\s+(?:the\s+)?(?:vat|tax|taxes|gst)\b/gi;
const OTHERS_OWN = /\b(?:their|theirs|his|her|hers)\b/gi;
const EACH = /\beach\b/gi;
const CONDITIONS = /\bif (?:you can|possible|so)\b|\bat your convenience\b|\bnow and then\b|\bhere\b/gi;

/** Beginnings of sentences that ask or tell something, and order nothing. */
const TELLING =
  /^(?:did|does|am|is|are|was|were|has|had|who|whose|what|which|when|where|why|how|they|he|she|it(?! (?:should|must|is to|needs to|has to) be)|do (?:we|they|you|i|he|she|it)|(?:we|i|you)(?!['\u2019]| (?:need|want|would|require|also|now|still|just|have|am|are|\W)))\b/i;

/** Questions that are orders. */
const POLITE = /^(?:can|could|will|would|may|might|please|any|shall)\b/i;

const SIDE = 'who stands on which side';
const ONE_OR_ALL = 'whether it is one or all';
const GRAVE_WORDS = 'the words about what cannot be taken back';

/** What an instruction may have and a description not. */
const PLAIN: ReadonlySet<string> = new Set([SIDE, GRAVE_WORDS, ONE_OR_ALL]);

/** The guards of an instruction, with its slots. */
export function guardsOf(instruction: string, analysis: Structure): Guards {
  const slots = analysis.slots.map(({ slot }) => slot);
  const reads = analysis.actions.length > 0 && analysis.actions.every((action) => READING.has(action));
  const outside = withoutSlots(instruction, slots);
  return new Map([
    ['a negation of the whole', String(outside.match(BARE_NEGATION)?.length ?? 0)],
    ['a question or a statement', moodOf(outside, reads, analysis.asks)],
    ['a sign or mark at a value', [...listOf(instruction, MARKED_VALUE), ...listOf(instruction, EITHER_DAY)].join(' ')],
    ['what is said of tax', listOf(instruction, TAXED).join(', ')],
    ['whose it is', 'theirs '.repeat(listOf(outside, OTHERS_OWN).length)],
    ['each or every', listOf(outside, EACH).length === 0 ? '' : 'each'],
    ['a condition', listOf(outside, CONDITIONS).join(', ')],
    [
      'times without a year',
      String(slots.filter(({ relative, item }) => relative && item?.kind !== 'relative').length),
    ],
    [SIDE, sidesOf(analysis)],
    [GRAVE_WORDS, isGrave(analysis, outside) ? wordsOf(analysis) : ''],
    [ONE_OR_ALL, numbersOf(analysis)],
  ]);
}

/** Sides that "of" and a genitive may stand for. */
const OPEN_SIDES = /^(?:(?:from|to|with) ?)*$/;

/** What differs, or `null`. */
export function otherGuard(one: Guards, other: Guards): string | null {
  for (const [name, value] of one) {
    const same = other.get(name) === value;
    // "the invoice of ABC" leaves open which side it is.
    const open = name === SIDE && [value, other.get(name)].includes('') && OPEN_SIDES.test(value + other.get(name));
    if (!same && !open && !(name === ONE_OR_ALL && sameNumbers(value, other.get(name) ?? ''))) return name;
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

function moodOf(text: string, reads: boolean, asks: boolean): string {
  const sentences = text.match(/[^.!?\n]+[.!?]*/g)?.map((sentence) => sentence.trim()) ?? [];
  const told = sentences.filter((sentence) => /\w/.test(sentence));
  const odd = told.filter((sentence) => {
    // "Overtime hours in May?"
    if (reads && asks && !TELLING.test(sentence)) return false;
    if (reads && ASKING.test(sentence.replace(FRONTED, ''))) return false;
    if (sentence.endsWith('?')) return !POLITE.test(sentence) && !TAG.test(sentence);
    return told.length === 1 && TELLING.test(sentence);
  });
  return odd.map((sentence) => /^\w+/.exec(sentence)?.[0].toLowerCase() ?? '?').join(' ');
}

function sidesOf({ slots, actions }: Structure): string {
  const named = slots.filter(({ slot, side }) => side !== '' || /^(?:name|email|handle)$/.test(slot.kind));
  // Who is paid, and who has sent the bill, are one.
  const isPayee = actions.join() === 'pay' && named.length === 1;
  return named
    .map((use) => ({ ...use, side: use.side === '' && use.role === 'to' ? 'to' : use.side }))
    .map(({ side, documentary }) => (isPayee && (side === 'to' || documentary) ? '' : side === 'for' ? 'to' : side))
    .filter(Boolean)
    .sort()
    .join(' ');
}

/** Whether it asks for something that cannot be taken back. */
export function isGrave({ actions }: Structure, text: string): boolean {
  return actions.some((action) => GRAVE_ACTIONS.has(action.replace(/^not:/, ''))) || GRAVE.test(text);
}

/** All words, those that say little elsewhere included; whether it is one or several; and how they hang together. */
function wordsOf({ contents, joints }: Structure): string {
  const words = contents.map(({ key, form }) => {
    const word = key === 'every' ? 'all' : key;
    return form.article === 'a' ? `a ${word}` : form.plural ? `${word}s` : word;
  });
  return [...words, ...joints].sort().join(' ');
}

/** What is said of one of several, of each, or of several: `1 ticket`, `* ticket`, `s ticket`. */
function numbersOf({ contents }: Structure): string {
  const said = contents
    .filter(({ light, form }) => !light && form.last)
    .map(({ key, form: { article, plural } }) => {
      if (article === 'all') return `${plural ? '*' : '+'} ${key}`;
      return `${article === 'a' ? '1' : plural ? 's' : '-'} ${key}`;
    });
  return said.sort().join('\n');
}

/** For each mark the ones that say something else of the same thing. */
const NOT_WITH: Readonly<Record<string, string>> = { '*': '1-', '+': '1', s: '1' };

/** "All tickets" are "tickets" and "the tickets", and neither "a ticket" nor "the ticket". */
function sameNumbers(one: string, other: string): boolean {
  return [one, other].every((text, index) => {
    const rest = (index === 0 ? other : one).split('\n');
    return text.split('\n').every((line) => {
      const [mark = '', key] = [line[0], line.slice(2)];
      const wrong = NOT_WITH[mark];
      if (wrong === undefined) return true;
      const marks = rest.filter((item) => item.slice(2) === key).map((item) => item[0] ?? '');
      return marks.length === 0 || marks.some((found) => !wrong.includes(found));
    });
  });
}
