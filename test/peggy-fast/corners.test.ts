/** Parsers generated with the plugin behave like stock ones in situations beyond a grammar and a text. */
import { isDeepStrictEqual } from 'node:util';
import { runInThisContext } from 'node:vm';
import peggy from 'peggy';
import { describe, expect, test } from 'vitest';
import fast from '../../src/peggy-fast/peggy-plugin.js';
import { sized } from '../helpers/runs.js';
import { agree, compare, compile, evaluate, generate, outcome, type ParseOptions, type Parser } from './agreement.js';
import { compileGrammar, ownGrammar } from './grammars.js';

const json = ownGrammar('small-json');
const jsonParsers = compileGrammar(json);
const JSON_TEXT = '{"a": [1, 2.5, {"b": "c"}], "d": null}';

/** The error of a parse. */
function refusalOf(parse: () => unknown): Error & { readonly expected?: unknown } {
  try {
    parse();
  } catch (thrown) {
    return thrown as Error;
  }
  throw new Error('the text was accepted');
}

/** Asserts that both parsers have the same outcome for a text, and returns it. */
function expectSame(
  parsers: { readonly stock: Parser; readonly fast: Parser },
  text: unknown,
  options?: () => ParseOptions | undefined,
): ReturnType<typeof outcome> {
  const { stock, fast: other } = parsers;
  const comparison = compare({ stock, fast: other }, text as string, options);
  // The matcher takes longer than both parsers.
  if (!agree(comparison)) {
    expect(comparison.fast).toStrictEqual(comparison.stock);
    expect.fail('the outcomes differ');
  }
  return comparison.stock;
}

describe('the comparison itself', () => {
  const accepted = (value: unknown): ReturnType<typeof outcome> => ({ kind: 'accepted', value });

  test.each<[string, unknown, unknown]>([
    ['zero and minus zero', 0, -0],
    ['undefined and null', [undefined], [null]],
    ['a hole and undefined', new Array(1), [undefined]],
    ['an absent and an undefined property', {}, { a: undefined }],
    ['a number and its text', 1, '1'],
    ['an array and an object', [], {}],
    ['errors of two classes', new TypeError('a'), new RangeError('a')],
  ])('distinguishes %s', (_name, stock, other) => {
    expect(agree({ stock: accepted(stock), fast: accepted(other) })).toBe(false);
    expect(agree({ stock: accepted(stock), fast: accepted(stock) })).toBe(true);
  });

  test('detects a difference in each property of an error', () => {
    const { stock } = jsonParsers;
    const first = outcome(stock, '[1,]');
    for (const text of ['[1,}', '[1', '{1}', '\n[1,]']) {
      expect(agree({ stock: first, fast: outcome(stock, text) })).toBe(false);
    }
    const other = outcome(stock, '[1,]', { grammarSource: 'named' });
    expect(agree({ stock: first, fast: other })).toBe(false);
  });
});

describe('start rules', () => {
  const parsers = compileGrammar(ownGrammar('start-rules'));

  test('are the same', () => {
    expect(parsers.fast.StartRules).toEqual(parsers.stock.StartRules);
  });

  test.each(['nobodyEither', 'never', 'Program', '', 7, null, ['word'], {}])(
    'of a wrong type or name: %j',
    (startRule) => {
      expectSame(parsers, 'abc', () => ({ startRule }));
      expectSame(parsers, '=', () => ({ startRule }));
    },
  );

  test.each(['toString', 'constructor', '__proto__'])('that every object has: %s', (startRule) => {
    // Peggy calls a method of all objects in place of a rule.
    expect(() => parsers.fast.parse('abc', { startRule })).toThrow(`Can't start parsing from rule "${startRule}".`);
  });

  test('all of them, if the grammar is built for it', () => {
    const { sources } = ownGrammar('unused-rules');
    const all = compile(sources, { allowedStartRules: ['*'] });
    expect(all.fast.StartRules).toEqual(all.stock.StartRules);
    for (const startRule of all.stock.StartRules) {
      for (const text of ['', 'a', 'bc', 'c', 'o', 'oo!', 'i', '((i))', 'a;a', '!'])
        expectSame(all, text, () => ({ startRule }));
    }
  });
});

