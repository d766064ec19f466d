/** Decoding of values that peers send, valid or hostile. */
import { describe, expect, test } from 'vitest';
import { parseFrame, type Value } from '../../../src/accp/index.js';
import { type FieldType, Reference } from '../../../src/accp/message/json.js';
import { createReading, readKey, readValue } from '../../../src/accp/message/read-value.js';
import { read, refusal } from './support.js';

function nodeOf(text: string): Value {
  return parseFrame(`@a>req:x{k:${text}}`).payload[0]!.value;
}

function plain(text: string, type?: FieldType): unknown {
  return read(nodeOf(text), false, type).value;
}

function transliterated(text: string, type?: FieldType): unknown {
  return read(nodeOf(text), true, type).value;
}

describe('plain values', () => {
  test.each([
    ['hello', 'hello'],
    ["'aB", "'aB"],
    ['007', 7],
    ['-0', 0],
    ['9007199254740993', 9007199254740993n],
    ['2.500', 2.5],
    ['-0.0', 0],
    ['0.12345678', 0.12345678],
    ['true', true],
    ['~', null],
    ['[1,[a]]', [1, ['a']]],
  ])('%s is %o', (text, value) => {
    const losses = /^-[0.]+$/.test(text) ? [{ path: 'payload.k', kind: 'negative-zero', from: text, to: '0' }] : [];
    expect(read(nodeOf(text), false)).toEqual({ key: 'k', value, losses });
  });

  test('maps have no prototype, whatever their keys', () => {
    const value = plain('{__proto__:{a:1},constructor:2,toString:3}') as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(null);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(Object.getPrototypeOf(Object.values(value)[0])).toBe(null);
    expect(({} as Record<string, unknown>)['a']).toBe(undefined);
  });

  test('digits that a double does not keep are reported', () => {
    const { value, losses } = read(nodeOf('[0.12345678901234567890,12345678901234567890.25]'), false);
    expect(value).toEqual([0.12345678901234568, 12345678901234567000]);
    expect(losses).toEqual([
      { path: 'payload.k[0]', kind: 'precision', from: '0.12345678901234567890', to: '0.12345678901234568' },
      { path: 'payload.k[1]', kind: 'precision', from: '12345678901234567890.25', to: '12345678901234567000' },
    ]);
  });

  test('a decimal beyond a double is rejected with its path', () => {
    const error = ['E1004', 'payload.k.a[0]', 'the number is beyond the range of a double'];
    expect(refusal(() => plain(`{a:[${'9'.repeat(400)}.5]}`))).toEqual(error);
  });

  test('a reference is resolved at its place', () => {
    const asked: string[][] = [];
    const resolve = (path: string, at: string) => {
      asked.push([path, at]);
      return path.length;
    };
    const reading = createReading({ transliterated: true, resolve });
    expect(readValue(nodeOf('[1,{b:$warm.c}]'), 'src', reading)).toEqual([1, { b: 6 }]);
    expect(readValue(nodeOf('$x'), 'q', reading)).toBe(1);
    expect(asked).toEqual([
      ['warm.c', 'payload.src[1].b'],
      ['x', 'payload.q'],
    ]);
  });

  test('an error of the resolver is passed on', () => {
    const resolve = (): never => {
      throw new TypeError('gone');
    };
    expect(() => readValue(nodeOf('$a'), 'k', createReading({ transliterated: false, resolve }))).toThrow('gone');
  });

  test('an endlessly nested tree is an error', () => {
    let node: Value = { kind: 'null' };
    for (let depth = 0; depth < 100_000; depth++) node = { kind: 'array', items: [node] };
    expect(refusal(() => read(node, false))).toContain('nesting is deeper than 1000');
  });
});

describe('fields with a type', () => {
  test.each([
    ['string', '42', '42'],
    ['string', '007', '007'],
    ['string', '-0', '-0'],
    ['string', '1.50', '1.50'],
    ['string', '2.0', '2.0'],
    ['string', '9007199254740993', '9007199254740993'],
    ['string', `${'9'.repeat(400)}.5`, `${'9'.repeat(400)}.5`],
    ['string', 'true', 'true'],
    ['string', 'hello', 'hello'],
    ['integer', '42', 42],
    ['decimal', '1899.0', 1899],
    // A peer strips all zeros of a whole decimal.
    ['decimal', '1899', 1899],
    ['number', '1', 1],
    ['number', '1.5', 1.5],
    ['boolean', 'true', true],
    ['array', '[]', []],
    ['any', '~', null],
  ] as const)('%s: %s is %o', (type, text, value) => {
    expect(read(nodeOf(text), false, type)).toEqual({ key: 'k', value, losses: [] });
  });

  test.each([
    ['string', '~', 'null'],
    ['string', '[a]', 'an array'],
    ['integer', '5.0', 'a decimal'],
    ['integer', '1.5', 'a decimal'],
    ['integer', 'x', 'a string'],
    ['decimal', 'x1', 'a string'],
    ['number', 'true', 'a boolean'],
    ['boolean', '1', 'an integer'],
    ['array', '{}', 'a map'],
    ['map', '[]', 'an array'],
    ['map', '~', 'null'],
  ] as const)('%s cannot hold %s', (type, text, name) => {
    const error = ['E1004', 'payload.k', `the field has the type ${type}; got ${name}`];
    expect(refusal(() => plain(text, type))).toEqual(error);
  });

  test('the value of a reference must have the type', () => {
    const kept = new Map<string, string>([['a', 'text']]);
    expect(read(nodeOf('$a'), false, 'string', 'k', kept).value).toBe('text');
    expect(refusal(() => read(nodeOf('$a'), false, 'integer', 'k', kept))).toContain('E1004');
  });
});

