/** Nodes that cannot be printed, and their errors; the conformance cases and the laws test the others. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalizePacket, type Packet, PrintError, parsePacket, printPacket } from '../../src/aacp/index.js';

function packet(parts: object): Packet {
  return { kind: 'packet', task: 'FETCH', domain: 'HR', fields: [], ...parts } as Packet;
}

function withValue(value: unknown): Packet {
  return packet({
    fields: [
      { key: 'return', value: 'A' },
      { key: 'res', value },
    ],
  });
}

/** Code, path and message of the error that printing throws, and its help if it has one. */
function refusal(node: Packet): readonly string[] {
  try {
    return ['printed', printPacket(node)];
  } catch (thrown) {
    if (!(thrown instanceof PrintError)) throw thrown;
    const help = thrown.help === undefined ? [] : [thrown.help];
    return [thrown.code, thrown.path, thrown.message.slice(`${thrown.path}: `.length), ...help];
  }
}

const WORD = 'must consist of capital letters, digits, "_" and "-", and begin with a letter';
const KEY = 'must consist of lower-case letters, digits and "_", and begin with a letter';

test.each(['', 'fetch', '9A', '_A', 'A B', 'A|B', 'A\n', '\u00c4', 7, null, undefined])(
  'a bad TASK or DOM: %j',
  (word) => {
    expect(refusal(packet({ task: word }))).toEqual(['unprintable', 'task', WORD]);
    expect(refusal(packet({ domain: word }))).toEqual(['unprintable', 'domain', WORD]);
  },
);

test.each(['', 'K', '9k', '_k', 'a-b', 'a b', 'a:b', 'a|b', 'k\n', '\u00e9', 7, null])('a bad key: %j', (key) => {
  const fields = [
    { key: 'ok', value: '' },
    { key, value: 'v' },
  ];
  expect(refusal(packet({ fields }))).toEqual(['unprintable', 'fields[1].key', KEY]);
});

describe('values', () => {
  test('a separator would start another field', () => {
    expect(refusal(withValue('x|return:EVIL'))).toEqual([
      'unprintable',
      'fields[1].value',
      'contains a "|"',
      'AACP has no escapes: "|" would begin another field',
    ]);
  });

  test.each([
    ['a\nb', 'a line end'],
    ['a\tb', 'a tab'],
    ['\0', 'U+0000'],
    ['\x1b[1m', 'U+001B'],
    ['\x7f', 'U+007F'],
  ])('a control character: %j', (value, name) => {
    expect(refusal(withValue(value))).toEqual([
      'unprintable',
      'fields[1].value',
      `contains a control character (${name})`,
    ]);
  });

  test.each([' x', 'x ', ' '])('a space at an edge: %j', (value) => {
    const message = 'begins or ends with a space';
    expect(refusal(withValue(value))).toEqual(['unprintable', 'fields[1].value', message]);
  });

  test.each([7, null, undefined, ['x'], Object('x')])('a value that is not a string: %j', (value) => {
    expect(refusal(withValue(value))).toEqual(['unprintable', 'fields[1].value', 'is not a string']);
  });

  test.each(['', 'a:b', 'two  words', '\u00a0x\u00a0', '\u2028', '\ud800', '"', '\\', '\x80'])(
    '%j is printed, and reads back',
    (value) => {
      expect(parsePacket(printPacket(withValue(value)))).toEqual(withValue(value));
    },
  );

  test('no value adds a field or changes another one', () => {
    const anything = fc.string({
      unit: fc.oneof(fc.constantFrom('|', ':', ' ', '\n', 'p'), fc.string({ maxLength: 1 })),
    });
    fc.assert(
      fc.property(anything, (value) => {
        const [outcome, text = ''] = refusal(withValue(value));
        if (outcome === 'printed') expect(parsePacket(text)).toEqual(withValue(value));
        else expect(outcome).toBe('unprintable');
      }),
      { numRuns: 1000 },
    );
  });
});

test('a field without a colon', () => {
  const fields = [{ key: '', value: 'slot', bare: true }];
  expect(refusal(packet({ fields }))).toEqual(['unprintable', 'fields[0]', 'has no colon, which v1.1 does not allow']);
});

test('a sparse list', () => {
  const fields = [{ key: 'k', value: 'v' }];
  fields[2] = { key: 'l', value: 'w' };
  expect(refusal(packet({ fields }))).toEqual(['unprintable', 'fields[1]', 'is not a field']);
});

test('a key that changes between reads is read once', () => {
  const keys = ['k', 'k:v|return:EVIL|l'];
  const field = {
    get key() {
      return keys.shift();
    },
    value: 'v',
  };
  expect(printPacket(packet({ fields: [field] }))).toBe('FETCH|HR|k:v');
});

test.each([null, undefined, 7, 'k:v'])('an element that is not a field: %j', (field) => {
  expect(refusal(packet({ fields: [field] }))).toEqual(['unprintable', 'fields[0]', 'is not a field']);
});

test('a list with a hole', () => {
  expect(refusal(packet({ fields: new Array(1) })).slice(0, 1)).toEqual(['unprintable']);
});

test.each([undefined, null, {}, 'k:v', 7])('a value that is not a list of fields: %j', (fields) => {
  expect(refusal(packet({ fields }))).toEqual(['unprintable', 'fields', 'is not a list of fields']);
});

test.each([null, undefined, 7, 'FETCH|HR', {}, { kind: 'frame' }])('a value that is not a packet: %j', (node) => {
  expect(refusal(node as never)).toEqual(['unprintable', 'packet', 'is not a packet']);
});

describe('amounts in canonical form', () => {
  test.each([
    ['4200.50', '4200.5'],
    ['4200.0', '4200'],
    ['4200', '4200'],
    ['-0', '0'],
    ['-0.0000004', '0'],
    ['007.10', '7.1'],
    ['1.0000005', '1'],
    ['1.0000015', '1.000002'],
    ['9.9999995', '10'],
    ['123456789012345678901234567890.1', '123456789012345678901234567890.1'],
    ['1e3', '1e3'],
    ['1,000.50', '1,000.50'],
    ['.50', '.50'],
    ['5.', '5.'],
    ['+5.0', '+5.0'],
    ['', ''],
    ['GBP 5.00', 'GBP 5.00'],
  ])('%s is %s', (amount, expected) => {
    const node = packet({ fields: [{ key: 'amt', value: amount }] });
    expect(canonicalizePacket(node).fields).toEqual([{ key: 'amt', value: expected }]);
  });

  test('only amt is an amount', () => {
    const fields = [
      { key: 'amount', value: '4200.50' },
      { key: 'ltv', value: '1.0' },
    ];
    expect(canonicalizePacket(packet({ fields })).fields).toEqual(fields);
  });
});

test('canonicalizing keeps the slots of the tolerant dialect, except their spans', () => {
  const node = parsePacket('x|y|slot|B:1|:v|a:2|p:1', { dialect: 'tolerant', spans: true });
  expect(canonicalizePacket(node)).toEqual({
    kind: 'packet',
    task: 'x',
    domain: 'y',
    fields: [
      { key: 'p', value: '1' },
      { key: '', value: 'slot', bare: true },
      { key: '', value: 'v' },
      { key: 'B', value: '1' },
      { key: 'a', value: '2' },
    ],
  });
});
