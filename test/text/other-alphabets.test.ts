/** ASCII names and white space, and the characters that JavaScript's `trim` and `toLowerCase` treat in the same way. */
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

test.each(NOT_BLANK)('%j is not white space around a media type or frame', (other) => {
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
  ['\u{10400}', 'capital outside the BMP'],
  ['\ud800', 'lone surrogate'],
])('%j (%s) has no lower case in ASCII', (letter) => {
  expect(asciiLowerCase(`AZ${letter}kI`)).toBe(`az${letter}ki`);
  // With toLowerCase, the Kelvin sign would match the letter k.
  expect(framesIn(content(`text/${letter}`), { mimeType: 'text/k' })).toEqual([]);
});

test('spaces and tabs are trimmed in one pass', () => {
  expect([' \t a b \t', '', ' ', '\n a'].map(withoutBlanks)).toEqual(['a b', '', '', '\n a']);
});
