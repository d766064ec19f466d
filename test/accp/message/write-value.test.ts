/** The spellings of values on the wire, and rejected values. */
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { type FieldType, Reference, ref } from '../../../src/accp/message/json.js';
import { createWriting, type TextPolicy } from '../../../src/accp/message/write-value.js';
import { refusal, send } from './support.js';

/** Returns the spelling of a value on the wire. */
function wire(value: unknown, text: TextPolicy, type?: FieldType): string {
  return send(value, text, { type }).frame.slice('@a>req:x{k:'.length, -1);
}

describe('values that the grammar can write', () => {
  test.each([
    ['hello', 'hello'],
    ['a:b', 'a\\:b'],
    [42, '42'],
    [-7, '-7'],
    [9007199254740991, '9007199254740991'],
    [9007199254740993n, '9007199254740993'],
    [3.14, '3.14'],
    [-0.5, '-0.5'],
    [true, 'true'],
    [null, '~'],
    [[1, 'a', []], '[1,a,[]]'],
    [{ b: 1, a: { c: null } }, '{a:{c:~},b:1}'],
    [{ a: undefined, b: 1 }, '{b:1}'],
    [Object.create(null), '{}'],
    [runInNewContext('({ a: [1] })'), '{a:[1]}'],
    [{ ['__proto__']: 1, constructor: 2, toString: 3 }, '{__proto__:1,constructor:2,toString:3}'],
    [ref('warm.ckpt_1.status'), '$warm.ckpt_1.status'],
    [[[[[[]]]]], '[[[[[]]]]]'],
  ])('%o is %s under every policy', (value, expected) => {
    for (const text of ['transliterate', 'reject', 'externalize'] as const) {
      expect(send(value, text)).toMatchObject({ losses: [], kept: new Map() });
      expect(wire(value, text)).toBe(expected);
    }
  });
});

describe('losses', () => {
  test.each([
    [-0, '0', ['negative-zero', '-0', '0']],
    [5n, '5', ['narrowed', '5n', '5']],
    [-9007199254740991n, '-9007199254740991', ['narrowed', '-9007199254740991n', '-9007199254740991']],
    [0.1234567, '0.123457', ['rounded', '0.1234567', '0.123457']],
    [0.1 + 0.2, '0.3', ['rounded', '0.30000000000000004', '0.3']],
    [1.0000005, '1.0', ['rounded', '1.0000005', '1.0']],
    [1.0000015, '1.000002', ['rounded', '1.0000015', '1.000002']],
    [-1e-7, '0.0', ['rounded', '-0.0000001', '0.0']],
  ] as const)('%s is written %s, with a reported loss', (value, expected, [kind, from, to]) => {
    const { frame, losses } = send({ list: [0, value] }, 'reject');
    expect(frame).toBe(`@a>req:x{k:{list:[0,${expected}]}}`);
    expect(losses).toEqual([{ path: 'payload.k.list[1]', kind, from, to }]);
  });
});

class Point {
  readonly x = 1;
}

const cyclic: { self?: unknown } = {};
cyclic.self = [cyclic];

