/** A Peggy grammar and its export, on the same texts. */

import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import type { ContextFreeGrammar } from '../../../src/grammar-export/context-free.js';
import { type ContextFreeOptions, contextFree } from '../../../src/grammar-export/lower.js';
import { languageOf } from './texts.js';

export interface Pair {
  readonly grammar: ContextFreeGrammar;
  /** Returns `true` if Peggy's own parser accepts a text. */
  readonly accepts: (text: string) => boolean;
  /** Returns `true` if the context-free grammar matches it. */
  readonly has: (text: string) => boolean;
}

export function pairOf(text: string, options: Partial<ContextFreeOptions> = {}): Pair {
  const { ast, startRule, accepts } = compileGrammar(text, { startRule: options.startRule });
  const grammar = contextFree(ast, { name: 'grammar', ...options, startRule });
  return { grammar, accepts, has: languageOf(grammar) };
}

export interface Difference {
  /** Texts that the parser accepts and the grammar does not match; there must be none. */
  readonly lost: readonly string[];
  /** Texts that the grammar matches and the parser rejects; none without an approximation. */
  readonly added: readonly string[];
}

export function difference({ accepts, has }: Pair, texts: Iterable<string>): Difference {
  const lost: string[] = [];
  const added: string[] = [];
  for (const text of texts) {
    const [wanted, found] = [accepts(text), has(text)];
    if (wanted && !found) lost.push(text);
    if (!wanted && found) added.push(text);
  }
  return { lost, added };
}
