import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalizeFrame,
  type Dialect,
  explainFrame,
  parseFrame,
  printFrame,
  tryParseFrame,
} from '../../src/accp/index.js';
import { frameMutants } from '../helpers/accp-arbitraries.js';
import { anyString, expectAnswer, expectGoodError } from '../helpers/hostile.js';

const DIALECTS: readonly Dialect[] = ['strict', 'lenient'];
const MEGABYTES_10 = 10_000_000;

/** The error for a text that has to be refused. */
function refusal(text: string, options?: Parameters<typeof tryParseFrame>[1]) {
  const result = tryParseFrame(text, options);
  if (result.ok) throw new Error('was accepted');
  expectGoodError(text, result.error);
  return result.error;
}

describe.each(DIALECTS)('any string is a frame or a ParseError in the %s dialect', (dialect) => {
  test.each([
    ['random strings', anyString],
    ['random strings as a value', anyString.map((text) => `@a>req:x{k:${text}}`)],
    ['frames bent out of shape', frameMutants(dialect)],
  ])('%s', (_name, texts) => {
    fc.assert(
      fc.property(texts, (text) => expectAnswer(text, tryParseFrame(text, { dialect }), 'frame')),
      { numRuns: 400 },
    );
  });

  test.each(['\0', '\x1b[31m', '\x85', '\u202e', '\u2028', '\ud800', '\udfff', '\ufeff', '\u{e0041}'])(
    'control characters of terminals are neither parsed nor shown: %j',
    (character) => {
      for (const text of [character, `${character}@a>req:x{}`, `@a>req:x{k:v${character}}`, `@a>req:x{}${character}`]) {
        expectGoodError(text, refusal(text, { dialect }));
        expect(refusal(text, { dialect }).format()).not.toContain(character);
      }
    },
  );

  test.each(['[', '{a:', '[{a:', '\\[', '@a>req:x{k:', '$', ':', ','])('100,000 times %s', (piece) => {
    for (const maxDepth of [undefined, 1_000_000, Number.POSITIVE_INFINITY]) {
      const text = `@a>req:x{k:${piece.repeat(100_000)}`;
      expect(refusal(text, { dialect, maxDepth }).reason).toMatch(/^(?:limit|syntax)$/);
    }
  });

  test('100,000 levels exceed the limit, or the call stack if there is no limit', () => {
    const text = `@a>req:x{k:${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect(refusal(text, { dialect })).toMatchObject({ reason: 'limit', span: { start: 16, end: 17 } });
    for (const maxDepth of [1_000_000, Number.POSITIVE_INFINITY]) {
      expect(refusal(text, { dialect, maxDepth })).toMatchObject({
        reason: 'limit',
        message: 'Nesting is deeper than the call stack allows.',
      });
    }
  });

  test('100,000 unclosed levels exceed the call stack, too', () => {
    const text = `@a>req:x{k:${'{a:['.repeat(50_000)}`;
    expect(refusal(text, { dialect, maxDepth: Number.POSITIVE_INFINITY }).reason).toBe('limit');
  });
});

test('the explanation of any string contains no control characters of terminals', () => {
  const texts = fc.oneof(
    anyString,
    anyString.map((text) => `@a>req:x{k:${text}}`),
    frameMutants('lenient'),
  );
  fc.assert(
    fc.property(texts, (text) => {
      expect(explainFrame(text)).toMatch(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]+\.$/u);
    }),
    { numRuns: 400 },
  );
});

describe('limits', () => {
  test.each([
    ['a syntax error at its first character', ' '],
    ['a nesting beyond the limit', '@a>req:x{k:[[[[[[['],
    ['a repeated key', '@a>req:x{k:1|k:2|'],
  ])('a text that is too long is rejected unread: %s is not reported', (_name, beginning) => {
    const text = beginning.padEnd(MEGABYTES_10, 'x');
    expect(refusal(text)).toMatchObject({
      code: 'E1001',
      reason: 'limit',
      span: { start: 1_048_576, end: text.length },
    });
    expect(refusal(text, { maxLength: text.length - 1 }).span).toEqual({ start: text.length - 1, end: text.length });
    expect(refusal(text, { maxLength: text.length }).span?.start).toBeLessThan(beginning.length);
  });

  test('maxLength counts UTF-16 units and is inclusive', () => {
    const text = '@a>req:x{k:v}';
    expect(tryParseFrame(text, { maxLength: text.length }).ok).toBe(true);
    expect(refusal(text, { maxLength: text.length - 1 }).message).toBe('The text has 13 characters; the limit is 12.');
    expect(refusal('\u{1f600}', { maxLength: 1 }).reason).toBe('limit');
  });

  test('maxItems counts parameters, entries and items of payload and metadata together', () => {
    const text = '@a>req:x{k:[1,2]|l:{m:3}}[mid:4]';
    expect(tryParseFrame(text, { maxItems: 6 }).ok).toBe(true);
    expect(refusal(text, { maxItems: 5 })).toMatchObject({ reason: 'limit', span: { start: 30, end: 31 } });
    expect(refusal(text, { maxItems: 0 }).message).toBe('The frame has more than 0 items.');
    expect(tryParseFrame('@a>req:x{}', { maxItems: 0 }).ok).toBe(true);
  });

  test('more than 100,000 items are rejected unless the limit is raised', () => {
    const text = `@a>req:x{k:[${'1,'.repeat(100_000)}1]}`;
    expect(refusal(text)).toMatchObject({ reason: 'limit', message: 'The frame has more than 100000 items.' });
    expect(tryParseFrame(text, { maxItems: 100_002 }).ok).toBe(true);
  });

  test.each(['12345', '-12345', '123.45', '-1.2345', '00000'])(
    'maxDigits counts the digits of %s and nothing else',
    (number) => {
      const text = `@a>req:x{k:${number}}`;
      expect(tryParseFrame(text, { maxDigits: 5 }).ok).toBe(true);
      expect(refusal(text, { maxDigits: 4 })).toMatchObject({
        reason: 'limit',
        span: { start: 11, end: 11 + number.length },
      });
    },
  );

  test('maxDigits does not apply to strings', () => {
    expect(tryParseFrame('@a12345>req:x{k:12345x|l:$12345|m12345:1.2.3.4.5}', { maxDigits: 4 }).ok).toBe(true);
  });

  test('maxDepth counts brackets inside one value, in the metadata too', () => {
    expect(tryParseFrame('@a>req:x{k:v}[t:v]', { maxDepth: 0 }).ok).toBe(true);
    expect(refusal('@a>req:x{}[t:[]]', { maxDepth: 0 }).span).toEqual({ start: 13, end: 14 });
    expect(tryParseFrame('@a>req:x{k:[]|l:[]}', { maxDepth: 1 }).ok).toBe(true);
  });
});

describe('misuse', () => {
  test.each([
    [{ dialect: 'lenint' }, "dialect must be one of strict, lenient; got 'lenint'; did you mean 'lenient'?"],
    [{ dialect: null }, "dialect must be one of strict, lenient; got 'null'"],
    [{ maxLength: -1 }, 'maxLength must be a non-negative integer or Infinity; got -1'],
    [{ maxDepth: Number.NaN }, 'maxDepth must be a non-negative integer or Infinity; got NaN'],
    [{ maxItems: 1.5 }, 'maxItems must be a non-negative integer or Infinity; got 1.5'],
    [{ maxDigits: '5' }, 'maxDigits must be a non-negative integer or Infinity; got 5'],
  ])('the options %j are a TypeError', (options, message) => {
    expect(() => tryParseFrame('@a>req:x{}', options as never)).toThrow(new TypeError(message));
    expect(() => parseFrame('@a>req:x{}', options as never)).toThrow(new TypeError(message));
  });

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [42, 'number'],
    [['@a>req:x{}'], 'object'],
    [Object('@a>req:x{}'), 'object'],
    [Symbol('@a>req:x{}'), 'symbol'],
  ])('an input that is not a string is rejected: %s', (input, type) => {
    const result = tryParseFrame(input as never);
    expect(result.ok ? null : result.error.toJSON()).toEqual({
      name: 'ParseError',
      code: 'E1001',
      reason: 'not-a-string',
      message: `Expected a string, found ${type}.`,
      span: null,
      expected: [],
      found: null,
    });
    expect(() => parseFrame(input as never)).toThrow(`Expected a string, found ${type}.`);
  });
});

describe('names that every object inherits', () => {
  const own = Object.getOwnPropertyNames(Object.prototype);

  test('are data as keys', () => {
    const names = [...own, 'prototype', 'length'];
    const list = (separator: string) => names.map((name) => `${name}:${name}`).join(separator);
    const frame = parseFrame(`@__proto__>constructor:__proto__{${list('|')}|m:{${list(',')}}}[${list(',')}]`);
    const expected = names.map((name) => ({ key: name, value: { kind: 'string', value: name } }));
    expect(frame.metadata).toEqual(expected);
    expect(frame.payload.slice(0, -1)).toEqual(expected);
    expect(frame.payload.at(-1)!.value).toEqual({ kind: 'map', entries: expected });
    expect(frame.agent).toBe('__proto__');
    expect(parseFrame(printFrame(frame)).payload.slice(0, -1)).toEqual(expected);
    expect(canonicalizeFrame(frame).payload.slice(0, -1)).toEqual(expected);
    expect(explainFrame(frame)).toContain('__proto__ = "__proto__"; ');
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(own);
  });

  test('are rejected if they are repeated', () => {
    for (const name of own) expect(refusal(`@a>req:x{${name}:1|${name}:2}`).reason).toBe('duplicate-key');
  });

  test.each(['@a>req:x{k:1|k:x\\', '@a>req:x{k:1|k:x\\y}', '@a>req:x{k:1}[mid:1,mid:x\\', '@a>req:x{m:{k:1,k:\\'])(
    'an escape that is broken or cut off comes before a duplicate key: %s',
    (text) => {
      expect(refusal(text).reason).toBe('syntax');
    },
  );
});
