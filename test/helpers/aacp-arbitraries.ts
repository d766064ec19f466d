/** Arbitraries for AACP: printable trees, valid texts, and mutants of texts. */
import fc from 'fast-check';
import type { Field, Packet } from '../../src/aacp/ast.js';
import { CORE_KEYS, type Dialect, DOMAINS, EXTENDED_KEYS, TASKS } from '../../src/aacp/index.js';
import { mutants } from './mutants.js';

const tokens = fc.oneof(
  fc.constantFrom(...Object.keys(TASKS), ...Object.keys(DOMAINS)),
  fc.stringMatching(/^[A-Z][A-Z0-9_-]{0,8}$/),
);
const keys = fc.oneof(
  fc.constantFrom(...CORE_KEYS),
  fc.constantFrom(...EXTENDED_KEYS, 'constructor', 'a', 'a_1'),
  fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/),
);
const amounts = fc.oneof(
  fc.constantFrom('4200.50', '4200', '-0', '-0.0000004', '007.10', '1.0000005', '1.0000015', '9.9999995', '1e3', '.5'),
  fc.stringMatching(/^-?[0-9]{1,12}(?:\.[0-9]{1,9})?$/),
);
const pieces = fc.oneof(
  fc.constantFrom(
    'HR-Agent',
    '2024-08',
    '1.1',
    'status=active',
    'two words',
    'a,b',
    'a:b',
    ':',
    ' ',
    '  ',
    '"',
    "'",
    '\\',
  ),
  fc.constantFrom('\u00a0', '\u2028', '\u00e9', '\u{1f600}', '\ud800', '\udc00', '\ufeff', '\uff5c', '\uff1a', '\x80'),
  fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 8 }),
);
const texts = fc.array(pieces, { maxLength: 5 }).map((list) => list.join('').replaceAll('|', '/'));
const values = texts.map((text) => text.replace(/^ +/, '').replace(/ +$/, ''));

/** Printable fields; the value of `amt` is usually a number. */
const fields: fc.Arbitrary<Field> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ key: keys, value: values }) },
  { weight: 1, arbitrary: fc.record({ key: fc.constant('amt'), value: fc.oneof(amounts, values) }) },
);

/** Printable packets with fields in any order, including repeated keys. */
export const packets: fc.Arbitrary<Packet> = fc.record({
  kind: fc.constant('packet'),
  task: tokens,
  domain: tokens,
  fields: fc.array(fields, { maxLength: 7 }),
});

const blanks = fc.constantFrom('', '', '', ' ', '  ', '\t', '\r\n');
const padded = (inner: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(blanks, inner, blanks).map((t) => t.join(''));
const controls = fc.constantFrom('\0', '\x01', '\x1b', '\x7f', 'a\tb', 'a\nb');
const looseTokens = padded(
  fc.oneof({ weight: 3, arbitrary: tokens }, fc.constantFrom('', 'fetch', 'a:1', 'X Y', '9'), controls),
);
const looseSlots = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(padded(keys), padded(values)).map(([key, value]) => `${key}:${value}`) },
  fc.tuple(fc.constantFrom('', 'Return', 'P', 'x. Return to', 'a b', '\u00e9'), values).map((pair) => pair.join(':')),
  padded(fc.oneof(texts, fc.constant(''), controls)),
);

/** Texts that the dialect accepts. The tolerant dialect accepts any text; for it, these are typical inputs of a validator. */
export function packetTexts(dialect: Dialect): fc.Arbitrary<string> {
  if (dialect === 'tolerant') {
    return fc
      .tuple(looseTokens, looseTokens, fc.array(looseSlots, { maxLength: 7 }))
      .map(([task, domain, slots]) => [task, domain, ...slots].join('|'));
  }
  return packets.map(({ task, domain, fields: list }) =>
    [task, domain, ...list.map(({ key, value }) => `${key}:${value}`)].join('|'),
  );
}

const PIECES = [
  ...['|', '||', ':', '::', ' ', ' |', '| ', '|\t', ': ', ' :', 'A', 'a', '0', '_', '-', ',', '='],
  ...['|return:B', '|p:2', '|K:v', '|k', '|:v', '|k:', 'FETCH|HR|', '"', '\\', '\\|'],
];

/** Mutants of texts of the dialect. */
export function packetMutants(dialect: Dialect): fc.Arbitrary<string> {
  return mutants(packetTexts(dialect), PIECES);
}
