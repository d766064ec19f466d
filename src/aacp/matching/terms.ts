/** Terms to find an instruction by. */
import { stemmer } from 'stemmer';
import { analyse } from './analyse.js';
import type { Analysis } from './analysis.js';
import { tellingWords } from './bags.js';

/** Most terms of one instruction. */
const MAX_TERMS = 16;

/** How many of the first terms stand for all telling words. */
export const SIGNATURES = 2;

/**
 * The terms that a registry lists an instruction under, most telling first. The first two stand for all its telling words, with and
 * without its values: instructions that can serve each other have the second in common, however many share their single
 * words. The others are stems; they find what comes near.
 */
export function termsOf(instruction: string): readonly string[] {
  const analysis = analyse(instruction);
  return analysis === null ? [] : termsOfAnalysis(analysis);
}

export function termsOfAnalysis(analysis: Analysis): readonly string[] {
  const telling = tellingWords(analysis);
  const values = analysis.slots.map(({ slot }) => `${slot.kind} ${slot.value}`).sort();
  const words = analysis.contents.filter(({ light, key }) => !light && !key.startsWith('~')).map(({ key }) => key);
  const found = words.flatMap((key) => key.replace(/^not:/, '').replace(/\+ed$/, '').split('-')).map(stemOf);
  // Long words tell more; what an action is, is told by too many.
  const longest = [...new Set(found)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return [signature([...telling, '', ...values]), signature(telling), ...longest.slice(0, MAX_TERMS - SIGNATURES)];
}

const stems = new Map<string, string>();
/** Most stems that are remembered. */
const MOST_STEMS = 5000;

function stemOf(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  // The stemmer takes time out of proportion to the length.
  const stem = word.length > 30 ? word : stemmer(word);
  if (stems.size >= MOST_STEMS) stems.clear();
  stems.set(word, stem);
  return stem;
}

/** Begins with a mark that no word begins with. That two share one by chance costs a look at an entry, and nothing else. */
function signature(words: readonly string[]): string {
  const text = words.join('\n');
  return `=${hashOf(text, 0x811c9dc5)}${hashOf(text, 0x9747b28c)}`;
}

/** FNV-1a of the code units, from a basis: 8 hexadecimal digits. */
function hashOf(text: string, basis: number): string {
  let hash = basis;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
