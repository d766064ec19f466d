/** What stands around a word or a value. */
import { type Slot, TIME_KINDS } from './instruction/slots.js';
import { isBearerNoun, isFormat, isIdNoun, isPeriodNoun } from './lexicon/kinds.js';
import type { Part, WordPart } from './parts.js';

/** Kinds of values that name somebody or something. */
const NAMED: ReadonlySet<Slot['kind']> = new Set(['name', 'handle', 'email']);

/** A comma or "and". */
export function isJoint(part: Part | undefined): boolean {
  return part?.kind === 'break' && (part.mark === 'and' || part.mark === 'comma');
}

/** Whether a value of the same kind stands beside it, joined by "and" or a comma. */
export function isListed(parts: readonly Part[], at: number, { kind }: Slot): boolean {
  return [-1, 1].some((step) => {
    let index = at + step;
    while (isJoint(parts[index])) index += step;
    const other = parts[index];
    return index !== at + step && other?.kind === 'slot' && other.slot.kind === kind;
  });
}

/** What is counted stands behind a number; any other value is told by the word before it. */
export function contextOf(parts: readonly Part[], at: number, slot: Slot): string {
  const next = parts[at + 1];
  if ((slot.kind === 'number' || slot.kind === 'ordinal') && next?.kind === 'word') return next.key;
  const before = partBefore(parts, at);
  // What is asked for, whatever the verb: "inform John Smith", "notify John Smith".
  return before === null ? '' : before.isNoun ? before.key : (before.action ?? before.key);
}

/** `count` for a value that counts what stands behind it, the preposition before any other number; else `''`. */
export function useOf(parts: readonly Part[], at: number, slot: Slot): string {
  if (isCounting(parts, at, slot)) return 'count';
  const before = parts[at - 1];
  return slot.kind === 'number' && before?.kind === 'weak' ? before.text : '';
}

/** Whether a number counts the words after it, as in "2026 chairs". In "the 2026 budget", it is a year. */
function isCounting(parts: readonly Part[], at: number, { kind }: Slot): boolean {
  const next = parts[at + 1];
  if (next?.kind !== 'word') return false;
  if (kind === 'number') return true;
  const before = parts[at - 1];
  if (kind !== 'year' || (before?.kind === 'stop' && before.determines)) return false;
  for (let index = at + 1; ; index++) {
    const part = parts[index];
    if (part?.kind !== 'word') return false;
    if (/[^s]s$/.test(part.plain)) return true;
  }
}

/** The word for the kind of thing that a value names, where one stands before it: "invoice INV-9921", "supplier ABC Ltd". */
export function nounOf(parts: readonly Part[], at: number, { kind }: Slot): string | null {
  const before = wordBefore(parts, at);
  if (before === null) return null;
  if (kind === 'id') return isIdNoun(before) ? before : null;
  return NAMED.has(kind) && isBearerNoun(before) ? before : null;
}

/** Who or what a preposition before a name or an address makes of it. */
const SIDES: ReadonlyMap<string, string> = new Map([
  ...([
    ['with', 'with'],
    ['together with', 'with'],
    ['along with', 'with'],
    ['via', 'via'],
    ['through', 'via'],
  ] as const),
  ...([
    ['for', 'for'],
    ['regarding', 'about'],
    ['concerning', 'about'],
    ['about', 'about'],
  ] as const),
]);

/** Relations that make somebody something. */
const SIDED: ReadonlySet<string> = new Set([
  'from',
  'to',
  'by',
  'cc',
  'bcc',
  'against',
  'on-behalf',
  'without',
  'except',
  'instead',
]);

/** The side that a name or an address stands on, by the preposition before it; `''` where that is left open. */
export function sideOf(parts: readonly Part[], at: number, { kind }: Slot): string {
  const before = parts[at - 1];
  // "a quote by customer C-310"
  const isBorne = kind === 'id' && before?.kind === 'word' && isBearerNoun(before.key);
  if (!NAMED.has(kind) && !isBorne) return '';
  for (let index = at - 1; index >= Math.max(0, at - 4); index--) {
    const part = parts[index]!;
    if (part.kind === 'weak') return SIDES.get(part.text) ?? '';
    if (part.kind === 'relation')
      return part.relation === 'about' ? 'about' : SIDED.has(part.relation) ? part.relation : '';
    if (part.kind === 'word' ? !isBearerNoun(part.key) : part.kind !== 'stop') return '';
  }
  return '';
}

/** What comes from somebody, and is theirs. */
const DOCUMENTS: ReadonlySet<string> = new Set([
  ...[
    'invoice',
    'quote',
    'complaint',
    'claim',
    'email',
    'letter',
    'reminder',
    'request',
    'statement',
    'credit-note',
    'bid',
  ],
]);

/** Whether a value behind "from" is whose document it is: "invoice INV-1 from Acme". */
export function isDocumentary(parts: readonly Part[], at: number): boolean {
  let index = at - 1;
  while (parts[index]?.kind === 'stop' || isBearer(parts[index])) index--;
  const from = parts[index];
  if (from?.kind !== 'relation' || from.relation !== 'from') return false;
  const thing = parts[index - 1]?.kind === 'slot' ? parts[index - 2] : parts[index - 1];
  return thing?.kind === 'word' && DOCUMENTS.has(thing.key);
}

function isBearer(part: Part | undefined): boolean {
  return part?.kind === 'word' && isBearerNoun(part.key);
}

/** The word before a place, small words left out; `null` where a value or the end of a sentence stands there. */
function wordBefore(parts: readonly Part[], at: number): string | null {
  return partBefore(parts, at)?.key ?? null;
}

function partBefore(parts: readonly Part[], at: number): WordPart | null {
  for (let index = at - 1; index >= 0; index--) {
    const part = parts[index]!;
    if (part.kind === 'word') return part;
    if (part.kind !== 'stop' && part.kind !== 'weak') return null;
  }
  return null;
}

/** Words that only say what kind of value follows: "invoice INV-9921", "the amount of £40", "the month of August 2024". */
export function introduces(parts: readonly Part[], at: number, key: string): boolean {
  for (let index = at + 1; index < parts.length; index++) {
    const part = parts[index]!;
    if (part.kind === 'stop' || part.kind === 'weak') continue;
    if (part.kind === 'break' && part.mark === 'colon') continue;
    return part.kind === 'slot' && introducesKind(part.slot.kind, key, index === at + 1);
  }
  return false;
}

function introducesKind(kind: Slot['kind'], key: string, isNext: boolean): boolean {
  if (kind === 'terms') return key === 'term' || key === 'payment-term';
  if (kind === 'id') return isNext && isIdNoun(key);
  if (NAMED.has(kind)) return isNext && isBearerNoun(key);
  if (kind === 'amount') return key === 'amount' || key === 'total';
  return TIME_KINDS.has(kind) && isPeriodNoun(key);
}

/** Whether a form of answer stands at a place, or behind an article there: "as a PDF". */
export function isFormatAt(parts: readonly Part[], at: number): boolean {
  const part = parts[at];
  if (part?.kind === 'stop') return isFormatAt(parts, at + 1);
  return part?.kind === 'word' && isFormat(part.key);
}
