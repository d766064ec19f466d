/** A Peggy grammar and what was made of it, on the same texts. */

import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import type { ContextFreeGrammar } from '../../../src/grammar-export/context-free.js';
import { type ContextFreeOptions, contextFree } from '../../../src/grammar-export/lower.js';
import { languageOf } from './texts.js';

export interface Pair {
  readonly grammar: ContextFreeGrammar;
  /** Whether Peggy's own parser takes a text. */
  readonly accepts: (text: string) => boolean;
  /** Whether the context-free grammar has it. */
  readonly has: (text: string) => boolean;
}

export function pairOf(text: string, options: Partial<ContextFreeOptions> = {}): Pair {
  const { ast, startRule, accepts } = compileGrammar(text, { startRule: options.startRule });
  const grammar = contextFree(ast, { name: 'grammar', ...options, startRule });
  return { grammar, accepts, has: languageOf(grammar) };
}

export interface Difference {
  /** Texts that the parser takes and the grammar does not have: there must be none. */
  readonly lost: readonly string[];
  /** Texts that the grammar has and the parser refuses: none, unless it says so. */
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
