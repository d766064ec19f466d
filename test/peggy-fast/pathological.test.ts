/** Parsers generated with the plugin take work in proportion to the text wherever stock ones do, and never more than they. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import fast from '../../src/peggy-fast/peggy-plugin.js';
import { sampled, sized } from '../helpers/runs.js';
import { expectLinear, filled } from '../helpers/steps.js';
import { evaluate, generate, outcome, type Source } from './agreement.js';
import { countingParser, withCounters } from './count-steps.js';
import { allGrammars, optionsFor, ownGrammar } from './grammars.js';

const KB = 1000;

type Family = readonly [name: string, textOf: (length: number) => string];

interface Language {
  readonly name: string;
  readonly sources: readonly Source[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly families: readonly Family[];
}

/** A grammar of a few lines, or one of the test grammars. */
function language(name: string, families: readonly Family[], grammar?: string): Language {
  return {
    name,
    sources: grammar === undefined ? ownGrammar(name).sources : [{ source: name, text: grammar }],
    options: {},
    families,
  };
}

/** Scratch memory of our own grammars, and functions that they never call with an invalid argument. */
const OWN_SCRATCH = ['BigInt', 'keys', 'past', 'codes'];

function protocol(name: string, options: Readonly<Record<string, unknown>>, families: readonly Family[]): Language {
  const file = new URL(`../../grammar/${name}.peggy`, import.meta.url);
  const text = readFileSync(file, 'utf8');
  return { name: `${name} ${options['dialect']}`, sources: [{ source: name, text }], options, families };
}

const UNLIMITED = { maxItems: Number.POSITIVE_INFINITY, maxDigits: Number.POSITIVE_INFINITY };

const FRAMES: readonly Family[] = [
  ['one long string', filled('@a>req:x{k:', 'v', '}')],
  ['nothing but escapes', filled('@a>req:x{k:', '\\,', '}')],
  ['many parameters', filled('@a>req:x{', (index) => `k${index}:v|`, 'z:v}')],
  ['a long list of metadata', filled('@a>req:x{}[', (index) => `k${index}:1,`, 'z:v]')],
  ['an array of integers', filled('@a>req:x{k:[', '12,', '1]}')],
  ['an array of words', filled('@a>req:x{k:[', 'word,', 'w]}')],
  ['an array of arrays', filled('@a>req:x{k:[', '[[1],[]],', '[]]}')],
  ['a map', filled('@a>req:x{k:{', (index) => `k${index}:v,`, 'z:v}}')],
  ['digits', filled('@a>req:x{k:', '1', '}')],
  ['digits that turn out to be a word', filled('@a>req:x{k:', '1', 'x}')],
  ['decimals that turn out to be words', filled('@a>req:x{k:', '11.', 'x}')],
  ['digits, a point and digits that turn out to be a word', filled('@a>req:x{k:11.', '1', 'x}')],
  ['minus signs', filled('@a>req:x{k:', '-', '}')],
  ['words like true', filled('@a>req:x{k:', 'true', '}')],
  ['garbage behind the frame', filled('@a>req:x{k:v}', '{')],
  ['an array that never closes', filled('@a>req:x{k:[', '1,', '1')],
  ['a map that never closes', filled('@a>req:x{k:{', (index) => `k${index}:v,`)],
  ['a string that never closes', filled('@a>req:x{k:', 'v\\,')],
  ['characters beyond ASCII', filled('@a>req:x{k:', 'é', '}')],
  ['lone surrogates', filled('@a>req:x{k:', '\ud800', '}')],
  ['opening brackets', filled('@a>req:x{k:', '[')],
  ['an agent without an end', filled('@', 'a')],
];

const PACKETS: readonly Family[] = [
  ['a long value', filled('FETCH|HR|return:A|p:', '1')],
  ['many fields', filled('FETCH|HR', (index) => `|k${index}:v`)],
  ['empty slots', filled('FETCH|HR', '|')],
  ['colons', filled('FETCH|HR|k', ':')],
  ['a key without an end', filled('FETCH|HR|', 'k')],
  ['a task without an end', filled('', 'A')],
  ['white space', filled('FETCH|HR|k:', ' ')],
  ['characters beyond ASCII', filled('FETCH|HR|k:', '日本')],
  ['line ends', filled('FETCH|HR|k:v', '\n')],
];

