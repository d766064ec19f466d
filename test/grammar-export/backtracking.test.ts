/** Exported patterns in backtracking engines: the steps for a text are bounded by pattern length times text length. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { packetJsonSchema } from '../../src/aacp/language/schema.js';
import { frameJsonSchema } from '../../src/accp/language/schema.js';
import { messageJsonSchema } from '../../src/arcp/index.js';
import { compileGrammar } from '../../src/fuzz/grammar/compile.js';
import { exportGrammar } from '../../src/grammar-export/export-grammar.js';
import { writeLark } from '../../src/grammar-export/lark.js';
import { parseRegex, type RegexNode } from '../../src/grammar-export/oniguruma.js';
import { regexOf } from '../../src/grammar-export/regex.js';
import { readTokenTable } from '../../src/grammar-export/token-table.js';
import { sized } from '../helpers/runs.js';
import { LANGUAGES } from './pieces.js';
import { trials } from './random-grammars.js';

/** Grammars whose straightforward patterns take exponential or polynomial time, with a text on which they do. */
const GRAMMARS: readonly (readonly [title: string, grammar: string, pump: string])[] = [
  ['a repetition in a repetition', 'start = item+ "!"\nitem = [a-z]+ ","?', 'a'],
  ['alternatives that overlap', 'start = (a / b)+ "!"\na = [a-z] [0-9]?\nb = "x" [0-9]* "."?', 'x'],
  ['two runs side by side', 'start = ([a-z]+ "." / [a-z]+ ","?)* "!"', 'a'],
  [
    'optional white space around optional items',
    'start = (_ word? _ ",")* _ word? _ "!"\nword = [a-z]+\n_ = " "*',
    ' ',
  ],
  ['white space before and behind separators', 'start = word (_ ";"? _ word)* "!"\nword = [a-z]+\n_ = [ \\t]*', 'a '],
  ['a separator that items hold, too', 'start = item|1.., "-"| "!"\nitem = [a-z] [a-z-]*', 'a-'],
  ['digits, a point, digits', 'start = ([0-9]+ "."? [0-9]* ","?)+ "!"', '0'],
  ['a line end among blanks', 'start = (word blank)+ "!"\nword = [a-z]+\nblank = [ \\t]* "\\n"? [ \\t]*', 'a \n '],
  ['counted repetitions side by side', 'start = [a-z]|0..30| [a-z]|0..30| [a-z]* "!"', 'a'],
  ['letters without regard to case', 'start = ("ab"i / [A-Z]+ / "k"i)+ "!"', 'AB\u212a'],
];

const PUMPS = 100;

/**
 * Matches like a backtracking engine without memory, and counts its steps.
 *
 * @returns the steps, up to `limit` and one more
 */
function stepsOf(pattern: RegexNode, text: string, limit: number): number {
  const characters = [...text].map((character) => character.codePointAt(0)!);
  let steps = 0;
  const match = (node: RegexNode, at: number, then: (at: number) => boolean): boolean => {
    if (++steps > limit) return true;
    switch (node.kind) {
      case 'set': {
        const code = characters[at];
        if (code === undefined) return false;
        return node.ranges.some(([first, last]) => first <= code && code <= last) !== node.negated && then(at + 1);
      }
      case 'sequence': {
        const from = (index: number, place: number): boolean =>
          index === node.items.length
            ? then(place)
            : match(node.items[index]!, place, (behind) => from(index + 1, behind));
        return from(0, at);
      }
      case 'choice':
        return node.items.some((item) => match(item, at, then));
      case 'repeat': {
        const again = (count: number, place: number): boolean => {
          const more = (): boolean =>
            (node.max === null || count < node.max) &&
            match(node.item, place, (behind) => (behind > place || count < node.min) && again(count + 1, behind));
          if (count < node.min) return more();
          return node.lazy ? then(place) || more() : more() || then(place);
        };
        return again(0, at);
      }
      case 'look': {
        if (node.behind) return then(at);
        return match(node.item, at, () => true) !== node.negated && then(at);
      }
      case 'edge':
        return node.side === 'start' ? at === 0 && then(at) : at === characters.length && then(at);
      case 'boundary':
        return then(at);
    }
  };
  match(pattern, 0, () => true);
  return steps;
}

function partsOf(node: RegexNode): number {
  if (node.kind === 'sequence' || node.kind === 'choice')
    return node.items.reduce((sum, item) => sum + partsOf(item), 1);
  if (node.kind === 'repeat') return 1 + Math.max(node.min, node.max ?? 1) * partsOf(node.item);
  return node.kind === 'look' ? 1 + partsOf(node.item) : 1;
}

/** Texts that repeat a few of a pattern's characters, with an end that never matches. */
function pumped(node: RegexNode, extra: readonly string[] = []): string[] {
  const found = new Set<string>();
  const collect = (part: RegexNode): void => {
    if (part.kind === 'set')
      for (const [first, last] of part.ranges) for (const one of [first, last]) found.add(String.fromCodePoint(one));
    else if (part.kind === 'sequence' || part.kind === 'choice') part.items.forEach(collect);
    else if (part.kind === 'repeat' || part.kind === 'look') collect(part.item);
  };
  collect(node);
  const few = [...found].slice(0, 8);
  const pairs = few.flatMap((a) => few.map((b) => (a === b ? a : a + b)));
  return [...extra, ...pairs].map((pump) => `${pump.repeat(PUMPS)}\u{e000}`);
}

