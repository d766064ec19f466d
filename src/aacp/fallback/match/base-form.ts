/**
 * Base forms of English words: plurals, -ed and -ing taken away, and no more. A full stemmer makes one word of account and
 * accountant, customer and custom, import and important; a packet for the one would be served for the other.
 */
import { readTable } from './lexicon/read.js';
import { SPELLINGS } from './lexicon/spelling.js';

export interface BaseForm {
  readonly base: string;
  /** A past participle: what is approved is not what is to be approved. */
  readonly past: boolean;
}

const VOWEL = /[aeiouy]/;
const DOUBLE = /([bcdfghjklmnpqrstvwxz])\1$/;

/** Words that came before. */
const forms = new Map<string, BaseForm>();
const MOST_FORMS = 5000;

let irregular: ReadonlyMap<string, BaseForm> | undefined;

/** @param word in small letters */
export function baseFormOf(word: string): BaseForm {
  irregular ??= readIrregular();
  const known = irregular.get(word) ?? forms.get(word);
  if (known !== undefined) return known;
  const form = regularForm(word);
  if (word.length <= 30) {
    if (forms.size >= MOST_FORMS) forms.clear();
    forms.set(word, form);
  }
  return form;
}

/** The base form, whatever form of it the word is. */
export function baseOf(word: string): string {
  return baseFormOf(word).base;
}

function readIrregular(): ReadonlyMap<string, BaseForm> {
  return new Map(
    readTable(SPELLINGS, ';').map((entry) => {
      const [word = '', form = ''] = entry.split(' ');
      const past = form.endsWith('+ed');
      return [word, { base: ending(past ? form.slice(0, -3) : form), past }];
    }),
  );
}

function regularForm(word: string): BaseForm {
  if (word.length <= 3) return { base: word, past: false };
  const spelled = word.replace(/yz(?=e|ed|es|ing|er)/, 'ys').replace(/iz(?=(?:e|es|ed|ing|er|ation|ations)$)/, 'is');
  if (spelled.endsWith('ied') && spelled.length > 4) return { base: `${spelled.slice(0, -3)}y`, past: true };
  if (spelled.endsWith('ed') && !spelled.endsWith('eed')) {
    const stem = spelled.slice(0, -2);
    if (stem.length > 1 && VOWEL.test(stem)) return { base: ending(stem), past: true };
  }
  if (spelled.endsWith('ing')) {
    const stem = spelled.slice(0, -3);
    if (stem.length > 2 && VOWEL.test(stem)) return { base: ending(stem), past: false };
  }
  return { base: ending(singular(spelled)), past: false };
}

function singular(word: string): string {
  if (!word.endsWith('s') || word.endsWith('ss') || word.endsWith('us') || word.endsWith('is')) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/** One form for "flag", "flagged" and "calculate", "calculated": without a last e, without doubled consonants. */
function ending(stem: string): string {
  const short = stem.length > 3 && stem.endsWith('e') ? stem.slice(0, -1) : stem;
  return short.length > 2 && DOUBLE.test(short) ? short.slice(0, -1) : short;
}
