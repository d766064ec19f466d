/** Trees that cannot be printed, with the reason. The conformance cases and the laws have printable trees. */
import { describe, expect, test } from 'vitest';
import { canonicalizeFrame, type Frame, PrintError, parseFrame, printFrame, type Value } from '../../src/accp/index.js';

function frame(parts: object): Frame {
  return { kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload: [], metadata: null, ...parts } as Frame;
}

/** A frame with one parameter, `k`. */
function withValue(value: unknown): Frame {
  return frame({ payload: [{ key: 'k', value }] });
}

/** Code, path and message of the error that printing throws. */
function refusal(node: Frame, options?: Parameters<typeof printFrame>[1]): readonly string[] {
  try {
    return ['printed', printFrame(node, options)];
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    return [thrown.code, thrown.path, thrown.message.slice(`${thrown.path}: `.length)];
  }
}

function nested(depth: number): Value {
  return depth === 0 ? { kind: 'null' } : { kind: 'array', items: [nested(depth - 1)] };
}

describe('names', () => {
  test.each([
    ['agent', ['', 'a b', 'a.b', '@a', 'a\n', '\u00e9', 7, null, undefined, ['a']], 'letters, digits, "-" and "_"'],
    ['intent', ['', 'req1', 're-q', 'req\n', 'r\u00e9q', null], 'letters'],
    ['operation', ['', 'a-b', 'x\n', ':', null], 'letters, digits and "_"'],
  ])('an invalid %s', (part, names, characters) => {
    for (const name of names) {
      expect(refusal(frame({ [part]: name }))).toEqual(['E1004', part, `is invalid; use ${characters}`]);
    }
  });

  test('an invalid reference', () => {
    for (const path of ['', 'a-b', '$a', 'a b', 'a\n', null]) {
      const error = ['E1004', 'payload.k.path', 'is an invalid path; use letters, digits, "_" and "."'];
      expect(refusal(withValue({ kind: 'ref', path }))).toEqual(error);
    }
  });
});

describe('strings', () => {
  test.each([
    ['', 'an empty string cannot be written'],
    ['a b', 'only visible ASCII can be written, without spaces'],
    ['\u00e9', 'only visible ASCII can be written, without spaces'],
    ['\ud800', 'only visible ASCII can be written, without spaces'],
    ['\n', 'only visible ASCII can be written, without spaces'],
    ['42', 'the string "42" would read back as another kind'],
    ['-0', 'the string "-0" would read back as another kind'],
    ['3.14', 'the string "3.14" would read back as another kind'],
    ['true', 'the string "true" would read back as another kind'],
    ['false', 'the string "false" would read back as another kind'],
    [42, 'must be a string'],
    [null, 'must be a string'],
    [Object('s'), 'must be a string'],
  ])('%j', (value, message) => {
    expect(refusal(withValue({ kind: 'string', value }))).toEqual(['E1004', 'payload.k', message]);
  });

  test('a long string is shortened in the message', () => {
    const [, , message = ''] = refusal(withValue({ kind: 'string', value: '1'.repeat(500) }));
    expect(message).toBe(`the string "${'1'.repeat(40)}" would read back as another kind`);
  });

  test.each(['~', '$x', '@a:b', '[1]', '{}', '12abc', '1.2.3', 'TRUE', '--1', '.5', '\\'])(
    '%s is printed, and reads back',
    (value) => {
      const node = withValue({ kind: 'string', value });
      expect(parseFrame(printFrame(node))).toEqual(node);
    },
  );
});