describe('options of parse()', () => {
  const position = compileGrammar(ownGrammar('action-position'));
  const errors = compileGrammar(ownGrammar('action-errors'));

  test.each([undefined, null, {}, Object.create(null), Object.freeze({}), 7, 'text'])('%j', (options) => {
    for (const text of [JSON_TEXT, '[1,]']) expectSame(jsonParsers, text, () => options as ParseOptions);
  });

  test.each<[string, unknown]>([
    ['a text', 'file.json'],
    ['an object', { toString: () => 'an object' }],
    ['an object with an offset', new peggy.GrammarLocation('host.md', { offset: 100, line: 10, column: 5 })],
    ['nothing', null],
  ])('grammarSource: %s', (_name, grammarSource) => {
    for (const text of [JSON_TEXT, '[1,]', '[\n1,\n]', '']) expectSame(jsonParsers, text, () => ({ grammarSource }));
    for (const [startRule, text] of [
      ['ofRange', '(a)'],
      ['ofLocation', 'a\nb'],
      ['inLoop', 'ab cd'],
      ['source', 'x'],
    ]) {
      expectSame(position, text, () => ({ startRule, grammarSource }));
    }
    for (const [startRule, text] of [
      ['plain', 'a'],
      ['withLocation', 'a1'],
      ['expectedPlain', 'no'],
      ['plain', 'x'],
    ]) {
      expectSame(errors, text, () => ({ startRule, grammarSource }));
    }
  });

  test.each<[string, ParseOptions]>([
    ['as a library', { peg$library: true }],
    ['from a position', { peg$library: true, peg$currPos: 2 }],
    ['from a position, alone', { peg$currPos: 1 }],
    ['silently', { peg$library: true, peg$silentFails: 1 }],
    ['silently, alone', { peg$silentFails: 1 }],
    ['with expectations', { peg$library: true, peg$maxFailExpected: [{ type: 'other', description: 'earlier' }] }],
    ['with expectations, alone', { peg$maxFailExpected: [{ type: 'other', description: 'earlier' }] }],
  ])('that libraries are called with: %s', (_name, options) => {
    for (const text of [JSON_TEXT, `  ${JSON_TEXT}`, '[1,]', '[1] x', '', '@']) {
      const fresh = (): ParseOptions => structuredClone(options) as ParseOptions;
      const seen = [jsonParsers.stock, jsonParsers.fast].map((parser) =>
        libraryResult(outcome(parser, text, fresh()), parser),
      );
      expect(seen[1]).toStrictEqual(seen[0]);
      expect(isDeepStrictEqual(seen[1], seen[0])).toBe(true);
    }
  });

  test('are read in parsers with a per-parse initializer each time', () => {
    const parsers = compileGrammar(ownGrammar('per-parse-constants'));
    for (const separator of [',', ';', '-', undefined]) {
      for (const text of ['a,if', 'a;if', 'a-if']) expectSame(parsers, text, () => ({ separator }));
    }
  });
});

/** The result that a parser passes to a parser that imports it. Two of its parts belong to the parser. */
function libraryResult(result: ReturnType<typeof outcome>, parser: Parser): unknown {
  if (result.kind !== 'accepted' || typeof result.value !== 'object' || result.value === null) return result;
  const { peg$FAILED, peg$throw, ...rest } = result.value as Record<string, unknown>;
  const failed = rest['peg$result'] === peg$FAILED;
  const thrown =
    typeof peg$throw === 'function'
      ? outcome({ ...parser, parse: () => (peg$throw as () => unknown)() }, '')
      : peg$throw;
  return { ...rest, ...(failed ? { peg$result: 'failed' } : {}), failed, thrown };
}

describe('inputs that are not flat strings', () => {
  test('a String object', () => expectSame(jsonParsers, new String(JSON_TEXT)));

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 12],
    ['an array of characters', ['[', ']']],
    ['an object', {}],
    ['a byte array', new Uint8Array([0x5b, 0x5d])],
  ])('%s is a type error', (_name, input) => {
    for (const { parse } of [jsonParsers.stock, jsonParsers.fast])
      expect(() => parse(input as string)).toThrow(TypeError);
  });
});

describe('texts of any size', () => {
  const parsers = compileGrammar(ownGrammar('text'));
  const SHORT = [0, 1, 100, 4095, 4096, 4097, 65_535, 65_536, 65_537];

  test.each(sized([...SHORT, 1_048_576], [...SHORT, 1_048_575, 1_048_576, 1_048_577]))(
    '%i characters: accepted, rejected at the end, not ASCII at the end',
    (size) => {
      const startRule = 'run';
      const text = 'a'.repeat(size);
      const ends = size < 100_000 ? ['', '1', '\0', 'é', '😀', '\ud83d', '\0\0'] : ['', '\0', 'é'];
      for (const end of ends) {
        const { stock, fast } = compare(parsers, text + end, () => ({ startRule }));
        // Without a matcher, which would print the text.
        expect(fast.kind).toBe(stock.kind);
        expect(agree({ stock, fast })).toBe(true);
      }
    },
  );

  test('a short text after a long one', () => {
    const parsers = compileGrammar(ownGrammar('any'));
    for (const text of ['a'.repeat(10_000), 'b', '', 'é'.repeat(100), 'a', '\0', 'ab'.repeat(50), '']) {
      expectSame(parsers, text, () => ({ startRule: 'many' }));
      expectSame(parsers, text, () => ({ startRule: 'atTheEnd' }));
    }
  });
});

