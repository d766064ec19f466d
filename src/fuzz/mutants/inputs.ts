/** What an implementation is fed with: valid texts and mutants, mixed. */
import { createRandom } from '../../text/random.js';
import type { Grammar } from '../grammar/grammar.js';
import { generateSentences, type SentenceOptions } from '../sentences/generate.js';
import { generateMutants, type MutantKind, truncations } from './mutate.js';

export interface FuzzInput {
  readonly text: string;
  readonly valid: boolean;
  /** Empty for a text as the grammar has it. */
  readonly kinds: readonly MutantKind[];
}

export interface FuzzOptions extends SentenceOptions {
  /** The share of mutants, from 0 to 1. @default 0.5 */
  readonly mutants?: number | undefined;
  /** Texts to bend, beside generated ones. They are given as they are first. @default none */
  readonly seeds?: readonly string[] | undefined;
}

/** Code units of the text that is cut off at every point, in the beginning. */
const CUT = 60;

/** As many texts as are asked for. With mutants, the first ones are one sentence, cut off at each place. */
export function* fuzzInputs(grammar: Grammar, options: FuzzOptions = {}): Generator<FuzzInput, void, undefined> {
  const { seed = 0, count = Number.POSITIVE_INFINITY, mutants = 0.5, seeds = [] } = options;
  const random = createRandom(seed ^ 0x0f0f);
  const endless = { ...options, count: Number.POSITIVE_INFINITY };
  const sentences = generateSentences(grammar, endless);
  const bent = generateMutants(grammar, { ...endless, tracker: undefined });
  let made = 0;
  for (const input of mutants > 0 ? beginning(grammar, seeds, sentences) : []) {
    if (made++ === count) return;
    yield input;
  }
  for (; made < count; made++) {
    if (random.next() < mutants) {
      const next = bent.next();
      if (!next.done) yield next.value;
    } else {
      const next = sentences.next();
      if (!next.done) yield { text: next.value, valid: true, kinds: [] };
    }
  }
}

function* beginning(grammar: Grammar, seeds: readonly string[], sentences: Iterator<string>): Generator<FuzzInput> {
  for (const text of seeds) yield { text, valid: grammar.accepts(text), kinds: [] };
  let whole = '';
  for (let tries = 0; tries < 50 && (whole.length < CUT / 2 || whole.length > CUT); tries++) {
    const { value } = sentences.next();
    if (value !== undefined && value.length <= CUT && value.length > whole.length) whole = value;
  }
  yield { text: whole, valid: grammar.accepts(whole), kinds: [] };
  yield* truncations(grammar, whole);
}
