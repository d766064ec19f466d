/** An instruction as parts: words by their meaning, relations, slots, breaks. */
import type { InstructionItem, WordItem } from '../instruction/ast.js';
import { findNames } from '../instruction/names.js';
import { parseInstruction } from '../instruction/parse.js';
import { idSlot, type Slot, slotOf } from '../instruction/slots.js';
import { type BaseForm, baseFormOf } from './base-form.js';
import { isDeterminer, isFamiliar, isIdNoun } from './lexicon/kinds.js';
import { type Found, phraseAt } from './lexicon/phrases.js';

export interface WordPart {
  readonly kind: 'word';
  /** In small letters, as it stands. The first word of a phrase. */
  readonly plain: string;
  /** What it is compared by: the name of its class, else its base form. */
  readonly key: string;
  /** The action that it asks for, where it can be a verb. */
  readonly action: string | undefined;
  readonly past: boolean;
  /** It names a thing or a quality. */
  readonly isNoun: boolean;
  /** A phrase of several words, and not one word. */
  readonly isPhrase: boolean;
}

/** A small word that says little by itself. */
export interface StopPart {
  readonly kind: 'stop';
  /** A thing follows. */
  readonly determines: boolean;
  /** `a`, `an` */
  readonly indefinite: boolean;
  /** `that`, `which`, ... */
  readonly relative: boolean;
  /** `their`, `its`, ... */
  readonly possesses: boolean;
  /** `it`, `them` */
  readonly refers: boolean;
  /** `we` or `they`, whatever its case. */
  readonly pronoun: string | null;
}

export type Part =
  | WordPart
  | { readonly kind: 'slot'; readonly slot: Slot }
  | { readonly kind: 'relation'; readonly relation: string; readonly trailing: boolean }
  | { readonly kind: 'weak'; readonly text: string }
  | StopPart
  /** `gerund`: the verb behind it has its form in -ing: "would you mind checking". `orders`: "then". */
  | { readonly kind: 'lead'; readonly gerund: boolean; readonly orders: boolean }
  | { readonly kind: 'break'; readonly mark: 'and' | 'comma' | 'colon' | 'question' | 'end' };

/** Marks that take part in phrases, as words do. */
const WORDLIKE = /^(?:[<>]=?|=|&|\/)$/;

/** The parts of an instruction; `null` for one that is too long to be analysed. */
export function partsOf(instruction: string): readonly Part[] | null {
  const items = parseInstruction(instruction);
  return items === null ? null : readParts(withNames(items, instruction), instruction);
}

/** A run of items: names are slots already. */
type Piece = InstructionItem | { readonly kind: 'name'; readonly slot: Slot };

function withNames(items: readonly InstructionItem[], source: string): readonly Piece[] {
  const names = findNames(items, source, isFamiliar);
  if (names.length === 0) return items;
  const pieces: Piece[] = [];
  let at = 0;
  for (const { slot, from, to } of names) {
    pieces.push(...items.slice(at, from), { kind: 'name', slot });
    at = to;
  }
  return [...pieces, ...items.slice(at)];
}

function readParts(pieces: readonly Piece[], source: string): readonly Part[] {
  const parts: Part[] = [];
  let at = 0;
  while (at < pieces.length) {
    const piece = pieces[at]!;
    if (piece.kind === 'word' || (piece.kind === 'mark' && WORDLIKE.test(piece.text))) {
      const end = endOfWords(pieces, at);
      readWords(pieces.slice(at, end) as readonly (WordItem | { readonly text: string })[], parts);
      at = end;
    } else {
      readPiece(piece, source, parts);
      at++;
    }
  }
  return withIds(parts);
}

function endOfWords(pieces: readonly Piece[], from: number): number {
  let at = from;
  while (at < pieces.length) {
    const piece = pieces[at]!;
    if (piece.kind !== 'word' && !(piece.kind === 'mark' && WORDLIKE.test(piece.text))) break;
    at++;
  }
  return at;
}

/** Capital letters that make another word of a pronoun. */
const CAPITALS: ReadonlyMap<string, string> = new Map([
  ['IT', 'information-technology'],
  ['US', 'united-states'],
  ['WHO', 'world-health-organisation'],
]);

/** Words that nothing parts, phrase by phrase. */
function readWords(words: readonly { readonly text: string }[], parts: Part[]): void {
  const plain = words.map(({ text }) => CAPITALS.get(text) ?? text.toLowerCase().replaceAll('\u2019', "'"));
  const forms = plain.map((word) => baseFormOf(withoutGenitive(word)));
  const based = forms.map(({ base }) => base);
  let at = 0;
  while (at < plain.length) {
    const found = phraseAt(plain, based, at);
    const word = plain[at]!;
    if (found === undefined && (word === 'and' || word === '&')) parts.push({ kind: 'break', mark: 'and' });
    else if (found === undefined || found.length === 1) readWordAt(found, word, forms[at]!, parts);
    else parts.push(partOf(found, word, forms[at]!));
    at += found?.length ?? 1;
  }
}

