import { describe, expect, test } from 'vitest';
import { coverageHtml, coverageReport, coverageTable } from '../../../src/fuzz/coverage/report.js';
import { createTracker } from '../../../src/fuzz/coverage/tracker.js';
import { compileGrammar } from '../../../src/fuzz/grammar/compile.js';

/** The goals of a grammar that these texts do not reach. */
function missing(text: string, texts: readonly string[]): string[] {
  const tracker = createTracker(compileGrammar(text));
  for (const one of texts) tracker.add(one);
  return coverageReport(tracker).missing.map(({ name }) => name);
}

describe('goals', () => {
  const cases: readonly [what: string, grammar: string, texts: readonly string[], missing: readonly string[]][] = [
    ['alternatives', 'a = "x" / "y" / "z"', ['y'], ['a, alternative 1 of 3', 'a, alternative 3 of 3']],
    ['nested alternatives', 'a = "x" ("y" / "z")', ['xz'], ['a, alternative 1 of 2']],
    ['rules', 'a = b / c\nb = "b"\nc = "c"', ['b'], ['a, alternative 2 of 2', 'c']],
    ['edges of classes', 'a = [a-cx]', ['b', 'c'], ['a, character "a"', 'a, character "x"']],
    ['edges of inverted classes', 'a = [^b-d]', ['a', 'z'], ['a, character "e"']],
    ['optional parts', 'a = "x" "y"?', ['x'], ['a, once']],
    ['stars', 'a = "x"*', ['', 'x'], ['a, more often']],
    ['pluses', 'a = "x"+', ['xx'], ['a, once']],
    ['bounds', 'a = "x"|2..4, ","|', ['x,x', 'x,x,x'], ['a, 4 times']],
    ['exact counts', 'a = "x"|3|', ['xxx'], []],
    ['least counts', 'a = "x"|2..|', ['xx'], ['a, more often']],
    ['characters beyond U+FFFF', 'a = [\\u{1f600}-\\u{1f602}]u', ['\u{1f600}'], ['a, character U+1f602']],
    ['what was given back', 'a = b "x" / c "y"\nb = "b"\nc = "b"', ['by'], ['a, alternative 1 of 2', 'b']],
    ['refused texts', 'a = "x"', ['y'], ['a']],
    ['positive lookaheads', 'a = &b "x"\nb = [x]', ['x'], []],
    ['but not negative ones, which become no text', 'a = !b "x"\nb = "y" / "z"', ['x'], []],
    [
      'a delimiter that was read in vain',
      'a = "x"|.., c| ","?\nc = [,]',
      ['x,'],
      ['c', 'c, character ","', 'a, 0 times', 'a, 0 times', 'a, more often'],
    ],
  ];

  test.each(cases)('%s', (_what, grammar, texts, expected) => {
    expect(missing(grammar, texts).sort()).toEqual([...expected, ...others(grammar, texts, expected)].sort());
  });

  /** The goals of other kinds, which a case does not list. */
  function others(grammar: string, texts: readonly string[], expected: readonly string[]): string[] {
    const spoken = new Set(expected.map(kindOf));
    return missing(grammar, texts).filter((name) => !expected.includes(name) && !spoken.has(kindOf(name)));
  }
  const kindOf = (name: string): string =>
    /alternative/.test(name)
      ? 'alternative'
      : /character/.test(name)
        ? 'character'
        : /,/.test(name)
          ? 'repetition'
          : 'rule';
});

describe('report', () => {
  const grammar = compileGrammar('list = "(" item|.., ","| ")"\nitem = word / number\nword = [a-z]+\nnumber = [0-9]+', {
    name: 'lists',
  });

  test('counts by rule and in total', () => {
    const tracker = createTracker(grammar);
    expect(['(a,b)', '(1)', '(', '()'].map(tracker.add)).toEqual([true, true, false, true]);
    const report = coverageReport(tracker);
    expect(report).toMatchObject({
      grammar: 'lists',
      texts: 3,
      rejected: 1,
      total: {
        rule: { covered: 4, total: 4 },
        alternative: { covered: 2, total: 2 },
        character: { covered: 1, total: 4 },
        repetition: { covered: 5, total: 7 },
      },
    });
    expect(report.rules.map(({ name, hits, line }) => ({ name, hits, line }))).toEqual([
      { name: 'list', hits: 3, line: 1 },
      { name: 'item', hits: 3, line: 2 },
      { name: 'word', hits: 2, line: 3 },
      { name: 'number', hits: 1, line: 4 },
    ]);
    expect(report.missing).toContainEqual({ kind: 'character', name: 'word, character "z"', line: 3, column: 8 });
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  test('is a text table that lists the missing goals', () => {
    const tracker = createTracker(grammar);
    tracker.add('(a)');
    const table = coverageTable(coverageReport(tracker));
    expect(table).toContain('Coverage of the grammar lists by 1 texts: rules 75 %, alternatives 50 %');
    expect(table).toMatch(/^item +1 +1\/2 +- +-$/m);
    expect(table).toContain('line 2:15  item, alternative 2 of 2');
  });

  test('shows 100 % only if all goals are reached', () => {
    const tracker = createTracker(compileGrammar('a = "x"'));
    tracker.add('x');
    expect(coverageTable(coverageReport(tracker))).toContain('rules 100 %');
    expect(coverageTable(coverageReport(tracker))).toContain('No goal is missing.');
  });
});

describe('page', () => {
  test('shows the grammar with highlighted parts, and escapes markup', () => {
    const grammar = compileGrammar('a = "<b>" / [&-(] // "quoted"\n', { name: 'a<b', overrides: 'c = "x"\n' });
    const tracker = createTracker(grammar);
    tracker.add('<b>');
    const page = coverageHtml(tracker);
    expect(page).toContain('<h1>Coverage of a&lt;b</h1>');
    expect(page).toContain('title="a, alternative 1 of 2: 1">&quot;&lt;b&gt;&quot;</span>');
    expect(page).toMatch(/class="none" title="a, character &quot;&amp;&quot;: 0&#10;[^"]*">\[&amp;-\(\]<\/span>/);
    expect(page).toContain('// &quot;quoted&quot;');
    expect(page).not.toMatch(/<b>|<script/);
    expect(coverageHtml(tracker)).toBe(page);
  });

  test('contains the whole text of the grammar', () => {
    const text = 'start\n  = a // a comment\n  / b|2, ","|\n\na = "x"\n  "y"?\nb = [^\\n]\n';
    const grammar = compileGrammar(text);
    const plain = coverageHtml(createTracker(grammar))
      .replace(/[\s\S]*<pre>|<\/pre>[\s\S]*/g, '')
      .replace(/<span class="number"[^>]*> *[0-9]+<\/span> {2}/g, '')
      .replace(/<[^>]*>/g, '')
      .replaceAll('&quot;', '"');
    expect(plain).toBe(text);
  });
});
