import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canonicalizePacket,
  type Dialect,
  explainPacket,
  parsePacket,
  printPacket,
  tryParsePacket,
  validatePacket,
} from '../../src/aacp/index.js';
import { packetCases } from '../conformance/fixtures.js';
import { packetMutants } from '../helpers/aacp-arbitraries.js';
import { anyString, expectAnswer, expectGoodError, mutilations } from '../helpers/hostile.js';

const DIALECTS: readonly Dialect[] = ['strict', 'tolerant'];
const HEAD = 'FETCH|HR|return:A|p:1|aacp:1.1';

/** The error for a text that must be rejected. */
function refusal(text: string, options?: Parameters<typeof tryParsePacket>[1]) {
  const result = tryParsePacket(text, options);
  if (result.ok) throw new Error('was accepted');
  expectGoodError(text, result.error);
  return result.error;
}

/** Random strings, alone and at the positions of a packet. */
const hostileTexts = [
  ['random strings', anyString],
  ['random strings as a task', anyString.map((text) => `${text}|HR|return:A`)],
  ['random strings as a domain', anyString.map((text) => `FETCH|${text}|return:A`)],
  ['random strings as a field', anyString.map((text) => `${HEAD}|${text}|res:x`)],
  ['random strings as a value', anyString.map((text) => `${HEAD}|res:${text}`)],
  ['packets bent out of shape', packetMutants('tolerant')],
] as const;

describe.each(hostileTexts)('%s', (_name, texts) => {
  test.each(DIALECTS)('give a packet or a ParseError in the %s dialect', (dialect) => {
    const answers = fc.property(texts, (text) => expectAnswer(text, tryParsePacket(text, { dialect }), 'packet'));
    fc.assert(answers, { numRuns: 500 });
  });

  test('are never rejected by the tolerant dialect', () => {
    fc.assert(fc.property(texts, (text) => tryParsePacket(text, { dialect: 'tolerant' }).ok));
  });

  test('give a validation result whose findings point into the text and contain no terminal control characters', () => {
    const verdicts = fc.property(texts, (text) => {
      const { valid, errors, warnings } = validatePacket(text);
      expect(valid).toBe(errors.length === 0);
      for (const { message, help = '', span, related = [] } of [...errors, ...warnings]) {
        expect(message + help).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
        for (const { start, end } of [span!, ...related]) {
          expect(0 <= start && start <= end && end <= text.length).toBe(true);
        }
      }
    });
    fc.assert(verdicts, { numRuns: 500 });
  });

  test('give an explanation without terminal control characters', () => {
    const explanations = fc.property(texts, (text) => {
      expect(explainPacket(text)).toMatch(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]+\.$/u);
    });
    fc.assert(explanations, { numRuns: 500 });
  });
});

describe('a packet that is cut short, or lacks one character, is parsed or rejected', () => {
  const accepted = packetCases().filter(({ canonical, packet }) => canonical !== undefined && packet.length <= 300);

  test.each(accepted)('$id', ({ packet }) => {
    for (const text of mutilations(packet)) expectAnswer(text, tryParsePacket(text), 'packet');
  });
});

