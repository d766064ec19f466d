/** The words that tell facts from filling. All patterns look at single words, so that the work is linear in the text. */

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** English words that say nothing where a fact is told in short. Negations are none of them. */
export const FILLERS: ReadonlySet<string> = setOf(
  'a an the this that these those it its i we you he she they my our your his her their there here and or so then ' +
    'is are was were be been being am do does did have has had will would shall should can could may might ' +
    'of to in on at by for from with as into please also just now very really quite everyone thanks thank hello hi ' +
    'yes ok okay well which who what',
);

/** They tell that something was settled. */
export const DECISIONS: ReadonlySet<string> = setOf(
  'agreed agree approve approved accept accepted chose chosen choose confirm confirmed decide decided decision demand ' +
    'demands deny denied final forbid forbidden go must recommend recommended refuse refused reject rejected require ' +
    'requires resolved take',
);

/** They tell that something is in the way. */
export const TROUBLES: ReadonlySet<string> = setOf(
  'blocked blocker breach broke broken cannot crash crashed delay delayed down error errors fail failed fails failure ' +
    'halted lost missing never no none not outage overdue refuses risk stuck unable wrong',
);

const CALENDAR: ReadonlySet<string> = setOf(
  'january february march april june july august september october november december jan feb mar apr jun jul aug sep ' +
    'sept oct nov dec monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight noon ' +
    'midnight',
);

/** `May` is a month where a number follows. */
const MAY = 'May';

/** Parameters that say how to answer, and not what is so. */
export const INCIDENTAL: ReadonlySet<string> = setOf(
  'channel fmt format lang language limit max offset page reply_to role schema template turn',
);

/** Parameters that never name what a message is about. */
export const NO_SUBJECT: ReadonlySet<string> = setOf(
  'amount assignee code content context currency deadline destination err error format lang message msg next_action note ' +
    'owner priority query reason role source status summary target timestamp version when',
);

/** Parameters that hold what a message tells, and are no part of what it tells. */
export const CONTAINERS: ReadonlySet<string> = setOf(
  'args arguments attributes body content data delta details fields findings info output payload properties report ' +
    'response result results state values',
);

/** Whether a word holds a digit, or is a day or month: where a sentence becomes definite. */
export function isDefinite(word: string, next: string | undefined): boolean {
  if (/[0-9]/.test(word)) return true;
  if (word === MAY) return next !== undefined && /^[0-9]/.test(next);
  return CALENDAR.has(bare(word).toLowerCase());
}

/** Whether a word is a name by its looks: a capital, or letters and digits together. */
export function isName(word: string): boolean {
  return /^\p{Lu}\p{L}/u.test(word);
}

/** An identifier: letters and digits in one word, as in `TP531` or `inc_2041`. */
export function isIdentifier(word: string): boolean {
  return /^[A-Za-z][\w.-]*$/.test(word) && /[0-9]/.test(word);
}

/** A word without the punctuation around it. */
export function bare(word: string): string {
  return word.replace(/^["'(]/, '').replace(/["'),:!?.]$/, '');
}
