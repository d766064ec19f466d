import { countTokens, type Encoding, type TokenCount } from './load-counter.js';

/** An instruction to a model. */
export interface ModelPrompt {
  /** The instruction: several lines, without a final line end. */
  readonly text: string;
  /** The complete messages that the instruction contains as examples. */
  readonly examples: readonly string[];
  /** The number of tokens of `text`. */
  readonly tokens: TokenCount;
}

/** Creates an instruction from rules and examples, and counts its tokens. */
export async function promptOf(
  rules: readonly string[],
  examples: readonly string[],
  encoding: Encoding | undefined,
): Promise<ModelPrompt> {
  const text = [...rules, examples.length > 1 ? 'Examples:' : 'Example:', ...examples].join('\n');
  return { text, examples, tokens: await countTokens(text, encoding) };
}

/** Joins words: `a, b or c`. */
export function choiceOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`;
}