/** Texts on which a pattern takes more steps than its parts times the characters of the text. */
function slowTexts(source: string, unicode: boolean, pumps: readonly string[] = []): string[] {
  const node = parseRegex(source, unicode);
  const parts = partsOf(node);
  return pumped(node, pumps).filter((text) => {
    const limit = parts * ([...text].length + 1) * 4;
    return stepsOf(node, text, limit) > limit;
  });
}

const patternIn = (exported: string): string => /^\/(.*)\/u$/m.exec(exported)![1]!;

describe('a regular expression takes time in proportion to the length of the text', () => {
  test.each(GRAMMARS)('%s', (_title, source, pump) => {
    const grammar = compileGrammar(source);
    expect(slowTexts(patternIn(exportGrammar(grammar, { to: 'regex' })), true, [pump])).toEqual([]);
  });

  test('random grammars, except for a few that are rejected', () => {
    let refused = 0;
    fc.assert(
      fc.property(trials({ recursive: false, wide: true }), ({ grammar }) => {
        let source: string;
        try {
          ({ source } = regexOf(grammar));
        } catch (error) {
          expect(error).toMatchObject({ code: 'ambiguous' });
          refused++;
          return;
        }
        if (source.length < 300) expect(slowTexts(source, true)).toEqual([]);
      }),
      { numRuns: 100, endOnFailure: true },
    );
    expect(refused).toBeLessThan(5);
  });

  test('in a separate process, on long texts', () => {
    const cases = GRAMMARS.map(([, source, pump]) => [
      patternIn(exportGrammar(compileGrammar(source), { to: 'regex' })),
      pump.repeat(3_000),
    ]);
    const program =
      'for (const [source, text] of JSON.parse(process.argv[1])) new RegExp(source, "u").test(text + "?");';
    // The exponential patterns take longer than the age of the universe, the polynomial ones minutes.
    expect(() =>
      execFileSync(process.execPath, ['-e', program, JSON.stringify(cases)], { timeout: 20_000 }),
    ).not.toThrow();
  });

  test('slightly ambiguous patterns have a note, highly ambiguous ones are rejected', () => {
    const counted = compileGrammar('start = [a-z]|0..40| [a-z0-9]|0..40| "!"');
    expect(exportGrammar(counted, { to: 'regex' })).toMatch(
      /^\/\/ It is ambiguous: it matches some texts in up to 41 ways/m,
    );
    const many = compileGrammar(`start = item|3..${sized(60, 200)}| "!"\nitem = [a-z]+ ","?`);
    expect(() => exportGrammar(many, { to: 'regex' })).toThrow(
      expect.objectContaining({ code: 'ambiguous', rule: 'start' }),
    );
  });
});

describe('other patterns for backtracking engines take time in proportion, too', () => {
  const larkPatterns = (lark: string): string[] =>
    [...lark.replace(/^\/\/.*$|"(?:\\.|[^"\\])*"/gm, '').matchAll(/\/((?:\\.|[^/\\\n])+)\//g)].map(([, pattern]) =>
      pattern!.replace(/\\U([0-9A-F]{8})/g, (_, digits: string) => `\\u{${digits.replace(/^0+/, '')}}`),
    );

  test.each(GRAMMARS)('terminals of Lark: %s', (_title, source, pump) => {
    const lark = exportGrammar(compileGrammar(source), { to: 'lark' });
    expect(larkPatterns(lark).flatMap((pattern) => slowTexts(pattern, true, [pump]))).toEqual([]);
  });

  test('terminals of Lark: random grammars', () => {
    fc.assert(
      fc.property(trials({ recursive: true, wide: true }), ({ grammar }) => {
        const patterns = larkPatterns(writeLark(grammar)).filter((pattern) => pattern.length < 300);
        expect(patterns.flatMap((pattern) => slowTexts(pattern, true))).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  test.each(LANGUAGES)('tokens of $name in editors', ({ table }) => {
    const slow = readTokenTable(table).flatMap(({ rules, unicode }) =>
      rules.flatMap(({ source }) => (slowTexts(source, unicode).length > 0 ? [source] : [])),
    );
    expect(slow).toEqual([]);
  });

  test.each([
    ['frames', frameJsonSchema()],
    ['packets', packetJsonSchema()],
    ['ARCP messages', messageJsonSchema()],
  ])('patterns in the JSON Schema of %s', (_title, schema) => {
    const patterns = new Set<string>();
    JSON.stringify(schema, (key, value: unknown) => {
      if (key === 'pattern' && typeof value === 'string') patterns.add(value);
      return value;
    });
    // The counter supports neither captures nor properties, on which the number of steps does not depend.
    const plain = [...patterns].map((pattern) => pattern.replace(/\((?!\?)/g, '(?:').replace(/\\p\{\w+\}/g, '\\x01'));
    expect(plain.filter((pattern) => slowTexts(pattern, true).length > 0)).toEqual([]);
  });
});