describe('values that every policy rejects', () => {
  test.each([
    ['NaN', Number.NaN, '', 'NaN cannot be written'],
    ['infinity', [Number.NEGATIVE_INFINITY], '[0]', '-Infinity cannot be written'],
    ['an unsafe integer', { a: 2 ** 53 }, '.a', '9007199254740992 is not a safe integer'],
    ['a huge number', 1e21, '', '1e+21 is not a safe integer'],
    ['undefined', undefined, '', 'undefined cannot be written'],
    ['undefined in an array', [1, undefined], '[1]', 'undefined cannot be written'],
    ['a hole', Array(1), '[0]', 'undefined cannot be written'],
    ['a function', { f: () => 1 }, '.f', 'a function cannot be written'],
    ['a symbol', [Symbol('s')], '[0]', 'a symbol cannot be written'],
    ['a symbol as a key', { [Symbol('s')]: 1 }, '', 'a map with symbol keys cannot be written'],
    ['a date', new Date(0), '', 'an instance of Date cannot be written'],
    ['a map object', [new Map()], '[0]', 'an instance of Map cannot be written'],
    ['a class instance', new Point(), '', 'an instance of Point cannot be written'],
    ['a boxed string', Object('s'), '', 'an instance of String cannot be written'],
    ['bytes', new Uint8Array(2), '', 'an instance of Uint8Array cannot be written'],
    ['an heir of data', Object.create({ a: 1 }), '', 'an instance of Object cannot be written'],
    ['a namespace of the language', Math, '', 'a map with symbol keys cannot be written'],
    ['too many digits', 10n ** 1000n, '', 'the number has more than 1000 digits'],
    ['far too many digits', 1n << 4_000_000n, '', 'the number has more than 1000 digits'],
    ['deep down', [[[[[[[{ f: Number.NaN }]]]]]]], '[0][0][0][0][0][0][0].f', 'NaN cannot be written'],
    ['a deep date', [[[[[[new Date(0)]]]]]], '[0][0][0][0][0][0]', 'an instance of Date cannot be written'],
  ])('%s', (_name, value, path, message) => {
    const deep = path.startsWith('[0][0][0][0]');
    for (const text of ['transliterate', 'externalize', ...(deep ? [] : (['reject'] as const))] as const) {
      expect(refusal(() => send(value, text))).toEqual(['E1004', `payload.k${path}`, message]);
    }
  });

  test('a value that contains itself', () => {
    for (const text of ['transliterate', 'reject', 'externalize'] as const) {
      const [code, , message] = refusal(() => send(cyclic, text)) as string[];
      expect([code, message]).toEqual(['E1004', 'a value that contains itself cannot be written']);
    }
    // A long way round, so that it is met only beyond what a frame can nest.
    const wide: unknown[] = [];
    wide.push([[[[[[[[wide]]]]]]]]);
    expect(refusal(() => send(wide, 'transliterate'))).toContain('a value that contains itself cannot be written');
  });

  test('an object that looks like a reference remains data', () => {
    expect(wire({ $ref: 'cold.secret' }, 'transliterate')).toBe('{_0_24_ref:cold.secret}');
    expect(wire(JSON.parse(JSON.stringify([new Reference('a.b')])), 'transliterate')).toBe('[{_0_24_ref:a.b}]');
  });

  test('shared values that are not items may occur twice', () => {
    const shared = { a: 1 };
    expect(wire([shared, shared], 'reject')).toBe('[{a:1},{a:1}]');
  });
});

describe('limits', () => {
  test.each([
    ['params, entries and items are counted together', { a: [1, 2], b: 3 }, { maxItems: 4 }],
    ['an array is not walked when it is too long', Array(1_000_000_000), {}],
    ['deep subtrees count', [[[[[[1, 2, 3]]]]]], { maxItems: 8 }],
  ])('%s', (_name, value, options) => {
    const most = 'maxItems' in options ? options.maxItems : 100_000;
    const error = refusal(() => send(value, 'transliterate', options)) as string[];
    expect([error[0], error[2]]).toEqual(['E1004', `the message has more than ${most} items`]);
  });

  test('as many items as the limit are written', () => {
    expect(wire({ a: [1, 2], b: 3 }, 'reject')).toBe('{a:[1,2],b:3}');
    expect(send({ a: [1, 2], b: 3 }, 'reject', { maxItems: 5 }).losses).toEqual([]);
  });

  test.each([
    [10n ** 1000n - 1n, true],
    [1n - 10n ** 1000n, true],
    [10n ** 1000n, false],
    [-(10n ** 1000n), false],
  ])('a number has no more than 1000 digits', (value, fits) => {
    const error = ['E1004', 'payload.k', 'the number has more than 1000 digits'];
    const result = refusal(() => send(value, 'reject'));
    expect(result).toEqual(fits ? expect.objectContaining({ frame: expect.any(String) }) : error);
  });

  test('invalid options are a TypeError', () => {
    expect(() => createWriting({ text: 'externalize' })).toThrow(TypeError);
    expect(() => createWriting({ text: 'reject', maxItems: -1 })).toThrow(TypeError);
  });
});

describe('reject', () => {
  test.each([
    ['', 'payload.k', 'an empty string cannot be written'],
    ['a b', 'payload.k', 'only visible ASCII can be written, without spaces'],
    ['\u00e9', 'payload.k', 'only visible ASCII can be written, without spaces'],
    ['\ud800', 'payload.k', 'only visible ASCII can be written, without spaces'],
    [['42'], 'payload.k[0]', 'the string "42" would read back as another kind'],
    [{ a: 'true' }, 'payload.k.a', 'the string "true" would read back as another kind'],
    [{ a: { 'b c': 1 } }, 'payload.k.a["b c"]', 'invalid key'],
    [{ '': 1 }, 'payload.k[""]', 'invalid key'],
    [[[[[[[]]]]]], 'payload.k[0][0][0][0][0]', 'nesting is deeper than 5 levels'],
  ])('%j is an error with its path', (value, path, message) => {
    expect(refusal(() => send(value, 'reject'))).toEqual(['E1004', path, message]);
  });

  test('every error has a hint', () => {
    for (const value of ['', '42', { 'a b': 1 }, [[[[[[]]]]]], 2 ** 53, new Date(0), Number.NaN]) {
      expect(() => send(value, 'reject')).toThrow(expect.objectContaining({ help: expect.stringMatching(/\w+ \w+/) }));
    }
  });

  test.each([
    ['schema', 'payload.schema', 'this key is reserved for the schema of the payload'],
    ['a b', 'payload["a b"]', 'invalid key'],
    ['', 'payload[""]', 'invalid key'],
  ])('a payload with the key "%s" is rejected under externalize, too', (key, path, message) => {
    expect(refusal(() => send(1, 'reject', { key }))).toEqual(['E1004', path, message]);
    expect(refusal(() => send(1, 'externalize', { key }))).toEqual(['E1004', path, message]);
  });

  test('within a map, schema is an ordinary key', () => {
    expect(wire({ schema: 'x' }, 'reject')).toBe('{schema:x}');
  });
});

