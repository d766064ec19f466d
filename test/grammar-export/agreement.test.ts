/** Compares the exports of the protocols, in their engines, with the parsers of the protocols. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aacpLanguage } from '../../src/aacp/language/language.js';
import { accpLanguage } from '../../src/accp/language/language.js';
import type { Language } from '../../src/fuzz/differential/language.js';
import { generateMutants } from '../../src/fuzz/mutants/mutate.js';
import { generateSentences } from '../../src/fuzz/sentences/generate.js';
import { writeAbnf } from '../../src/grammar-export/abnf.js';
import type { ContextFreeGrammar } from '../../src/grammar-export/context-free.js';
import { writeGbnf } from '../../src/grammar-export/gbnf.js';
import { writeLark } from '../../src/grammar-export/lark.js';
import { contextFree } from '../../src/grammar-export/lower.js';
import { regexOf } from '../../src/grammar-export/regex.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';
import { disagreements, NONE } from './agreement.js';
import { abnfMatcher } from './engines/apg.js';
import { larkHint, larkMatcher, larkPython } from './engines/lark.js';
import { gbnfMatcher } from './engines/xgrammar.js';

const MANY = 2_000;
const SOME = 500;

/** Lark is slow, and slower for each character. */
const SHORT = 50;

interface Subject {
  readonly title: string;
  readonly language: Language;
  readonly grammar: ContextFreeGrammar;
  readonly valid: readonly string[];
  readonly invalid: readonly string[];
}

function subject(
  title: string,
  language: Language,
  valid: fc.Arbitrary<string>,
  mutants: fc.Arbitrary<string>,
  depthChecks: readonly string[],
): Subject {
  const { exportable: grammar, depth } = language;
  const texts = [
    ...generateSentences(grammar, { seed: 1, count: MANY }),
    ...fc.sample(valid, { numRuns: MANY, seed: 1 }),
  ].filter(isWellFormed);
  const mutated = [
    ...[...generateMutants(grammar, { seed: 1, count: MANY })].map(({ text }) => text),
    ...fc.sample(mutants, { numRuns: 2 * MANY, seed: 1 }),
  ];
  const { name, startRule } = grammar;
  return {
    title,
    language,
    grammar: contextFree(grammar.ast, { name, startRule, depth: depth === null ? [] : [depth], depthChecks }),
    valid: everyOther(texts, MANY),
    invalid: everyOther(
      mutated.filter((text) => isWellFormed(text) && isExpressible(language, text)),
      MANY,
    ),
  };
}

/** UTF-8 has no lone surrogates. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Returns `true` if a context-free grammar can decide about a text: repeated keys, long lists and long numbers are beyond it. */
function isExpressible({ read }: Language, text: string): boolean {
  const answer = read(text);
  return !answer.ok && (answer.reason === 'syntax' || answer.message?.startsWith('Nesting') === true);
}

/** A number of texts, from the whole list. */
function everyOther(texts: readonly string[], count: number): readonly string[] {
  const different = [...new Set(texts)];
  return Array.from({ length: count }, (_, index) => different[Math.floor((index * different.length) / count)]!);
}

const frames = subject('ACCP', accpLanguage(), frameTexts('strict'), frameMutants('strict'), ['entered', 'left']);
const packets = subject('AACP', aacpLanguage(), packetTexts('strict'), packetMutants('strict'), []);

describe.each([frames, packets])('$title', ({ language, grammar, valid, invalid }) => {
  test('has enough texts of both kinds', () => {
    expect({ valid: new Set(valid).size, invalid: new Set(invalid).size }).toEqual({ valid: MANY, invalid: MANY });
    expect(valid.filter((text) => !language.read(text).ok)).toEqual([]);
  });

  test('as GBNF agrees in XGrammar', async () => {
    const matches = await gbnfMatcher(writeGbnf(grammar));
    expect(await disagreements(valid, invalid, matches)).toEqual(NONE);
    matches.dispose();
  });

  test('as ABNF agrees in APG', async () => {
    const matches = abnfMatcher(writeAbnf(grammar), grammar.startRule);
    expect(await disagreements(valid, invalid, matches)).toEqual(NONE);
  });

  test.skipIf(larkPython === undefined)(`as Lark agrees in Python${larkHint}`, async () => {
    const matches = await larkMatcher(writeLark(grammar));
    const short = (texts: readonly string[]): readonly string[] =>
      texts.filter((text) => text.length <= SHORT).slice(0, SOME);
    expect([short(valid).length, short(invalid).length]).toEqual([SOME, SOME]);
    expect(await disagreements(short(valid), short(invalid), matches)).toEqual(NONE);
    matches.close();
  });
});

test('AACP as a regular expression agrees in JavaScript', async () => {
  const { source, flags } = regexOf(packets.grammar);
  const regex = new RegExp(source, flags);
  expect(await disagreements(packets.valid, packets.invalid, (text) => regex.test(text))).toEqual(NONE);
});
