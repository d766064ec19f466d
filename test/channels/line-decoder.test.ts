import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineDecoder } from '../../src/acp/portable.js';
import { runs } from '../helpers/runs.js';

/** Returns the calls of a decoder, in order. */
function decode(chunks: readonly Uint8Array[], options: { maxLineBytes?: number } = {}): string[] {
  const calls: string[] = [];
  const decoder = new LineDecoder(options);
  const receiver = {
    text: (text: string) => void calls.push(`text ${text}`),
    invalid: () => void calls.push('invalid'),
    tooLong: (limit: number) => void calls.push(`too long ${limit}`),
  };
  for (const chunk of chunks) decoder.push(chunk, receiver);
  decoder.end(receiver);
  return calls;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Splits bytes at offsets. */
function split(bytes: Uint8Array, offsets: readonly number[]): Uint8Array[] {
  const ends = [...offsets.map((offset) => offset % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.slice(index === 0 ? 0 : ends[index - 1], end));
}

describe('a line decoder', () => {
  test.each([
    ['LF ends a line', 'a\nb\n', ['text a', 'text b']],
    ['CRLF ends a line, and only one CR is removed', 'a\r\nb\r\r\n', ['text a', 'text b\r']],
    ['a lone CR does not end a line', 'a\rb\n', ['text a\rb']],
    ['the text after the last line end is a line', 'a\nb', ['text a', 'text b']],
    ['blank lines are skipped', '\n \t\n\r\na\n\n', ['text a']],
    ['a no-break space is not blank', '\u00a0\n', ['text \u00a0']],
    ['line separators of Unicode do not end lines', 'a\u2028b\u2029c\u0085d\n', ['text a\u2028b\u2029c\u0085d']],
    ['a byte order mark at the start is skipped, once', '\ufeff\ufeffa\n\ufeffb\n', ['text \ufeffa', 'text \ufeffb']],
    ['an empty input has no lines', '', []],
  ])('%s', (_, input, expected) => {
    expect(decode([bytes(input)])).toEqual(expected);
    expect(decode(Array.from(bytes(input), (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  test.each([['ff'], ['c0af'], ['eda080'], ['f4908080'], ['e282'], ['80']])(
    'a line with the bytes %s is invalid, and the lines around it are read',
    (hex) => {
      const input = Buffer.concat([bytes('a\nx'), Buffer.from(hex, 'hex'), bytes('\nb\n')]);
      expect(decode([input])).toEqual(['text a', 'invalid', 'text b']);
    },
  );

  test('a line of the maximum length is read; a longer one is reported, and nothing after it', () => {
    for (const input of ['abcd\nb\n', 'abcd\r\nb\n', 'éé\nb\n'])
      expect(decode([bytes(input)], { maxLineBytes: 4 })).toEqual([`text ${input.split(/\r?\n/)[0]}`, 'text b']);
    for (const input of ['a\nabcde\nb\n', 'a\nééx\nb\n', 'a\nabcde']) {
      expect(decode([bytes(input)], { maxLineBytes: 4 })).toEqual(['text a', 'too long 4']);
      expect(decode(split(bytes(input), [3, 5]), { maxLineBytes: 4 })).toEqual(['text a', 'too long 4']);
    }
  });

  test('the first 4 KiB of a rejected line are passed on, for any size of chunks', () => {
    const line = bytes(`{"id":1,"a":"${'\u00e9'.repeat(20_000)}"}\n`);
    const beginning = new TextDecoder().decode(line.subarray(0, 4096));
    for (const size of [1, 7, 5000, 9990, 15_000, line.length]) {
      const decoder = new LineDecoder({ maxLineBytes: 10_000 });
      const rejected: unknown[] = [];
      const receiver = { text: () => {}, invalid: () => {}, tooLong: (...call: unknown[]) => void rejected.push(call) };
      for (let from = 0; from < line.length; from += size) decoder.push(line.subarray(from, from + size), receiver);
      expect(rejected).toEqual([[10_000, beginning]]);
    }
    const invalid: unknown[] = [];
    const receiver = { text: () => {}, invalid: (...call: unknown[]) => void invalid.push(call), tooLong: () => {} };
    new LineDecoder().push(Buffer.concat([line.subarray(0, 5000), Uint8Array.of(0xff, 0x0a)]), receiver);
    expect(invalid).toEqual([[expect.any(String), beginning]]);
  });

  test('the lines do not depend on the size of chunks', () => {
    const chunk = fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', ' ', '\ufeff', '{}', 'é€😀').map(bytes),
      fc.string({ unit: 'grapheme' }).map(bytes),
      fc.uint8Array({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(
        fc.array(chunk),
        fc.array(fc.nat()),
        fc.integer({ min: 1, max: 12 }),
        (chunks, offsets, maxLineBytes) => {
          const whole = Buffer.concat(chunks);
          expect(decode(split(whole, offsets))).toEqual(decode([whole]));
          expect(decode(split(whole, offsets), { maxLineBytes })).toEqual(decode([whole], { maxLineBytes }));
        },
      ),
      runs(300),
    );
  });

  test('an invalid limit is rejected', () => {
    expect(() => new LineDecoder({ maxLineBytes: 0 })).toThrow(TypeError);
  });
});
