import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aacpLanguage } from '../../../src/aacp/language/language.js';
import { accpLanguage } from '../../../src/accp/language/language.js';
import { coverageReport } from '../../../src/fuzz/coverage/report.js';
import { createTracker } from '../../../src/fuzz/coverage/tracker.js';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';
import { sentenceArbitrary } from '../../../src/fuzz/sentences/arbitrary.js';
import { generateSentences, NoSentenceError } from '../../../src/fuzz/sentences/generate.js';
import { isPacket, tryParseFrame } from '../../../src/index.js';
import { sampled, sized } from '../../helpers/runs.js';
import { ownGrammars } from '../../peggy-fast/grammars.js';
import { EXAMPLES, exampleOf } from './examples.js';

const sentences = (text: string, count = 300): string[] => [
  ...generateSentences(compileGrammar(text), { seed: 1, count }),
];

describe('sentences', () => {
  test('are the same for the same seed, and others for another', () => {
    const grammar = exampleOf('json').grammar;
    const first = [...generateSentences(grammar, { seed: 5, count: 50 })];
    expect([...generateSentences(grammar, { seed: 5, count: 50 })]).toEqual(first);
    expect([...generateSentences(grammar, { seed: 6, count: 50 })]).not.toEqual(first);
  });

  test('do not exceed their length, unless there is no shorter one', () => {
    for (const maxLength of [12, 40, 400]) {
      const lengths = [...generateSentences(exampleOf('json').grammar, { seed: 1, count: 100, maxLength })].map(
        (one) => one.length,
      );
      expect(Math.max(...lengths)).toBeLessThanOrEqual(maxLength);
      expect(Math.max(...lengths)).toBeGreaterThan(maxLength / 2);
    }
    expect([...generateSentences(compileGrammar('a = "abcdef"'), { count: 2, maxLength: 3 })]).toEqual([
      'abcdef',
      'abcdef',
    ]);
  });

  test('respect lookaheads', () => {
    expect(sentences('start = "/*" (!"*/" .)* "*/"').every((text) => /^\/\*[\s\S]*\*\/$/.test(text))).toBe(true);
    expect(sentences('start = !keyword [a-z]+ ";"\nkeyword = ("if" / "do") ![a-z]')).not.toContain('if;');
    expect(new Set(sentences('start = &"b" ("a" / "b" / "c")'))).toEqual(new Set(['b']));
    expect(new Set(sentences('start = [a-d] ![b-z]'))).toEqual(new Set(['a', 'b', 'c', 'd']));
  });

  test('respect predicates in code', () => {
    const even = sentences('start = digits:$[0-9]+ &{ return Number(digits) % 2 === 0; }');
    expect(even.every((text) => Number(text) % 2 === 0)).toBe(true);
    expect(new Set(even).size).toBeGreaterThan(50);
  });

  test('reach the bounds of repetitions', () => {
    expect(new Set(sentences('start = "a"|3|'))).toEqual(new Set(['aaa']));
    expect(new Set(sentences('start = "a"|2..4, ","|'))).toEqual(new Set(['a,a', 'a,a,a', 'a,a,a,a']));
    expect(Math.max(...sentences('start = "a"|..17|').map((text) => text.length))).toBe(17);
  });

  test('mix upper and lower case if it is ignored', () => {
    expect(new Set(sentences('start = "ab"i'))).toEqual(new Set(['ab', 'aB', 'Ab', 'AB']));
  });

  test('contain characters beyond U+FFFF as pairs', () => {
    const found = sentences('start = .*', 2_000).join('');
    expect(found).toMatch(/[\u{10000}-\u{10ffff}]/u);
    expect(found).not.toMatch(/\p{Cs}/u);
  });

  test('can have weights', () => {
    const count = (weights: Record<string, number>): number =>
      [
        ...generateSentences(compileGrammar('start = a / b\na = "a"\nb = "b"'), { seed: 1, count: 1_000, weights }),
      ].filter((text) => text === 'a').length;
    expect(count({ a: 50 })).toBeGreaterThan(900);
    expect(count({ a: 0 })).toBe(0);
  });

  test('can have rules written by hooks', () => {
    const grammar = compileGrammar('start = key ":" value\nkey = [a-z]+\nvalue = [0-9]+');
    const hooks = {
      key: () => 'id',
      value: ({ generate }: { generate: () => string }) => `${generate().slice(0, 1)}7`,
    };
    expect(
      [...generateSentences(grammar, { seed: 1, count: 50, hooks })].every((text) => /^id:[0-9]7$/.test(text)),
    ).toBe(true);
  });

  test('a grammar without sentences is an error', () => {
    const impossible = compileGrammar('start = "a"* "a"', { name: 'greedy' });
    expect(() => [...generateSentences(impossible, { count: 1 })]).toThrow(NoSentenceError);
    expect(() => [...generateSentences(impossible, { count: 1 })]).toThrow(/greedy.*rejected/);
  });

  test('lookaheads that the text does not decide do not take forever', () => {
    const text = readFileSync(
      new URL('../../../node_modules/pegjs/examples/javascript.pegjs', import.meta.url),
      'utf8',
    );
    const grammar = compileGrammar(text, { name: 'javascript' });
    expect([...generateSentences(grammar, { seed: 1, count: 60 })]).toHaveLength(60);
  });

  test('an error of the code of a grammar is in the message', () => {
    const broken = compileGrammar('{ null.x; }\nstart = "a"+');
    expect(() => [...generateSentences(broken, { count: 1 })]).toThrow(
      /rejected the last one: "a+": TypeError: Cannot read properties of null \(reading 'x'\)$/,
    );
  });

  test.each(EXAMPLES)('are accepted by the parser that PEG.js generates from its own example: %s', (name) => {
    const { grammar, parse } = exampleOf(name);
    for (const text of generateSentences(grammar, { seed: 2, count: name === 'css' ? sized(4, 15) : sized(25, 100) })) {
      expect(() => parse(text), JSON.stringify(text)).not.toThrow();
    }
  });

  /** Cases that random texts do not reach: rules that match nothing, and predicates that accept one text in thousands. */
  const RARE = [
    'action-errors',
    'action-position',
    'bound-errors',
    'names',
    'reentrant',
    'semantic',
    'unreachable',
    'bound-position',
  ];

  const cases = ownGrammars().filter(
    ({ name, imports, build, sources }) =>
      !RARE.includes(name) &&
      Object.keys(imports).length === 0 &&
      Object.keys(build).length === 1 &&
      sources.length === 1,
  );

  test.each(sampled(cases, 3))('of any grammar: $name', ({ sources, rules, options }) => {
    for (const [startRule, { accept }] of Object.entries(rules)) {
      if (accept.length === 0) continue;
      const grammar = compileGrammar(sources[0]!.text, { startRule, parseOptions: options[0] });
      const texts = [...generateSentences(grammar, { seed: 1, count: 8 })];
      expect(texts.filter((text) => !grammar.accepts(text))).toEqual([]);
    }
  });
});

