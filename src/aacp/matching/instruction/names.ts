/** Names: runs of capitalised words that are no words of the trade. */
import type { InstructionItem, WordItem } from './ast.js';
import { nameSlot, type Slot } from './slots.js';

const COMPANY_FORMS: ReadonlySet<string> = new Set(
  'ltd limited gmbh inc incorporated llc llp plc ag sa srl spa bv nv corp corporation co kg ohg ug pty oy ab as sarl se'.split(
    ' ',
  ),
);

/** Small words that stand within names. */
const LINKS: ReadonlySet<string> = new Set(['of', 'de', 'van', 'von', 'der', 'den', 'la', 'le', 'du', 'da', 'di', '&']);

/** Whether a word says what a company is. */
export function isCompanyForm(word: string): boolean {
  return COMPANY_FORMS.has(word.toLowerCase().replace(/\.$/, ''));
}

/** A name, and the items that it is made of: those from `from` up to, not including, `to`. */
export interface NameRun {
  readonly slot: Slot;
  readonly from: number;
  readonly to: number;
}

/**
 * The names in an instruction, in order. Where all words are capitalised, as in titles, nothing is a name.
 *
 * @param isKnown whether a word, in small letters, has a meaning of its own
 */
export function findNames(
  items: readonly InstructionItem[],
  source: string,
  isKnown: (word: string) => boolean,
): readonly NameRun[] {
  if (isTitle(items)) return [];
  const runs: NameRun[] = [];
  let at = 0;
  while (at < items.length) {
    const end = endOfCapitals(items, at);
    if (end > at) {
      const run = runWithin(items, at, end, source, isKnown);
      if (run !== null) runs.push(run);
    }
    at = Math.max(end, at + 1);
  }
  return runs;
}

function isTitle(items: readonly InstructionItem[]): boolean {
  // What begins a text is capitalised whatever it is.
  const words = items.slice(1).filter((item): item is WordItem => item.kind === 'word' && item.text.length > 3);
  const capitalised = words.filter(({ text }) => isCapitalised(text)).length;
  return words.length >= 4 && capitalised > words.length * 0.7;
}

/** The end of a run of capitalised words; where it begins, if there is none. A genitive ends it. */
function endOfCapitals(items: readonly InstructionItem[], at: number): number {
  if (!isCapital(items[at])) return at;
  let to = at + 1;
  // A link belongs to the run only if it goes on behind it.
  while (to < items.length && !hasGenitive(items[to - 1])) {
    if (!isCapital(items[to]) && !(isLink(items[to]) && isCapital(items[to + 1]))) break;
    to++;
  }
  return to;
}

/** The name in a run, without the words around it that everybody has. */
function runWithin(
  items: readonly InstructionItem[],
  start: number,
  end: number,
  source: string,
  isKnown: (word: string) => boolean,
): NameRun | null {
  let [from, to] = [start, end];
  const begins = beginsSentence(items, start);
  const isCompany = isForm(items[to - 1]) && to - from > 1;
  if (isCompany) {
    if (begins && isKnownItem(items[from], isKnown)) from++;
  } else {
    while (from < to && (isLink(items[from]) || isKnownItem(items[from], isKnown))) from++;
    while (to > from && (isLink(items[to - 1]) || isKnownItem(items[to - 1], isKnown))) to--;
    // What begins a sentence is capitalised whatever it is.
    if (from === start && begins && to - from < 2) return null;
  }
  if (from >= to || (!isCompany && isAcronyms(items, from, to))) return null;
  return runOf(items, from, to, source);
}

function runOf(items: readonly InstructionItem[], from: number, to: number, source: string): NameRun | null {
  const first = items[from];
  const last = items[to - 1];
  if (first?.kind !== 'word' || last?.kind !== 'word') return null;
  const end = hasGenitive(last) ? last.end - (/['\u2019]s$/i.test(last.text) ? 2 : 0) : last.end;
  return { slot: nameSlot(source.slice(first.start, end), first.start, end), from, to };
}

function isCapital(item: InstructionItem | undefined): boolean {
  return item?.kind === 'word' && isCapitalised(item.text);
}

function isLink(item: InstructionItem | undefined): boolean {
  return (item?.kind === 'word' || item?.kind === 'mark') && LINKS.has(item.text);
}

function isForm(item: InstructionItem | undefined): boolean {
  return item?.kind === 'word' && isCompanyForm(item.text.replace(/['\u2019]s$/, ''));
}

function hasGenitive(item: InstructionItem | undefined): boolean {
  return item?.kind === 'word' && /['\u2019]s$/i.test(item.text);
}

function isKnownItem(item: InstructionItem | undefined, isKnown: (word: string) => boolean): boolean {
  return item?.kind === 'word' && isKnown(item.text.toLowerCase().replace(/['\u2019]s$/, ''));
}

function beginsSentence(items: readonly InstructionItem[], at: number): boolean {
  const before = items[at - 1];
  return before === undefined || (before.kind === 'mark' && /[.!?:;\n(]/.test(before.text));
}

/** Capital letters alone are what things are called by everybody: VAT, EMEA. */
function isAcronyms(items: readonly InstructionItem[], from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const item = items[at];
    if (item?.kind === 'word' && item.text !== item.text.toUpperCase()) return false;
  }
  return true;
}

function isCapitalised(text: string): boolean {
  const first = text[0] ?? '';
  return first !== first.toLowerCase();
}