const LANGUAGES: readonly Language[] = [
  protocol('accp', { ...UNLIMITED, dialect: 'strict' }, FRAMES),
  protocol('accp', { ...UNLIMITED, dialect: 'lenient' }, [
    ...FRAMES,
    ['keyed items', filled('@a>req:x{k:[', 'k:v,', 'k:v]}')],
    ['mentions', filled('@a>req:x{k:[', '@a:b,', '@a]}')],
  ]),
  protocol('aacp', { ...UNLIMITED, dialect: 'strict' }, PACKETS),
  protocol('aacp', { ...UNLIMITED, dialect: 'tolerant' }, PACKETS),
  language('small-json', [
    ['an array of integers', filled('[', '12, ', '1]')],
    ['an array that never closes', filled('[', '12, ')],
    ['an object', filled('{', (index) => `"k${index % 10}": [], `, '"z": 0}')],
    ['one string', filled('"', 'a', '"')],
    ['a string that never closes', filled('"', 'a\\n')],
    ['escapes', filled('"', '\\u0041', '"')],
    ['digits', filled('', '1')],
    ['digits before a letter', filled('1.', '1', 'x')],
    ['white space', filled('', ' \n', '1')],
    ['white space before garbage', filled('1', ' ', 'x')],
    ['siblings with members', filled('[', '{"a": [{}]}, ', '{}]')],
  ]),
  language('small-csv', [
    ['lines', filled('a,b\n', '1,2\n')],
    ['one line', filled('a\n', '1,')],
    ['quotes', filled('a\n"', '""', '"')],
    ['a quote that never ends', filled('a\n"', 'a\n')],
  ]),
  language('small-arithmetic', [
    ['a sum', filled('', '1+', '1')],
    ['a sum that never ends', filled('', '1+2*')],
    ['groups side by side', filled('', '(1)*', '1')],
    ['white space', filled('1 +', ' ', '1')],
  ]),
  language('keywords', [
    ['words that begin like keywords', filled('', 'lettrue = inn; ', 'a;')],
    ['comments', filled('', '/* a */ // b\n', 'a;')],
    ['a comment that never ends', filled('a; /*', '* ')],
    ['a long word', filled('', 'instanceof', ';')],
  ]),
  language('left-factored', [
    ['digits', filled('', '1', '.')],
    ['arguments', filled('f(', '1.2e3,', '1)')],
    ['arguments that never end', filled('f[', 'g(),', '1')],
  ]),
  language(
    'tokens before their separator',
    [
      ['pairs', filled('[', 'key:value,', 'k]')],
      ['values', filled('[', 'value,', 'k]')],
      ['one long value', filled('[', 'k', ']')],
      ['keys without a value', filled('[', 'k:', ']')],
    ],
    'list = "[" item|.., ","| "]"\nitem = name ":" name / name\nname = $[a-z]+',
  ),
  language(
    'lookahead',
    [
      ['text', filled('', 'a', 'end')],
      ['text that never ends', filled('', 'a')],
      ['almost ends', filled('', 'en', 'end')],
    ],
    'text = $(!"end" .)* "end"',
  ),
  language(
    'values that nobody needs',
    [
      ['numbers', filled('', '12;', '!')],
      ['digits', filled('', '1', ';!')],
      ['garbage', filled('', '12;', '?')],
    ],
    'start = $(number ";")* "!"\nnumber = d:digit+ { return d.join(""); }\ndigit = d:[0-9] { return d; }',
  ),
];

describe.each(LANGUAGES)('$name', ({ sources, options, families }) => {
  const notices: string[] = [];
  const { stepsWith } = countingParser(sources, {
    plugins: [fast],
    fast: { pure: OWN_SCRATCH, onNotice: (message: string) => void notices.push(message) },
  } as never);
  const steps = stepsWith(options);
  const most = 60;

  test('is compiled', () => {
    expect(notices).toEqual([]);
  });

  test.each(families)('%s', (_name, textOf) => {
    expectLinear(steps, textOf, sized([KB, 10 * KB], [KB, 10 * KB, 100 * KB]), most);
  });

  test.each(families.filter((_family, index) => index % 4 === 0))('%s, in long texts', (_name, textOf) => {
    expectLinear(steps, textOf, sized([10 * KB, 100 * KB], [100 * KB, 400 * KB]), most);
  });
});

