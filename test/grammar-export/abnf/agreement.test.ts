/** The generated parser of ABNF, compared with Peggy's own parser of the same grammar. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as fast from '../../../generated/abnf.js';
import { printAbnf } from '../../../src/grammar-export/abnf/print.js';
import { evaluate, generate } from '../../peggy-fast/agreement.js';
import { grammars } from './arbitraries.js';

const source = 'grammar/abnf.peggy';
const stock = evaluate(
  generate([{ source, text: readFileSync(new URL(`../../../${source}`, import.meta.url), 'utf8') }], {}),
);

type Parse = (text: string, options: { readonly spans: boolean; readonly maxDepth: number }) => unknown;

function outcome(parse: Parse, text: string): unknown {
  try {
    return parse(text, { spans: true, maxDepth: 3 });
  } catch (thrown) {
    const { message, location, expected, reason } = thrown as InstanceType<typeof fast.SyntaxError>;
    return { message, location, expected, reason };
  }
}

/** A text with a part removed, or replaced by something that is typical of ABNF. */
const mutants = fc
  .tuple(
    grammars,
    fc.nat(),
    fc.nat(6),
    fc.constantFrom(
      '',
      ...['=', '/', ' ', '\n', '\n ', '\r\n', ';', '(', ')', '[', ']', '*', '1', '"', '%x', '<', 'a'],
    ),
  )
  .map(([grammar, place, length, piece]) => {
    const text = printAbnf(grammar);
    const at = place % (text.length + 1);
    return text.slice(0, at) + piece + text.slice(at + length);
  });

test('both return the same trees and the same errors', () => {
  let refused = 0;
  fc.assert(
    fc.property(mutants, (text) => {
      const expected = outcome(stock.parse as Parse, text);
      expect(outcome(fast.parse as Parse, text)).toEqual(expected);
      if ((expected as { readonly kind?: string }).kind === undefined) refused++;
    }),
    { numRuns: 500, seed: 1 },
  );
  expect(refused).toBeGreaterThan(100);
  expect(refused).toBeLessThan(400);
});
