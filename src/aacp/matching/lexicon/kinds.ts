/** What kind of word a word is, as far as it matters to how instructions are compared. Keys are names of classes or base forms. */
import { baseOf } from '../base-form.js';
import { NOUN_LIKE } from './actions.js';
import { ADJECTIVES, DETERMINERS, LIGHT } from './function-words.js';
import { phraseAt } from './phrases.js';
import { readTable } from './read.js';
import { BEARER_NOUNS, FAMILIAR, FORMATS, ID_NOUNS, PERIOD_NOUNS, PLAIN_NOUNS } from './trade.js';

/** Nouns that name what has a number or a reference of its own. */
export function isIdNoun(key: string): boolean {
  return kinds().idNouns.has(key);
}

/** Nouns for who or what has a name or an address: "supplier ABC Ltd". */
export function isBearerNoun(key: string): boolean {
  return kinds().bearerNouns.has(key);
}

/** Nouns that say what kind of time follows: "the month of August 2024". */
export function isPeriodNoun(key: string): boolean {
  return kinds().periodNouns.has(key);
}

/** Words that say little beside others. */
export function isLight(key: string): boolean {
  return kinds().light.has(key);
}

/** Qualities, which are never what an instruction is about. */
export function isAdjective(key: string): boolean {
  return key.endsWith('+ed') || kinds().adjectives.has(key);
}

/** Forms that an answer can have: `json`, `pdf`. */
export function isFormat(key: string): boolean {
  return kinds().formats.has(key);
}

/** Words that stand before a thing. @param plain in small letters */
export function isDeterminer(plain: string): boolean {
  return kinds().determiners.has(plain);
}

/** Whether a verb is written as a noun is. @param plain in small letters */
export function isNounLike(plain: string): boolean {
  return kinds().nounLike.has(plain);
}

/** Whether a word at the beginning of an instruction is a noun, and no verb that no table has. @param plain in small letters */
export function isPlainNoun(plain: string): boolean {
  return kinds().plainNouns.has(plain);
}

/** Whether a word has a meaning in business English, so that capital letters make no name of it. @param plain in small letters */
export function isFamiliar(plain: string): boolean {
  const base = baseOf(plain);
  const { familiar, light, adjectives } = kinds();
  return familiar.has(base) || light.has(base) || adjectives.has(base) || phraseAt([plain], [base], 0) !== undefined;
}

interface Kinds {
  readonly idNouns: ReadonlySet<string>;
  readonly bearerNouns: ReadonlySet<string>;
  readonly periodNouns: ReadonlySet<string>;
  readonly light: ReadonlySet<string>;
  readonly adjectives: ReadonlySet<string>;
  readonly formats: ReadonlySet<string>;
  readonly determiners: ReadonlySet<string>;
  readonly nounLike: ReadonlySet<string>;
  readonly plainNouns: ReadonlySet<string>;
  readonly familiar: ReadonlySet<string>;
}

let read: Kinds | undefined;

function kinds(): Kinds {
  read ??= {
    idNouns: keys(ID_NOUNS),
    bearerNouns: keys(BEARER_NOUNS),
    periodNouns: keys(PERIOD_NOUNS),
    light: keys(LIGHT),
    adjectives: keys(ADJECTIVES),
    formats: new Set(readTable(FORMATS)),
    determiners: new Set(readTable(DETERMINERS)),
    nounLike: new Set(readTable(NOUN_LIKE)),
    plainNouns: new Set(readTable(PLAIN_NOUNS)),
    familiar: new Set(readTable(FAMILIAR).map(baseOf)),
  };
  return read;
}

/** The words as parts have them: by the name of their class, where they have one. */
function keys(table: string): ReadonlySet<string> {
  return new Set(readTable(table).map(keyOf));
}

function keyOf(word: string): string {
  const base = baseOf(word);
  return phraseAt([word], [base], 0)?.meaning.noun ?? base;
}
