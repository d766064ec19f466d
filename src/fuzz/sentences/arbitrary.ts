/** Sentences of a grammar as a fast-check arbitrary: for property tests of whatever reads the language. */
import type * as FastCheck from 'fast-check';
import { simplifications } from '../differential/shrink.js';
import type { Grammar } from '../grammar/grammar.js';
import { generateSentences, type SentenceOptions } from './generate.js';

/** As much of fast-check as is needed: it is handed in, so that it is no dependency. */
export type FastCheckModule = Pick<typeof FastCheck, 'Arbitrary' | 'Value' | 'Stream'>;

/**
 * Valid texts of a grammar, drawn with fast-check's seed, and shrunk along the grammar: each smaller one is valid, too.
 *
 * @example
 * import fc from 'fast-check';
 * fc.assert(fc.property(sentenceArbitrary(fc, compileGrammar(text)), (sentence) => myReader(sentence).ok));
 */
export function sentenceArbitrary(
  fc: FastCheckModule,
  grammar: Grammar,
  options: Omit<SentenceOptions, 'seed' | 'count' | 'tracker'> = {},
): FastCheck.Arbitrary<string> {
  class SentenceArbitrary extends fc.Arbitrary<string> {
    override generate(random: FastCheck.Random): FastCheck.Value<string> {
      // Drawn apart from each other: with a common tracker, a text would depend on those before it.
      const seed = random.nextInt(0, 0x7fffffff);
      const { value } = generateSentences(grammar, { coverageGuided: false, ...options, seed, count: 1 }).next();
      return new fc.Value(value as string, undefined);
    }

    override canShrinkWithoutContext(value: unknown): value is string {
      return typeof value === 'string' && grammar.accepts(value);
    }

    override shrink(value: string): FastCheck.Stream<FastCheck.Value<string>> {
      return new fc.Stream(smaller(value));
    }
  }

  function* smaller(text: string): IterableIterator<FastCheck.Value<string>> {
    for (const candidate of new Set(simplifications(text, grammar.derive(text)))) {
      if (candidate !== text && grammar.accepts(candidate)) yield new fc.Value(candidate, undefined);
    }
  }

  return new SentenceArbitrary();
}
