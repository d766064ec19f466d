/** Facts of plain text, sentence by sentence: numbers, dates, names and decisions, by simple rules. */
import type { WeighedFact } from './fact.js';
import { bare, DECISIONS, FILLERS, isDefinite, isIdentifier, isName, TROUBLES } from './words.js';

/** Longer texts are logs or listings; what they begin with has to do. */
const MAX_TEXT = 4000;
/** Words of a clause that a fact keeps. */
const MAX_WORDS = 14;

export interface TextFactOptions {
  /** Who says it, or what it is said of. */
  readonly entity: string;
  /** What a clause is called that holds nothing definite. */
  readonly relation: string;
  /** The weight of a clause that holds something definite. */
  readonly weight: number;
  /** How much less a clause weighs that holds neither something definite nor a name. */
  readonly plain: number;
}

/**
 * The facts of a text. `Revenue declined 12%.` gives `Revenue`, `declined`, `12%`; what follows the first definite word of a
 * clause stays as it was written. Underscores count as spaces in a text without spaces.
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
  const kept = words.slice(0, MAX_WORDS);
  const at = kept.findIndex((word, index) => isDefinite(word, kept[index + 1]));
  if (at === 0 && isIdentifier(bare(kept[0]!))) return ofIdentifier(kept, weight);
  if (at > 0) {
    const before = contentOf(kept.slice(0, at));
    if (before.length > 0) return definiteFact(before, phraseOf(kept.slice(at)), weight);
  }
  const name = nameLength(kept);
  if (name > 1) {
    const rest = contentOf(kept.slice(name));
    const value = phraseOf(trimFillers(kept.slice(kept.indexOf(rest[0] ?? '') + 1)));
    if (rest.length > 1 && value !== '') return definiteFact([...kept.slice(0, name), rest[0]!], value, weight);
  }
  const value = phraseOf(trimFillers(kept));
  // A single word, such as "Agreed", belongs to what stands beside it.
  if (!value.includes(' ') && !value.includes('_')) return null;
  const isPlain = at < 0 && !kept.slice(1).some(isName);
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

/** The last word before the value is the relation, and what comes before it the entity. */
function definiteFact(before: readonly string[], value: string, weight: number): WeighedFact {
  if (before.length === 1) return { entity: before[0]!, relation: 'is', value, weight, among: true };
  return { entity: before.slice(0, -1).join(' '), relation: before.at(-1)!, value, weight, among: true };
}

/** How many words at the beginning are a name. */
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
