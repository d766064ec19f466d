/** llguidance accepts less than Lark: every token of an export must be one of its own. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { writeLark } from '../../src/grammar-export/lark.js';
import { frames, packets } from './protocol-grammars.js';
import { trials } from './random-grammars.js';

/** The tokens by its documentation and its lexer. Numbers include a point, so that `..` must be separate. */
const TOKENS = [
  /\/\/[^\n]*/,
  /"(?:\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}|[^"\\\p{Cc}])*"/u,
  /\/(?:\\.|[^/\\\n])+\//,
  /[a-z][_a-z0-9]*|[A-Z][_A-Z0-9]*/,
  /[0-9]+(?![.0-9])/,
  /\.\.|[+*?~:|()]/,
  /\n(?: *(?=\|))?| +/,
];

/** The tokens of a grammar, and the rest. */
function wordsOf(text: string): { words: string[]; rest: string } {
  const token = new RegExp(TOKENS.map(({ source }) => source).join('|'), 'uy');
  const words: string[] = [];
  let end = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    words.push(match[0]);
    end = token.lastIndex;
  }
  return { words, rest: text.slice(end) };
}

function expectReadable(text: string): void {
  const { words, rest } = wordsOf(text);
  expect(rest).toBe('');
  const quoted = words.filter((word) => word.startsWith('"'));
  expect(quoted.map((word) => JSON.parse(word) as string)).not.toContain('');
  // Neither lookaround nor lazy repetition, and no escapes that only one engine knows.
  const patterns = words.filter((word) => /^\/[^/]/.test(word)).map((word) => word.slice(1, -1));
  const escapes = patterns.flatMap((pattern) => pattern.match(/\\./gu) ?? []);
  expect(escapes.filter((one) => !/[^A-Za-z0-9]$|[xuU]$/.test(one))).toEqual([]);
  const bare = patterns.map((pattern) => pattern.replace(/\\./gu, 'x').replace(/\[[^\]]*\]/g, 'x'));
  expect(bare.filter((pattern) => /\(\?(?!:)|[*+?}]\?/.test(pattern))).toEqual([]);
  for (const pattern of patterns) {
    // Rust has `\U00000000`, JavaScript does not.
    const readable = pattern.replace(/\\U([0-9A-F]{8})/g, (_, digits: string) => `\\u{${digits.replace(/^0+/, '')}}`);
    expect(() => new RegExp(readable, 'u')).not.toThrow();
  }
}

test.each([frames, packets])('the Lark grammar of $name has only tokens of llguidance', (grammar) => {
  expectReadable(writeLark(grammar));
});

test('so does that of a random grammar', () => {
  fc.assert(
    fc.property(trials({ recursive: true, wide: true }), ({ grammar }) => expectReadable(writeLark(grammar))),
    { numRuns: 100 },
  );
});
