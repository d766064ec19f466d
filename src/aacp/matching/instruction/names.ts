/** Names: runs of capitalised words that are not ordinary ones; and codes: acronyms and departments. */
import type { InstructionItem, WordItem } from './ast.js';
import { codeSlot, nameSlot, type Slot } from './slots.js';
import { isFamiliar } from './words.js';

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

/** A name or a code, and the items that it is made of: those from `from` up to, not including, `to`. */
interface NameRun {
  readonly slot: Slot;
  /** Ends in a genitive, which the slot does not have. */
  readonly genitive: boolean;
  readonly from: number;
  readonly to: number;
}

/** The names and codes of an instruction, in order. Where all words are capitalised, as in titles, nothing is a name. */
export function findNames(items: readonly InstructionItem[], source: string): readonly NameRun[] {
  const runs: NameRun[] = [];
  const isCapitalisedAll = isTitle(items);
  for (let at = 0; at < items.length; ) {
    const code = isCapitalisedAll ? null : codeAt(items, at);
    const end = isCapitalisedAll ? at : endOfCapitals(items, at);
    const run = code ?? (end > at ? runWithin(items, at, end, source) : null);
    if (run !== null) runs.push(run);
    at = code === null ? Math.max(end, at + 1) : code.to;
  }
  return runs;
}

const TEAM = /^(?:department|dept|team)$/i;

/** An acronym such as EMEA or HR, or what stands before "department" or "team". Words in capital letters for emphasis are none. */
function codeAt(items: readonly InstructionItem[], at: number): NameRun | null {
  const [item, next] = [items[at], items[at + 1]];
  if (item?.kind !== 'word' || isCapital(next) || (at > 0 && isCapital(items[at - 1]))) return null;
  const small = item.text.toLowerCase();
  const isAcronym =
    /^[A-Z]{2,6}$/.test(item.text) && (FORMATS.has(small) || !(PREFIXES.has(small) || isFamiliar(small)));
  const isTeam = next?.kind === 'word' && TEAM.test(next.text) && DEPARTMENTS.has(small);
  if (at === 0 || !(isAcronym || isTeam)) return null;
  return { slot: codeSlot(item.text, item.start, item.end), genitive: false, from: at, to: at + 1 };
}

const FORMATS: ReadonlySet<string> = new Set(['csv', 'json', 'pdf', 'xml', 'html']);

/** Acronyms that say what kind of thing a number behind them names, and capitals for emphasis. */
const PREFIXES: ReadonlySet<string> = new Set([
  'po',
  'id',
  'ok',
  'am',
  'pm',
  'eod',
  'eom',
  'cob',
  'only',
  'never',
  'gbp',
  'eur',
  'usd',
]);

const DEPARTMENTS: ReadonlySet<string> = new Set(
  `accounting accounts compliance engineering facilities finance hr it legal logistics marketing operations payroll procurement product
  purchasing research sales security support treasury`.split(/\s+/),
);

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
function runWithin(items: readonly InstructionItem[], start: number, end: number, source: string): NameRun | null {
  let [from, to] = [start, end];
  const begins = beginsSentence(items, start);
  const isCompany = isForm(items[to - 1]) && to - from > 1;
  if (isCompany) {
    // What begins a sentence is capitalised whatever it is: "Pay Acme Ltd", but "Acme Ltd".
    if (begins && to - from > 2) from++;
  } else {
    if (begins) from += /^(?:please|kindly)$/i.test(textOf(items[from])) ? 2 : 1;
    while (from < to && (isLink(items[from]) || isKnownItem(items[from]))) from++;
    while (to > from && (isLink(items[to - 1]) || isKnownItem(items[to - 1]))) to--;
  }
  if (from >= to || (!isCompany && isAcronyms(items, from, to))) return null;
  return runOf(items, from, to, source);
}

function runOf(items: readonly InstructionItem[], from: number, to: number, source: string): NameRun | null {
  const first = items[from];
  const last = items[to - 1];
  if (first?.kind !== 'word' || last?.kind !== 'word') return null;
  const end = hasGenitive(last) ? last.end - (/['\u2019]s$/i.test(last.text) ? 2 : 0) : last.end;
  return { slot: nameSlot(source.slice(first.start, end), first.start, end), genitive: end < last.end, from, to };
}

function textOf(item: InstructionItem | undefined): string {
  return item?.kind === 'word' ? item.text : '';
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

function isKnownItem(item: InstructionItem | undefined): boolean {
  return item?.kind === 'word' && isFamiliar(item.text.toLowerCase().replace(/['\u2019]s$/, ''));
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
