import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAnswer, requestLine } from '../../../src/fuzz/differential/target.js';
import { createLineSplitter } from '../../../src/fuzz/process/adapter-run.js';

describe('a request', () => {
  test('is one line of ASCII, and JSON that gives the text back, whatever it holds', () => {
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
  ['', 'no JSON: ""'],
  ['{"ok":true,"ast":NaN}', 'no JSON: "{\\"ok\\":true,\\"ast\\":NaN}"'],
  ['[]', 'no JSON object: "[]"'],
  ['{}', 'no member "ok": "{}"'],
  ['{"ok":"true"}', '"ok" is neither true nor false: "{\\"ok\\":\\"true\\"}"'],
  ['{"ok":true,"canonical":{}}', '"canonical" is no string: "{\\"ok\\":true,\\"canonical\\":{}}"'],
  ['{"ok":false,"offset":1.5}', '"offset" is no whole number from 0 on: "{\\"ok\\":false,\\"offset\\":1.5}"'],
  ['{"ok":false,"offset":-1}', '"offset" is no whole number from 0 on: "{\\"ok\\":false,\\"offset\\":-1}"'],
])('%s is none, and what is wrong is told', (line, problem) => {
  expect(readAnswer(line)).toEqual({ problem });
});

describe('the lines of a stream', () => {
  function split(pieces: readonly Uint8Array[], limit = 1000): string[] {
    const told: string[] = [];
    const add = createLineSplitter(limit, {
      onLine: (line) => told.push(line),
      onProblem: (problem) => told.push(`! ${problem}`),
    });
    for (const piece of pieces) add(Buffer.from(piece));
    return told;
  }

  test('are the same, however it comes in pieces', () => {
    const lines = fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n\ufeff]/g, '')));
    fc.assert(
      fc.property(lines, fc.integer({ min: 1, max: 7 }), fc.constantFrom('\n', '\r\n'), (texts, size, end) => {
        const bytes = Buffer.from(texts.map((text) => text + end).join(''));
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        );
        expect(split(pieces)).toEqual(texts);
      }),
    );
  });

  test('end with the first that is too long, or no UTF-8', () => {
    expect(split([Buffer.from('abc\nabcd'), Buffer.from('e\nabc\n')], 4)).toEqual([
      'abc',
      '! a line of more than 4 bytes',
    ]);
    expect(split([Buffer.from([0x61, 0x0a, 0xff, 0x0a, 0x62, 0x0a])])).toEqual(['a', '! a line that is not UTF-8']);
  });
});
