/** Words that a slot of a rule takes: what stands between its neighbours. */

import type { PhraseSlot } from '../rules/slots.js';
import { baseOf } from './base-form.js';
import type { InstructionItem } from './instruction/ast.js';
import { parseInstruction } from './instruction/parse.js';
import { phraseAt } from './lexicon/phrases.js';

/** The words of a phrase beside a slot, in small letters; `null` where the phrase begins or ends, or another slot stands there. */
export interface Neighbours {
  readonly before: string | null;
  readonly behind: string | null;
}

export interface Captured {
  readonly name: string;
  readonly text: string;
}

/** Most words that a slot takes, beside lists. */
const MOST_WORDS = 4;
const MOST_LIST_ITEMS = 24;

export function neighbours(parts: readonly (string | PhraseSlot)[], index: number): Neighbours {
  const before = parts[index - 1];
  const behind = parts[index + 1];
  return {
    before: typeof before === 'string' ? (/([\p{L}\p{N}'-]+)\s*$/u.exec(before)?.[1]?.toLowerCase() ?? null) : null,
    behind: typeof behind === 'string' ? (/^\s*([\p{L}\p{N}'-]+)/u.exec(behind)?.[1]?.toLowerCase() ?? null) : null,
  };
}

/**
 * The instruction with a quotation in place of what the slots take; `null` where a neighbour is missing or comes twice, or
 * where what stands there is more than a value.
 */
export function capture(
  instruction: string,
  slots: readonly (PhraseSlot & Neighbours)[],
): { readonly text: string; readonly captured: readonly Captured[] } | null {
  const items = parseInstruction(instruction);
  if (items === null) return null;
  const found: (Captured & { readonly start: number; readonly end: number })[] = [];
  for (const slot of slots) {
    const range = rangeOf(items, slot);
    if (range === null) return null;
    const text = instruction.slice(range.start, range.end).replace(/^["'\u201C`]|["'\u201D`]$/g, '');
    if (text === '' || text.includes('"')) return null;
    found.push({ name: slot.name, text, ...range });
  }
  found.sort((a, b) => b.start - a.start);
  let text = instruction;
  for (const { start, end, text: inside } of found) text = `${text.slice(0, start)}"${inside}"${text.slice(end)}`;
  return { text, captured: found.map(({ name, text: inside }) => ({ name, text: inside })) };
}

function rangeOf(
  items: readonly InstructionItem[],
  { kind, before, behind }: PhraseSlot & Neighbours,
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
  const most = kind === 'list' ? MOST_LIST_ITEMS : MOST_WORDS;
  if (taken.length === 0 || taken.length > most || !taken.every((item) => isPlain(item, kind, taken.length)))
    return null;
  return { start: taken[0]!.start, end: taken.at(-1)!.end };
}

function isWord(item: InstructionItem, word: string): boolean {
  return item.kind === 'word' && item.text.toLowerCase() === word;
}

/** No relation, no article, and nothing that says how: "jsmith except for VPN" and "jsmith at once" are no names of users. */
function isPlain(item: InstructionItem, kind: PhraseSlot['kind'], words: number): boolean {
  if (item.kind !== 'word') return item.kind !== 'relative';
  const plain = item.text.toLowerCase();
  if (kind === 'list' && plain === 'and') return true;
  const meaning = phraseAt([plain], [baseOf(plain)], 0)?.meaning;
  if (words > 1 && (/ly$/.test(plain) || meaning?.noun === 'urgent')) return false;
  return plain !== 'and' && meaning?.role === undefined;
}
