/** Messages, spans and help of the parser's errors; the conformance cases test the accepted texts. */
import { describe, expect, test } from 'vitest';
import { ParseError, parsePacket, tryParsePacket } from '../../src/aacp/index.js';

function refusal(text: string): ParseError {
  const result = tryParsePacket(text);
  if (result.ok) throw new Error('was accepted');
  return result.error;
}

const WORD = 'consists of capital letters, digits, "_" and "-", and begins with a letter.';
const KEY = 'A key consists of lower-case letters, digits and "_", and begins with a letter.';
const OTHER_WORDS = 'the tolerant dialect and the validator accept other words';
const OTHER_KEYS = 'the tolerant dialect and the validator accept other keys';
const TAKE_OUT = 'remove it, or parse with the tolerant dialect';

describe('every error has a code, span, message and help', () => {
  test.each<[text: string, code: string, start: number, at: string, message: string, help: string | undefined]>([
    ['', 'empty-packet', 0, '', 'The packet is empty.', undefined],
    ['|HR', 'missing-task', 0, '|', 'Field 0, the TASK, is empty.', undefined],
    ['FETCH', 'missing-dom', 5, '', 'Field 1, the DOM, is missing.', 'a packet is TASK|DOM|key:value|...'],
    ['FETCH|', 'missing-dom', 6, '', 'Field 1, the DOM, is empty.', undefined],
    ['FETCH||k:v', 'missing-dom', 6, '|', 'Field 1, the DOM, is empty.', undefined],
    ['fetch|HR', 'bad-task', 0, 'f', `A TASK ${WORD}`, OTHER_WORDS],
    ['F\u00c9TCH|HR', 'bad-task', 1, '\u00c9', `A TASK ${WORD}`, OTHER_WORDS],
    ['FETCH|Hr', 'bad-dom', 7, 'r', `A DOM ${WORD}`, OTHER_WORDS],
    ['FETCH|return:A', 'bad-dom', 6, 'r', `A DOM ${WORD}`, OTHER_WORDS],
    ['FETCH|HR|K:v', 'bad-key', 9, 'K', KEY, OTHER_KEYS],
    ['FETCH|HR|a-b:v', 'bad-key', 10, '-', KEY, OTHER_KEYS],
    ['FETCH|HR|two words:v', 'bad-key', 12, ' ', KEY, OTHER_KEYS],
    ['FETCH|HR|slot', 'malformed-field', 9, 'slot', 'The field has no colon.', 'write fields as key:value'],
    [
      'A|B|k:a\\|b',
      'malformed-field',
      9,
      'b',
      'The field has no colon.',
      'AACP has no escapes: a value cannot contain "|"',
    ],
    ['FETCH|HR|:v', 'empty-key', 9, ':', 'The field has no key.', undefined],
  ])('%j', (text, code, start, at, message, help) => {
    const error = refusal(text);
    expect(error).toMatchObject({ code, message, help, reason: 'syntax' });
    expect([error.span?.start, text.slice(error.span?.start, error.span?.end)]).toEqual([start, at]);
  });

  test.each([
    ['FETCH|HR|', 9, ''],
    ['FETCH|HR||p:1', 9, '|'],
    ['FETCH|HR|k:v||', 13, '|'],
  ])('an empty slot: %j', (text, start, at) => {
    const error = refusal(text);
    expect(error).toMatchObject({
      code: 'empty-field',
      message: 'There is an empty field between two separators.',
      help: 'v1.1 packets have no empty slots; remove one "|"',
    });
    expect([error.span?.start, text.slice(error.span?.start, error.span?.end)]).toEqual([start, at]);
  });

  test.each([
    [' FETCH|HR', 0, ' '],
    ['FETCH \t|HR', 5, ' \t'],
    ['FETCH| HR', 6, ' '],
    ['FETCH|HR\r\n', 8, '\r\n'],
    ['FETCH|HR| k:v', 9, ' '],
    ['FETCH|HR|k  :v', 10, '  '],
    ['FETCH|HR|k:  v', 11, '  '],
    ['FETCH|HR|k:v  |l:w', 12, '  '],
    ['FETCH|HR|k:   |l:w', 11, '   '],
    ['FETCH|HR|k:v\n', 12, '\n'],
    ['FETCH|HR| |k:v', 9, ' '],
  ])('white space around a token, the whole run: %j', (text, start, at) => {
    const error = refusal(text);
    expect(error).toMatchObject({
      code: 'whitespace',
      message: 'White space around a token is not allowed.',
      help: TAKE_OUT,
    });
    expect([error.span?.start, text.slice(error.span?.start, error.span?.end)]).toEqual([start, at]);
  });

  test.each([
    ['FETCH|HR|k:a\tb', 12, 'a tab'],
    ['FETCH|HR|k:a\nb', 12, 'a line end'],
    ['FETCH|HR|k:\0', 11, 'U+0000'],
    ['FETCH|HR|k\x7f:v', 10, 'U+007F'],
    ['FE\x1bTCH|HR', 2, 'U+001B'],
  ])('a control character: %j', (text, start, name) => {
    expect(refusal(text)).toMatchObject({
      code: 'control-character',
      span: { start, end: start + 1 },
      message: `A packet cannot contain a control character (${name}).`,
    });
  });

  test.each(['\u00a0', '\u2028', '\u00e9', '\x80', '\ud800'])(
    'other characters than ASCII controls may occur in a value: %j',
    (value) => {
      expect(parsePacket(`FETCH|HR|k:${value}`).fields).toEqual([{ key: 'k', value }]);
    },
  );
});

describe('the first error is reported', () => {
  test.each([
    ['fetch|hr|K:v', 'bad-task'],
    ['FETCH|hr|K:v', 'bad-dom'],
    ['FETCH|HR||K:v', 'empty-field'],
    ['FETCH|HR|k:\0 |', 'control-character'],
    ['FETCH|HR|k:v |\0', 'whitespace'],
  ])('%j', (text, code) => {
    expect(refusal(text).code).toBe(code);
  });
});

test('the error thrown is the error returned', () => {
  expect(() => parsePacket('FETCH')).toThrow(ParseError);
  expect(() => parsePacket('FETCH')).toThrow(refusal('FETCH').message);
});

test('the tolerant dialect keeps all slots, and reports slots without a colon', () => {
  expect(
    parsePacket(' fetch | hr\r\n|\tReturn : A b |slot|| :x|k:a:b|k:', { dialect: 'tolerant', spans: true }),
  ).toEqual({
    kind: 'packet',
    task: 'fetch',
    domain: 'hr',
    fields: [
      { key: 'Return', value: 'A b', span: { start: 15, end: 27 } },
      { key: '', value: 'slot', bare: true, span: { start: 29, end: 33 } },
      { key: '', value: '', bare: true, span: { start: 34, end: 34 } },
      { key: '', value: 'x', span: { start: 36, end: 38 } },
      { key: 'k', value: 'a:b', span: { start: 39, end: 44 } },
      { key: 'k', value: '', span: { start: 45, end: 47 } },
    ],
    span: { start: 1, end: 47 },
  });
});
