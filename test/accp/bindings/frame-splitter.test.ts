/** Splits bytes into frames, in whatever chunks they arrive. */
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { FrameSplitter, FramingError } from '../../../src/accp/bindings/frame-splitter.js';
import { printFrame } from '../../../src/accp/index.js';
import { frames, frameTexts } from '../../helpers/accp-arbitraries.js';

const UTF8 = new TextEncoder();

/** Returns the frames of bytes that are cut at these positions, and the code of the error with which the splitter ends. */
function split(
  input: string | Uint8Array,
  { cuts = [], maxFrameBytes }: { cuts?: readonly number[]; maxFrameBytes?: number } = {},
): { frames: string[]; code?: string } {
  const bytes = typeof input === 'string' ? UTF8.encode(input) : input;
  const splitter = new FrameSplitter({ maxFrameBytes });
  const results: string[] = [];
  try {
    let from = 0;
    for (const cut of [...cuts, bytes.length]) {
      results.push(...splitter.push(bytes.subarray(from, cut)));
      from = cut;
    }
    results.push(...splitter.end());
  } catch (thrown) {
    if (!(thrown instanceof FramingError)) throw thrown;
    return { frames: results, code: thrown.code };
  }
  return { frames: results };
}

const FIRST = '@a>req:x{q:1}[mid:m1,seq:1]';
const SECOND = '@b>done:y{k:[a\\]\\[,{b:c}]|t:\\}\\\\}[mid:m2,seq:2]';
const BARE = '@c>ack:z{}';
/** Not a frame, since the grammar is ASCII; its bytes must nevertheless stay together. */
const WIDE = '@a>req:x{q:\u00fc\u20ac\u{1f600}}[mid:m1]';

describe('frames come out as they went in', () => {
  const texts = fc.array(
    fc.oneof(
      frames.map((frame) => printFrame(frame)),
      frameTexts('lenient'),
    ),
    { maxLength: 6 },
  );
  const ends = fc.constantFrom('', '\n', '\r\n', '\n\n');

  test('whatever the frames, the line ends between them, and the cuts', () => {
    fc.assert(
      fc.property(
        texts.chain((list) =>
          fc.tuple(fc.constant(list), fc.array(ends, { minLength: list.length, maxLength: list.length })),
        ),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }),
        ([list, lineEnds], places) => {
          const text = list.map((frame, index) => frame + lineEnds[index]).join('');
          const cuts = places.map((place) => Math.floor(place * text.length)).sort((a, b) => a - b);
          expect(split(text, { cuts })).toEqual({ frames: list });
        },
      ),
      { numRuns: 400 },
    );
  });

  test('byte by byte, even within a character', () => {
    const bytes = UTF8.encode(`${WIDE}\n${FIRST}${SECOND}${BARE}${BARE}\r\n${FIRST}\r\n`);
    const cuts = [...bytes.keys()];
    expect(split(bytes, { cuts })).toEqual({ frames: [WIDE, FIRST, SECOND, BARE, BARE, FIRST] });
  });

  test('a frame with metadata is returned before anything follows it', () => {
    expect(new FrameSplitter().push(UTF8.encode(FIRST + FIRST.slice(0, 5)))).toEqual([FIRST]);
  });
});

test.each<[string, string, string[]]>([
  ['no bytes at all', '', []],
  ['empty lines', '\n\r\n\n', []],
  ['a line that is not a frame', `hello\n${FIRST}`, ['hello', FIRST]],
  ['a bracket too many, up to the end of its line', `@a>b:c{]}}\n${FIRST}`, ['@a>b:c{]}}', FIRST]],
  ['a bracket that is never closed, up to the end of its line', `@a>b:c{[\n${FIRST}`, ['@a>b:c{[', FIRST]],
  ['a CR within a line', `a\rb\n`, ['a\rb']],
  ['a CR at the very end', `${FIRST}\r`, [FIRST]],
  ['a CR after a frame without metadata at the very end', `${BARE}\r`, [BARE]],
  ['a byte order mark', `\ufeff${FIRST}\n`, [`\ufeff${FIRST}`]],
])('%s', (_name, text, expected) => {
  expect(split(text)).toEqual({ frames: expected });
});

describe('bytes that cannot be split', () => {
  test.each<[string, string | Uint8Array, { frames: string[]; code: string }]>([
    ['a frame that is cut off', FIRST + SECOND.slice(0, -1), { frames: [FIRST], code: 'truncated' }],
    ['a word without a line end', 'hello', { frames: [], code: 'truncated' }],
    ['a header alone', '@a>b', { frames: [], code: 'truncated' }],
    [
      'bytes that are not UTF-8',
      Uint8Array.of(...UTF8.encode(`${FIRST}\n@a`), 0xff, 0x0a),
      { frames: [FIRST], code: 'not-utf8' },
    ],
    ['a character that is cut off', Uint8Array.of(0x40, 0xe2, 0x82, 0x0a), { frames: [], code: 'not-utf8' }],
    ['a surrogate in UTF-8', Uint8Array.of(0xed, 0xa0, 0x80, 0x0a), { frames: [], code: 'not-utf8' }],
  ])('%s', (_name, input, expected) => {
    expect(split(input)).toEqual(expected);
  });

  test('a frame of exactly the limit is accepted, and one more byte is not', () => {
    const max = FIRST.length;
    for (const end of ['', '\n', '\r\n']) {
      for (const cuts of [[], [...Array(max).keys()]]) {
        expect(split(FIRST + end + FIRST + end, { maxFrameBytes: max, cuts })).toEqual({ frames: [FIRST, FIRST] });
        expect(split(FIRST + end, { maxFrameBytes: max - 1, cuts })).toEqual({ frames: [], code: 'too-large' });
      }
    }
  });

  test('a frame that never ends is rejected as soon as it is too long', () => {
    const splitter = new FrameSplitter({ maxFrameBytes: 100 });
    const chunk = UTF8.encode('x'.repeat(64));
    expect(splitter.push(chunk)).toEqual([]);
    expect(() => splitter.push(chunk)).toThrow(FramingError);
    expect(() => splitter.push(UTF8.encode(FIRST))).toThrow(FramingError);
    expect(() => splitter.end()).toThrow(FramingError);
  });

  test('the frames before it are returned first', () => {
    const splitter = new FrameSplitter({ maxFrameBytes: 40 });
    expect(splitter.push(UTF8.encode(`${FIRST}\n${'x'.repeat(64)}`))).toEqual([FIRST]);
    expect(() => splitter.end()).toThrow(expect.objectContaining({ code: 'too-large' }));
  });

  test.each([0, -1, Number.NaN])('a limit of %s bytes', (maxFrameBytes) => {
    expect(() => new FrameSplitter({ maxFrameBytes })).toThrow(TypeError);
  });
});

test('the number of copied bytes is proportional to the number of bytes, byte by byte', () => {
  const frame = `@a>req:x{q:${'y'.repeat(50_000)}}[mid:m1]`;
  const splitter = new FrameSplitter();
  const bytes = UTF8.encode(frame + frame);
  let copied = 0;
  const set = vi.spyOn(Uint8Array.prototype, 'set').mockImplementation(function (this: Uint8Array, source, offset = 0) {
    copied += source.length;
    for (let index = 0; index < source.length; index++) this[offset + index] = source[index]!;
  });
  const results: string[] = [];
  try {
    for (let at = 0; at < bytes.length; at++) results.push(...splitter.push(bytes.subarray(at, at + 1)));
  } finally {
    set.mockRestore();
  }
  expect(results).toEqual([frame, frame]);
  expect(copied).toBeLessThan(4 * bytes.length);
});