describe('one parse after another', () => {
  test('a rejection, or an error of an action, does not affect the next text', () => {
    for (const name of ['per-parse', 'counter', 'indentation', 'action-errors', 'state-and-backtracking']) {
      const grammar = ownGrammar(name);
      const parsers = compileGrammar(grammar);
      for (const [startRule, { accept, refuse }] of Object.entries(grammar.rules)) {
        for (const text of accept) {
          for (const before of refuse) {
            expectSame(parsers, before, () => ({ startRule }));
            expectSame(parsers, text, () => ({ startRule }));
          }
        }
      }
    }
  });

  test('results are not shared between parses', () => {
    const { fast } = jsonParsers;
    const first = fast.parse(JSON_TEXT) as { a: unknown[] };
    first.a.push('more');
    expect(fast.parse(JSON_TEXT)).toEqual(JSON.parse(JSON_TEXT));
  });

  test('expectations do not depend on later changes of the options', () => {
    const grammar = '{ const word = options.word; }\na = "x" w:$[a-z]+ &{ return w === word; } "!"';
    const parsers = compile([{ source: 'test', text: grammar }]);
    class Options {
      word = 'b';
    }
    for (const options of [{ word: 'b' }, Object.create({ word: 'b' }) as { word: string }, new Options()]) {
      const [stock, other] = [parsers.stock, parsers.fast].map(({ parse }) => {
        options.word = 'b';
        const thrown = refusalOf(() => parse('xb?', options as never));
        options.word = 'c';
        return { message: thrown.message, expected: thrown.expected };
      });
      expect(other!.message).toBe(stock!.message);
      expect(other!.expected).toStrictEqual(stock!.expected);
    }
  });

  test('errors are not shared between parses', () => {
    const fail = (): { expected: unknown[] } => {
      try {
        return jsonParsers.fast.parse('[1,]') as never;
      } catch (thrown) {
        return thrown as { expected: unknown[] };
      }
    };
    const before = fail().expected.length;
    fail().expected.length = 0;
    expect(fail().expected.length).toBe(before);
  });
});

describe('a parse within a parse', () => {
  const parsers = compileGrammar(ownGrammar('reentrant'));
  const within = (parser: Parser, depth: number): ParseOptions => ({
    parse: (text: string) => (depth > 0 ? parser.parse(text, within(parser, depth - 1)) : text),
    accepts: () => outcome(parser, '{', within(parser, 0)).kind === 'accepted',
  });

  test.each(['a<bc>d', '<abc><def>', '{ab}c', `<${'x'.repeat(500)}>yz<b>`, '<😀>a', 'a<1>', '<<>a', '<é>', 'ab<c>😀'])(
    '%s',
    (text) => {
      const { stock, fast } = {
        stock: outcome(parsers.stock, text, within(parsers.stock, 3)),
        fast: outcome(parsers.fast, text, within(parsers.fast, 3)),
      };
      expect(fast).toStrictEqual(stock);
    },
  );
});

describe('nesting', () => {
  const parsers = compileGrammar(ownGrammar('depth'));
  const nested = (depth: number): string => '('.repeat(depth) + ')'.repeat(depth);

  test.each([0, 1, 10, 100, 1000, 2500])('%i deep: the same answers', (depth) => {
    expect(expectSame(parsers, nested(depth))).toEqual({ kind: 'accepted', value: depth });
    expectSame(parsers, nested(depth).slice(1));
    expectSame(parsers, nested(depth).slice(0, -1));
    expectSame(parsers, `${nested(depth)}!`);
  });

  test('20,000 deep: a result, or a stack overflow', () => {
    for (const text of [nested(20_000), '('.repeat(20_000), `${nested(20_000)}x`]) {
      const results = [outcome(parsers.stock, text), outcome(parsers.fast, text)];
      for (const result of results) if (result.kind === 'thrown') expect(result.thrown).toBeInstanceOf(RangeError);
      // A parser that needs less stack may get further, but only to the right result.
      if (results[1]!.kind !== 'thrown') {
        expect(results[1]!.kind).toBe(text === nested(20_000) ? 'accepted' : 'refused');
      }
      expectSame(parsers, nested(3));
    }
  });
});

