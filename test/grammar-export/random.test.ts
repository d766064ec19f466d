/** Random grammars, in all engines: each accepts the texts that the grammar matches. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAbnf } from '../../src/grammar-export/abnf/parse.js';
import { writeAbnf } from '../../src/grammar-export/abnf.js';
import { type ContextFreeGrammar, ExportError } from '../../src/grammar-export/context-free.js';
import { writeGbnf } from '../../src/grammar-export/gbnf.js';
import { fitToLark, writeLark } from '../../src/grammar-export/lark.js';
import { regexOf } from '../../src/grammar-export/regex.js';
import { lexicalGrammar } from '../../src/grammar-export/terminals.js';
import { sized } from '../helpers/runs.js';
import { abnfMatcher } from './engines/apg.js';
import { larkHint, larkMatcher, larkPython } from './engines/lark.js';
import { gbnfMatcher } from './engines/xgrammar.js';
import { greedyMatcher } from './greedy-matcher.js';
import { trials } from './random-grammars.js';
import { matcherOf } from './reference-matcher.js';

const verdicts = (texts: readonly string[], matches: (text: string) => boolean): [string, boolean][] =>
  texts.map((text) => [text, matches(text)]);

/** The regular expression; null for the few grammars that are rejected as too ambiguous. */
function regexUnlessAmbiguous(grammar: ContextFreeGrammar): RegExp | null {
  try {
    const { source, flags } = regexOf(grammar);
    return new RegExp(source, flags);
  } catch (error) {
    if (error instanceof ExportError && error.code === 'ambiguous') return null;
    throw error;
  }
}

describe('a random grammar', () => {
  test('matches the same texts as GBNF in XGrammar', async () => {
    await fc.assert(
      fc.asyncProperty(trials({ recursive: true, wide: false }), async ({ grammar, texts }) => {
        const matches = await gbnfMatcher(writeGbnf(grammar));
        expect(verdicts(texts, matches)).toEqual(verdicts(texts, matcherOf(grammar)));
        matches.dispose();
      }),
      { numRuns: sized(50, 120) },
    );
  });

  test('matches the same texts as a regular expression', () => {
    fc.assert(
      fc.property(trials({ recursive: false, wide: true }), ({ grammar, texts }) => {
        const regex = regexUnlessAmbiguous(grammar);
        fc.pre(regex !== null);
        expect(verdicts(texts, (text) => regex.test(text))).toEqual(verdicts(texts, matcherOf(grammar)));
      }),
      { numRuns: sized(100, 300) },
    );
  });

  test('matches the same texts if a lexer takes the longest terminals', () => {
    fc.assert(
      fc.property(trials({ recursive: true, wide: true }), ({ grammar, texts }) => {
        const matches = greedyMatcher(lexicalGrammar(fitToLark(grammar)));
        expect(verdicts(texts, matches)).toEqual(verdicts(texts, matcherOf(grammar)));
      }),
      { numRuns: sized(50, 120) },
    );
  });

  test.skipIf(larkPython === undefined)(`matches the same texts as Lark in Python${larkHint}`, async () => {
    await fc.assert(
      fc.asyncProperty(trials({ recursive: true, wide: true }), async ({ grammar, texts }) => {
        const matches = await larkMatcher(writeLark(grammar));
        const found = await Promise.all(texts.map(async (text) => [text, await matches(text)]));
        matches.close();
        expect(found).toEqual(verdicts(texts, matcherOf(grammar)));
      }),
      { numRuns: sized(4, 8) },
    );
  });

  test('is ABNF that can be parsed again, and APG matches no other texts', () => {
    fc.assert(
      fc.property(trials({ recursive: true, wide: true }), ({ grammar, texts }) => {
        const abnf = writeAbnf(grammar);
        expect(() => parseAbnf(abnf)).not.toThrow();
        const matches = abnfMatcher(
          abnf,
          parseAbnf(abnf).items.flatMap((item) => (item.kind === 'rule' ? item.name : []))[0]!,
        );
        const reference = matcherOf(grammar);
        expect(texts.filter((text) => matches(text) && !reference(text))).toEqual([]);
      }),
      { numRuns: sized(30, 60) },
    );
  });
});
