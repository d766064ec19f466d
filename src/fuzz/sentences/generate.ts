/** `generateSentences`: endless valid texts of any grammar, that go where no text has been before. */
import { PegwireError } from '../../text/errors.js';
import { createRandom } from '../../text/random.js';
import { createTracker, type Tracker } from '../coverage/tracker.js';
import type { Derivation, Grammar } from '../grammar/grammar.js';
import { type Hook, sizesOf, walkerOf } from './walk.js';

export interface SentenceOptions {
  /** The same seed gives the same sentences. @default 0 */
  readonly seed?: number | undefined;
  /** The most sentences, or as many as are asked for. @default Infinity */
  readonly count?: number | undefined;
  /**
   * Code units of a sentence: most are far shorter, and none is longer, unless the grammar has no shorter one.
   * @default 160
   */
  readonly maxLength?: number | undefined;
  /** By names of rules: how much more often an alternative is taken that is a reference to this rule. @default 1 each */
  readonly weights?: Readonly<Record<string, number>> | undefined;
  /** By names of rules: texts that some of theirs are taken from, such as the keys that a language gives a meaning. @default none */
  readonly words?: Readonly<Record<string, readonly string[]>> | undefined;
  /** By names of rules: what writes their texts instead of the generator. What does not parse is thrown away. @default none */
  readonly hooks?: Readonly<Record<string, Hook>> | undefined;
  /** Counts the sentences, and is asked what is still to be seen. @default a new one */
  readonly tracker?: Tracker | undefined;
  /** Go for what has not been seen: alternatives, edges of classes, bounds of repetitions. @default true */
  readonly coverageGuided?: boolean | undefined;
}

/** No sentence came of many attempts. */
export class NoSentenceError extends PegwireError {
  override readonly name: string = 'NoSentenceError';
  declare readonly code: 'no-sentence';

  constructor(grammar: Grammar, attempts: number, last: string | null) {
    const why =
      attempts === 0
        ? 'each of its rules needs another one, without end'
        : last === null
          ? 'a lookahead was in the way each time'
          : `the last was refused: ${JSON.stringify(last)}`;
    super({ code: 'no-sentence', message: `No sentence of ${grammar.name} came of ${attempts} attempts; ${why}` });
  }
}

export interface Sentence {
  readonly text: string;
  readonly derivation: Derivation;
}

/** The share of a rule's texts that are words, where it has some. */
const KNOWN = 0.25;
/** Attempts at one sentence. */
const MAX_ATTEMPTS = 5_000;
/** Attempts before a sentence may be longer than was asked for. */
const PATIENCE = 200;

/**
 * Valid texts of a grammar. Each was read by the grammar's own parser: what predicates in code refuse, such as repeated keys, is
 * thrown away and drawn anew.
 *
 * @throws NoSentenceError where valid texts are too rare to be met
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
      // Many are short, since small texts show most.
      const room = Math.floor(random.next() < 0.5 ? maxLength ** random.next() : maxLength * random.next());
      const text = walk({ random, room, weights, hooks, hits: coverageGuided ? tracker.hits : [] });
      if (text === null) continue;
      last = text;
      // Too long: kept only where there may be no shorter one.
      if (text.length > maxLength && (attempt < PATIENCE || text.length >= (shortest?.text.length ?? Infinity)))
        continue;
      const derivation = grammar.derive(text);
      if (derivation === null) continue;
      const sentence = { text, derivation };
      if (text.length <= maxLength) return sentence;
      shortest = sentence;
      if (attempt > 2 * PATIENCE) break;
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
      ({ random, generate }) => (random.next() < KNOWN ? random.pick(list) : generate()),
    ]),
  );
}

function hasSentences({ ast, startRule }: Grammar): boolean {
  const start = ast.rules.find(({ name }) => name === startRule);
  return start !== undefined && Number.isFinite(sizesOf(ast)(start.expression));
}
