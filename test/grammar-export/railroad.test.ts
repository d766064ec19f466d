import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import peggy, { type ast } from 'peggy';
import { describe, expect, test } from 'vitest';
import { railroadDiagrams } from '../../src/grammar-export/railroad.js';
import { runs } from '../helpers/runs.js';
import { type Element, elementsOf, parseXml, textOf } from './xml.js';

function astOf(grammar: string): ast.Grammar {
  return peggy.parser.parse(grammar, { grammarSource: 'test', reservedWords: [] });
}

function svgOf(grammar: string): Element {
  return parseXml(railroadDiagrams(astOf(grammar)));
}

/** The section of a rule. */
function sectionOf(svg: Element, rule: string): Element {
  return elementsOf(svg, 'g').find(({ attributes }) => attributes['id'] === rule)!;
}

/** The content of the diagram of a rule, as it is drawn, with comments in parentheses. */
function shown(svg: Element, rule = 'start'): readonly string[] {
  const diagram = elementsOf(sectionOf(svg, rule), 'svg')[0]!;
  return elementsOf(diagram, 'text').map((text) =>
    text.attributes['class'] === 'comment' ? `(${textOf(text)})` : textOf(text),
  );
}

describe('the content of a diagram', () => {
  test.each<[string, readonly string[]]>([
    ['"a" "b"', ['"a"', '"b"']],
    ['"a" / b / [c]', ['"a"', 'b', '[c]']],
    ['x:"a" @b $[c] ("d" "e") { return x; }', ['"a"', 'b', '[c]', '"d"', '"e"']],
    ['"a"? b* [c]+', ['"a"', 'b', '[c]']],
    ['"a"|2..5|', ['"a"', '(2 to 5 times)']],
    ['"a"|..5|', ['"a"', '(up to 5 times)']],
    ['"a"|2..|', ['"a"', '(2 times or more)']],
    ['"a"|4|', ['"a"', '(4 times)']],
    ['"a"|1..|', ['"a"']],
    ['"a"|..|', ['"a"']],
    ['"a"|1|', ['"a"']],
    ['"a"|..1|', ['"a"']],
    ['"a"|1..3, "," b|', ['"a"', '","', 'b', '(1 to 3 times)']],
    ['"a"|.., ","|', ['"a"', '","']],
    ['n:[0-9] "a"|n|', ['[0-9]', '"a"', '(n times)']],
    ['n:[0-9] "a"|n..9|', ['[0-9]', '"a"', '(n to 9 times)']],
    ['n:[0-9] "a"|{ return 2 * n; }..|', ['[0-9]', '"a"', '({ return 2 * n; } times or more)']],
    ['&"a" !b .', ['(followed by)', '"a"', '(not followed by)', 'b', '(any character)']],
    ['&{ return a\n  < 1 && b; } !{ return 0; }', ['(if { return a < 1 && b; })', '(unless { return 0; })']],
    [`&{ return ${'x'.repeat(60)}; }`, [`(if { return ${'x'.repeat(30)}... })`]],
    ['"A"i [a-c]i "" "d"', ['"A"i', '[a-c]i', '"d"']],
    ['[^a-z\\]\\-^_\\\\\\n] []', ['[^a-z\\]\\-\\^_\\\\\u240a]', '[]']],
    ['[\\p{L}\\d]u', ['[\\p{L}d]u']],
    ['"<a & b>\\"\\\\"', ['"<a & b>\\"\\\\"']],
    ['"]]>" "*_`"', ['"]]>"', '"*_`"']],
    ['"a  b\\t\\0\\u200b\\ud800"', ['"a  b\u2409\u2400<U+200B><U+D800>"']],
  ])('%s', (expression, texts) => {
    expect(shown(svgOf(`start = ${expression}\nb = "b"`))).toEqual(texts);
  });

  test('a rule of a library', () => {
    const svg = svgOf('import * as lib from "lib.js"\nstart = lib.number lib.é');
    expect(shown(svg)).toEqual(['lib.number', 'lib.é']);
  });
});

describe('the tracks of a diagram', () => {
  /** Loops and branches turn corners, which are arcs. */
  const corners = (expression: string): number => {
    const diagram = elementsOf(svgOf(`start = ${expression}`), 'svg').at(-1)!;
    return elementsOf(diagram, 'path').flatMap(({ attributes }) => attributes['d']!.match(/a/g) ?? []).length;
  };

  test.each([
    ['"a"', 0],
    ['"a" / "b"', 4],
    ['"a" / "b" / "c"', 8],
    ['"a"?', 4],
    ['"a"+', 4],
    ['"a"*', 8],
    ['"a"|1|', 0],
    ['"a"|..1|', 4],
    ['"a"|3|', 4],
    ['"a"|1..3, ","|', 4],
    ['"a"|..3, ","|', 8],
    ['n:"x" "a"|n|', 8],
  ])('%s turns %i corners', (expression, count) => {
    expect(corners(expression)).toBe(count);
  });
});

