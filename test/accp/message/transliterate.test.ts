/** The spellings of strings and keys under transliteration. */
import { describe, expect, test } from 'vitest';
import { parseFrame } from '../../../src/accp/index.js';
import { receive, send } from './support.js';

/** The written string, without the printer's escapes. */
function spelled(value: unknown): unknown {
  const node = parseFrame(send(value, 'transliterate').frame).payload[0]!.value;
  return node.kind === 'string' ? node.value : node;
}

describe('strings', () => {
  test.each([
    // Names, paths and words need nothing.
    ['sprint_14', 'sprint_14'],
    ['src/auth/token.ts', 'src/auth/token.ts'],
    ['2026-04-08T09:05:27Z', '2026-04-08T09:05:27Z'],
    ['+3.2%', '+3.2%'],
    ["it's", "it's"],
    // Prose
    ['Refresh token is not revoked', "'RefreshTokenIsNotRevoked"],
    ['expected 401 but got 200', "'expected401ButGot200"],
    ['It failed. The token, once used: gone!', "'ItFailed.TheToken;OnceUsed<Gone!"],
    ['see RFC 6749', "'see-RFC-6749"],
    ['a  b', "'a--b"],
    [' a', "'-a"],
    ['a ', "'a-"],
    // What looks like the spelling is escaped.
    ['is camelCase here', "'isCamel=CaseHere"],
    ['v2 of it', "'v=2OfIt"],
    ['eu-west-1 a=b', "'eu=-west=-1A==b"],
    ['a; b < c', "'a,B-:-c"],
    // Strings that need a mark
    ['', "'"],
    ['42', "'42"],
    ['-3.14', "'=-3.14"],
    ['true', "'true"],
    ["'quoted'", "''quoted'"],
    ['"quoted"', '\'"quoted"'],
    // What no frame holds
    ['one\n\ttwo', "'one=n=ttwo"],
    ['caf\u00e9 au lait', "'caf=(e9)-auLait"],
    ['\u4f1a\u8bdd', "'=(4f1a8bdd)"],
    ['\u0422\u043e \u043d\u0435', "'=(0422043e0020043d0435)"],
    ['\ud800', "'=(d800)"],
    ['\u0000', "'=(0)"],
  ])('%j is written %s', (text, expected) => {
    expect(spelled(text)).toBe(expected);
    expect(receive(send(text, 'transliterate'), true).value).toBe(text);
  });

  test('values that are nested too deeply are JSON in a string', () => {
    const value = [[[[[[1, 'a b', 12n, 2n ** 64n, '#x', { 'k-': 0.1234567 }]]]]]];
    const sent = send(value, 'transliterate');
    expect(sent.frame).toBe(
      String.raw`@a>req:x{k:[[[[["\[1;"aB";"#12";"#18446744073709551616";"==#x";\{"k=-"<0.1234567\}\]]]]]]}`,
    );
    expect(sent.losses).toEqual([]);
    expect(receive(sent, true).value).toEqual(value);
  });
});

describe('keys', () => {
  test.each([
    ['plain_key', 'plain_key'],
    ['file-name', '_0file_2d_name'],
    ['', '_0'],
    ['_0', '_0__0'],
    ['a_b c', '_0a__b_20_c'],
    ['\u00e9\u4f1a', '_0_00e94f1a_'],
    ['__proto__', '__proto__'],
  ])('%j is written %s', (key, expected) => {
    expect(send(1, 'transliterate', { key }).frame).toBe(`@a>req:x{${expected}:1}`);
    expect(send({ [key]: 1 }, 'transliterate').frame).toBe(`@a>req:x{k:{${expected}:1}}`);
  });

  test('schema is escaped at the top level of a payload only', () => {
    expect(send(1, 'transliterate', { key: 'schema' }).frame).toBe('@a>req:x{_0schema:1}');
    expect(send({ schema: 1 }, 'transliterate').frame).toBe('@a>req:x{k:{schema:1}}');
  });
});
