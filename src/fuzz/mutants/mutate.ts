import { createRandom, type Random } from '../../text/random.js';
import type { Derivation, Grammar } from '../grammar/grammar.js';
import { generateDerivations, generateSentences, type Sentence, type SentenceOptions } from '../sentences/generate.js';
import {
  control,
  delimiter,
  escaping,
  type LexicalEdit,
  letterCase,
  lookAlike,
  number,
  piecesOf,
  slip,
  word,
} from './lexical.js';
import {
  type Donors,
  donorsOf,
  drop,
  duplicate,
  edge,
  nest,
  pickByRule,
  type StructuralEdit,
  splice,
  swap,
} from './structure.js';

const STRUCTURAL = { drop, duplicate, swap, splice, nest, edge } satisfies Record<string, StructuralEdit>;
const LEXICAL = {
  delimiter,
  escape: escaping,
  number,
  word,
  'look-alike': lookAlike,
  control,
  'letter-case': letterCase,
  slip,
} satisfies Record<string, LexicalEdit>;

/** One of {@link MUTANT_KINDS}. */
export type MutantKind = keyof typeof STRUCTURAL | keyof typeof LEXICAL | 'truncate';

/** The kinds of edits: six along the structure of a valid text, eight in its characters, and `truncate`. */
export const MUTANT_KINDS = [
  ...(Object.keys(STRUCTURAL) as (keyof typeof STRUCTURAL)[]),
  ...(Object.keys(LEXICAL) as (keyof typeof LEXICAL)[]),
  'truncate',
] as const satisfies readonly MutantKind[];

/** A text and the mutation that it comes from. */
export interface Mutant {
  /** The text after the mutation. */
  readonly text: string;
  /** The edits, in order. */
  readonly kinds: readonly MutantKind[];
  /** `true` if the grammar accepts the mutant. */
  readonly valid: boolean;
}

/** The options of {@link mutate}. */
export interface MutateOptions {
  /** The seed of the random choices. The same seed gives the same mutants. @default 0 */
  readonly seed?: number | undefined;
  /** The number of mutants. @default 1 */
  readonly count?: number | undefined;
  /** The kinds of edits to make. @default all */
  readonly kinds?: readonly MutantKind[] | undefined;
  /** Other texts of the grammar, whose parts may be inserted. @default none */
  readonly donors?: readonly string[] | undefined;
}

interface MutationContext {
  readonly grammar: Grammar;
  readonly random: Random;
  readonly pieces: readonly string[];
  readonly donors: Donors;
  readonly kinds: readonly MutantKind[];
}

/**
 * Yields mutants of one text. The text need not be valid; edits along the structure require a valid one.
 *
 * @throws TypeError if `kinds` is empty or contains an unknown kind
 * @example
 * for (const { text, valid } of mutate(grammar, '@a>req:x{k:1}', { seed: 1, count: 10 })) console.log(valid, text);
 */
export function* mutate(
  grammar: Grammar,
  text: string,
  { seed = 0, count = 1, kinds = MUTANT_KINDS, donors = [] }: MutateOptions = {},
): Generator<Mutant, void, undefined> {
  checkKinds(kinds);
  const derivation = grammar.derive(text);
  const sentences = [text, ...donors].flatMap((one) => {
    const found = one === text ? derivation : grammar.derive(one);
    return found === null ? [] : [{ text: one, derivation: found }];
  });
  const random = createRandom(seed);
  const context: MutationContext = {
    grammar,
    random,
    pieces: piecesOf(grammar),
    donors: donorsOf(grammar, sentences),
    kinds,
  };
  for (let made = 0; made < count; made++) yield mutant(context, text, derivation);
}

/** The options of {@link generateMutants}. */
export interface MutantOptions extends SentenceOptions {
  /** The kinds of edits to make. @default all */
  readonly kinds?: readonly MutantKind[] | undefined;
  /** Texts to mutate in addition to generated ones, such as a corpus. Texts that are not valid get lexical edits only. @default none */
  readonly seeds?: readonly string[] | undefined;
}

const POOL_SIZE = 300;
/** The number of mutants after which a sentence is added to the pool. */
const RENEWAL_INTERVAL = 4;

/**
 * Yields mutants of generated sentences and of seeds, without end unless `count` is given.
 *
 * @throws TypeError if `kinds` is empty or contains an unknown kind
 * @throws NoSentenceError if valid texts are too rare to be generated
 */
export function* generateMutants(grammar: Grammar, options: MutantOptions = {}): Generator<Mutant, void, undefined> {
  const { seed = 0, count = Number.POSITIVE_INFINITY, kinds = MUTANT_KINDS, seeds = [] } = options;
  checkKinds(kinds);
  const random = createRandom(seed ^ 0x5eed);
  const sentences = generateDerivations(grammar, { ...options, count: Number.POSITIVE_INFINITY });
  const given = seeds.map((text) => ({ text, derivation: grammar.derive(text) }));
  const pool: Sentence[] = [];
  const pieces = piecesOf(grammar);
  let donors: Donors = new Map();
  for (let made = 0; made < count; made++) {
    if (made % RENEWAL_INTERVAL === 0) {
      const next = sentences.next();
      if (!next.done) pool[pool.length < POOL_SIZE ? pool.length : random.integer(0, POOL_SIZE - 1)] = next.value;
    }
    // Again whenever the number of mutants has doubled, and every 1000 mutants.
    if (Number.isInteger(Math.log2(made + 1)) || made % 1_000 === 999) donors = donorsOf(grammar, pool);
    const context: MutationContext = { grammar, random, pieces, donors, kinds };
    const from: { text: string; derivation: Derivation | null } =
      given.length > 0 && random.next() < 0.5 ? random.pick(given) : longer(random.pick(pool), random.pick(pool));
    yield mutant(context, from.text, from.derivation);
  }
}

