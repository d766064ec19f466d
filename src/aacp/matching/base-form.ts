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
/** Letters that double before -ed and -ing; "fill", "pass", "staff" and "buzz" have two of their own. */
const DOUBLED = /([bcdghjkmnpqrtvwx])\1$/;
const DOUBLED_L =
  /(?:control|patrol|enrol|fulfil|cancel|label|model|travel|channel|level|excel|compel|parcel|total|signal|equal|initial|dial)l$/;

/** Stems of one syllable that end in one consonant: they double it, or they end in e. */
const SHORT = /^(?:re(?!ad)|un|pre|mis|out|over|under|up|down|en(?!ter))?(?!nd)(?:qu|[^aeiou])*[aeiouy][^aeiouwxy]$/;
/** Ends of longer stems that have lost their e. */
const LOST_E = [
  /[cvuz]$/,
  /(?:[^n]|..[ae]n)g$/,
  /[^s]s$/,
  /[bcdfgkptz]l$/,
  /[bcdgptk]r$/,
  /[^eo]at$|creat$/,
  /[pl]ar$|[^ao]ir$|(?:st|pl|gn|sc)or$|[^o]ur$|(?:adh|interf|coh)er$/,
  /[^aeo]in$|(?:ph|stp)on$|ven$/,
  /[^ao]id$|[^ao]ud$|[^eo]ad$|(?:enc|dec|c|expl)od$|[sc]ed$/,
  /(?:inv|exc|exped|ign)it$|[^o]ut$|rout$|(?:prom|dem|den|dev|rem|qu)ot$|(?:del|pl|comp|sol)et$|(?:p|w|t|h)ast$/,
  /[^aeo]ak$|[^o]ok$|[^a]ik$/,
  /com$|[sl]um$|s[ch]ap$|typ$/,
  /[pcf]il$|[dc]ul$|rib$/,
];

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
      return [word, { base: past ? form.slice(0, -3) : form, past }];
    }),
  );
}

function regularForm(word: string): BaseForm {
  if (word.length <= 3) return { base: word, past: false };
  const spelled = word.replace(/yz(?=e|ed|es|ing|er)/, 'ys').replace(/iz(?=(?:e|es|ed|ing|er|ation|ations)$)/, 'is');
  if (spelled.endsWith('ied') && spelled.length > 4) return { base: `${spelled.slice(0, -3)}y`, past: true };
  if (spelled.endsWith('ed') && !spelled.endsWith('eed')) {
    const stem = spelled.slice(0, -2);
    if (stem.length > 1 && VOWEL.test(stem)) return { base: uninflected(stem), past: true };
  }
  if (spelled.endsWith('ing')) {
    const stem = spelled.slice(0, -3);
    if (stem.length > 2 && VOWEL.test(stem)) return { base: uninflected(stem), past: false };
  }
  return { base: singular(spelled), past: false };
}

function singular(word: string): string {
  if (!word.endsWith('s') || word.endsWith('ss') || word.endsWith('us') || word.endsWith('is')) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|x|ch|sh|zz)es$/.test(word)) return word.slice(0, -2);
  return word.slice(0, -1);
}

/**
 * The verb of a stem that -ed or -ing was taken from: "flagg" is flag, "fil" is file, "fill" is fill. A verb that no rule knows
 * comes out as it never is written, and so is the same as no other.
 */
function uninflected(stem: string): string {
  if (DOUBLED.test(stem) || DOUBLED_L.test(stem)) return stem.slice(0, -1);
  return SHORT.test(stem) || LOST_E.some((end) => end.test(stem)) ? `${stem}e` : stem;
}