describe('numbers', () => {
  const UNSAFE = 'is not a safe integer; pass integers beyond 2^53 - 1 as bigint';

  test.each([
    [{ value: 2 ** 53 }, `9007199254740992 ${UNSAFE}`],
    [{ value: 1.5 }, `1.5 ${UNSAFE}`],
    [{ value: Number.NaN }, `NaN ${UNSAFE}`],
    [{ value: Number.POSITIVE_INFINITY }, `Infinity ${UNSAFE}`],
    [{ value: '5' }, `a value of type string ${UNSAFE}`],
    [{ value: Object.create(null) }, `a value of type object ${UNSAFE}`],
    [{}, `a value of type undefined ${UNSAFE}`],
    [{ value: 5, text: '6' }, 'text does not denote 5'],
    [{ value: 5n, text: '05.0' }, 'text must be the digits of an integer'],
    [{ value: 5, text: '' }, 'text must be the digits of an integer'],
    [{ value: 5, text: '5\n' }, 'text must be the digits of an integer'],
    [{ value: 5, text: '+5' }, 'text must be the digits of an integer'],
    [{ value: 5, text: 5 }, 'text must be the digits of an integer'],
    [{ value: 10n ** 1000n }, 'the number has more than 1000 digits'],
    [{ value: 7, text: `${'0'.repeat(1000)}7` }, 'the number has more than 1000 digits'],
  ])('an integer of %o', (parts, message) => {
    expect(refusal(withValue({ kind: 'integer', ...parts }))).toEqual(['E1004', 'payload.k', message]);
  });

  test.each([
    [{ value: Number.NaN }, 'value must be a number; got NaN'],
    [{ value: '1.5' }, 'value must be a number; got a value of type string'],
    [{ value: 5n }, 'value must be a number; got a value of type bigint'],
    [{ value: Number.POSITIVE_INFINITY }, 'Infinity cannot be written without its digits in text'],
    [{ value: Number.NEGATIVE_INFINITY }, '-Infinity cannot be written without its digits in text'],
    [{ value: 1.5, text: '1.6' }, 'text does not denote 1.5'],
    [{ value: 1.5, text: '-1.5' }, 'text does not denote 1.5'],
    [{ value: 1.5, text: '1.5e0' }, 'text must be the digits of a decimal'],
    [{ value: 2, text: '2' }, 'text must be the digits of a decimal'],
    [{ value: 1.5, text: '1.5\n' }, 'text must be the digits of a decimal'],
    [{ value: 0, text: `0.${'0'.repeat(1000)}` }, 'the number has more than 1000 digits'],
  ])('a decimal of %o', (parts, message) => {
    expect(refusal(withValue({ kind: 'decimal', ...parts }))).toEqual(['E1004', 'payload.k', message]);
  });

  test.each([
    [{ kind: 'integer', value: -0 }, '0'],
    [{ kind: 'integer', value: 7n, text: '007' }, '7'],
    [{ kind: 'decimal', value: -0 }, '0.0'],
    [{ kind: 'decimal', value: 3 }, '3.0'],
    [{ kind: 'decimal', value: 1e21 }, '1000000000000000000000.0'],
    [{ kind: 'decimal', value: 1e-7 }, '0.0'],
    [{ kind: 'decimal', value: 0.0000005 }, '0.0'],
    [{ kind: 'decimal', value: 0.0000015 }, '0.000002'],
    [{ kind: 'decimal', value: Number.POSITIVE_INFINITY, text: `1${'0'.repeat(400)}.50` }, `1${'0'.repeat(400)}.5`],
  ])('%o is printed', (value, text) => {
    expect(printFrame(withValue(value))).toBe(`@a>req:x{k:${text}}`);
  });

  test('maxDigits is the limit on digits', () => {
    const node = withValue({ kind: 'integer', value: 12345 });
    expect(printFrame(node, { maxDigits: 5 })).toBe('@a>req:x{k:12345}');
    expect(refusal(node, { maxDigits: 4 })).toEqual(['E1004', 'payload.k', 'the number has more than 4 digits']);
  });

  test('canonicalizing rejects them as well', () => {
    expect(() => canonicalizeFrame(withValue({ kind: 'decimal', value: Number.NaN }))).toThrow(PrintError);
    expect(() => canonicalizeFrame(withValue({ kind: 'integer', value: 5, text: '6' }))).toThrow('does not denote 5');
  });
});

describe('lists', () => {
  const value = { kind: 'null' };
  const BAD_KEY = 'has an invalid key; use letters, digits and "_"';

  test.each(['', 'a-b', 'a b', '\u00e9', 'k\n', 7, null])('an invalid key: %j', (key) => {
    const payload = [
      { key: 'ok', value },
      { key, value },
    ];
    expect(refusal(frame({ payload }))).toEqual(['E1004', 'payload[1]', BAD_KEY]);
    expect(refusal(frame({ metadata: payload }))).toEqual(['E1004', 'metadata[1]', BAD_KEY]);
    const inner = withValue({ kind: 'map', entries: [{ key, value }] });
    expect(refusal(inner)).toEqual(['E1004', 'payload.k[0]', BAD_KEY]);
  });

  test.each([null, undefined, 7, 'k:v'])('an entry that is not a parameter: %j', (param) => {
    expect(refusal(frame({ payload: [param] }))).toEqual(['E1004', 'payload[0]', BAD_KEY]);
  });

  test('a duplicate key', () => {
    const twice = [
      { key: 'k', value },
      { key: 'l', value },
      { key: 'k', value },
    ];
    expect(refusal(frame({ payload: twice }))).toEqual(['E1004', 'payload.k', 'duplicate key']);
    expect(refusal(frame({ metadata: twice }))).toEqual(['E1004', 'metadata.k', 'duplicate key']);
    const map = withValue({ kind: 'map', entries: twice });
    expect(refusal(map)).toEqual(['E1004', 'payload.k.k', 'duplicate key']);
  });

  test('the absence of metadata is null, not an empty list', () => {
    const message = 'a metadata block cannot be empty; use null instead';
    expect(refusal(frame({ metadata: [] }))).toEqual(['E1004', 'metadata', message]);
  });

  test('a list with a hole', () => {
    const hole = new Array(1);
    expect(refusal(frame({ payload: hole })).slice(0, 1)).toEqual(['E1004']);
    expect(refusal(frame({ metadata: hole })).slice(0, 1)).toEqual(['E1004']);
    expect(refusal(withValue({ kind: 'array', items: hole })).slice(0, 1)).toEqual(['E1004']);
    expect(refusal(withValue({ kind: 'map', entries: hole })).slice(0, 1)).toEqual(['E1004']);
  });

  test.each([undefined, {}, 'list', 7])('an input that is not a list: %j', (list) => {
    expect(refusal(frame({ payload: list }))).toEqual(['E1004', 'payload', 'must be an array']);
    expect(refusal(frame({ metadata: list }))).toEqual(['E1004', 'metadata', 'must be an array']);
    expect(refusal(withValue({ kind: 'array', items: list }))).toEqual(['E1004', 'payload.k', 'must be an array']);
    expect(refusal(withValue({ kind: 'map', entries: list }))[2]).toBe('must be an array');
  });
});

