/** The plugin itself: its options, the grammars that it rejects, and how it is called. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { runInThisContext } from 'node:vm';
import { build } from 'esbuild';
import peggy, { type GrammarError, type ParserBuildOptions, type SourceBuildOptions } from 'peggy';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import fast, { type FastOptions } from '../../src/peggy-fast/peggy-plugin.js';

/** The exports of the formats here. */
interface FastParser {
  readonly parse: (text: string, options?: object) => unknown;
  readonly recognize?: (text: string, options?: object) => boolean;
  readonly tryParse?: (
    text: string,
    options?: object,
  ) => { readonly ok: boolean; readonly value?: unknown; readonly error?: Error };
  readonly SyntaxError: new () => Error;
}

const LIST = `list = "[" items:item|.., ","| "]" { return items; }
item = digits:$[0-9]+ { return Number(digits); }
`;

function sourceOf(
  grammar: string,
  options: FastOptions = {},
  more: Partial<SourceBuildOptions<'source'>> = {},
): string {
  return peggy.generate(grammar, { ...more, plugins: [fast], fast: options, output: 'source' } as never) as never;
}

function parserOf(grammar: string, options: FastOptions = {}, more: ParserBuildOptions = {}): FastParser {
  return peggy.generate(grammar, { ...more, plugins: [fast], fast: options }) as unknown as FastParser;
}

/** The error that a grammar is rejected with. */
function refusal(grammar: string, options: FastOptions = {}): GrammarError {
  try {
    parserOf(grammar, options, { grammarSource: 'test.peggy' });
  } catch (thrown) {
    if (thrown instanceof peggy.GrammarError) return thrown;
    throw thrown;
  }
  throw new Error('The grammar was not refused.');
}

describe('invalid options', () => {
  test.each<[unknown, string]>([
    [
      { standalon: true },
      'Unknown option "standalon" in "fast"; the options are onNotice, required, standalone, recognize, tryParse,',
    ],
    [{ toString: true }, 'Unknown option "toString" in "fast"'],
    [{ intern: 'item' }, 'The option "intern" in "fast" must be an array of strings; got "item"'],
    [{ pure: [1] }, 'The option "pure" in "fast" must be an array of strings; got [1]'],
    [{ pure: ['next', 'input'] }, 'The option "pure" in "fast" must name functions of the grammar; got "input"'],
    [{ pure: ['options'] }, 'The option "pure" in "fast" must name functions of the grammar; got "options"'],
    [{ recognize: 'yes' }, 'The option "recognize" in "fast" must be true or false; got "yes"'],
    [{ onNotice: true }, 'The option "onNotice" in "fast" must be a function; got true'],
    [true, 'The build option "fast" must be a plain object; got true'],
    [null, 'The build option "fast" must be a plain object; got null'],
    [['item'], 'The build option "fast" must be a plain object; got ["item"]'],
    [new Map([['recognize', true]]), 'The build option "fast" must be a plain object; got an object of another kind'],
    [1n, 'The build option "fast" must be a plain object; got 1'],
    [{ recognize: Number.NaN }, 'The option "recognize" in "fast" must be true or false; got NaN'],
    [
      { intern: new Set(['item']) },
      'The option "intern" in "fast" must be an array of strings; got an object of another kind',
    ],
  ])('%o is rejected', (options, message) => {
    expect(refusal(LIST, options as never).message).toContain(message);
  });

  test('all of them are reported at once', () => {
    const options = { standalon: true, word: ['item'] } as never;
    expect(refusal(LIST, options).problems.filter(([severity]) => severity === 'error')).toHaveLength(2);
  });

  test('inherited properties are ignored', () => {
    expect(parserOf(LIST, Object.create({ recognize: true }) as FastOptions).recognize).toBeUndefined();
  });

  test('undefined options are absent', () => {
    expect(parserOf(LIST, { intern: undefined, standalone: undefined, onNotice: undefined }).parse('[1]')).toEqual([1]);
  });
});

test('listed twice, it works once', () => {
  const parser = peggy.generate(LIST, { plugins: [fast, fast], fast: { recognize: true } }) as unknown as FastParser;
  expect(parser.recognize!('[1]')).toBe(true);
});

