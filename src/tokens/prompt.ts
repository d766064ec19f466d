import { countTokens, type Encoding, type TokenCount } from './load-counter.js';

export interface ModelPrompt {
  /** Several lines, no line end after the last. */
  readonly text: string;
  /** Whole messages, which the text shows. */
  readonly examples: readonly string[];
  /** The length of `text`. */
  readonly tokens: TokenCount;
}

export async function promptOf(
  rules: readonly string[],
  examples: readonly string[],
  encoding: Encoding | undefined,
): Promise<ModelPrompt> {
  const text = [...rules, examples.length > 1 ? 'Examples:' : 'Example:', ...examples].join('\n');
  return { text, examples, tokens: await countTokens(text, encoding) };
}

/** `a, b or c` */
export function choiceOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`;
}