describe('tracing', () => {
  test('reports the same rules in the same order', () => {
    const parsers = compileGrammar(ownGrammar('tracing'));
    for (const text of ['1', ' 1 + 2', '1+', '', 'a']) {
      const events = [parsers.stock, parsers.fast].map((parser) => {
        const events: unknown[] = [];
        outcome(parser, text, { tracer: { trace: (event: unknown) => events.push(event) } });
        return events;
      });
      expect(events[0]!.length).toBeGreaterThan(2);
      expect(events[1]).toEqual(events[0]);
    }
  });

  test('a tracer for a parser without tracing is not called', () => {
    const tracer = {
      trace: (): never => {
        throw new Error('called');
      },
    };
    expectSame(jsonParsers, JSON_TEXT, () => ({ tracer }));
    expectSame(jsonParsers, '[1,]', () => ({ tracer }));
  });
});

describe('the exports of a parser', () => {
  test('the error class: constructed, and with its messages', () => {
    const [stock, made] = [jsonParsers.stock, jsonParsers.fast].map((parser) => {
      const { SyntaxError: Refusal } = parser as unknown as {
        SyntaxError: (new (...details: unknown[]) => Error) & { buildMessage: (...details: unknown[]) => string };
      };
      const error = new Refusal('a message', [{ type: 'end' }], 'x', { start: { offset: 0, line: 1, column: 1 } });
      return {
        ...error,
        message: error.message,
        name: error.name,
        built: Refusal.buildMessage([{ type: 'any' }], 'é'),
      };
    });
    expect(made).toEqual(stock);
  });

  test('the error class is the constructor of errors', () => {
    for (const parser of [jsonParsers.stock, jsonParsers.fast]) {
      expect(refusalOf(() => parser.parse('[1,]')).constructor).toBe(parser.SyntaxError);
    }
  });

  test('nothing else in any format', () => {
    for (const format of ['commonjs', 'umd'] as const) {
      const [stock, made] = [{}, { plugins: [fast] }].map((options) => {
        const code = peggy.generate(json.sources[0]!.text, { ...options, format, output: 'source' });
        const module: { exports: object } = { exports: {} };
        runInThisContext(`(function (module, exports, require) {${code}\n})`)(module, module.exports, () => undefined);
        return module.exports;
      });
      expect(Object.keys(made!)).toEqual(Object.keys(stock!));
    }
  });
});

