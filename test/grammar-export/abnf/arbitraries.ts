/** ABNF grammars as fast-check arbitraries. */
import fc from 'fast-check';
import type { AbnfBase, AbnfElement, AbnfGrammar, AbnfItem } from '../../../src/grammar-export/abnf/ast.js';

/** Some names are longer than a line. */
const name = fc.oneof(
  { weight: 9, arbitrary: fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/) },
  { weight: 1, arbitrary: fc.stringMatching(/^[A-Z][a-z]{20,90}$/) },
);
const count = fc.oneof(fc.nat(3), fc.nat(), fc.constant(Number.MAX_SAFE_INTEGER));
const code = fc.oneof(fc.nat(0x7f), fc.nat(0x10ffff));
const base = fc.constantFrom<AbnfBase>(2, 10, 16);
const comment = fc.oneof(fc.constantFrom('', ';', '"', '<', '\t', 'a "b; c'), fc.stringMatching(/^[\t -~]*$/));
const comments = fc.array(
  comment.map((text) => text.trimEnd()),
  { maxLength: 3 },
);

const { element } = fc.letrec<{ element: AbnfElement; items: AbnfElement[] }>((tie) => ({
  items: fc.array(tie('element'), { minLength: 2, maxLength: 5 }),
  element: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.record({ kind: fc.constant('reference'), name }),
    fc.record({ kind: fc.constant('string'), text: fc.stringMatching(/^[ !#-~]{0,20}$/), caseSensitive: fc.boolean() }),
    fc.record({ kind: fc.constant('range'), base, first: code, last: code }),
    fc.record({ kind: fc.constant('codes'), base, codes: fc.array(code, { minLength: 1, maxLength: 4 }) }),
    fc.record({ kind: fc.constant('prose'), text: fc.stringMatching(/^[ -=?-~]{0,20}$/) }),
    fc.record({ kind: fc.constant('alternation'), items: tie('items') }),
    fc.record({ kind: fc.constant('concatenation'), items: tie('items') }),
    fc.record({ kind: fc.constant('option'), item: tie('element') }),
    fc.record({ kind: fc.constant('repetition'), min: count, max: fc.option(count), item: tie('element') }),
  ) as fc.Arbitrary<AbnfElement>,
}));

const item: fc.Arbitrary<AbnfItem> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('rule'),
      comments,
      name,
      sign: fc.constantFrom('=', '=/'),
      alternatives: fc.array(fc.record({ element, comments }), { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('comment'),
      lines: comments.filter(({ length }) => length > 0),
    }),
  },
) as fc.Arbitrary<AbnfItem>;

/** Grammars of all forms of ABNF. They need not make sense. */
export const grammars: fc.Arbitrary<AbnfGrammar> = fc.record(
  { kind: fc.constant('grammar'), items: fc.array(item, { maxLength: 6 }) },
  { noNullPrototype: true },
) as fc.Arbitrary<AbnfGrammar>;
