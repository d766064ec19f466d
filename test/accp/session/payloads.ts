/** Arbitrary JSON as payloads. */
import fc from 'fast-check';
import type { Json } from '../../../src/accp/codec/index.js';
import { strings } from '../message/support.js';

const texts = fc.oneof(
  { weight: 8, arbitrary: strings },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 40, maxLength: 2_000, size: 'max' }) },
  { weight: 1, arbitrary: fc.constantFrom('42', '-0', '1.50', 'true', '~', '', ' ', '\u0000', '__proto__', '[1]') },
);

const scalars: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: texts },
  { weight: 1, arbitrary: fc.maxSafeInteger() },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.integer({ min: -9_999_999, max: 9_999_999 }).map((value) => value / 10 ** 6) },
  { weight: 1, arbitrary: fc.bigInt(-(10n ** 30n), 10n ** 30n) },
  { weight: 1, arbitrary: fc.constantFrom<Json>(true, false, null, -0, 0.1 + 0.2, 2 ** 53, 1e-7) },
);

const keys = fc.oneof(
  { weight: 3, arbitrary: fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/) },
  { weight: 1, arbitrary: strings },
  {
    weight: 1,
    arbitrary: fc.constantFrom('d', 'data', 'schema', 'v', '__proto__', 'constructor', 'toString', 'res', '0'),
  },
);

const values = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: 'small' },
    scalars,
    fc.array(tie('value'), { maxLength: 6 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 5, noNullPrototype: false }),
  ),
})).value;

export const payloads: fc.Arbitrary<{ readonly [key: string]: Json }> = fc.dictionary(keys, values, {
  maxKeys: 6,
  noNullPrototype: false,
});