describe('formats', () => {
  const { text } = json.sources[0]!;
  const check = (parser: Parser): void => {
    expect(parser.parse(JSON_TEXT)).toEqual(JSON.parse(JSON_TEXT));
    for (const input of ['[1,]', '{', '"é']) {
      expect(outcome(parser, input)).toEqual(outcome(jsonParsers.stock, input));
    }
  };

  test('a parser object', () => {
    check(peggy.generate(text, { plugins: [fast] }) as unknown as Parser);
  });

  test('bare', () => {
    check(runInThisContext(peggy.generate(text, { plugins: [fast], output: 'source' })));
  });

  test('CommonJS', () => {
    check(evaluate(generate(json.sources, { plugins: [fast] })));
  });

  test('UMD, as a module and as a global', () => {
    const code = peggy.generate(text, { plugins: [fast], output: 'source', format: 'umd', exportVar: 'parser' });
    check(evaluate(code));
    const root: { parser?: Parser } = {};
    runInThisContext(`(function (module, define) {${code}\n})`).call(root);
    check(root.parser!);
  });

  test('AMD', () => {
    const code = peggy.generate(text, { plugins: [fast], output: 'source', format: 'amd' });
    runInThisContext(`(function (define) {${code}\n})`)((_dependencies: string[], factory: () => Parser) =>
      check(factory()),
    );
  });

  test('a global', () => {
    const root: { parser?: Parser } = {};
    const code = peggy.generate(text, { plugins: [fast], output: 'source', format: 'globals', exportVar: 'parser' });
    runInThisContext(`(function () {${code}\n})`).call(root);
    check(root.parser!);
  });

  test('an ES module', async () => {
    const code = peggy.generate(text, { plugins: [fast], output: 'source', format: 'es' });
    check((await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as Parser);
  });

  test('the same code every time', () => {
    expect(generate(json.sources, { plugins: [fast] })).toBe(generate(json.sources, { plugins: [fast] }));
  });
});

/** Asserts that the parser of a grammar has the outcomes of the stock one. */
function expectAllSame(grammar: string, texts: readonly string[]): void {
  const parsers = compileText(grammar);
  expect(parsers.notices).toEqual([]);
  for (const text of texts) expectSame(parsers, text);
}

describe('digits that become a number and are also used as text', () => {
  test.each([
    'start = @d:$[0-9]+ "-" @e:$[0-9]+ &{ return Number(d) < Number(e); }',
    'start = d:$[0-9]+ "-" e:$[0-9]+ &{ return Number(d) + 1 > Number(e); }',
    'start = a:(d:$[0-9]+ "-" $[0-9]+ &{ return Number(d) === 9; }) { return a; }',
    'start = (d:$[0-9]+ &{ return Number(d) > 8; }) "-" $[0-9]+',
  ])('%s', (grammar) => {
    expectAllSame(grammar, ['10-9', '9-10', '9-9', '100-20', '20-100', '7-7']);
  });
});

describe('a repetition whose maximum turns out to be zero fails', () => {
  const number = '\nnumber = digit:[0-9] { return +digit; }';
  test.each([
    'start = n:number &("a"|1..n|) "a"*',
    'start = n:number !("a"|1..n|) "a"*',
    'start = n:number $(!("a"|1..n|) [a-z])* .*',
    'start = n:number (&("a"|1..n|) [a-z]) .*',
    'start = n:number ("a"|1..n|)? "a"*',
    'start = n:number ("a"|1..{ return n; }|)? "a"*',
  ])('%s', (grammar) => {
    expectAllSame(grammar + number, ['0a', '0', '1a', '0ab', '2aaa', '1b']);
  });
});

test('an expression that is read only for its value, with silent failures, does not move the furthest place', () => {
  const grammar = `
    s "name" = n:pair s|{ return String(n); }| (((&{ }|3|))|1| ((pair)))
    pair = item (([] { try { } catch { } })|2| item { for (const q of []) { try { } catch { } } })|1, ""|
      { for (const q of []) { try { } catch { } } }
    item = ((&{ }) / digit+ { try { } catch { } } / (&{ })|{ }, []|)|1|
    digit = [0-9]`;
  const { stock, fast: other } = compile([{ source: 'grammar', text: grammar }]);
  const refused = expectSame({ stock, fast: other }, '2');
  expect(refused).toMatchObject({ kind: 'refused', error: { found: '2' } });
});

describe('names and forms around charCodeAt', () => {
  test.each([
    'start = "a" .* { return input.charCodeAt (0); }',
    'start = "a" .* { return input.charCodeAt?.(0); }',
    'start = "a" .* { return (input.charCodeAt)(0); }',
    'start = "a" .* &{ return input.charCodeAt/* x */(0) > 1; }',
    'start = codeAt$:"a" .* { const x = input.charCodeAt(0); return [x, codeAt$]; }',
  ])('%s', (grammar) => {
    expectAllSame(grammar, ['a', 'ab', 'b', '']);
  });
});

function compileText(text: string): ReturnType<typeof compile> {
  return compile([{ source: 'here.peggy', text }]);
}

describe('code that looks at the characters of the input', () => {
  const places = '[-1, 0, 0.5, NaN, "1", null, undefined, offset() + 1, offset() + 3, 40, 2 ** 21]';
  const parsers = compileText(`{
  function codes(places) {
    return places.map((at) => input.charCodeAt(at));
  }
}
all = word:$[a-z]+ codes:here rest:$.* { return [word, codes, rest, input.charCodeAt(1), codes.length]; }
here = "" { return codes(${places}); }`);

  test.each([
    ['a long text', 'abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz'],
    ['a short one after it: nothing of the other is left', 'ab'],
    ['characters beyond ASCII', 'abé€😀\uD800\u0000'],
    ['one that is refused', 'A'],
  ])('reads the same: %s', (_name, text) => {
    expectSame(parsers, text);
  });
});

describe('digits that become numbers', () => {
  const parsers = compileText(`all = list:(number|.., ","|) { return list; }
number = whole:$[0-9]+ "." places:$[0-9]+ { return [Number(whole), parseFloat(places)]; } / digits:$[3-7]+ { return parseInt(digits, 10); } / digits:$[0-9]+ { return Number(digits); }`);

  test('are the same numbers, of any length', () => {
    const digits = [
      '0',
      '7',
      '007',
      '9007199254740993',
      '999999999999999',
      '123456789012345678901234567890',
      '9'.repeat(400),
    ];
    const numbers = digits.flatMap((one) => [one, `${one}.${one}`, one.replace(/[^3-7]/g, '5')]);
    expectSame(parsers, numbers.join(','));
  });
});
