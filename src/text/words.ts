/** A table from words to their meanings. */
export type Words = Readonly<Record<string, string>>;

/** What a word means, own properties only: `constructor` means nothing. */
export function meaning(words: Words, word: string): string | undefined {
  return Object.hasOwn(words, word) ? words[word] : undefined;
}
