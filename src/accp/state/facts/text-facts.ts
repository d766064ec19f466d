/** Facts in plain text, found sentence by sentence by simple rules: numbers, dates, names and decisions. */

import type { ProfileMessage } from '../../profiles/profile.js';

/** The value of a fact. */
export type FactValue = string | number | bigint | boolean;

/** A fact of a checkpoint, such as `txn_001`, `status`, `settled` (draft-benzing-accp-00, section 5.3, step 2). */
export interface Fact {
  /** The subject, such as `txn_001`. */
  readonly entity: string;
  /** The relation between entity and value, such as `status`. */
  readonly relation: string;
  /** The value, such as `settled`. */
  readonly value: FactValue;
}

/** A message without its envelope. */
export type FactSource = Omit<ProfileMessage, 'envelope'>;

/** A fact with a weight of about 0 to 10. */
export interface WeighedFact extends Fact {
  readonly weight: number;
  /** `true` if other values of the same relation are kept as well, like those of a list. */
  readonly among: boolean;
}

/** The maximum length: longer texts are logs or listings, of which only the beginning is read. */
const MAX_TEXT = 4000;
const MAX_WORDS = 14;

interface TextFactOptions {
  /** The speaker or the subject. */
  readonly entity: string;
  /** The relation of clauses without a definite word. */
  readonly relation: string;
  /** The weight of clauses with a definite word. */
  readonly weight: number;
  /** The reduction of the weight of clauses without a definite word or a name. */
  readonly plain: number;
}

/**
 * Finds the facts of a text: `Revenue declined 12%.` has the fact `Revenue`, `declined`, `12%`. In a text without spaces,
 * underscores count as spaces.
 */
export function textFacts(text: string, options: TextFactOptions): WeighedFact[] {
  const start = text.slice(0, MAX_TEXT);
  const separator = start.includes(' ') ? /\s+/ : /[\s_]+/;
  const facts: WeighedFact[] = [];
  for (const sentence of sentencesOf(start)) {
    const isQuestion = sentence.endsWith('?');
    const words = sentence.toLowerCase().split(separator).map(bare);
    const settles = !isQuestion && words.some((word) => DECISIONS.has(word));
    const troubles = words.some((word) => TROUBLES.has(word));
    for (const clause of clausesOf(sentence)) {
      const fact = clauseFact(clause.split(separator).filter(Boolean), options);
      if (fact === null) continue;
      let { weight } = fact;
      if (settles) weight += 2;
      if (troubles) weight += 1;
      if (isQuestion) weight -= 4;
      facts.push({ ...fact, weight });
    }
  }
  return facts;
}

/** A sentence ends with its mark and white space, so that `7.14.2` is one word. */
function sentencesOf(text: string): string[] {
  return text.split(/(?<=[.!?])[\s_]+/).filter(Boolean);
}

function clausesOf(sentence: string): string[] {
  return sentence
    .split(/;|:[\s_]|,[\s_](?:and|but|so)[\s_]|[\s_]because[\s_]|[.!?]+$/)
    .map((clause) => clause.trim())
    .filter(Boolean);
}

function clauseFact(
  words: readonly string[],
  { entity, relation, weight, plain }: TextFactOptions,
): WeighedFact | null {
  const first = words.slice(0, MAX_WORDS);
  const at = first.findIndex((word, index) => isDefinite(word, first[index + 1]));
  if (at === 0 && isIdentifier(bare(first[0]!))) return ofIdentifier(first, weight);
  if (at > 0) {
    const before = contentOf(first.slice(0, at));
    if (before.length > 0) return definiteFact(before, phraseOf(first.slice(at)), weight);
  }
  const name = nameLength(first);
  if (name > 1) {
    const rest = contentOf(first.slice(name));
    const value = phraseOf(trimFillers(first.slice(first.indexOf(rest[0] ?? '') + 1)));
    if (rest.length > 1 && value !== '') return definiteFact([...first.slice(0, name), rest[0]!], value, weight);
  }
  const value = phraseOf(trimFillers(first));
  // A single word, such as "Agreed", belongs to the next clause.
  if (!value.includes(' ') && !value.includes('_')) return null;
  const isPlain = at < 0 && !first.slice(1).some(isName);
  return { entity, relation, value, weight: isPlain ? weight - plain : weight, among: true };
}

