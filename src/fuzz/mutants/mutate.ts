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

export type MutantKind = keyof typeof STRUCTURAL | keyof typeof LEXICAL | 'truncate';

export const MUTANT_KINDS = [
  ...(Object.keys(STRUCTURAL) as (keyof typeof STRUCTURAL)[]),
  ...(Object.keys(LEXICAL) as (keyof typeof LEXICAL)[]),
  'truncate',
] as const satisfies readonly MutantKind[];

export interface Mutant {
  readonly text: string;
  /** What was done, in order. */
  readonly kinds: readonly MutantKind[];
  /** Whether the grammar accepts it all the same. */
  readonly valid: boolean;
}

export interface MutateOptions {
  /** The same seed gives the same mutants. @default 0 */
  readonly seed?: number | undefined;
  /** How many. @default 1 */
  readonly count?: number | undefined;
  /** Which edits are made. @default all */
  readonly kinds?: readonly MutantKind[] | undefined;
  /** Other texts of the grammar, whose parts may be put in. @default none */
  readonly donors?: readonly string[] | undefined;
}

interface Material {
  readonly grammar: Grammar;
  readonly random: Random;
  readonly pieces: readonly string[];
  readonly donors: Donors;
  readonly kinds: readonly MutantKind[];
}

/** Mutants of one text, which need not be valid itself: along its structure, only valid ones can be bent. */
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
  const material: Material = {
    grammar,
    random,
    pieces: piecesOf(grammar),
    donors: donorsOf(grammar, sentences),
    kinds,
  };
  for (let made = 0; made < count; made++) yield mutant(material, text, derivation);
}

export interface MutantOptions extends SentenceOptions {
  readonly kinds?: readonly MutantKind[] | undefined;
  /** Texts to bend, beside generated ones: a corpus. Those that are not valid are bent in their characters only. */
  readonly seeds?: readonly string[] | undefined;
}

const POOL = 300;
/** Mutants between two sentences that come to the pool. */
const RENEWAL = 4;

/** Endless mutants of generated sentences. */
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
    if (made % RENEWAL === 0) {
      const next = sentences.next();
      if (!next.done) pool[pool.length < POOL ? pool.length : random.integer(0, POOL - 1)] = next.value;
    }
    // Again whenever the pool has doubled, and now and then.
    if (Number.isInteger(Math.log2(made + 1)) || made % 1_000 === 999) donors = donorsOf(grammar, pool);
    const material: Material = { grammar, random, pieces, donors, kinds };
    const from: { text: string; derivation: Derivation | null } =
      given.length > 0 && random.next() < 0.5 ? random.pick(given) : longer(random.pick(pool), random.pick(pool));
    yield mutant(material, from.text, from.derivation);
  }
}

/** Many sentences are so short that there is little to bend. */
function longer(one: Sentence, other: Sentence): Sentence {
  return one.text.length < other.text.length ? other : one;
}

/** All texts that a text begins with, itself excluded: a reader has to refuse, or take, each of them. */
export function truncations(grammar: Grammar, text: string): readonly Mutant[] {
  return Array.from({ length: text.length }, (_, end) => {
    const cut = text.slice(0, end);
    return { text: cut, kinds: ['truncate'], valid: grammar.accepts(cut) };
  });
}

/** The share of edits of characters that are made within a part. */
const WITHIN = 0.5;
/** The same of numbers, which few parts may be. */
const NUMBERS_WITHIN = 0.9;
/** Attempts at an edit that the text has something to try on. */
const MAX_TRIES = 12;

/** Mostly one edit: what two do, one often undoes. */
function mutant(material: Material, text: string, derivation: Derivation | null): Mutant {
  const { grammar, random } = material;
  const kinds: MutantKind[] = [];
  let current = text;
  let tree = derivation;
  const edits = random.pick([1, 1, 1, 2, 3]);
  for (let tries = 0; kinds.length < edits && tries < MAX_TRIES; tries++) {
    const kind = random.pick(material.kinds);
    const edited = edit(kind, material, current, tree);
    if (edited === null || edited === current) continue;
    kinds.push(kind);
    current = edited;
    if (kinds.length < edits) tree = grammar.derive(current);
  }
  return { text: current, kinds, valid: grammar.accepts(current) };
}

function edit(kind: MutantKind, material: Material, text: string, tree: Derivation | null): string | null {
  const { random } = material;
  if (kind === 'truncate') return text.slice(0, random.integer(0, Math.max(0, text.length - 1)));
  if (Object.hasOwn(STRUCTURAL, kind)) {
    return tree === null ? null : STRUCTURAL[kind as keyof typeof STRUCTURAL](text, tree, material);
  }
  const own = LEXICAL[kind as keyof typeof LEXICAL];
  // Most characters belong to long names; a part that matches a rule gives all rules a chance.
  const part =
    tree !== null && random.next() < (kind === 'number' ? NUMBERS_WITHIN : WITHIN) ? pickByRule(tree, material) : null;
  if (part === null) return own(text, material);
  const edited = own(text.slice(part.start, part.end), material);
  return edited === null ? null : text.slice(0, part.start) + edited + text.slice(part.end);
}

/** @throws TypeError on a list that is empty, or holds what is no kind */
function checkKinds(kinds: readonly MutantKind[]): void {
  const stranger = kinds.find((kind) => !MUTANT_KINDS.includes(kind));
  if (stranger !== undefined) throw new TypeError(`kinds: there is no "${stranger}", but ${MUTANT_KINDS.join(', ')}`);
  if (kinds.length === 0) throw new TypeError('kinds: the list is empty');
}

/** What an implementation is fed with: valid texts and mutants, mixed. */
export interface FuzzInput {
  readonly text: string;
  readonly valid: boolean;
  /** Empty for a text as the grammar has it. */
  readonly kinds: readonly MutantKind[];
}

export interface FuzzOptions extends SentenceOptions {
  /** The share of mutants, from 0 to 1. @default 0.5 */
  readonly mutantRatio?: number | undefined;
  /** Texts to bend, beside generated ones. They are given as they are first. @default none */
  readonly seeds?: readonly string[] | undefined;
}

/** Code units of the text that is cut off at every point, in the beginning. */
const CUT = 60;

/** As many texts as are asked for. With mutants, the first ones are one sentence, cut off at each place. */
export function* fuzzInputs(grammar: Grammar, options: FuzzOptions = {}): Generator<FuzzInput, void, undefined> {
  const { seed = 0, count = Number.POSITIVE_INFINITY, mutantRatio = 0.5, seeds = [] } = options;
  const random = createRandom(seed ^ 0x0f0f);
  const endless = { ...options, count: Number.POSITIVE_INFINITY };
  const sentences = generateSentences(grammar, endless);
  const bent = generateMutants(grammar, { ...endless, tracker: undefined });
  let made = 0;
  for (const input of mutantRatio > 0 ? beginning(grammar, seeds, sentences) : []) {
    if (made++ === count) return;
    yield input;
  }
  for (; made < count; made++) {
    if (random.next() < mutantRatio) {
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
