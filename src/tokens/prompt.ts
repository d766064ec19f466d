/** An instruction to a model, with its length. */
import { countTokens, type Encoding, type TokenCount } from './load-counter.js';

export interface ModelPrompt {
  /** Several lines, no line end after the last. */
  readonly text: string;
  /** Whole messages, which the text shows. */
  readonly examples: readonly string[];
  /** The length of `text`. */
  readonly tokens: TokenCount;
}

/** Puts rules and examples together, and counts. */
export async function promptOf(
  rules: readonly string[],
  examples: readonly string[],
  encoding: Encoding | undefined,
): Promise<ModelPrompt> {
  const text = [...rules, examples.length > 1 ? 'Examples:' : 'Example:', ...examples].join('\n');
  return { text, examples, tokens: await countTokens(text, encoding) };
}

/** `a, b or c`; of a long list, no words but its own. */
export function choiceOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`;
}