/** `TP531 flies direct for 268 euros`. */
function ofIdentifier(words: readonly string[], weight: number): WeighedFact | null {
  const [first, ...rest] = words;
  const entity = bare(first!);
  const at = rest.findIndex((word, index) => isDefinite(word, rest[index + 1]));
  const before = contentOf(at < 0 ? [] : rest.slice(0, at));
  if (before.length > 0) {
    return { entity, relation: before.join(' '), value: phraseOf(rest.slice(at)), weight, among: true };
  }
  const value = phraseOf(trimFillers(rest));
  return value === '' ? null : { entity, relation: 'is', value, weight, among: true };
}

/** The last word before the value is the relation, those before it are the entity. */
function definiteFact(before: readonly string[], value: string, weight: number): WeighedFact {
  if (before.length === 1) return { entity: before[0]!, relation: 'is', value, weight, among: true };
  return { entity: before.slice(0, -1).join(' '), relation: before.at(-1)!, value, weight, among: true };
}

function nameLength(words: readonly string[]): number {
  const end = words.findIndex((word) => !isName(word) || FILLERS.has(word.toLowerCase()));
  return end < 0 ? words.length : end;
}

function contentOf(words: readonly string[]): string[] {
  return words.map(bare).filter((word) => word !== '' && !FILLERS.has(word.toLowerCase()));
}

function trimFillers(words: readonly string[]): readonly string[] {
  const start = words.findIndex((word) => !FILLERS.has(bare(word).toLowerCase()));
  return start < 0 ? [] : words.slice(start);
}

function phraseOf(words: readonly string[]): string {
  return words.join(' ').replace(/[,.;:!?]+$/, '');
}

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

/** English words to leave out. Negations are not among them. */
const FILLERS: ReadonlySet<string> = setOf(
  'a an the this that these those it its i we you he she they my our your his her their there here and or so then ' +
    'is are was were be been being am do does did have has had will would shall should can could may might ' +
    'of to in on at by for from with as into please also just now very really quite everyone thanks thank hello hi ' +
    'yes ok okay well which who what',
);

const DECISIONS: ReadonlySet<string> = setOf(
  'agreed agree approve approved accept accepted chose chosen choose confirm confirmed decide decided decision demand ' +
    'demands deny denied final forbid forbidden go must recommend recommended refuse refused reject rejected require ' +
    'requires resolved take',
);

const TROUBLES: ReadonlySet<string> = setOf(
  'blocked blocker breach broke broken cannot crash crashed delay delayed down error errors fail failed fails failure ' +
    'halted lost missing never no none not outage overdue refuses risk stuck unable wrong',
);

const CALENDAR: ReadonlySet<string> = setOf(
  'january february march april june july august september october november december jan feb mar apr jun jul aug sep ' +
    'sept oct nov dec monday tuesday wednesday thursday friday saturday sunday today tomorrow yesterday tonight noon ' +
    'midnight',
);

/** `May` is a month only before a number. */
const MAY = 'May';

/** Parameters about the answer's form. */
export const INCIDENTAL: ReadonlySet<string> = setOf(
  'channel fmt format lang language limit max offset page reply_to role schema template turn',
);

/** Parameters that never name the subject of a message. */
export const NO_SUBJECT: ReadonlySet<string> = setOf(
  'amount assignee code content context currency deadline destination err error format lang message msg next_action note ' +
    'owner priority query reason role source status summary target timestamp version when',
);

/** Parameters that contain other data. */
export const CONTAINERS: ReadonlySet<string> = setOf(
  'args arguments attributes body content data delta details fields findings info output payload properties report ' +
    'response result results state values',
);

/** Words with a digit, days and months are definite. */
function isDefinite(word: string, next: string | undefined): boolean {
  if (/[0-9]/.test(word)) return true;
  if (word === MAY) return next !== undefined && /^[0-9]/.test(next);
  return CALENDAR.has(bare(word).toLowerCase());
}

function isName(word: string): boolean {
  return /^\p{Lu}\p{L}/u.test(word);
}

/** As `TP531` or `inc_2041`. */
function isIdentifier(word: string): boolean {
  return /^[A-Za-z][\w.-]*$/.test(word) && /[0-9]/.test(word);
}

function bare(word: string): string {
  return word.replace(/^["'(]/, '').replace(/["'),:!?.]$/, '');
}
