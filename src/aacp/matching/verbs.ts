/** Whether a word is the verb of an instruction, or a noun that is written as one. */
import { isAdjective, isIdNoun, isLight, isNounLike, isPlainNoun } from './lexicon/kinds.js';
import type { Part, WordPart } from './parts.js';
import type { Form, Reader } from './reader.js';

/** Whether an action begins with a word, where one may begin. */
export function beginsAction(reader: Reader, parts: readonly Part[], at: number, word: WordPart): boolean {
  if (namesId(parts, at, word)) return false;
  if (word.action === undefined) return isUnheardOf(reader, parts, at, word);
  const before = parts[at - 1];
  if (before?.kind === 'lead' && before.gerund && word.plain.endsWith('ing')) return true;
  if (!canBeVerb(word)) return false;
  // "Mail server mail-02 is to be restarted"
  const isName = isNounLike(word.plain) || word.isNoun;
  if (isName && reader.clause === 'start' && behind(parts, at, word) !== 'none' && isSubject(parts, at)) return false;
  if (word.isPhrase || !isNounLike(word.plain)) return true;
  // A sentence needs a verb: where there has been none, this is it.
  const isFirst = reader.actions.length === reader.sentence.actions;
  if (reader.clause === 'start' || isFirst) return behind(parts, at, word) !== 'none';
  return behind(parts, at, word) === 'thing';
}

/** Words between a subject and its verb. */
const MOST_OF_SUBJECT = 10;

/** Whether the word is what something is to be done to. */
function isSubject(parts: readonly Part[], at: number): boolean {
  for (const part of parts.slice(at + 1, at + 1 + MOST_OF_SUBJECT)) {
    if (part.kind === 'break' && part.mark !== 'comma') return false;
    if (part.kind === 'relation' && part.relation === 'to-be') return true;
  }
  return false;
}

/** Verbs that bring about what is named in the singular: "raise a purchase order", "open a ticket". */
const RAISING: ReadonlySet<string> = new Set(['raise', 'open', 'log', 'opened', 'raised', 'logged', 'file', 'filed']);
const RAISED: ReadonlySet<string> = new Set([
  ...[
    'purchase-order',
    'order',
    'ticket',
    'invoice',
    'incident',
    'request',
    'account',
    'quote',
    'claim',
    'credit-note',
    'file',
    'case',
    'mailbox',
  ],
]);
/** Words between the article and the noun. */
const MOST_BETWEEN = 3;

/** Documents that are drawn up in words: to create them is to draft them. */
const WRITTEN: ReadonlySet<string> = new Set([
  'nda',
  'msa',
  'dpa',
  'sow',
  'letter',
  'contract',
  'memo',
  'reply',
  'response',
]);

/** What is booked in the ledger, and not in a diary. */
const POSTED: ReadonlySet<string> = new Set([
  'invoice',
  'journal',
  'accrual',
  'credit-note',
  'receipt',
  'depreciation',
]);

/** The action that a participle asks for, with what it is said of: "a ticket should be opened". */
export function passiveActionOf(
  word: WordPart,
  subject: readonly { readonly key: string; readonly form: Form }[],
): string {
  const action = word.action ?? word.key;
  const [of] = subject.filter(({ form }) => form.last);
  if (of === undefined) return action;
  if (RAISING.has(word.plain) && of.form.article === 'a' && RAISED.has(of.key)) return 'create';
  return subject.some(({ key }) => POSTED.has(key)) && /^(?:booked|posted)$/.test(word.plain) ? 'post' : action;
}

/** The action that begins with a word. */
export function actionOf(parts: readonly Part[], at: number, word: WordPart): string {
  const article = parts[at + 1];
  const near = parts.slice(at + 1, at + 2 + MOST_BETWEEN);
  if (word.plain === 'settle' && near.some((part) => part.kind === 'word' && part.key === 'invoice')) return 'pay';
  if (word.plain === 'book' && near.some((part) => part.kind === 'word' && POSTED.has(part.key))) return 'post';
  if (word.action === 'create' && article?.kind === 'stop' && article.indefinite) {
    if (near.some((part) => part.kind === 'word' && WRITTEN.has(part.key))) return 'draft';
  }
  if (RAISING.has(word.plain) && article?.kind === 'stop' && article.indefinite) {
    const raised = parts.slice(at + 2, at + 2 + MOST_BETWEEN);
    if (raised.some((part) => part.kind === 'word' && RAISED.has(part.key))) return 'create';
  }
  return word.action ?? `?${word.key}`;
}

/** "to check": another action. "to finance": no action, unless an article or a value follows. */
export function isInfinitive(parts: readonly Part[], at: number): boolean {
  const word = parts[at];
  if (word?.kind !== 'word' || !canBeVerb(word)) return false;
  return word.isPhrase || !isNounLike(word.plain) || behind(parts, at, word) === 'thing';
}

/** An action that no table has, at the very beginning. */
function isUnheardOf(reader: Reader, parts: readonly Part[], at: number, word: WordPart): boolean {
  if (word.isNoun || isAdjective(word.key) || isLight(word.key) || reader.clause !== 'start') return false;
  const next = parts[at + 1];
  // "Number of leavers", "Exit interview"
  if (isPlainNoun(word.plain) || (next?.kind === 'weak' && next.text === 'of')) return false;
  const isFirst = reader.actions.length === 0 && reader.contents.length === 0 && reader.slots.length === 0;
  return isFirst && word.key === word.plain.replace(/e$/, '') && behind(parts, at, word) !== 'none';
}

/** "Invoice INV-9921": the noun before its number. */
function namesId(parts: readonly Part[], at: number, word: WordPart): boolean {
  const next = parts[at + 1];
  return isIdNoun(word.key) && next?.kind === 'slot' && next.slot.kind === 'id';
}

/** Forms in -s, -ing and -ed ask for nothing. */
function canBeVerb(word: WordPart): boolean {
  if (word.action === undefined || word.past) return false;
  return word.isPhrase || !/(?:[^s]s|ing)$/.test(word.plain) || word.plain === 'bring';
}

/** What follows a word that may be a verb: an article or a value, another word, or nothing. */
function behind(parts: readonly Part[], at: number, word: WordPart): 'thing' | 'word' | 'none' {
  const next = parts[at + 1];
  if (next === undefined) return 'none';
  // "schedule and confirm the transfer"
  if (next.kind === 'break') return next.mark === 'and' ? 'word' : 'none';
  if (next.kind === 'slot') return 'thing';
  if (next.kind === 'stop') return next.determines ? 'thing' : 'word';
  if (next.kind === 'word' && isLight(next.key) && /^(?:all|any|each|every)$/.test(next.plain)) return 'thing';
  // "and flag discrepancies"
  if (next.kind === 'word' && /[^s]s$/.test(next.plain) && !isAdjective(word.plain)) return 'thing';
  return 'word';
}