test('references link to the diagram of their rule, and only there', () => {
  const svg = svgOf('start = \u00e9l\u00e8ve _x missing\n\u00e9l\u00e8ve = start\n_x = "a"');
  const ids = elementsOf(svg, 'g').flatMap(({ attributes }) => attributes['id'] ?? []);
  expect(ids).toEqual(['start', '\u00e9l\u00e8ve', '_x']);
  const links = elementsOf(svg, 'a').map((link) => [textOf(link).trim(), decodeURIComponent(link.attributes['href']!)]);
  expect(links).toEqual([
    ['\u00e9l\u00e8ve', '#\u00e9l\u00e8ve'],
    ['_x', '#_x'],
    ['start', '#start'],
  ]);
  expect(shown(svg)).toContain('missing');
});

test('only lookaheads are dashed', () => {
  const svg = svgOf('start = "a" !("b" c) &{ return 1; }\nc = "c"');
  const dashed = elementsOf(svg, 'g').filter(({ attributes }) => attributes['class'] === 'lookahead');
  expect(dashed.map((group) => elementsOf(group, 'text').map(textOf))).toEqual([['not followed by', '"b"', 'c']]);
});

test('the whole has the title, and each rule its name and display name', () => {
  const svg = parseXml(railroadDiagrams(astOf('start "the <start>" = "a"\nb = "b"'), { title: 'A & B' }));
  expect(textOf(elementsOf(svg, 'title')[0]!)).toBe('A & B');
  expect(svg.attributes['aria-labelledby']).toBe(elementsOf(svg, 'title')[0]!.attributes['id']);
  const headings = elementsOf(svg, 'text').filter(({ attributes }) => /rule|title/.test(attributes['class'] ?? ''));
  expect(headings.map(textOf)).toEqual(['A & B', 'start "the <start>"', 'b']);
});

describe.each(['accp', 'aacp'])('grammar/%s.peggy', (name) => {
  const grammar = astOf(readFileSync(new URL(`../../grammar/${name}.peggy`, import.meta.url), 'utf8'));

  test('has a diagram for each rule, and nothing extends beyond it', () => {
    const svg = parseXml(railroadDiagrams(grammar));
    const page = svg.attributes as { readonly width: string; readonly height: string };
    let bottom = 0;
    for (const rule of grammar.rules) {
      const { x, y, width, height } = elementsOf(sectionOf(svg, rule.name), 'svg')[0]!.attributes as unknown as Sizes;
      expect(Number(y)).toBeGreaterThan(bottom);
      bottom = Number(y) + Number(height);
      expect(Number(x) + Number(width)).toBeLessThanOrEqual(Number(page.width));
      expect(bottom).toBeLessThanOrEqual(Number(page.height));
      for (const { attributes } of elementsOf(sectionOf(svg, rule.name), 'rect')) {
        const box = attributes as unknown as Sizes;
        expect(Number(box.x)).toBeGreaterThanOrEqual(0);
        expect(Number(box.y)).toBeGreaterThanOrEqual(0);
        expect(Number(box.x) + Number(box.width)).toBeLessThanOrEqual(Number(width));
        expect(Number(box.y) + Number(box.height)).toBeLessThanOrEqual(Number(height));
      }
    }
  });

  test('is deterministic', () => {
    expect(railroadDiagrams(grammar)).toBe(railroadDiagrams(grammar));
  });
});

interface Sizes {
  readonly x: string;
  readonly y: string;
  readonly width: string;
  readonly height: string;
}

test('is well-formed for any text in a grammar', () => {
  const units = fc.string({
    unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)),
    minLength: 1,
    maxLength: 12,
  });
  const markup = fc.string({ unit: fc.constantFrom(...'<>&"\']-;#x1'), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(fc.oneof(units, markup, fc.string({ unit: 'binary', minLength: 1 })), (text) => {
      const svg = parseXml(railroadDiagrams(grammarWith(text), { title: text }));
      expect(elementsOf(svg, 'text')).toHaveLength(6);
    }),
    runs(200),
  );
});

/** A tree with a text in every possible place. Some of these trees have no grammar. */
function grammarWith(text: string): ast.Grammar {
  const grammar = astOf('start "name" = "literal" [class] &{ code } start');
  const replaced = JSON.stringify(grammar, (key, value: unknown) => {
    if (key === 'location' || key.endsWith('Location')) return undefined;
    if (key === 'type') return value;
    if (value === 'literal' || value === ' code ' || value === 'name' || value === 'start') return text;
    // The characters of the class, and not their replacements, which may begin in the same way.
    return Array.isArray(value) && value[0] === 'c' && value[1] === 'l' ? [text, [text, text]] : value;
  });
  return JSON.parse(replaced) as ast.Grammar;
}
