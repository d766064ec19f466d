/** Exact token counters. The tables lie beside the page, as files of the package gpt-tokenizer. */
import * as patterns from 'gpt-tokenizer/encodingParams/constants';
import type { Encoding, TokenCounter } from '../../tokens/counter.js';
import { counterOf } from '../../tokens/installed-counter.js';
import { vocabularyOf } from '../../tokens/vocabulary.js';

type Ranks = Parameters<typeof vocabularyOf>[1];

/** Loads a table of up to 1 MB. @returns null if it is not there @param base the address of the page */
export async function loadCounter(encoding: string, base: string): Promise<TokenCounter | null> {
  const url = new URL(`tokenizers/${encoding}.js`, base).href;
  try {
    const ranks = (await import(/* @vite-ignore */ url)) as Ranks;
    return counterOf(vocabularyOf(encoding as Encoding, ranks, patterns), encoding as Encoding);
  } catch {
    return null;
  }
}
