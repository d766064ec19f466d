/** Arbitraries for ACCP: printable trees, valid texts, and mutants of texts. */
import fc from 'fast-check';
import type { DecimalValue, Frame, IntegerValue, Param, Value } from '../../src/accp/ast.js';
import type { Dialect } from '../../src/accp/index.js';
import { mutants } from './mutants.js';

const MAX_DEPTH = 5;
const SAFE_CHARACTERS = [...Array(0x7e - 0x20).keys()]
  .map((code) => String.fromCharCode(code + 0x21))
  .filter((character) => !'@>:{}[]|$,~\\'.includes(character));
const ESCAPES = [...'@>:{}[]|$,~\\'].map((delimiter) => `\\${delimiter}`);

const agents = fc.oneof(fc.stringMatching(/^[A-Za-z0-9_-]{1,10}$/), fc.constantFrom('__proto__', '-', '007'));
const intents = fc.oneof(fc.constantFrom('req', 'done', 'fail', 'constructor'), fc.stringMatching(/^[A-Za-z]{1,8}$/));
const words = fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/);
const identifierKeys = fc.constantFrom('mid', 'cid', 'aid', 'sid');
const keys = fc.oneof(
  fc.constantFrom('a', 'b', 'd', 'k', 'nx', 'ts', 'seq', 'ttl', 'mid'),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '0', '10', '9', 'true', '_', 'A'),
  words,
);
const refPaths = fc.oneof(
  fc.constantFrom('warm.ckpt_1.status', '.', '42.30'),
  fc.stringMatching(/^[A-Za-z0-9_.]{1,10}$/),
);

const integerTexts = fc.oneof(
  fc.constantFrom('0', '-0', '007', '-007', '9007199254740991', '9007199254740992', '-9007199254740993'),
  fc.stringMatching(/^-?0{0,3}[0-9]{1,25}$/),
);
const decimalTexts = fc.oneof(
  fc.constantFrom('2.500', '-0.0', '1.0000005', '1.0000015', '-0.0000005', '0.0000001', '007.10', '9.9999995', '0.1'),
  fc.constantFrom(
    `${'9'.repeat(400)}.5`,
    `-${'9'.repeat(309)}.0`,
    `0.${'0'.repeat(330)}1`,
    '100000000000000000000000.0',
  ),
  fc.stringMatching(/^-?0{0,3}[0-9]{1,20}\.[0-9]{1,12}$/),
);

// ---- Trees --------------------------------------------------------------------------------------------------------

/** Returns the integer of a text, as parsed by the platform. */
function integerWith(text: string): IntegerValue {
  const exact = BigInt(text);
  const isSafe = exact >= Number.MIN_SAFE_INTEGER && exact <= Number.MAX_SAFE_INTEGER;
  return { kind: 'integer', value: isSafe ? Number(exact) : exact, text };
}

const integers: fc.Arbitrary<IntegerValue> = fc.oneof(
  fc
    .oneof(fc.maxSafeInteger(), fc.integer({ min: -9, max: 9 }), fc.bigInt(-(10n ** 30n), 10n ** 30n), fc.constant(-0))
    .map((value) => ({ kind: 'integer' as const, value })),
  integerTexts.map(integerWith),
);

const decimals: fc.Arbitrary<DecimalValue> = fc.oneof(
  fc
    .oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.integer({ min: -9_999_999, max: 9_999_999 }).map((ten) => ten / 10 ** 7),
      fc.constantFrom(1e21, 1.5e300, 5e-324, -0, 1e-7, 0.1 + 0.2),
    )
    .map((value) => ({ kind: 'decimal' as const, value })),
  decimalTexts.map((text) => ({ kind: 'decimal' as const, value: Number(text), text })),
);

const strings = fc
  .oneof(
    fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), minLength: 1 }),
    fc.constantFrom(
      '12abc',
      '1.2.3',
      'truee',
      'TRUE',
      '1e5',
      '-',
      '--1',
      '.5',
      '5.',
      '@a:b',
      '$x',
      '~',
      '\\',
      '__proto__',
    ),
  )
  .filter((text) => !/^(?:true|false|-?\d+(?:\.\d+)?)$/.test(text));

const scalars: fc.Arbitrary<Value> = fc.oneof(
  { weight: 3, arbitrary: strings.map((value) => ({ kind: 'string' as const, value })) },
  { weight: 2, arbitrary: integers },
  { weight: 2, arbitrary: decimals },
  { weight: 1, arbitrary: fc.boolean().map((value) => ({ kind: 'boolean' as const, value })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'null' as const }) },
  { weight: 1, arbitrary: refPaths.map((path) => ({ kind: 'ref' as const, path })) },
);

function params(values: fc.Arbitrary<Value>, minLength: number): fc.Arbitrary<Param[]> {
  const param = fc.record({ key: keys, value: values });
  return fc.uniqueArray(param, { selector: ({ key }) => key, minLength, maxLength: 4 });
}