/** Many sentences are so short that there is little to mutate. */
function longer(one: Sentence, other: Sentence): Sentence {
  return one.text.length < other.text.length ? other : one;
}

/** Returns all proper prefixes of a text, labeled by the grammar. */
export function truncations(grammar: Grammar, text: string): readonly Mutant[] {
  return Array.from({ length: text.length }, (_, end) => {
    const cut = text.slice(0, end);
    return { text: cut, kinds: ['truncate'], valid: grammar.accepts(cut) };
  });
}

/** The share of lexical edits that are confined to one part of the text. */
const WITHIN = 0.5;
/** The same for numbers, because few parts are numbers. */
const NUMBERS_WITHIN = 0.9;
/** Attempts at finding an edit that applies to the text. */
const MAX_TRIES = 12;

/** Makes one edit most of the time: a second edit often undoes the first. */
function mutant(context: MutationContext, text: string, derivation: Derivation | null): Mutant {
  const { grammar, random } = context;
  const kinds: MutantKind[] = [];
  let current = text;
  let tree = derivation;
  const edits = random.pick([1, 1, 1, 2, 3]);
  for (let tries = 0; kinds.length < edits && tries < MAX_TRIES; tries++) {
    const kind = random.pick(context.kinds);
    const edited = edit(kind, context, current, tree);
    if (edited === null || edited === current) continue;
    kinds.push(kind);
    current = edited;
    if (kinds.length < edits) tree = grammar.derive(current);
  }
  return { text: current, kinds, valid: grammar.accepts(current) };
}

function edit(kind: MutantKind, context: MutationContext, text: string, tree: Derivation | null): string | null {
  const { random } = context;
  if (kind === 'truncate') return text.slice(0, random.integer(0, Math.max(0, text.length - 1)));
  if (Object.hasOwn(STRUCTURAL, kind)) {
    return tree === null ? null : STRUCTURAL[kind as keyof typeof STRUCTURAL](text, tree, context);
  }
  const own = LEXICAL[kind as keyof typeof LEXICAL];
  // Most characters belong to long names. Picking a part by its rule gives all rules a chance.
  const part =
    tree !== null && random.next() < (kind === 'number' ? NUMBERS_WITHIN : WITHIN) ? pickByRule(tree, context) : null;
  if (part === null) return own(text, context);
  const edited = own(text.slice(part.start, part.end), context);
  return edited === null ? null : text.slice(0, part.start) + edited + text.slice(part.end);
}

/** @throws TypeError if the list is empty or contains an unknown kind */
function checkKinds(kinds: readonly MutantKind[]): void {
  const unknown = kinds.find((kind) => !MUTANT_KINDS.includes(kind));
  if (unknown !== undefined)
    throw new TypeError(`kinds: unknown kind "${unknown}"; the kinds are ${MUTANT_KINDS.join(', ')}`);
  if (kinds.length === 0) throw new TypeError('kinds must not be empty');
}

/** One input of a fuzz run: a valid text or a mutant. */
export interface FuzzInput {
  /** The text. */
  readonly text: string;
  /** `true` if the grammar accepts the text. */
  readonly valid: boolean;
  /** The edits of a mutant; empty for a text that was not mutated. */
  readonly kinds: readonly MutantKind[];
}

/** The options of {@link fuzzInputs}. */
export interface FuzzOptions extends SentenceOptions {
  /** The share of mutants, from 0 to 1. @default 0.5 */
  readonly mutantRatio?: number | undefined;
  /** Texts to mutate in addition to generated ones. Each is first yielded unchanged. @default none */
  readonly seeds?: readonly string[] | undefined;
}

/** The maximum length in code units of the sentence that is truncated at each place. */
const MAX_TRUNCATED = 60;

/**
 * Yields the inputs of a fuzz run: sentences and mutants, mixed. Unless `mutantRatio` is 0, the run begins with one
 * sentence truncated at each place.
 *
 * @throws NoSentenceError if valid texts are too rare to be generated
 * @example
 * const inputs = [...fuzzInputs(grammar, { seed: 1, count: 1000, mutantRatio: 0.5 })];
 */
export function* fuzzInputs(grammar: Grammar, options: FuzzOptions = {}): Generator<FuzzInput, void, undefined> {
  const { seed = 0, count = Number.POSITIVE_INFINITY, mutantRatio = 0.5, seeds = [] } = options;
  const random = createRandom(seed ^ 0x0f0f);
  const endless = { ...options, count: Number.POSITIVE_INFINITY };
  const sentences = generateSentences(grammar, endless);
  const mutated = generateMutants(grammar, { ...endless, tracker: undefined });
  let made = 0;
  for (const input of mutantRatio > 0 ? initialInputs(grammar, seeds, sentences) : []) {
    if (made++ === count) return;
    yield input;
  }
  for (; made < count; made++) {
    if (random.next() < mutantRatio) {
      const next = mutated.next();
      if (!next.done) yield next.value;
    } else {
      const next = sentences.next();
      if (!next.done) yield { text: next.value, valid: true, kinds: [] };
    }
  }
}

function* initialInputs(grammar: Grammar, seeds: readonly string[], sentences: Iterator<string>): Generator<FuzzInput> {
  for (const text of seeds) yield { text, valid: grammar.accepts(text), kinds: [] };
  let whole = '';
  for (let tries = 0; tries < 50 && (whole.length < MAX_TRUNCATED / 2 || whole.length > MAX_TRUNCATED); tries++) {
    const { value } = sentences.next();
    if (value !== undefined && value.length <= MAX_TRUNCATED && value.length > whole.length) whole = value;
  }
  yield { text: whole, valid: grammar.accepts(whole), kinds: [] };
  yield* truncations(grammar, whole);
}