describe('transliterated strings', () => {
  test.each([
    // What a plain writer sends, and stands for itself.
    ['hello', 'hello'],
    ['sprint_14', 'sprint_14'],
    ['RefreshToken', 'RefreshToken'],
    ['a=b-c', 'a=b-c'],
    ["it's", "it's"],
    // What only a reader that is generous reads.
    ["'", ''],
    ["'HELLOWorld", 'HELLOWorld'],
    ["'a=(E9)b", 'a\u00e9b'],
    ["'=q", 'q'],
    ["'=(0041)", 'A'],
    ['"7', 7],
    ['""text"', 'text'],
  ])('%s', (text, value) => {
    expect(transliterated(text)).toBe(value);
  });

  test.each([
    ['an escape ends too early', "'abc="],
    ['an escape has no closing parenthesis', "'=(e9"],
    ['an escape has invalid hexadecimal digits', "'=()"],
    ['an escape has invalid hexadecimal digits', "'=(xy)"],
    ['an escape has invalid hexadecimal digits', "'=(00e90)"],
    ['the JSON text is malformed', '"'],
    ['the JSON text is malformed', '"\\[1'],
    ['the JSON text is not in the form that the encoder writes', '"\\{"a"<1;"a"<2\\}'],
    ['the JSON text is not in the form that the encoder writes', '"12345678901234567890'],
    ['the JSON text is not in the form that the encoder writes', '"1e=400'],
    ['the JSON text contains an invalid big integer', '""#1x"'],
    ['the JSON text contains an invalid big integer', `""#${'1'.repeat(1001)}"`],
    ['the JSON text contains an invalid reference', '""$a=-b"'.replace('$', '\\$')],
    ['the JSON text nests deeper than 1000 levels', `"${'\\['.repeat(1001)}${'\\]'.repeat(1001)}`],
    ['the JSON text is malformed', `"${'\\['.repeat(100_000)}${'\\]'.repeat(100_000)}`],
  ])('%s', (message, text) => {
    const words = `invalid transliterated string: ${message}`;
    expect(refusal(() => transliterated(text))).toEqual(['E1004', 'payload.k', words]);
  });

  test('JSON in a string has its own maps, big integers and references', () => {
    const value = transliterated('"\\{"__proto__"<\\["#123";"\\$a.b";"==#x"\\]\\}') as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(null);
    expect(Object.values(value)).toEqual([[123n, new Reference('a.b'), '#x']]);
  });
});

describe('escaped keys', () => {
  const reading = () => createReading({ transliterated: true, resolve: () => null });

  test.each([
    ['plain_key', 'plain_key'],
    ['_0', ''],
    ['_0schema', 'schema'],
    ['_0file_2d_name', 'file-name'],
    ['_0__0', '_0'],
    ['_0_4f1a8bdd_', '\u4f1a\u8bdd'],
  ])('%s is %j', (key, expected) => {
    expect(readKey(key, reading())).toBe(expected);
    expect(readKey(key, createReading({ transliterated: false, resolve: () => null }))).toBe(key);
  });

  test.each(['_0a_', '_0a_xy_b', '_0_12345_', '_0_'])('%s cannot be read', (key) => {
    const error = ['E1004', `payload.${key}`, 'the escaped key is invalid'];
    expect(refusal(() => readKey(key, reading()))).toEqual(error);
    expect(refusal(() => transliterated(`{b:1,${key}:2}`))).toEqual(['E1004', `payload.k.${key}`, error[2]]);
  });

  test('a key in two spellings is rejected', () => {
    const error = ['E1004', 'payload.k', 'two spellings of the same key'];
    expect(refusal(() => transliterated('{_0a:1,a:2}'))).toEqual(error);
    expect(plain('{_0a:1,a:2}')).toEqual({ _0a: 1, a: 2 });
  });
});
