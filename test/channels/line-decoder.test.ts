import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LineDecoder } from '../../src/acp/portable.js';
import { runs } from '../helpers/runs.js';

/** What a decoder tells, in order. */
function decode(pieces: readonly Uint8Array[], options: { maxLineBytes?: number } = {}): string[] {
  const told: string[] = [];
  const decoder = new LineDecoder(options);
  const receiver = {
    text: (text: string) => void told.push(`text ${text}`),
    invalid: () => void told.push('garbage'),
    tooLong: (limit: number) => void told.push(`too long ${limit}`),
  };
  for (const piece of pieces) decoder.push(piece, receiver);
  decoder.end(receiver);
  return told;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The bytes cut at the places. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  return ends.map((end, index) => whole.slice(index === 0 ? 0 : ends[index - 1], end));
}

describe('a line decoder', () => {
  test.each([
    ['LF ends a line', 'a\nb\n', ['text a', 'text b']],
    ['CRLF does, and only one CR is taken off', 'a\r\nb\r\r\n', ['text a', 'text b\r']],
    ['a lone CR does not', 'a\rb\n', ['text a\rb']],
    ['what stands behind the last line end is a line', 'a\nb', ['text a', 'text b']],
    ['blank lines are skipped', '\n \t\n\r\na\n\n', ['text a']],
    ['a no-break space is not blank', '\u00a0\n', ['text \u00a0']],
    ['line separators of Unicode end nothing', 'a\u2028b\u2029c\u0085d\n', ['text a\u2028b\u2029c\u0085d']],
    ['a byte order mark at the start is skipped, once', '\ufeff\ufeffa\n\ufeffb\n', ['text \ufeffa', 'text \ufeffb']],
    ['nothing is nothing', '', []],
  ])('%s', (_, input, expected) => {
    expect(decode([bytes(input)])).toEqual(expected);
    expect(decode(Array.from(bytes(input), (byte) => Uint8Array.of(byte)))).toEqual(expected);
  });

  test.each([['ff'], ['c0af'], ['eda080'], ['f4908080'], ['e282'], ['80']])(
    'the bytes %s are garbage as a line, and the lines around it are read',
    (hex) => {
      const input = Buffer.concat([bytes('a\nx'), Buffer.from(hex, 'hex'), bytes('\nb\n')]);
      expect(decode([input])).toEqual(['text a', 'garbage', 'text b']);
    },
  );

  test('a line of the longest length passes, whatever ends it; one byte more does not, and nothing is told after it', () => {
    for (const input of ['abcd\nb\n', 'abcd\r\nb\n', 'éé\nb\n'])
      expect(decode([bytes(input)], { maxLineBytes: 4 })).toEqual([`text ${input.split(/\r?\n/)[0]}`, 'text b']);
    for (const input of ['a\nabcde\nb\n', 'a\nééx\nb\n', 'a\nabcde']) {
      expect(decode([bytes(input)], { maxLineBytes: 4 })).toEqual(['text a', 'too long 4']);
      expect(decode(cut(bytes(input), [3, 5]), { maxLineBytes: 4 })).toEqual(['text a', 'too long 4']);
    }
  });

  test('of a line that is refused its first 4 KiB are given, however they arrive', () => {
    const line = bytes(`{"id":1,"a":"${'\u00e9'.repeat(20_000)}"}\n`);
    const beginning = new TextDecoder().decode(line.subarray(0, 4096));
    for (const size of [1, 7, 5000, 9990, 15_000, line.length]) {
      const decoder = new LineDecoder({ maxLineBytes: 10_000 });
      const refused: unknown[] = [];
      const receiver = { text: () => {}, invalid: () => {}, tooLong: (...told: unknown[]) => void refused.push(told) };
      for (let from = 0; from < line.length; from += size) decoder.push(line.subarray(from, from + size), receiver);
      expect(refused).toEqual([[10_000, beginning]]);
    }
    const garbage: unknown[] = [];
    const receiver = { text: () => {}, invalid: (...told: unknown[]) => void garbage.push(told), tooLong: () => {} };
    new LineDecoder().push(Buffer.concat([line.subarray(0, 5000), Uint8Array.of(0xff, 0x0a)]), receiver);
    expect(garbage).toEqual([[expect.any(String), beginning]]);
  });

  test('any cut gives the same', () => {
    const piece = fc.oneof(
      fc.constantFrom('\n', '\r\n', '\r', ' ', '\ufeff', '{}', 'é€😀').map(bytes),
      fc.string({ unit: 'grapheme' }).map(bytes),
      fc.uint8Array({ maxLength: 4 }),
    );
    fc.assert(
      fc.property(
        fc.array(piece),
        fc.array(fc.nat()),
        fc.integer({ min: 1, max: 12 }),
        (pieces, places, maxLineBytes) => {
          const whole = Buffer.concat(pieces);
          expect(decode(cut(whole, places))).toEqual(decode([whole]));
          expect(decode(cut(whole, places), { maxLineBytes })).toEqual(decode([whole], { maxLineBytes }));
        },
      ),
      runs(300),
    );
  });

  test('a limit that is none is refused', () => {
    expect(() => new LineDecoder({ maxLineBytes: 0 })).toThrow(TypeError);
  });
});
