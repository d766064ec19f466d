/** Finds names, which are runs of capitalised words that are not ordinary ones, and codes, which are acronyms and departments. */
import type { InstructionItem } from './ast.js';
import { plainSlot, type Slot } from './slots.js';
import { isFamiliar, wordSet } from './words.js';

const COMPANY_FORMS = wordSet(`
  ltd limited gmbh inc incorporated llc llp plc ag sa srl spa bv nv corp corporation co kg ohg ug pty oy ab as sarl se
`);

const LINKS = wordSet('of de van von der den la le du da di &');

/** Returns whether a word is the legal form of a company. */
export function isCompanyForm(word: string): boolean {
  return COMPANY_FORMS.has(word.toLowerCase().replace(/\.$/, ''));
}

/** A name or a code, and the range of its items. `to` is exclusive. */
interface NameRun {
  readonly slot: Slot;
  /** `true` if the name is in the genitive. */
  readonly genitive: boolean;
  readonly from: number;
  readonly to: number;
}

/** Finds the names and codes of an instruction, in order. Titles have none, since all their words are capitalised. */
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

/** Returns an acronym such as EMEA, or a word before "department" or "team". Words in capital letters for emphasis do not count. */
function codeAt(items: readonly InstructionItem[], at: number): NameRun | null {
  const [item, next] = [items[at], items[at + 1]];
  if (item?.kind !== 'word' || isCapital(next) || (at > 0 && isCapital(items[at - 1]))) return null;
  const small = item.text.toLowerCase();
  const isAcronym =
    /^[A-Z]{2,6}$/.test(item.text) && (FORMATS.has(small) || !(PREFIXES.has(small) || isFamiliar(small)));
  const isTeam = next?.kind === 'word' && TEAM.test(next.text) && DEPARTMENTS.has(small);
  if (at === 0 || !(isAcronym || isTeam)) return null;
  return { slot: plainSlot('code', item.text.toUpperCase(), item), genitive: false, from: at, to: at + 1 };
}

const FORMATS = wordSet('csv json pdf xml html');

/** Acronyms that describe the number after them, and words that are capitalised for emphasis. */
const PREFIXES = wordSet('po id ok am pm eod eom cob only never gbp eur usd');

const DEPARTMENTS = wordSet(`
  accounting accounts compliance engineering facilities finance hr it legal logistics marketing operations payroll procurement product
  purchasing research sales security support treasury
`);

function isTitle(items: readonly InstructionItem[]): boolean {
  // The first word of a text is capitalised in any case.
  const words = items.slice(1).filter((item) => item.kind === 'word' && item.text.length > 3);
  const capitalised = words.filter(isCapital).length;
  return words.length >= 4 && capitalised > words.length * 0.7;
}

/** Returns the end of a run of capitalised words; `at` if none begins there. A genitive ends it. */
function endOfCapitals(items: readonly InstructionItem[], at: number): number {
  if (!isCapital(items[at])) return at;
  let to = at + 1;
  // A link belongs to the run only if the run continues after it.
  while (to < items.length && !hasGenitive(items[to - 1])) {
    if (!isCapital(items[to]) && !(isLink(items[to]) && isCapital(items[to + 1]))) break;
    to++;
  }
  return to;
}

/** Returns the name in a run, without ordinary words around it. */
function runWithin(items: readonly InstructionItem[], start: number, end: number, source: string): NameRun | null {
  let [from, to] = [start, end];
  const begins = beginsSentence(items, start);
  const isCompany = isForm(items[to - 1]) && to - from > 1;
  if (isCompany) {
    // The first word of a sentence is capitalised in any case: "Pay Acme Ltd", but "Acme Ltd".
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
  const text = source.slice(first.start, end);
  const slot = plainSlot('name', text.replace(/\s+/g, ' '), { text, start: first.start, end });
  return { slot, genitive: end < last.end, from, to };
}

type Item = InstructionItem | undefined;

function textOf(item: Item): string {
  return item?.kind === 'word' ? item.text : '';
}

function isCapital(item: Item): boolean {
  const [first = ''] = textOf(item);
  return first !== first.toLowerCase();
}

function isLink(item: Item): boolean {
  return LINKS.has(item?.kind === 'mark' ? item.text : textOf(item));
}

function isForm(item: Item): boolean {
  return isCompanyForm(textOf(item).replace(/['\u2019]s$/, ''));
}

function hasGenitive(item: Item): boolean {
  return /['\u2019]s$/i.test(textOf(item));
}

function isKnownItem(item: Item): boolean {
  return isFamiliar(
    textOf(item)
      .toLowerCase()
      .replace(/['\u2019]s$/, ''),
  );
}

function beginsSentence(items: readonly InstructionItem[], at: number): boolean {
  const before = items[at - 1];
  return before === undefined || (before.kind === 'mark' && /[.!?:;\n(]/.test(before.text));
}

/** Returns whether all words are in capital letters, in which case they are not a name: VAT, EMEA. */
function isAcronyms(items: readonly InstructionItem[], from: number, to: number): boolean {
  return items.slice(from, to).every((item) => textOf(item) === textOf(item).toUpperCase());
}
