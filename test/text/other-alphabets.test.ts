/** Names and white space that protocols define for ASCII, beside characters that JavaScript's `trim` and `toLowerCase` take for them. */
import { expect, test } from 'vitest';
import { framesIn } from '../../src/accp/bindings/mcp/index.js';
import { registryIn } from '../../src/accp/bindings/mcp/registry-exchange.js';
import { asciiLowerCase, withoutBlanks } from '../../src/text/ascii.js';

const FRAME = '@a>req:run{q:x}';
const NOT_BLANK = ['\ufeff', '\u0085', '\u00a0', '\u200b', '\u2028', '\u2029', '\u3000', '\v', '\f'];

const content = (mimeType: string): unknown => [
  { type: 'resource', resource: { uri: 'accp://frame', mimeType, text: FRAME } },
];

test.each(['application/accp', ' application/accp\t; v=1', 'Application/ACCP'])('%j is the media type', (mimeType) => {
  expect(framesIn(content(mimeType))).toEqual([FRAME]);
});

test.each(NOT_BLANK)('%j belongs to no media type and to no frame', (other) => {
  expect(framesIn(content(`application/accp${other}`))).toEqual([]);
  expect(framesIn(content(`${other}application/accp`))).toEqual([]);
  const sync = '@a>sync:registry{version:1}';
  expect([registryIn(` ${sync}\t`), registryIn(`${other}${sync}`)]).toEqual([sync, null]);
});

test.each([
  ['\u212a', 'Kelvin sign'],
  ['\u0130', 'dotted capital I'],
  ['\u0131', 'dotless i'],
  ['\u017f', 'long s'],
  ['\u03a3', 'sigma'],
  ['\u{10400}', 'capital of a pair'],
  ['\ud800', 'half of a pair'],
])('%j (%s) has no lower case in ASCII', (letter) => {
  expect(asciiLowerCase(`AZ${letter}kI`)).toBe(`az${letter}ki`);
  // The media type with the letter k, which a Kelvin sign would match.
  expect(framesIn(content(`text/${letter}`), { mimeType: 'text/k' })).toEqual([]);
});

test('blanks are taken off in one pass', () => {
  expect([' \t a b \t', '', ' ', '\n a'].map(withoutBlanks)).toEqual(['a b', '', '', '\n a']);
});
