/** The words by which the reference SDK finds an instruction again. */
import { wordsOf } from '../matching/instruction/normalise.js';

/** Words that tell nothing. Some are too short to count as they are; they stand in the format's list all the same. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  `
  a about all also an and are at be been being both but by could did do does each every few for from had has
  have i in into is it its just like may me might more most my need of on or other our please should some than
  that the then this through to up want was we were will with would you your
  `
    .trim()
    .split(/\s+/),
);

/** What is taken off both ends of a word. */
const PUNCTUATION = `.,;:!?"'()[]`;

/** Characters that a word needs at least. */
const MIN_LENGTH = 4;

/** The keywords of an instruction, in its order, each once. */
export function keywordsOf(instruction: string): readonly string[] {
  const words = wordsOf(instruction).map(bare);
  return [...new Set(words.filter((word) => !STOP_WORDS.has(word) && isLong(word)))];
}

function bare(word: string): string {
  let start = 0;
  let end = word.length;
  while (start < end && PUNCTUATION.includes(word[start]!)) start++;
  while (end > start && PUNCTUATION.includes(word[end - 1]!)) end--;
  return word.slice(start, end);
}

/** The reference counts characters, not UTF-16 code units. */
function isLong(word: string): boolean {
  return word.length >= MIN_LENGTH && (word.length >= 2 * MIN_LENGTH || [...word].length >= MIN_LENGTH);
}
