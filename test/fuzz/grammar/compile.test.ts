import { describe, expect, test } from 'vitest';
import { compileGrammar, GrammarError } from '../../../src/fuzz/grammar/compile.js';
import type { Derivation, Grammar } from '../../../src/fuzz/grammar/grammar.js';
import { sampled } from '../../helpers/runs.js';
import { ownGrammars } from '../../peggy-fast/grammars.js';

/** A derivation in short: `kind rule "text"` of rules and alternatives, nested by indentation. */
function shown(grammar: Grammar, text: string, kinds: readonly string[] = ['rule', 'alternative']): string[] {
  const lines: string[] = [];
  const visit = ({ point, start, end, children }: Derivation, depth: number): void => {
    const { kind, rule, index } = grammar.points.list[point]!;
    const isShown = kinds.includes(kind);
    const name = kind === 'alternative' ? `${rule} #${index! + 1}` : kind === 'rule' ? rule : kind;
    if (isShown) lines.push(`${'  '.repeat(depth)}${name} ${JSON.stringify(text.slice(start, end))}`);
    for (const child of children) visit(child, isShown ? depth + 1 : depth);
  };
  const derivation = grammar.derive(text);
  if (derivation !== null) visit(derivation, 0);
  return lines;
}

describe('derivations', () => {
  test('contain the rules and alternatives that a text was read with', () => {
    const grammar = compileGrammar('sum = number (("+" / "-") number)*\nnumber = [0-9]+ / "(" sum ")"');
    expect(shown(grammar, '1-(2)')).toEqual([
      'sum "1-(2)"',
      '  number "1"',
      '    number #1 "1"',
      '  sum #2 "-"',
      '  number "(2)"',
      '    number #2 "(2)"',
      '      sum "2"',
      '        number "2"',
      '          number #1 "2"',
    ]);
  });

  test('omit parts that backtracking discarded', () => {
    const grammar = compileGrammar('start = a b "x" / a c\na = "a"\nb = "b"\nc = "b" "y"');
    expect(shown(grammar, 'aby')).toEqual(['start "aby"', '  start #2 "aby"', '    a "a"', '    c "by"']);
  });

  test('omit failed lookaheads', () => {
    const grammar = compileGrammar('start = !(a b) a c\na = "a"\nb = "b"\nc = "c"');
    expect(shown(grammar, 'ac')).toEqual(['start "ac"', '  a "a"', '  c "c"']);
  });

  test('count the items of a repetition, with the delimiters between them', () => {
    const grammar = compileGrammar('start = item|1.., ","| ","?\nitem = [a-z]');
    expect(shown(grammar, 'a,b,', ['item', 'delimiter', 'repetition'])).toEqual([
      'repetition "a,b"',
      '  item "a"',
      '  delimiter ","',
      '  item "b"',
      // The parser read the last delimiter and backtracked over it.
      '  delimiter ","',
      'repetition ","',
      '  item ","',
    ]);
  });

  test('are null for texts that the grammar rejects', () => {
    expect(compileGrammar('start = "a"').derive('b')).toBeNull();
  });

  test('respect predicates in code, which see labels, positions and state as usual', () => {
    const grammar = compileGrammar(
      `
      { let seen = []; }
      start = first:word rest:("," @word)* &{ return rest.length === count(seen) - 1 && offset() === input.length; }
      word = text:$[a-z]+ &{ return !seen.includes(text); } { seen.push(text); return range().end; }
      { function count(list) { return list.length; } }
    `
        .replace(/\n\s*\{ function[^\n]*\n/, '\n')
        .replace('{ let seen = []; }', '{ let seen = []; function count(list) { return list.length; } }'),
    );
    expect(grammar.derive('a,b,c')).not.toBeNull();
    expect(grammar.derive('a,b,a')).toBeNull();
  });

  /** These ask for positions where a derivation changes them, read Peggy's variables, or need another build. */
  const APART = ['bound-position', 'internals', 'reentrant', 'reentrant-internal'];
  const cases = ownGrammars().filter(
    ({ name, imports, options, build, sources }) =>
      !APART.includes(name) &&
      Object.keys(imports).length === 0 &&
      options.length === 1 &&
      Object.keys(build).length === 1 &&
      sources.length === 1,
  );

  test('there are grammars to try', () => expect(cases.length).toBeGreaterThan(30));

  test.each(sampled(cases, 2))('agree with the verdicts of Peggy: $name', ({ sources, rules, options }) => {
    for (const [startRule, { accept, refuse }] of Object.entries(rules)) {
      const grammar = compileGrammar(sources[0]!.text, { startRule, parseOptions: options[0] });
      for (const text of [...accept, ...refuse]) {
        const derivation = grammar.derive(text);
        expect({ text, derived: derivation !== null }).toEqual({ text, derived: grammar.accepts(text) });
        if (derivation !== null) expect(derivation).toMatchObject({ start: 0, end: text.length });
      }
    }
  });
});

describe('compileGrammar', () => {
  test('rejects an invalid grammar, and shows the place', () => {
    expect(() => compileGrammar('a = "b', { name: 'mine' })).toThrow(GrammarError);
    expect(() => compileGrammar('a = "b', { name: 'mine' })).toThrow(/mine:1:/);
    expect(() => compileGrammar('a = b')).toThrow(expect.objectContaining({ code: 'grammar-invalid' }));
    expect(() => compileGrammar('a = ""*')).toThrow(expect.objectContaining({ code: 'grammar-invalid' }));
    expect(() => compileGrammar('a = "b"', { startRule: 'z' })).toThrow(
      expect.objectContaining({ code: 'unknown-rule' }),
    );
  });

  test('replaces and adds rules by overrides, and shows the place of a fault in them', () => {
    const grammar = compileGrammar('start = name\nname = [a-z]+', { overrides: 'name = "bob" / other\nother = "eve"' });
    expect(['bob', 'eve', 'ann'].map(grammar.accepts)).toEqual([true, true, false]);
    expect(() => compileGrammar('a = "b"', { overrides: 'a = = ' })).toThrow(/overrides:1:5/);
  });

  test('removes rules that the start rule does not reach', () => {
    const grammar = compileGrammar('a = b\nb = "x"\nc = "y"');
    expect(grammar.ast.rules.map(({ name }) => name)).toEqual(['a', 'b']);
  });

  test('treats an error of the grammar’s code as a rejection', () => {
    const grammar = compileGrammar('a = "x" { throw new RangeError("own"); } / "y"');
    expect(grammar.parse('x')).toMatchObject({ ok: false, error: { message: 'own' } });
    expect(grammar.derive('x')).toBeNull();
    expect(grammar.accepts('y')).toBe(true);
  });
});

describe('gates', () => {
  const TEXT = `
    start = loose @word / number / (loose "!")? "#"
    loose = &{ return options.loose; }
    word = [a-z]+
    number = [0-9]+ !(loose)
  `;

  test('a false one removes the alternatives that require it', () => {
    const grammar = compileGrammar(TEXT, { gates: { loose: false } });
    expect(grammar.ast.rules.map(({ name }) => name)).toEqual(['start', 'number']);
    expect(['12', '#', 'a', '!#'].map((text) => grammar.derive(text) !== null)).toEqual([true, true, false, false]);
  });

  test('a true one is removed', () => {
    const grammar = compileGrammar('start = loose @word\nloose = &{ return options.loose; }\nword = [a-z]+', {
      gates: { loose: true },
      parseOptions: { loose: true },
    });
    expect(grammar.ast.rules.map(({ name }) => name)).toEqual(['start', 'word']);
    expect(grammar.derive('ab')).not.toBeNull();
  });

  test('must be rules, and must leave something', () => {
    expect(() => compileGrammar(TEXT, { gates: { other: false } })).toThrow(/no rule "other"/);
    expect(() => compileGrammar('a = g "x"\ng = &{ return false; }', { gates: { g: false } })).toThrow(
      /no longer matches any text/,
    );
  });
});

describe('code of the grammar', () => {
  test.each([
    ['{{ import { readFileSync } from "node:fs"; }}\nstart = "a"+', 'Cannot use import statement outside a module'],
    ['start = a:"a"+ { return a as string[]; }', 'Unexpected identifier'],
    ['{{ throw new Error("not now"); }}\nstart = "a"+', 'Error: not now'],
  ])('is not executed before a text is parsed: %j', (text, reason) => {
    const grammar = compileGrammar(text, { name: 'mine' });
    expect(grammar.points.list.length).toBeGreaterThan(1);
    for (const use of [grammar.parse, grammar.accepts, grammar.derive]) {
      expect(() => use('a')).toThrow(GrammarError);
      expect(() => use('a')).toThrow('The code of mine cannot be executed here');
      expect(() => use('a')).toThrow(reason);
    }
  });
});
