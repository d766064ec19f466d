/**
 * Texts bent at random places, made cheaply: a million of them takes seconds, where drawing each from an arbitrary would take
 * longer than all parsers together. What they are made of is drawn from the arbitraries, and taken from the fixtures, the corpus
 * and real messages.
 */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { messageSamples } from '../../bench/corpus/messages.js';
import { aacpLanguage } from '../../src/aacp/language/language.js';
import { accpLanguage } from '../../src/accp/language/language.js';
import { mixedPackets } from '../../src/bench/corpus/aacp.js';
import type { Grammar } from '../../src/fuzz/grammar/grammar.js';
import { fuzzInputs } from '../../src/fuzz/mutants/mutate.js';
import { createRandom, type Random } from '../../src/text/random.js';
import { accpCases, explainCases, packetCases, validatorCases } from '../conformance/fixtures.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';
import type { Grammar as GrammarFile } from '../peggy-fast/grammars.js';
import { piecesOf } from '../peggy-fast/mutants.js';
import { corpus, type Language } from './languages.js';

/** The longest mutant: there is room for one number of more digits than are allowed. */
export const MAX_LENGTH = 1_200;

/** Of each arbitrary, texts to bend. */
const DRAWN = 400;

/** What belongs to neither language, or only looks as if it did; the last ones are full-width. */
const STRANGE = [
  ...[
    '\0',
    '\t',
    '\n',
    '\r\n',
    '\x1b',
    '\x7f',
    '\x80',
    ' ',
    '\u00a0',
    '\u00e9',
    '\u2028',
    '\u202e',
    '\ufeff',
    '\uffff',
  ],
  ...['e\u0301', '\u{1f600}', '\ud800', '\udc00', '\udc00\ud800', '\uff20', '\uff1a', '\uff5c', '\uff5b', '\uff10'],
];

/** What texts are bent from and with. */
interface Material {
  readonly texts: readonly string[];
  readonly pieces: readonly string[];
}

/** One text of so many is made from the grammar: those reach more, and cost more. */
const GRAMMAR_DRIVEN = 8;

/** Endless mutants of the texts of a language. One seed gives the same ones everywhere, for as long as the fixtures stay. */
export function* mutants(language: Language, seed: number): Generator<string, never> {
  const random = createRandom(seed);
  const material = materialOf(language, seed);
  const driven = fuzzInputs(grammarOf(language), { seed });
  for (;;) {
    for (let count = 1; count < GRAMMAR_DRIVEN; count++) yield mutant(material, random);
    const next = driven.next();
    yield next.done || next.value.text.length > MAX_LENGTH ? mutant(material, random) : next.value.text;
  }
}

function grammarOf(language: Language): Grammar {
  return (
    language.protocol === 'accp'
      ? accpLanguage({ dialect: language.dialect })
      : aacpLanguage({ dialect: language.dialect })
  ).grammar;
}

function materialOf(language: Language, seed: number): Material {
  const { protocol } = language;
  const grammar = readFileSync(new URL(`../../grammar/${protocol}.peggy`, import.meta.url), 'utf8');
  const known = corpus().flatMap((input) => (input.protocol === protocol ? [input.text] : []));
  const texts = [...drawn(language, seed), ...written(protocol), ...known];
  return {
    texts: texts.filter(({ length }) => length <= MAX_LENGTH),
    pieces: piecesOf({ sources: [{ source: protocol, text: grammar }] } as Partial<GrammarFile> as GrammarFile),
  };
}

/** Four fifths of them are in the language, the others bent already, with pieces that are typical of it. */
function drawn(language: Language, seed: number): string[] {
  const [plain, bent] =
    language.protocol === 'accp'
      ? [frameTexts(language.dialect), frameMutants(language.dialect)]
      : [packetTexts(language.dialect), packetMutants(language.dialect)];
  return [...fc.sample(plain, { numRuns: DRAWN, seed }), ...fc.sample(bent, { numRuns: DRAWN / 4, seed })];
}

function written(protocol: Language['protocol']): string[] {
  if (protocol === 'accp') {
    return [...accpCases().map(({ input }) => input), ...messageSamples().map(({ text }) => text)];
  }
  const cases = [...packetCases(), ...explainCases(), ...validatorCases()];
  return [...cases.map(({ packet }) => packet), ...mixedPackets().map(({ text }) => text)];
}

function mutant(material: Material, random: Random): string {
  let text = random.pick(material.texts);
  for (let edits = random.pick([1, 1, 1, 1, 2, 3]); edits > 0; edits--) {
    const edited = random.pick(EDITS)(text, material, random);
    if (edited.length <= MAX_LENGTH) text = edited;
  }
  return text;
}

type Edit = (text: string, material: Material, random: Random) => string;

/** Swaps a word for a word of another text: mostly, the text stays in the language. */
const otherWord: Edit = (text, { texts }, random) => {
  const { start, end } = wordAt(text, random);
  const other = random.pick(texts);
  const word = wordAt(other, random);
  return text.slice(0, start) + other.slice(word.start, word.end) + text.slice(end);
};

const insert: Edit = (text, material, random) => {
  const at = random.integer(0, text.length);
  return text.slice(0, at) + piece(material, random) + text.slice(at);
};

const replace: Edit = (text, material, random) => {
  const { start, end } = part(text, random);
  return text.slice(0, start) + piece(material, random) + text.slice(end);
};

const remove: Edit = (text, _material, random) => {
  const { start, end } = part(text, random);
  return text.slice(0, start) + text.slice(end);
};

/** Puts a part somewhere else, too. */
const copy: Edit = (text, _material, random) => {
  const { start, end } = part(text, random);
  const at = random.integer(0, text.length);
  return text.slice(0, at) + text.slice(start, end) + text.slice(at);
};

/** Nests deeper, makes numbers longer, repeats keys. */
const repeat: Edit = (text, _material, random) => {
  const { start, end } = part(text, random);
  return text.slice(0, end) + text.slice(start, end).repeat(random.integer(1, 6)) + text.slice(end);
};

/** Goes on as another text does. */
const splice: Edit = (text, { texts }, random) => {
  const other = random.pick(texts);
  return text.slice(0, random.integer(0, text.length)) + other.slice(random.integer(0, other.length));
};

const truncate: Edit = (text, _material, random) => text.slice(0, random.integer(0, text.length));

const EDITS: readonly Edit[] = [
  ...[otherWord, otherWord, otherWord, otherWord, otherWord, otherWord],
  ...[insert, insert, replace, replace, remove, copy, repeat, splice, truncate],
];

/** Something to put in: a piece of the grammar, a part of another text, or a strange character. */
function piece({ texts, pieces }: Material, random: Random): string {
  const kind = random.next();
  if (kind < 0.4) return random.pick(pieces);
  if (kind < 0.5) return random.pick(STRANGE);
  const other = random.pick(texts);
  const { start, end } = part(other, random);
  return other.slice(start, end);
}

function part(text: string, random: Random): { readonly start: number; readonly end: number } {
  const start = random.integer(0, text.length);
  return { start, end: Math.min(text.length, start + random.integer(1, 8)) };
}

const WORD_UNIT = /[\w.-]/;

/** A whole word, or the place of no word. */
function wordAt(text: string, random: Random): { readonly start: number; readonly end: number } {
  let start = random.integer(0, text.length);
  let end = start;
  while (start > 0 && WORD_UNIT.test(text[start - 1]!)) start--;
  while (end < text.length && WORD_UNIT.test(text[end]!)) end++;
  return { start, end };
}