/** "unpaid" is not paid. */
function readWordAt(found: Found | undefined, plain: string, form: BaseForm, parts: Part[]): void {
  const affirmed = found === undefined ? affirmedOf(plain) : null;
  if (affirmed === null) {
    parts.push(partOf(found, plain, form));
    return;
  }
  const affirmedForm = baseFormOf(affirmed);
  parts.push({ kind: 'relation', relation: 'not', trailing: false });
  parts.push(partOf(phraseAt([affirmed], [affirmedForm.base], 0), affirmed, affirmedForm));
}

/** The word without the prefix that denies it, where it is one that is known. */
function affirmedOf(plain: string): string | null {
  const rest = plain.slice(2);
  if (/^in(?:active|valid|eligible|complete)$/.test(plain)) return rest;
  if (!plain.startsWith('un')) return null;
  const { base, past } = baseFormOf(rest);
  return past && phraseAt([rest], [base], 0)?.meaning.action !== undefined ? rest : null;
}

function partOf(found: Found | undefined, plain: string, form: BaseForm): Part {
  const { role, relation = '', action, noun } = found?.meaning ?? {};
  switch (role) {
    case 'lead':
      return { kind: 'lead', gerund: relation.endsWith(' mind'), orders: ORDERING.test(relation) };
    case 'weak':
      return { kind: 'weak', text: relation };
    case 'stop':
      return {
        kind: 'stop',
        determines: isDeterminer(plain),
        relative: /^(?:that|which|who|whose)$/.test(plain),
        indefinite: /^an?$/.test(plain),
        possesses: /^(?:their|its|his|her)$/.test(plain),
        refers: /^(?:it|them)$/.test(plain),
        pronoun: pronounOf(plain),
      };
    case 'relation':
    case 'trailing':
      return { kind: 'relation', relation, trailing: role === 'trailing' };
    default: {
      const isPhrase = (found?.length ?? 1) > 1;
      const past = form.past && !isPhrase;
      // "paid" is of the verb, not of what is paid.
      const name = (past ? action : undefined) ?? noun ?? (isPhrase ? action : undefined) ?? form.base;
      return {
        kind: 'word',
        plain,
        key: past ? `${name}+ed` : name,
        action,
        past,
        isPhrase,
        isNoun: noun !== undefined,
      };
    }
  }
}

function readPiece(piece: Piece, source: string, parts: Part[]): void {
  switch (piece.kind) {
    case 'word':
      return;
    case 'name':
      parts.push({ kind: 'slot', slot: piece.slot });
      return;
    case 'mark':
      readMark(piece.text, parts);
      return;
    case 'span':
      piece.items.forEach((item, index) => {
        const joint = piece.joints[index - 1];
        if (joint === 'to') parts.push({ kind: 'relation', relation: 'to', trailing: false });
        else if (joint === 'and') parts.push({ kind: 'break', mark: 'and' });
        parts.push({ kind: 'slot', slot: slotOf(item, source) });
      });
      return;
    default:
      parts.push({ kind: 'slot', slot: slotOf(piece, source) });
  }
}

function readMark(mark: string, parts: Part[]): void {
  if (mark === '?') parts.push({ kind: 'break', mark: 'question' });
  else if (/^[.!;\n]$/.test(mark)) parts.push({ kind: 'break', mark: 'end' });
  else if (/^[:()[\]{}]$/.test(mark)) parts.push({ kind: 'break', mark: 'colon' });
  else if (/^[,\u2013\u2014-]$/.test(mark)) parts.push({ kind: 'break', mark: 'comma' });
  else if (mark === '+') parts.push({ kind: 'break', mark: 'and' });
  // Emphasis and quotes say nothing; any other mark is compared as a word is.
  else if (!/^[*_"'`\u2018-\u201F\u00AB\u00BB#|]$/.test(mark)) {
    parts.push({ kind: 'word', plain: mark, key: mark, action: undefined, past: false, isPhrase: false, isNoun: true });
  }
}

/** Courtesies that say in which order things are to be done. */
const ORDERING = /^(?:then|finally|lastly|firstly|secondly|after that|afterwards|subsequently)$/;

/** The pronoun without its case: who does what to whom is told by its place. */
function pronounOf(plain: string): string | null {
  if (/^(?:i|me|we|us)$/.test(plain)) return 'we';
  return /^(?:they|them|he|him|she|her|you)$/.test(plain) ? 'they' : null;
}

/** "ticket 4711" and "order no. 17" are ids: numbers behind a word for what has a number. */
function withIds(parts: readonly Part[]): readonly Part[] {
  return parts.map((part, index) => {
    if (part.kind !== 'slot' || (part.slot.kind !== 'number' && part.slot.kind !== 'year')) return part;
    const before = parts[index - 1];
    // "order 30 laptops" is no order of that number.
    const counts = parts[index + 1]?.kind === 'word' && before?.kind === 'word' && before.action !== undefined;
    const isId = before?.kind === 'word' && isIdNoun(before.key) && /^\d+$/.test(part.slot.text) && !counts;
    return isId ? { kind: 'slot', slot: idSlot(part.slot) } : part;
  });
}

function withoutGenitive(word: string): string {
  if (word.endsWith("'s")) return word.slice(0, -2);
  return word.endsWith("'") ? word.slice(0, -1) : word;
}