describe('externalize', () => {
  test.each([
    ['a b', '$cold.x0', ['a b']],
    [['', 'plain', '42'], '[$cold.x0,plain,$cold.x1]', ['', '42']],
    [{ a: { 'b c': 'd e' }, f: 1 }, '{a:$cold.x0,f:1}', [{ 'b c': 'd e' }]],
    [{ 'b c': undefined, f: 1 }, '{f:1}', []],
    [[[[[[[1, 5n, ref('a.b')]]]]]], '[[[[[$cold.x0]]]]]', [[1, 5n, ref('a.b')]]],
  ])('%o is sent as %s', (value, expected, kept) => {
    const sent = send(value, 'externalize');
    expect(sent.frame).toBe(`@a>req:x{k:${expected}}`);
    expect([...sent.kept.values()]).toEqual(kept);
  });

  test('the stored value is a copy without prototypes, absent members or -0', () => {
    const value = { 'a b': -0, c: undefined };
    const sent = send(value, 'externalize');
    const [kept] = sent.kept.values();
    expect(Object.getPrototypeOf(kept)).toBe(null);
    expect({ ...(kept as object) }).toEqual({ 'a b': 0 });
    expect(sent.losses).toEqual([{ path: 'payload.k["a b"]', kind: 'negative-zero', from: '-0', to: '0' }]);
  });
});

describe('fields with a type', () => {
  test.each([
    ['string', '42', '42'],
    ['string', '-9007199254740993', '-9007199254740993'],
    ['string', '3.14', '3.14'],
    ['string', '2.0', '2.0'],
    ['string', '12345678901234567890.5', '12345678901234567890.5'],
    ['string', 'true', 'true'],
    ['string', 'plain', 'plain'],
    ['string', '~', '\\~'],
    ['integer', 42, '42'],
    ['integer', 2n ** 64n, '18446744073709551616'],
    ['decimal', 1899, '1899.0'],
    ['decimal', 142.5, '142.5'],
    ['decimal', -0.5, '-0.5'],
    ['number', 1899, '1899'],
    ['number', 2n ** 64n, '18446744073709551616'],
    ['boolean', false, 'false'],
    ['array', [1], '[1]'],
    ['map', { a: 1 }, '{a:1}'],
    ['any', null, '~'],
    ['string', ref('cold.a'), '$cold.a'],
    ['array', ref('cold.a'), '$cold.a'],
  ] as const)('%s: %o is %s', (type, value, expected) => {
    expect(wire(value, 'reject', type)).toBe(expected);
  });

  test.each([
    ['string', 42, 'an integer'],
    ['string', null, 'null'],
    ['integer', 1.5, 'a number'],
    ['integer', '1', 'a string'],
    ['decimal', '1.5', 'a string'],
    ['number', true, 'a boolean'],
    ['boolean', 0, 'an integer'],
    ['array', { a: 1 }, 'a map'],
    ['map', [1], 'an array'],
    ['map', null, 'null'],
    ['map', new Date(0), 'an instance of Date'],
  ] as const)('%s cannot hold %s', (type, value, name) => {
    const error = ['E1004', 'payload.k', `the field has the type ${type}; got ${name}`];
    expect(refusal(() => send(value, 'transliterate', { type }))).toEqual(error);
  });

  test.each(['007', '1.50', '-0', '-0.0', '1.0000001', '', 'a b'])('no number prints as "%s"', (value) => {
    expect(refusal(() => send(value, 'reject', { type: 'string' }))).toContain('E1004');
    expect(send(value, 'externalize', { type: 'string' }).kept.size).toBe(1);
  });

  test('an integer beyond 2^53 - 1 is not a decimal', () => {
    const error = ['E1004', 'payload.k', 'a decimal field cannot hold an integer beyond 2^53 - 1'];
    expect(refusal(() => send(2n ** 64n, 'reject', { type: 'decimal' }))).toEqual(error);
    expect(wire(5n, 'reject', 'decimal')).toBe('5.0');
  });
});
