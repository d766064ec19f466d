/** The example grammars of PEG.js 0.10: compiled by Peggy, and the parsers that PEG.js generates. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import type { Grammar } from '../../../src/fuzz/grammar/grammar.js';

export const EXAMPLES = ['json', 'arithmetics', 'css'] as const;

const pegjs = createRequire(import.meta.url)('pegjs') as {
  readonly generate: (grammar: string) => { readonly parse: (text: string) => unknown };
};

interface Example {
  readonly grammar: Grammar;
  readonly parse: (text: string) => unknown;
}

const COMPILED = new Map<string, Example>();

/** Compiles an example at the first call. */
export function exampleOf(name: (typeof EXAMPLES)[number]): Example {
  const known = COMPILED.get(name) ?? compileExample(name);
  COMPILED.set(name, known);
  return known;
}

function compileExample(name: string): Example {
  const file = new URL(`../../../node_modules/pegjs/examples/${name}.pegjs`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  return { grammar: compileGrammar(text, { name }), parse: pegjs.generate(text).parse };
}
