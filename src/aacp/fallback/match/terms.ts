/** Terms to find an instruction by. */
import { stemmer } from 'stemmer';
import { digestOf } from '../instruction/normalise.js';
import { type Analysis, analyse } from './analysis.js';
import { tellingWords } from './bags.js';

/** Most terms of one instruction. */
const MAX_TERMS = 16;

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
  const stems = words.flatMap((key) => key.replace(/^not:/, '').replace(/\+ed$/, '').split('-')).map(stemOf);
  // Long words tell more; what an action is, is told by too many.
  const longest = [...new Set(stems)].sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return [signature([...telling, '', ...values]), signature(telling), ...longest.slice(0, MAX_TERMS - 2)];
}

function stemOf(word: string): string {
  // The stemmer takes time out of proportion to the length.
  return word.length > 30 ? word : stemmer(word);
}

/** Begins with a mark that no word begins with. */
function signature(words: readonly string[]): string {
  return `=${digestOf(JSON.stringify(words)).slice(0, 20)}`;
}