describe('steering', () => {
  const LANGUAGES = [
    ['accp', 'strict'],
    ['accp', 'lenient'],
    ['aacp', 'strict'],
    ['aacp', 'tolerant'],
  ] as const;

  test.each(LANGUAGES)(
    'reaches every rule, alternative, edge and bound within 1500 sentences: %s, %s',
    (name, dialect) => {
      const { grammar } =
        name === 'accp'
          ? accpLanguage({ dialect: dialect as 'strict' })
          : aacpLanguage({ dialect: dialect as 'strict' });
      const tracker = createTracker(grammar);
      for (const text of generateSentences(grammar, { seed: 1, count: 1_500, tracker })) {
        const isRead =
          name === 'accp'
            ? tryParseFrame(text, { dialect: dialect as 'strict' }).ok
            : isPacket(text, { dialect: dialect as 'strict' });
        expect({ text, isRead }).toEqual({ text, isRead: true });
      }
      expect(coverageReport(tracker).missing).toEqual([]);
    },
  );

  test('reaches rare goals sooner than chance', () => {
    const rules = [...'abcdefgh'].map(
      (name, index, all) => `${name} = "${name}" ${all[index + 1] ?? '"!"'} / "${index}"`,
    );
    const grammar = compileGrammar(rules.join('\n'));
    const needed = (steer: boolean): number => {
      const tracker = createTracker(grammar);
      let count = 0;
      for (const _text of generateSentences(grammar, { seed: 3, count: 5_000, tracker, coverageGuided: steer })) {
        count++;
        if (tracker.missing === 0) break;
      }
      return count;
    };
    expect(needed(true)).toBeLessThan(needed(false) / 2);
  });
});

describe('fast-check arbitraries', () => {
  const { grammar } = accpLanguage();

  test('generate sentences, the same for the same seed', () => {
    const arbitrary = sentenceArbitrary(fc, grammar);
    const texts = fc.sample(arbitrary, { numRuns: 100, seed: 1 });
    expect(texts.filter((text) => !grammar.accepts(text))).toEqual([]);
    expect(fc.sample(arbitrary, { numRuns: 100, seed: 1 })).toEqual(texts);
    expect(new Set(texts).size).toBeGreaterThan(80);
  });

  test('shrink to small sentences', () => {
    const arbitrary = sentenceArbitrary(fc, grammar);
    const { failed, counterexample } = fc.check(
      fc.property(arbitrary, (text) => !text.includes('[[')),
      { seed: 4, numRuns: 3_000 },
    );
    expect(failed).toBe(true);
    expect(counterexample![0]).toMatch(/^@.>.:.\{.*\[\[\]\].*$/);
    expect(counterexample![0].length).toBeLessThan(20);
  });
});
