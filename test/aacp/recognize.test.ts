/** recognize returns only whether a text is a packet. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { recognize } from '../../generated/aacp.js';
import { type Dialect, isPacket, type ParseOptions, tryParsePacket } from '../../src/aacp/index.js';
import { packetCases } from '../conformance/fixtures.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { anyString } from '../helpers/hostile.js';
import { runs } from '../helpers/runs.js';
import { charactersRead, expectLinear, filled } from '../helpers/steps.js';

const MEAN: ParseOptions = { maxLength: 40, maxItems: 3 };

function expectAgreement(text: string, options: ParseOptions): void {
  expect(isPacket(text, options)).toBe(tryParsePacket(text, options).ok);
}

describe.each<Dialect>(['strict', 'tolerant'])('packet and recognize agree in the %s dialect', (dialect) => {
  test.each([
    ['packets', packetTexts(dialect)],
    ['packets bent out of shape', packetMutants(dialect)],
    ['packets of the other dialect', packetTexts(dialect === 'strict' ? 'tolerant' : 'strict')],
    ['random strings', anyString],
    ['random strings as a field', anyString.map((text) => `FETCH|HR|${text}`)],
  ])('on %s', (_name, texts) => {
    const agreement = fc.property(texts, fc.constantFrom({}, MEAN), (text, limits) => {
      expectAgreement(text, { dialect, ...limits });
    });
    fc.assert(agreement, runs(400));
  });

  test('on the conformance cases', () => {
    for (const { packet } of packetCases()) {
      expectAgreement(packet, { dialect });
      expectAgreement(packet, { dialect, ...MEAN });
    }
  });

  test.each([
    ['many fields', filled('A|B', (index) => `|k${index}:v`)],
    ['one long value', filled('A|B|k:', 'v')],
    ['a value of words', filled('A|B|k:', 'two  words ', 'x')],
    ['many empty slots', filled('A|B', '|')],
    ['a control character at the end', filled('A|B|k:', 'v', '\0')],
  ])('the work is proportional to the text: %s', (_name, textOf) => {
    const steps = charactersRead(recognize as never, { dialect, maxItems: Number.POSITIVE_INFINITY });
    expectLinear(steps, textOf, [1_000, 10_000, 100_000, 1_000_000], 10);
  });
});

test.each([undefined, null, 42, ['A|B'], Object('A|B'), Symbol('A|B')])(
  'a value that is not a text is not a packet',
  (input) => {
    expect(isPacket(input)).toBe(false);
  },
);

test.each([{ dialect: 'lenient' }, { maxItems: 0.5 }])('the options %j are a TypeError', (options) => {
  expect(() => isPacket('A|B', options as never)).toThrow(TypeError);
});