describe('grammars that are left to Peggy', () => {
  test.each<[string, string, string, ParserBuildOptions]>([
    ['tracing', 'a = "a"', 'the option "trace" is set', { trace: true }],
    ['code that cannot be followed', 'a = "a" { return eval("1"); }', 'eval() may refer to any name (line 1)', {}],
    ['names of ours', 'a = "a" { const at$ = 1; return at$; }', 'the name "at$" is reserved for generated code', {}],
    ['an early return', '{ return; }\na = "a"', 'an initializer that returns', {}],
    ['lower cases of several characters', 'a = "ΣΣ"i', 'depends on more than one character at a time', {}],
    ['what a character becomes in lower case', 'a = "i\u0307"i', 'depends on more than one character at a time', {}],
    [
      'counts that depend on the position',
      'a = "a"|{ return offset(); }|',
      'a number of repetitions that depends on the position',
      {},
    ],
    ['counts by what is no label', 'a = "b"|n|', 'refers to the label "n", which is not in scope', {}],
    ['counts by a label of a group', 'a = (n:$[0-9]) "b"|n|', 'refers to the label "n", which is not in scope', {}],
    [
      'cached results that change',
      'a = b b\nb = x:("a" { return []; }) { x.push(1); return x; }',
      'the option "cache" is set',
      { cache: true },
    ],
  ])('%s', (_name, grammar, reason, more) => {
    const notices: string[] = [];
    const options = { onNotice: (message: string) => void notices.push(message) };
    const source = sourceOf(grammar, options, more as never);
    expect(notices).toEqual([expect.stringMatching(/^The parser is generated without a scanner: .*\.$/)]);
    expect(notices[0]).toContain(reason);
    expect(source).toBe(peggy.generate(grammar, { ...more, output: 'source' } as never));
  });

  test('are reported to the info callback of Peggy by default', () => {
    const messages: string[] = [];
    const info = (_stage: string, message: string): void => void messages.push(message);
    parserOf('a = "a"', {}, { trace: true, info });
    expect(messages).toContain('The parser is generated without a scanner: the option "trace" is set.');

    messages.length = 0;
    parserOf('a = "a"', { onNotice: () => undefined }, { trace: true, info });
    expect(messages.filter((message) => message.includes('scanner'))).toEqual([]);
  });

  test('are errors with "required"', () => {
    expect(refusal('a = "a" { return eval("1"); }', { required: true }).message).toContain(
      'eval() may refer to any name',
    );
    expect(parserOf(LIST, { required: true }).parse('[1]')).toEqual([1]);
    expect(() => parserOf('a = "a"', { required: true }, { cache: true })).toThrow('the option "cache" is set');
  });

  test('if another plugin generates the code, in any order', () => {
    const other: peggy.Plugin = {
      use(config) {
        config.passes.generate.push((grammar) => {
          grammar.code = '({ parse: () => "other" })' as never;
        });
      },
    };
    for (const plugins of [
      [other, fast],
      [fast, other],
    ]) {
      const notices: string[] = [];
      const generated = peggy.generate(LIST, {
        plugins,
        fast: { onNotice: (message: string) => void notices.push(message) },
        output: 'source-and-map',
        grammarSource: 'x',
      } as never);
      expect(String(generated)).toContain('other');
      if (plugins[0] === other) expect(notices[0]).toContain('another plugin generates the code of the parser');
    }
  });

  test('can be recognized and tried all the same', () => {
    const options = { recognize: true, tryParse: true, onNotice: () => undefined };
    const parser = parserOf('a = "a" { return eval("1"); }', options);
    expect([parser.parse('a'), parser.recognize!('a'), parser.recognize!('b')]).toEqual([1, true, false]);
    expect(parser.tryParse!('a')).toEqual({ ok: true, value: 1 });
    expect(parser.tryParse!('b')).toEqual({ ok: false, error: expect.any(parser.SyntaxError) as unknown });
  });
});

test.each(['{ function Number(text) { return "own " + text; } }', '{{ const Number = (text) => "own " + text; }}'])(
  'a function of the grammar shadows a built-in one of its name: %s',
  (initializer) => {
    expect(parserOf(`${initializer}\na = n:$[0-9]+ { return Number(n); }`).parse('7')).toBe('own 7');
  },
);

test('a return inside of a statement of the initializer is left to Peggy', () => {
  const notices: string[] = [];
  const grammar = '{ if (options.skip) return 42; }\na = "a"';
  const parser = parserOf(grammar, { onNotice: (message) => void notices.push(message) });
  expect(notices).toHaveLength(1);
  expect(parser.parse('b', { skip: true })).toBe(42);
});