describe('compared with stock parsers', () => {
  const grammars = allGrammars().filter(({ imports, build }) => Object.keys(imports).length === 0 && !build.trace);

  test.each(sampled(grammars, 3).map((grammar) => ({ grammar, name: grammar.name })))(
    '$name: at most twice the steps, and a constant',
    ({ grammar }) => {
      const [stock, made] = [{}, { plugins: [fast], fast: { pure: grammar.pure, onNotice: () => undefined } }].map(
        (options) => countingParser(grammar.sources, { ...grammar.build, ...options } as never),
      );
      for (const [rule, { accept }] of Object.entries(grammar.rules)) {
        for (const text of accept.filter(({ length }) => length < KB)) {
          const [slow, quick] = [stock!, made!].map(({ parser, stepsWith }) => {
            const options = optionsFor(rule, grammar.options[0]!)(parser);
            // The first text beyond ASCII may make a scanner build tables, once; so may the first text within a text.
            for (const first of ['é', text]) stepsWith(options)(first);
            return stepsWith(options)(text);
          });
          expect({ text, quick, fewEnough: quick! <= 2 * slow! + 30 }).toEqual({ text, quick, fewEnough: true });
        }
      }
    },
  );

  test.each([
    ['pairs or values', 'list = "[" item|.., ","| "]"\nitem = value ":" value / value\nvalue = list / $[a-z]+'],
    ['the same brackets twice', 'value = "[" value "]" / "[" value "," value "]" / $[a-z]+'],
    ['a suffix or none', 'value = list "?" / list / $[a-z]+\nlist = "[" value "]"'],
    ['recovery', 'value = "[" value* "]" / "[" value* / $[a-z]'],
    ['lookahead at each level', 'value = &("[" value) "[" value "]" / $[a-z]+'],
    ['a shared beginning that nobody needs', 'start = $value\nvalue = "[" value "]" "!" / "[" value "]" / $[a-z]+'],
  ])('exponential work of a stock parser is not more here: %s', (name, text) => {
    const sources = [{ source: name, text }];
    const [stock, made] = [{}, { plugins: [fast], fast: { pure: OWN_SCRATCH } }].map((options) =>
      countingParser(sources, options as never),
    );
    for (const depth of [2, 6, 10]) {
      for (const input of [`${'['.repeat(depth)}a${']'.repeat(depth)}`, '['.repeat(depth), `${'['.repeat(depth)}a`]) {
        const slow = stock!.stepsWith({})(input);
        expect(made!.stepsWith({})(input)).toBeLessThanOrEqual(3 * slow + 50);
      }
    }
  });
});

describe('the counters', () => {
  test('detect work that grows faster than the text', () => {
    const linear = 'start = (!"b" .)*';
    const quadratic = 'start = (!([a-z]* "!") .)*';
    for (const [source, shape] of [
      [linear, 'linear'],
      [quadratic, 'quadratic'],
    ] as const) {
      const steps = countingParser([{ source: shape, text: source }], {}).stepsWith({});
      const ratio = steps('a'.repeat(2000)) / steps('a'.repeat(200));
      if (shape === 'quadratic') expect(ratio).toBeGreaterThan(50);
      else expect(ratio).toBeLessThan(11);
    }
  });

  test('change nothing but the count', () => {
    const { sources, build, rules } = ownGrammar('strings');
    const code = generate(sources, { ...build, plugins: [fast], fast: { pure: OWN_SCRATCH } });
    const [plain, counting] = [evaluate(code), evaluate(withCounters(code))];
    for (const text of [...rules['tokens']!.accept, ...rules['tokens']!.refuse]) {
      expect(outcome(counting, text)).toEqual(outcome(plain, text));
    }
  });
});
