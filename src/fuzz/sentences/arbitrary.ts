/** Sentences of a grammar as a fast-check arbitrary, for property tests of readers. */
import type * as FastCheck from 'fast-check';
import { simplifications } from '../differential/shrink.js';
import type { Grammar } from '../grammar/grammar.js';
import { generateSentences, type SentenceOptions } from './generate.js';

/** The part of fast-check that is used. The caller passes the module, so that it is not a dependency. */
export type FastCheckModule = Pick<typeof FastCheck, 'Arbitrary' | 'Value' | 'Stream'>;

/**
 * Creates an arbitrary of valid texts of a grammar. Texts are generated from fast-check's seed and shrink along the
 * grammar to smaller valid texts.
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
      // Independent of each other: with a shared tracker, a text would depend on those before it.
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