test('if errors may be caught, the lines of a text are computed once for all of them', () => {
  const action = 's = ("a" { try { error("no"); } catch (e) { return e.location.start.line; } } / "\\n")*';
  expect(parserOf(action).parse('a\na')).toEqual([1, '\n', 2]);
  expect(sourceOf(action)).toContain('peg$linesOf(input)');
  const helper = `{{ function attempt(f) { try { f(); } catch (e) { return e.location.start.line; } } }}
s = ("a" { return attempt(() => expected("b")); } / "\\n")*`;
  expect(parserOf(helper).parse('a\na')).toEqual([1, '\n', 2]);
  expect(sourceOf(helper)).toContain('peg$linesOf(input)');
  for (const action of ['error("no");', 'try { error("no"); } catch (e) { e.reason = "limit"; throw e; }']) {
    expect(sourceOf(`s = "a" { ${action} }`)).not.toContain('peg$linesOf');
  }
  for (const rest of ['catch (e) { if (e.found) return 1; throw e; }', 'finally { return 1; }', 'catch {}']) {
    expect(sourceOf(`s = "a" { try { error("no"); } ${rest} }`)).toContain('peg$linesOf');
  }
});

describe('the option "recognize"', () => {
  const check = (parser: FastParser): void => {
    expect(parser.parse('[1,22]')).toEqual([1, 22]);
    const verdicts = ['[1,22]', '[]', '[1,]', '', '[1]x'].map((text) => parser.recognize!(text));
    expect(verdicts).toEqual([true, true, false, false, false]);
  };
  const asModule = (code: string): FastParser => {
    const module = { exports: {} };
    runInThisContext(`(function (module, exports) {${code}\n})`)(module, module.exports);
    return module.exports as FastParser;
  };

  for (const standalone of [false, true]) {
    const options: FastOptions = { recognize: true, standalone };

    describe(standalone ? 'with "standalone"' : 'alone', () => {
      test('a parser object', () => check(parserOf(LIST, options)));

      test('bare', () => check(runInThisContext(sourceOf(LIST, options))));

      test('CommonJS', () => check(asModule(sourceOf(LIST, options, { format: 'commonjs' }))));

      test('UMD', () => check(asModule(sourceOf(LIST, options, { format: 'umd', exportVar: 'parser' }))));

      test('AMD', () => {
        const code = sourceOf(LIST, options, { format: 'amd' });
        const define = (_names: string[], factory: () => FastParser): void => check(factory());
        expect.hasAssertions();
        runInThisContext(`(function (define) {${code}\n})`)(define);
      });

      test('a global', () => {
        const root: { parser?: FastParser } = {};
        const code = sourceOf(LIST, options, { format: 'globals', exportVar: 'parser' });
        runInThisContext(`(function () {${code}\n})`).call(root);
        check(root.parser!);
      });

      test('an ES module', async () => {
        const code = sourceOf(LIST, options, { format: 'es' });
        check((await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as FastParser);
      });
    });
  }

  test('is off by default', () => {
    expect(parserOf(LIST).recognize).toBeUndefined();
    expect(sourceOf(LIST)).not.toContain('recognize');
  });

  test('takes the options of a parse, and builds nothing', () => {
    const grammar = 'a = "a" { throw new Error("built"); } / b\nb = "b" { return options.no.such; }';
    const parser = parserOf(grammar, { recognize: true }, { allowedStartRules: ['a', 'b'] });
    expect(parser.recognize!('b', { startRule: 'b' })).toBe(true);
    expect(parser.recognize!('a', { startRule: 'b' })).toBe(false);
    // Code that throws has an effect, and runs.
    expect(() => parser.recognize!('a')).toThrow('built');
  });
});

describe('the option "tryParse"', () => {
  const errorOf = (parser: FastParser, text: string): Error => {
    const result = parser.tryParse!(text);
    expect(result).toEqual({ ok: false, error: expect.any(parser.SyntaxError) as unknown });
    return result.error!;
  };

  test('is off by default', () => {
    expect(parserOf(LIST).tryParse).toBeUndefined();
    expect(sourceOf(LIST)).not.toMatch(/tryParse|quiet/i);
  });

  test('is exported beside "recognize"', async () => {
    const code = sourceOf(LIST, { recognize: true, tryParse: true }, { format: 'es' });
    const parser = (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as FastParser;
    expect([parser.tryParse!('[1]').value, parser.recognize!('[1]'), parser.parse('[1]')]).toEqual([[1], true, [1]]);
  });

  test('errors have no stack trace, but those of later parses do', () => {
    const parser = parserOf(LIST, { tryParse: true });
    const error = errorOf(parser, '[');
    expect(error.stack).toBeUndefined();
    expect(String(error)).toBe('SyntaxError: Expected "]" or [0-9] but end of input found.');
    error.message = 'changed';
    expect([error.message, Object.keys(error).includes('message')]).toEqual(['changed', false]);
    expect(() => parser.parse('[')).toThrow(parser.SyntaxError);
    try {
      parser.parse('[');
    } catch (thrown) {
      expect((thrown as Error).stack).toContain('plugin.test');
    }
  });

  test('returns the errors of code that are syntax errors, and throws others', () => {
    const parser = parserOf('a = "a" { error("no"); } / "b" { expected("c"); } / "d" { throw new RangeError("e"); }', {
      tryParse: true,
    });
    expect(errorOf(parser, 'a').message).toBe('no');
    expect(errorOf(parser, 'b').message).toBe('Expected c but "b" found.');
    expect(() => parser.tryParse!('d')).toThrow(RangeError);
    expect(errorOf(parser, 'x').message).toBe('Expected "a", "b", or "d" but "x" found.');
  });

  test('a parse within it throws errors with a stack trace', () => {
    const parser = parserOf('a = "(" { try { options.parse("x"); } catch (thrown) { return thrown.stack; } }', {
      tryParse: true,
    });
    expect(parser.tryParse!('(', { parse: parser.parse }).value).toMatch(/\n +at /);
  });
});

describe('the option "standalone"', () => {
  const stock = peggy.generate(LIST) as unknown as FastParser;
  const parser = parserOf(LIST, { standalone: true });
  const errorOf = (one: FastParser, text: string): Record<string, unknown> => {
    try {
      one.parse(text, { grammarSource: 'input' });
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(one.SyntaxError);
      const { message, expected, found, location } = thrown as Record<string, unknown>;
      return { message, expected, found, location };
    }
    throw new Error('The text was accepted.');
  };

  test('omits the parse function of Peggy', () => {
    const source = sourceOf(LIST, { standalone: true });
    expect(source).not.toContain('peg$parseSlow');
    expect(source).not.toContain('peg$parselist');
    expect(source.length).toBeLessThan(sourceOf(LIST).length);
    expect(source).not.toContain('peg$library');
    expect(sourceOf(LIST)).toContain('peg$library');
    expect(sourceOf(LIST)).not.toContain('peg$parselist');
  });

  test.each(['', '[', '[1,', '[1 2]', '[1]]', '1', '[é]', '[1\n,\n2'])(
    'explains its errors as Peggy does: %j',
    (text) => {
      expect(errorOf(parser, text)).toEqual(errorOf(stock, text));
    },
  );

  test('supports nested parses, and inputs longer than its buffer', () => {
    const nested = parserOf('a = "(" inner:$[^)]* ")" { return options.parse(inner); } / $.*', {
      standalone: true,
    });
    const options = { parse: (text: string): unknown => nested.parse(text, options) };
    expect(nested.parse('(abc)', options)).toBe('abc');

    const long = `[${'1234567,'.repeat(140_000)}1]`;
    expect(long.length).toBeGreaterThan(1 << 20);
    expect((parser.parse(long) as number[]).length).toBe(140_001);
    expect(() => parser.parse(`${long}!`)).toThrow('Expected end of input but "!" found.');
  });

  test('rejects grammars that are left to Peggy, with the reason', () => {
    const error = refusal('a = "a"\n  { return eval("1"); }', { standalone: true });
    expect(error.message).toBe('The plugin does not support this grammar: eval() may refer to any name');
    expect(error.location?.start).toMatchObject({ line: 2, column: 12 });
  });

  test('accepts only strings, and only names of its start rules', () => {
    expect(() => parser.parse(12 as never)).toThrow(TypeError);
    expect(() => parser.parse('1', { startRule: 'item' })).toThrow('Can\'t start parsing from rule "item".');
  });
});

describe('source maps', () => {
  const grammar = `start = a:first b:second {
    return [a,
      b.toUpperCase()];
  }
first = "x" { return text() + "one line"; }
second = [a-z]+ { const several = text(); return several + "lines"; }
`;

  /** The origin of a piece of the scanner, and its place in the grammar. Both count from 0. */
  function placesOf(piece: string, standalone: boolean): { readonly mapped: Place; readonly real: Place } {
    const node = peggy.generate(grammar, {
      ...{ plugins: [fast], fast: { standalone }, grammarSource: 'test.peggy' },
      ...{ output: 'source-and-map', format: 'es' },
    });
    const { code, map } = node.toStringWithSourceMap({ file: 'parser.js' });
    const { line, column } = placeIn(code, code.indexOf(piece, code.indexOf('peg$makeScanner')));
    const entry = new SourceMap(map.toJSON() as never).findEntry(line, column) as SourceMapEntry;
    expect(entry.originalSource).toBe('test.peggy');
    return {
      mapped: { line: entry.originalLine, column: entry.originalColumn },
      real: placeIn(grammar, grammar.indexOf(piece)),
    };
  }

  for (const standalone of [false, true]) {
    describe(standalone ? 'with "standalone"' : 'alone', () => {
      test.each(['"one line"', 'const several', 'several + "lines"'])('show the line of an action: %s', (piece) => {
        const { mapped, real } = placesOf(piece, standalone);
        expect(mapped.line).toBe(real.line);
      });

      test('show the line of an expression that begins below the brace of its action', () => {
        const { mapped, real } = placesOf('.toUpperCase()', standalone);
        expect(mapped.line).toBe(real.line);
      });
    });
  }
});

interface Place {
  readonly line: number;
  readonly column: number;
}

function placeIn(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length - 1, column: before.at(-1)!.length };
}

interface SourceMapEntry {
  readonly originalSource: string;
  readonly originalLine: number;
  readonly originalColumn: number;
}

describe('the command line of Peggy', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const cli = createRequire(import.meta.url).resolve('peggy/bin/peggy.js');
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'pegwire-plugin-'));
    await build({
      entryPoints: [path.join(root, 'src/peggy-fast/peggy-plugin.ts')],
      outfile: path.join(folder, 'peggy-plugin.mjs'),
      bundle: true,
      format: 'esm',
      platform: 'node',
    });
    writeFileSync(path.join(folder, 'list.peggy'), LIST);
    writeFileSync(path.join(folder, 'left.peggy'), '{{ let n = 0; }}\na = "a" { return eval("1"); }\n');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function run(...args: string[]): {
    readonly status: number | null;
    readonly stdout: string;
    readonly stderr: string;
  } {
    const all = [cli, '--plugin', './peggy-plugin.mjs', ...args];
    return spawnSync(process.execPath, all, { cwd: folder, encoding: 'utf8' });
  }

  test('takes the plugin by its path, and its options as JSON', async () => {
    const options = JSON.stringify({ fast: { recognize: true } });
    const result = run('--extra-options', options, '--format', 'es', '--output', 'list.mjs', 'list.peggy');
    expect(result).toMatchObject({ status: 0, stderr: '' });
    const url = pathToFileURL(path.join(folder, 'list.mjs')).href;
    const parser = (await import(/* @vite-ignore */ url)) as FastParser;
    expect(parser.parse('[1,2]')).toEqual([1, 2]);
    expect(parser.recognize!('[1,]')).toBe(false);
  });

  test('shows the place of what a required scanner cannot contain', () => {
    const { status, stderr } = run('--extra-options', '{"fast":{"required":true}}', 'left.peggy');
    expect(status).toBe(1);
    expect(stderr).toContain('error: The plugin does not support this grammar: eval() may refer to any name');
    expect(stderr).toContain(`
 --> left.peggy:2:18
  |
2 | a = "a" { return eval("1"); }
  |                  ^^^^`);
    expect(run('left.peggy').status).toBe(0);
  });

  test('reports what is left to Peggy in verbose mode', () => {
    expect(run('--trace', '--output', 'quiet.js', 'list.peggy')).toMatchObject({ status: 0, stdout: '', stderr: '' });
    const { stdout, stderr } = run('--trace', '--verbose', '--output', 'talkative.js', 'list.peggy');
    expect(stdout + stderr).toContain(
      'INFO(generate): The parser is generated without a scanner: the option "trace" is set.',
    );
  });

  test('shows the error in a test text', () => {
    expect(run('--test', '[1,]', 'list.peggy').stderr).toContain('Expected [0-9] but "]" found.');
  });
});