describe('nodes', () => {
  test.each([null, undefined, 7, 'v', {}, { kind: 'frame' }, { kind: 'toString' }, []])(
    'an input that is not a value: %j',
    (value) => {
      expect(refusal(withValue(value))).toEqual(['E1004', 'payload.k', 'is not a value node']);
      const map = { kind: 'map', entries: [{ key: 'm', value: { kind: 'array', items: [{ kind: 'null' }, value] } }] };
      expect(refusal(withValue(map))).toEqual(['E1004', 'payload.k.m[1]', 'is not a value node']);
    },
  );

  test.each([null, undefined, 7, '@a>req:x{}', {}, { kind: 'packet' }])('an input that is not a frame: %j', (node) => {
    expect(refusal(node as never)).toEqual(['E1004', 'frame', 'is not a frame node']);
  });

  test('an invalid boolean', () => {
    expect(refusal(withValue({ kind: 'boolean', value: 'true' }))).toEqual([
      'E1004',
      'payload.k',
      'must be true or false',
    ]);
  });

  test('nesting beyond the limit', () => {
    expect(printFrame(withValue(nested(5)))).toBe('@a>req:x{k:[[[[[~]]]]]}');
    expect(refusal(withValue(nested(6)))).toEqual(['E1004', 'payload.k[0][0][0][0][0]', 'nesting is deeper than 5']);
    expect(refusal(withValue(nested(1)), { maxDepth: 0 })).toEqual(['E1004', 'payload.k', 'nesting is deeper than 0']);
    expect(printFrame(withValue(nested(9)), { maxDepth: 9 })).toBe(`@a>req:x{k:${'['.repeat(9)}~${']'.repeat(9)}}`);
  });

  test('a tree that contains itself', () => {
    const items: unknown[] = [];
    items.push({ kind: 'array', items });
    const cyclic = withValue({ kind: 'array', items });
    expect(refusal(cyclic).slice(0, 1)).toEqual(['E1004']);
    expect(refusal(cyclic, { maxDepth: Number.POSITIVE_INFINITY })[2]).toBe('is nested too deeply or is too long');
    expect(() => canonicalizeFrame(cyclic)).toThrow('is nested too deeply or is too long');
  });

  test('more nesting than the parser can read back', () => {
    let node: Value = { kind: 'null' };
    for (let depth = 0; depth < 1_600; depth++) node = { kind: 'array', items: [node] };
    const tree = frame({ payload: [{ key: 'k', value: node }] });
    let thrown: unknown;
    try {
      canonicalizeFrame(tree);
    } catch (error) {
      thrown = error;
    }
    // Whether it is too much depends on the call stack; if it is, the error is the printer's.
    if (thrown !== undefined) expect(thrown).toMatchObject({ name: 'PrintError', code: 'E1004' });
  });

  test('more than a text can hold', () => {
    const value = 'v'.repeat(1 << 26);
    expect(
      refusal(frame({ payload: [...'abcdefghi'].map((key) => ({ key, value: { kind: 'string', value } })) })),
    ).toEqual(['E1004', 'payload.i', 'is nested too deeply or is too long']);
  });
});

test('a string that is escaped in pieces', () => {
  const length = 1 << 24;
  const text = printFrame(withValue({ kind: 'string', value: `v:${'v'.repeat(length)}::v` }));
  expect(text.length).toBe('@a>req:x{k:v\\:\\:\\:v}'.length + length);
  expect(text.endsWith('v\\:\\:v}')).toBe(true);
});

test('wrong options are a TypeError', () => {
  expect(() => printFrame(frame({}), { maxDepth: -1 })).toThrow(TypeError);
  expect(() => printFrame(frame({}), { maxDigits: Number.NaN })).toThrow(TypeError);
});
