/** Cutting text to a number of tokens. */
import type { TokenCounter } from '../../tokens/counter.js';

/** Few tokens are longer than so many characters: a longer text is cut before it is counted. */
const CHARACTERS_PER_TOKEN = 20;

/** The first half of a character that was cut in two. */
const HALF = /[\ud800-\udbff]$/;

/**
 * The longest beginning of a text that has no more than `max` tokens and ends with a word. White space becomes single spaces.
 * Where not even the first word fits, it is cut within. In time proportional to the length, as each count is of a text that
 * is cut already.
 */
export function cutToTokens(text: string, max: number, counter: TokenCounter): string {
  const clean = text
    .slice(0, max * CHARACTERS_PER_TOKEN)
    .replace(HALF, '')
    .replace(/\s+/g, ' ')
    .trim();
  const fits = (part: string): boolean => counter.count(part) <= max;
  if (fits(clean)) return clean;
  const words = clean.split(' ');
  const byWord = longest(words.length, (length) => fits(words.slice(0, length).join(' ')));
  if (byWord > 0) return words.slice(0, byWord).join(' ');
  const characters = Array.from(words[0]!);
  const byCharacter = longest(characters.length, (length) => fits(characters.slice(0, length).join('')));
  return characters.slice(0, byCharacter).join('');
}

/** The greatest length that fits, by halving; a little less where more text has fewer tokens. */
function longest(length: number, fits: (length: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
