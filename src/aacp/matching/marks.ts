/**
 * Small things that turn an instruction into another one, and that neither its telling words nor its guards show: how a verb stands,
 * whose a thing is, how many are meant, when.
 */

import type { Frame, Structure } from './analysis.js';
import { TIME_KINDS } from './instruction/slots.js';
import { isLight } from './lexicon/kinds.js';
import type { Part } from './parts.js';
import { isInfinitive } from './verbs.js';

/** Comparisons, which are no part of values. */
const OPERATORS = /[<>]=?|[!=]=|\u2260|\u2264|\u2265/g;

/** Verbs of what cannot be taken back, in all their forms, with what makes a wish, a question or a statement of them. */
const GRAVE_VERBS =
  /(?:\b(to|be|being|been|is|are|was|were|can|could|may|might|we|they|i|he|she|that|which|who|needs?|requires?|must|should)\s+)?\b((?:delet|remov|purg|eras|destroy|revo[ck]|disabl|deactivat|suspend|terminat|dismiss|cancel|refund|approv|reject|grant|settl)[a-z]*|pay(?:s|ing|ments?)?|paid|wip(?:e[ds]?|ing)|wir(?:e[ds]?|ing)|transfer(?:s|red|ring)?)\b/gi;

/** Whose it is: not said of what is asked for by anybody else. */
const OWNERS = /\b(?:my|mine|our|ours|your|yours|this|that|these|those)\b/gi;

/** Of what is asked for by anybody, only these are told apart: "our" is left out as often as not. */
const ONE_OWNER = /\b(?:my|mine|your|yours)\b/gi;

/** Who gets it, where no name says so. */
const GETTERS = /\bto (?:him|her|them|you|us)\b/gi;

/** What tells a statement, a plan or a question from an order. */
const UNDER_WAY =
  /\b(?:being|about to be|due to be|was to be|were to be|if at all)\b|^\W*(?:can|could|may|might)\b(?! (?:you|we|i|someone|somebody)\b)/gi;

/** "cannot", "should not", "won't": what may not be is another thing than what is not. */
const NOT_TO_BE = /\b(?:can|could|should|must|may|might|will|would|wo)\s?n(?:ot|['\u2019]t)\b|\bcan['\u2019]t\b/gi;

/** One of them, and any of them. */
const NUMBERS = /\b(?:one|any|both|either|several|few)\b/gi;

/** "for 5 days", "within 5 days" */
const DURATIONS =
  /\b(for|within|in|by|after|every)\s+(?:the (?:next|last) )?\d{1,9}\s(?:working |business )?(?:minute|hour|day|week|month|year)s?\b/gi;

/** With the word behind: "the urgent invoices" are others than "the invoices, urgently". */
const MANNERS =
  /\b(?:urgent|urgently|immediate|immediately|now|current|currently|daily|weekly|monthly|quarterly|yearly|annual|annually|every)\b(?: \w+)?/gi;

/** Keys of what is written for programs. */
const KEYS = /"(\w+)"\s*:|\b(\w+)=/g;

const UNDER_WAY_MARK = 'what is under way or only asked';
const NOT_TO_BE_MARK = 'what may not be';
const HEADING_MARK = 'a heading for an order';

/** What of an instruction is no order, as no description of one can say; `null` for nothing. */
export function beyondOrder({ marks }: Frame): string | null {
  const beyond = [UNDER_WAY_MARK, NOT_TO_BE_MARK, HEADING_MARK];
  return marks.find(([name, value]) => value !== '' && beyond.includes(name))?.[0] ?? null;
}

/** @param written the instruction as it stands, where `text` is a sentence made of it */
export function marksOf(
  text: string,
  parts: readonly Part[],
  { actions, asks }: Pick<Structure, 'actions' | 'asks'>,
  isGrave: boolean,
  written: string,
): Frame['marks'] {
  const verbs = [...text.matchAll(GRAVE_VERBS)].map(([, before = '', verb = '']) => `${before} ${verb}`.toLowerCase());
  return [
    ['comparisons', said(text, OPERATORS)],
    ['keys', text !== written ? [...written.matchAll(KEYS)].map(([, one, other]) => one ?? other).join(' ') : ''],
    ['orders within orders', actions.length > 1 ? String(infinitivesIn(parts)) : ''],
    [UNDER_WAY_MARK, said(text, UNDER_WAY)],
    [HEADING_MARK, asks && !actions.every((action) => ANSWERING.has(action)) ? actions.join(' ') : ''],
    [NOT_TO_BE_MARK, said(text, NOT_TO_BE)],
    ['how many are meant', said(text, NUMBERS)],
    ['times', timesOf(parts)],
    ['how long', [...text.matchAll(DURATIONS)].map(([, one = '']) => one.toLowerCase()).join(' ')],
    ['how soon or how often', isGrave ? said(text, MANNERS) : ''],
    ['verbs of what cannot be taken back', isGrave ? verbs.sort().join(', ') : ''],
    ['prepositions about what cannot be taken back', isGrave ? prepositionsIn(parts) : ''],
    ['whose or which it is', said(text, isGrave ? OWNERS : ONE_OWNER)],
    ['who gets it', said(text, GETTERS)],
    ['what things are of', modifiersIn(parts)],
  ];
}

/** Actions that questions and headings may ask for. */
const ANSWERING: ReadonlySet<string> = new Set([
  ...['fetch', 'count', 'calculate', 'compare', 'report', 'summarise', 'analyse', 'list', 'forecast', 'estimate'],
]);

function said(text: string, pattern: RegExp): string {
  return (text.match(pattern) ?? []).map((one) => one.trim().toLowerCase()).join(' ');
}

/** Before a time these say the same; on a day something is done, and of a day something is. */
const OF_TIMES: ReadonlySet<string> = new Set(['of', 'for', 'in', 'during']);

/** The prepositions of times that say more than which time something is of. */
function timesOf(parts: readonly Part[]): string {
  const found: string[] = [];
  parts.forEach((part, at) => {
    const before = parts[at - 1];
    if (part.kind !== 'slot' || !TIME_KINDS.has(part.slot.kind) || before?.kind !== 'weak') return;
    if (!OF_TIMES.has(before.text)) found.push(before.text);
  });
  return found.sort().join(' ');
}

function prepositionsIn(parts: readonly Part[]): string {
  return parts
    .flatMap((part) => (part.kind === 'weak' ? part.text : []))
    .sort()
    .join(' ');
}

/** Words that say little by themselves, before those of which they say what they are: "data policy", "contact details". */
function modifiersIn(parts: readonly Part[]): string {
  return parts
    .flatMap((part, at) => {
      const next = parts[at + 1];
      if (part.kind !== 'word' || next?.kind !== 'word' || !isLight(part.key) || part.action !== undefined) return [];
      return isLight(next.key) || next.past || /^(?:all|every|each|any)$/.test(part.plain) ? [] : part.key;
    })
    .sort()
    .join(' ');
}

/** "the accounts to delete", "ask them to restart it", "which need checking" */
function infinitivesIn(parts: readonly Part[]): number {
  return parts.filter((part, at) => {
    if (part.kind === 'stop') return part.relative;
    return part.kind === 'relation' && part.relation === 'to' && isInfinitive(parts, at + 1);
  }).length;
}
