/** Valid texts of a grammar, guided by coverage. */
import { PegwireError } from '../../text/errors.js';
import { createRandom } from '../../text/random.js';
import { createTracker, type Tracker } from '../coverage/tracker.js';
import type { Derivation, Grammar } from '../grammar/grammar.js';
import { type Hook, sizesOf, walkerOf } from './walk.js';

/** The options of {@link generateSentences}. */
export interface SentenceOptions {
  /** The seed of the random choices. The same seed gives the same sentences. @default 0 */
  readonly seed?: number | undefined;
  /** The number of sentences. @default Infinity */
  readonly count?: number | undefined;
  /**
   * The maximum length of a sentence in UTF-16 code units. Most sentences are far shorter; a longer one is generated only if the
   * grammar has none within the limit. @default 160
   */
  readonly maxLength?: number | undefined;
  /** Factors by the name of a rule: how much more often an alternative that refers to this rule is chosen. @default 1 for each rule */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  /**
   * Texts by the name of a rule: a quarter of the texts of this rule are taken from the list, such as keys that have a
   * meaning of their own.
   * @default none
   */
  readonly words?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Functions by the name of a rule that write the texts of this rule. Sentences that do not parse are discarded. @default none */
  readonly hooks?: Readonly<Record<string, Hook>> | undefined;
  /** Counts the coverage of the sentences, which guides the generator. @default a new tracker */
  readonly tracker?: Tracker | undefined;
  /** If true, the generator prefers alternatives, edges of classes and bounds of repetitions that no sentence has reached. @default true */
  readonly coverageGuided?: boolean | undefined;
}

/** The error thrown if no valid text was generated in many attempts. */
export class NoSentenceError extends PegwireError {
  /** Always `NoSentenceError`. */
  override readonly name: string = 'NoSentenceError';
  declare readonly code: 'no-sentence';

  constructor(grammar: Grammar, attempts: number, last: string | null) {
    const result = last === null ? null : grammar.parse(last);
    // An error other than Peggy's is one of the grammar's code.
    const thrown = result?.ok === false && !(result.error instanceof SyntaxError) ? `: ${String(result.error)}` : '';
    const why =
      attempts === 0
        ? 'every rule that it starts with refers to another one without end'
        : last === null
          ? 'a lookahead failed each time'
          : `the grammar rejected the last one: ${JSON.stringify(last)}${thrown}`;
    super({ code: 'no-sentence', message: `No sentence of ${grammar.name} was found in ${attempts} attempts: ${why}` });
  }
}

export interface Sentence {
  readonly text: string;
  readonly derivation: Derivation;
}

/** The share of the texts of a rule that are words, if it has any. */
const WORD_SHARE = 0.25;
/** Attempts at one sentence. */
const MAX_ATTEMPTS = 5_000;
/** Attempts before a sentence may exceed the maximum length. */
const MAX_LENGTH_ATTEMPTS = 200;

/**
 * Yields valid texts of a grammar. The grammar's own parser reads each of them; texts that its code rejects, for a
 * repeated key for instance, are discarded.
 *
 * @throws NoSentenceError if valid texts are too rare to be generated
 * @example
 * for (const text of generateSentences(grammar, { seed: 1, count: 10 })) console.log(text);
 */
export function* generateSentences(
  grammar: Grammar,
  options: SentenceOptions = {},
): Generator<string, void, undefined> {
  for (const { text } of generateDerivations(grammar, options)) yield text;
}

export function* generateDerivations(
  grammar: Grammar,
  options: SentenceOptions = {},
): Generator<Sentence, void, undefined> {
  const {
    seed = 0,
    count = Number.POSITIVE_INFINITY,
    maxLength = 160,
    weights = {},
    words = {},
    coverageGuided = true,
  } = options;
  const hooks = { ...wordHooks(words), ...options.hooks };
  const random = createRandom(seed);
  const tracker = options.tracker ?? createTracker(grammar);
  const walk = walkerOf(grammar);
  if (!hasSentences(grammar)) throw new NoSentenceError(grammar, 0, null);
  for (let made = 0; made < count; made++) {
    const sentence = next();
    tracker.addDerived(sentence.text, sentence.derivation);
    yield sentence;
  }

  function next(): Sentence {
    let last: string | null = null;
    let shortest: Sentence | null = null;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      // Many are short: small texts show most faults.
      const room = Math.floor(random.next() < 0.5 ? maxLength ** random.next() : maxLength * random.next());
      const text = walk({ random, room, weights, hooks, hits: coverageGuided ? tracker.hits : [] });
      if (text === null) continue;
      last = text;
      // A longer text is kept only after many attempts, and only if it is the shortest one.
      if (
        text.length > maxLength &&
        (attempt < MAX_LENGTH_ATTEMPTS || text.length >= (shortest?.text.length ?? Infinity))
      )
        continue;
      const derivation = grammar.derive(text);
      if (derivation === null) continue;
      const sentence = { text, derivation };
      if (text.length <= maxLength) return sentence;
      shortest = sentence;
      if (attempt > 2 * MAX_LENGTH_ATTEMPTS) break;
    }
    if (shortest !== null) return shortest;
    throw new NoSentenceError(grammar, MAX_ATTEMPTS, last);
  }
}

function wordHooks(words: Readonly<Record<string, readonly string[]>>): Readonly<Record<string, Hook>> {
  const lists = Object.entries(words).filter(([, list]) => list.length > 0);
  return Object.fromEntries(
    lists.map(([name, list]): [string, Hook] => [
      name,
      ({ random, generate }) => (random.next() < WORD_SHARE ? random.pick(list) : generate()),
    ]),
  );
}

function hasSentences({ ast, startRule }: Grammar): boolean {
  const start = ast.rules.find(({ name }) => name === startRule);
  return start !== undefined && Number.isFinite(sizesOf(ast)(start.expression));
}