function valuesTo(depth: number): fc.Arbitrary<Value> {
  if (depth === 0) return scalars;
  const inner = valuesTo(depth - 1);
  return fc.oneof(
    { weight: 3, arbitrary: scalars },
    { weight: 1, arbitrary: fc.array(inner, { maxLength: 3 }).map((items) => ({ kind: 'array' as const, items })) },
    { weight: 1, arbitrary: params(inner, 0).map((entries) => ({ kind: 'map' as const, entries })) },
  );
}

/** Values of every kind, at most five levels deep, with numbers in all spellings. */
export const values: fc.Arbitrary<Value> = valuesTo(MAX_DEPTH);

const metadata: fc.Arbitrary<Param[]> = fc.uniqueArray(
  fc.oneof(
    fc.record({ key: identifierKeys, value: fc.oneof(integers, decimals, scalars) }),
    fc.record({ key: keys, value: valuesTo(2) }),
  ),
  { selector: ({ key }) => key, minLength: 1, maxLength: 6 },
);

/** Printable frames. */
export const frames: fc.Arbitrary<Frame> = fc.record({
  kind: fc.constant('frame'),
  agent: agents,
  intent: intents,
  operation: words,
  payload: params(values, 0),
  metadata: fc.option(metadata),
});

// ---- Texts --------------------------------------------------------------------------------------------------------

const lexemes = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...SAFE_CHARACTERS) },
      { weight: 1, arbitrary: fc.constantFrom(...ESCAPES) },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((characters) => characters.join(''));
const oddLexemes = fc.constantFrom(
  'true',
  'false',
  'truee',
  'true\\,',
  '1\\,',
  '12abc',
  '1.2.3',
  '-',
  '-.5',
  '1.',
  '.1',
);
const mentions = fc.oneof(
  agents.map((agent) => `@${agent}`),
  fc.tuple(agents, words).map(([agent, operation]) => `@${agent}:${operation}`),
);
const scalarTexts = fc.oneof(
  lexemes,
  oddLexemes,
  integerTexts,
  decimalTexts,
  fc.constant('~'),
  refPaths.map((path) => `$${path}`),
);

function paramTexts(values: fc.Arbitrary<string>, separator: string, minLength: number): fc.Arbitrary<string> {
  return fc
    .uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key, minLength, maxLength: 4 })
    .map((list) => list.map(([key, value]) => `${key}:${value}`).join(separator));
}

function valueTextsTo(depth: number, dialect: Dialect): fc.Arbitrary<string> {
  const plain = dialect === 'lenient' ? fc.oneof({ weight: 4, arbitrary: scalarTexts }, mentions) : scalarTexts;
  if (depth === 0) return plain;
  const inner = valueTextsTo(depth - 1, dialect);
  const keyedItems = fc.tuple(keys, fc.oneof(lexemes, oddLexemes)).map(([key, text]) => `${key}:${text}`);
  const items = dialect === 'lenient' ? fc.oneof({ weight: 3, arbitrary: inner }, keyedItems) : inner;
  return fc.oneof(
    { weight: 4, arbitrary: plain },
    { weight: 1, arbitrary: fc.array(items, { maxLength: 3 }).map((list) => `[${list.join(',')}]`) },
    { weight: 1, arbitrary: paramTexts(inner, ',', 0).map((entries) => `{${entries}}`) },
  );
}

/** Texts that the dialect accepts, with redundant zeros and escapes, and maps and metadata in any order. */
export function frameTexts(dialect: Dialect): fc.Arbitrary<string> {
  const values = valueTextsTo(MAX_DEPTH, dialect);
  return fc
    .tuple(agents, intents, words, paramTexts(values, '|', 0), fc.option(paramTexts(values, ',', 1)))
    .map(
      ([agent, intent, operation, payload, metadata]) =>
        `@${agent}>${intent}:${operation}{${payload}}${metadata === null ? '' : `[${metadata}]`}`,
    );
}

const PIECES = [
  ...['@', '>', ':', '{', '}', '[', ']', '|', '$', ',', '~', '\\', ...ESCAPES],
  ...['0', '1', '00', '-', '.', '1.5', '-0', 'true', 'a', 'a:1', '|a:1', ',a:1', '[]', '{}', '[[[[[[x]]]]]]'],
  ...['a:1|a:1', 'a:1,a:1', '{a:1,a:1}', ':[[[[[[x]]]]]]', ':[[[[[{}]]]]]', ':{a:{b:{a:{b:{a:[]}}}}}'],
  ...['@a', '@a:b', 'k:@a', '[k:v]', '}[mid:007]', '}[', '@a>req:x{}', '$a.b', '"', "'", '`'],
];

/** Mutants of texts of the dialect. */
export function frameMutants(dialect: Dialect): fc.Arbitrary<string> {
  return mutants(frameTexts(dialect), PIECES);
}
