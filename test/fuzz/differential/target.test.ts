import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer, requestLine } from '../../../src/fuzz/differential/target.js';

describe('a request', () => {
  test('is one line of ASCII, and JSON that decodes to the same text', () => {
    const texts = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(texts, (input) => {
        const line = requestLine({ input, dialect: 'strict' });
        expect(line).toMatch(/^[ -~\x7f]*$/);
        expect(JSON.parse(line)).toEqual({ input, dialect: 'strict' });
      }),
    );
    expect(requestLine({ input: '\ud800é\n' })).toBe('{"input":"\\ud800\\u00e9\\n"}');
  });
});

test.each([
  ['{"ok":true,"ast":{"kind":"frame"},"canonical":"x"}', { ok: true, ast: { kind: 'frame' }, canonical: 'x' }],
  [' {"ok":false,"code":"E1","offset":0,"message":"m"} ', { ok: false, code: 'E1', offset: 0, message: 'm' }],
  ['{"ok":true,"ast":null,"canonical":null,"offset":"?","more":[]}', { ok: true }],
])('%s is an answer', (line, answer) => {
  expect(readAnswer(line)).toEqual({ answer });
});

test.each([
  ['', 'not JSON: ""'],
  ['{"ok":true,"ast":NaN}', 'not JSON: "{\\"ok\\":true,\\"ast\\":NaN}"'],
  ['[]', 'not a JSON object: "[]"'],
  ['{}', 'the member "ok" is missing: "{}"'],
  ['{"ok":"true"}', '"ok" is neither true nor false: "{\\"ok\\":\\"true\\"}"'],
  ['{"ok":true,"canonical":{}}', '"canonical" is not a string: "{\\"ok\\":true,\\"canonical\\":{}}"'],
  ['{"ok":false,"offset":1.5}', '"offset" is not a non-negative integer: "{\\"ok\\":false,\\"offset\\":1.5}"'],
  ['{"ok":false,"offset":-1}', '"offset" is not a non-negative integer: "{\\"ok\\":false,\\"offset\\":-1}"'],
])('%s is not an answer, with the reason', (line, problem) => {
  expect(readAnswer(line)).toEqual({ problem });
});