describe('limits', () => {
  test.each(DIALECTS)('a text that is too long is rejected before it is parsed, in the %s dialect', (dialect) => {
    // Its first character is an error in the strict dialect; each bar starts a field.
    const text = '|'.repeat(10_000_000);
    expect(refusal(text, { dialect })).toMatchObject({
      code: 'limit',
      reason: 'limit',
      span: { start: 1_048_576, end: text.length },
      message: 'The text has 10000000 characters; the limit is 1048576.',
    });
    expect(refusal(text, { dialect, maxLength: text.length - 1 }).span?.start).toBe(text.length - 1);
    const read = refusal(text, { dialect, maxLength: text.length });
    expect(read.code).toBe(dialect === 'strict' ? 'missing-task' : 'limit');
    expect(read.span?.start).toBeLessThan(100_010);
  });

  test.each(DIALECTS)('maxItems counts fields in the %s dialect', (dialect) => {
    const text = 'A|B|k:1|l:2|m:3';
    expect(tryParsePacket(text, { dialect, maxItems: 3 }).ok).toBe(true);
    expect(refusal(text, { dialect, maxItems: 2 })).toMatchObject({
      code: 'limit',
      reason: 'limit',
      message: 'The packet has more than 2 fields.',
    });
    expect(tryParsePacket('A|B', { dialect, maxItems: 0 }).ok).toBe(true);
  });

  test('more than 100,000 fields are rejected unless the limit is raised', () => {
    const text = `A|B${'|k:1'.repeat(100_001)}`;
    expect(refusal(text).reason).toBe('limit');
    expect(parsePacket(text, { maxItems: Number.POSITIVE_INFINITY }).fields).toHaveLength(100_001);
  });

  test('the validator reports an exceeded limit as its only finding', () => {
    const { valid, packet, errors, warnings } = validatePacket(`${HEAD}|res:x`, { maxItems: 3 });
    expect({ valid, packet, warnings }).toEqual({ valid: false, packet: null, warnings: [] });
    expect(errors.map(({ code, message }) => [code, message])).toEqual([
      ['limit', 'The packet has more than 3 fields.'],
    ]);
    expect(validatePacket(HEAD, { maxLength: 5 }).errors).toMatchObject([
      { code: 'limit', span: { start: 5, end: 30 } },
    ]);
  });

  test('the explanation of a text that is too long reports that', () => {
    expect(explainPacket('x'.repeat(2_000_000))).toBe(
      'Not a packet: The text has 2000000 characters; the limit is 1048576.',
    );
  });
});

describe('wrong use', () => {
  test.each([
    [{ dialect: 'tolerent' }, "dialect must be one of strict, tolerant; got 'tolerent'; did you mean 'tolerant'?"],
    [{ dialect: 'lenient' }, "dialect must be one of strict, tolerant; got 'lenient'"],
    [{ maxLength: -1 }, 'maxLength must be a non-negative integer or Infinity; got -1'],
    [{ maxItems: 0.5 }, 'maxItems must be a non-negative integer or Infinity; got 0.5'],
  ])('the options %j are a TypeError', (options, message) => {
    expect(() => tryParsePacket(HEAD, options as never)).toThrow(new TypeError(message));
    expect(() => parsePacket(HEAD, options as never)).toThrow(new TypeError(message));
  });

  test.each([undefined, null, 42, [HEAD], Object(HEAD), Symbol(HEAD), () => HEAD])('%s is not a packet', (input) => {
    const result = tryParsePacket(input as never);
    const type = input === null ? 'null' : typeof input;
    expect(result.ok ? null : result.error.toJSON()).toEqual({
      name: 'ParseError',
      code: 'not-a-packet',
      reason: 'not-a-string',
      message: `Expected a string, found ${type}.`,
      span: null,
      expected: [],
      found: null,
    });
    expect(() => parsePacket(input as never)).toThrow(`Expected a string, found ${type}.`);
  });
});

test('names that every object inherits are ordinary data', () => {
  const own = Object.getOwnPropertyNames(Object.prototype);
  const text = [HEAD, ...own.map((name) => `${name.toLowerCase()}:${name}`)].join('|');
  const packet = parsePacket(text.replaceAll('|__', '|x__'));
  expect(packet.fields.slice(3)).toEqual(
    own.map((name) => ({ key: name.toLowerCase().replace(/^__/, 'x__'), value: name })),
  );
  expect(parsePacket(printPacket(canonicalizePacket(packet))).fields).toHaveLength(packet.fields.length);
  expect(explainPacket('constructor|__proto__|tone:toString|risk:valueOf|status:constructor|p:__proto__')).toBe(
    'constructor (__proto__ domain). Risk: valueOf. Tone: toString. Status: constructor. Priority: __proto__.',
  );
  const unknown = validatePacket(`${HEAD}|__proto__:x|constructor:y`, { severities: {}, privateKeys: [] }).warnings;
  expect(unknown.map(({ code }) => code)).toEqual(['unknown-key', 'unknown-key']);
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(own);
});
