/** An instruction as parts: words by their meaning, relations, slots, breaks. */

import { type BaseForm, baseFormOf } from './base-form.js';
import type { InstructionItem, WordItem } from './instruction/ast.js';
import { findNames } from './instruction/names.js';
import { idSlot, loudName, type Slot, slotOf } from './instruction/slots.js';
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
  /** In small letters. */
  readonly plain: string;
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
  | { readonly kind: 'relation'; readonly relation: string; readonly text: string; readonly trailing: boolean }
  | { readonly kind: 'weak'; readonly text: string }
  | StopPart
  /** `gerund`: the verb behind it has its form in -ing: "would you mind checking". `orders`: "then". */
  | { readonly kind: 'lead'; readonly gerund: boolean; readonly orders: boolean }
  | { readonly kind: 'break'; readonly mark: 'and' | 'comma' | 'colon' | 'question' | 'end' };

/** Marks that take part in phrases, as words do. */
const WORDLIKE = /^(?:[<>]=?|=|&|\/)$/;

/** The parts of an instruction, of which the items have been read. */
export function partsOf(items: readonly InstructionItem[], instruction: string): readonly Part[] {
  const isLoud = !/\p{Ll}/u.test(instruction) && items.filter(({ kind }) => kind === 'word').length >= MOST_SHOUTED;
  return readParts(withNames(isLoud ? quietened(items) : items, instruction, isLoud), instruction);
}

/** A run of items: names are slots already. */
type Piece = InstructionItem | { readonly kind: 'name'; readonly slot: Slot };

/** Acronyms alone are no text in capital letters. */
const MOST_SHOUTED = 5;

/** Words in capital letters alone, as they would be written otherwise. */
function quietened(items: readonly InstructionItem[]): readonly InstructionItem[] {
  return items.map((item) => {
    if (item.kind !== 'word' || CAPITALS.has(item.text)) return item;
    const small = item.text.toLowerCase();
    return { ...item, text: isFamiliar(small) ? small : item.text.charAt(0) + small.slice(1) };
  });
}

function withNames(items: readonly InstructionItem[], source: string, isLoud: boolean): readonly Piece[] {
  const names = findNames(items, source, isFamiliar).map((run) =>
    isLoud ? { ...run, slot: loudName(run.slot) } : run,
  );
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
  const plain = withParticles(
    words.map(({ text }) => CAPITALS.get(text) ?? text.toLowerCase().replaceAll('\u2019', "'")),
  );
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

/** Words that verbs take behind what they are about: "switch the account off". */
const PARTICLES: ReadonlySet<string> = new Set([
  'up',
  'off',
  'on',
  'out',
  'over',
  'back',
  'down',
  'together',
  'forward',
]);

/** What may follow a particle that ends what a verb is about. */
const BEHIND_PARTICLE: ReadonlySet<string> = new Set([
  ...['for', 'to', 'from', 'of', 'by', 'with', 'at', 'until', 'before', 'after', 'as', 'and', 'please', 'in', 'now'],
]);

/** Words between a verb and its particle. */
const MOST_BETWEEN = 6;

/** Particles behind their verbs: "set it up" as "set up it". */
function withParticles(words: readonly string[]): readonly string[] {
  if (!words.some((word) => PARTICLES.has(word))) return words;
  const moved = [...words];
  for (let at = 2; at < moved.length; at++) {
    const particle = moved[at]!;
    const behind = moved[at + 1];
    if (!PARTICLES.has(particle) || (behind !== undefined && !BEHIND_PARTICLE.has(behind))) continue;
    for (let verb = at - 2; verb >= Math.max(0, at - MOST_BETWEEN); verb--) {
      const pair = [moved[verb]!, particle];
      const found = phraseAt(
        pair,
        pair.map((word) => baseFormOf(word).base),
        0,
      );
      if (found?.length !== 2 || found.meaning.action === undefined) continue;
      moved.splice(at, 1);
      moved.splice(verb + 1, 0, particle);
      break;
    }
  }
  return moved;
}

/** "unpaid" is not paid. */
function readWordAt(found: Found | undefined, plain: string, form: BaseForm, parts: Part[]): void {
  const affirmed = found === undefined ? affirmedOf(plain) : null;
  if (affirmed === null) {
    parts.push(partOf(found, plain, form));
    return;
  }
  const affirmedForm = baseFormOf(affirmed);
  parts.push({ kind: 'relation', relation: 'not', text: 'not', trailing: false });
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
        plain,
        determines: isDeterminer(plain),
        relative: /^(?:that|which|who|whose)$/.test(plain),
        indefinite: /^an?$/.test(plain),
        possesses: /^(?:their|its|his|her)$/.test(plain),
        refers: /^(?:it|them)$/.test(plain),
        pronoun: pronounOf(plain),
      };
    case 'relation':
    case 'trailing':
      return { kind: 'relation', relation, text: found?.text ?? plain, trailing: role === 'trailing' };
    default: {
      const isPhrase = (found?.length ?? 1) > 1;
      // "signed off", but not "approved budget"
      const past = form.past && (!isPhrase || action !== undefined);
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
        if (joint === 'to') parts.push({ kind: 'relation', relation: 'to', text: 'to', trailing: false });
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
