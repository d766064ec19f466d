/** Counting without having loaded anything before. */
import { ESTIMATING_COUNTER, type TokenCounter } from './counter.js';
import { counterOf } from './counter-of.js';
import { requireVocabulary } from './vocabulary.js';

/** The exact one for current models, once it is there. */
let loaded: TokenCounter | null = null;

/** Keeps the exact counter for current models (`o200k_base`). */
export function keepCounter(counter: TokenCounter): void {
  loaded = counter;
}

/**
 * A counter for current models (`o200k_base`) without waiting: the exact one where it is loaded already, or can be at once,
 * as Node can from version 20.16 on (that takes up to 200 ms, the first time); else one of estimates. For the choice of a
 * vocabulary, and to be sure, use {@link loadTokenCounter}.
 */
export function installedCounter(): TokenCounter {
  return loaded ?? requireCounter() ?? ESTIMATING_COUNTER;
}

/** What a Node that can load modules at once has in its global object. */
interface NodeGlobal {
  readonly process?: {
    readonly getBuiltinModule?: (name: 'node:module') => { createRequire(from: string): (name: string) => unknown };
  };
}

/** Tried once: where it is not installed now, it will not be later. */
let required: TokenCounter | null | undefined;

function requireCounter(): TokenCounter | null {
  if (required !== undefined) return required;
  // No import of the built-in: browsers run this file, too.
  const module = (globalThis as NodeGlobal).process?.getBuiltinModule?.('node:module');
  const vocabulary = module === undefined ? null : requireVocabulary(module.createRequire(import.meta.url));
  required = vocabulary === null ? null : counterOf(vocabulary, 'o200k_base');
  return required;
}
