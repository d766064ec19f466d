/** Payloads in pieces, and whole again. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Param, Value } from '../../../src/accp/ast.js';
import { parseFrame } from '../../../src/accp/parse.js';
import { printFrame } from '../../../src/accp/print.js';
import { joinPieces, type Piece, splitParams } from '../../../src/accp/session/sequence.js';
import { accepted, decodeAll, endpoints } from './endpoints.js';

function printed(payload: readonly Param[]): string {
  return printFrame({ kind: 'frame', agent: 'a', intent: 'a', operation: 'a', payload, metadata: null });
}

/** Characters of a parameter and the bar before it. */
function lengthOf(param: Param): number {
  return printed([param]).length - '@a>a:a{}'.length + 1;
}

/** The payload that the other side reads. */
function received(pieces: readonly Piece[]): Piece[] {
  return pieces.map(({ params, cut }) => ({ params: parseFrame(printed(params)).payload, cut }));
}

function payloadOf(body: string): readonly Param[] {
  return parseFrame(`@a>a:a{${body}}`, { maxDigits: 100_000 }).payload;
}

const text = (value: string): Value => ({ kind: 'string', value });
const listOf = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');

describe('the pieces of a message', () => {
  const cases: readonly [what: string, body: string, room: number, frames: readonly string[]][] = [
    ['what has room is not cut', 'a:1|b:2', 12, ['a:1|b:2']],
    ['parameters go on in the next frame', 'a:1234|b:1234|c:1', 12, ['a:1234', 'b:1234|c:1']],
    ['items of a list', 'k:[111,222,333,444]', 18, ['k:[111,222]', '0 k:[333,444]']],
    ['entries of a map', 'k:{a:111,b:222,c:333}', 20, ['k:{a:111,b:222}', '0 k:{c:333}']],
    ['a text', 'k:abcdefghijklmnopqrstuvwxyz', 16, ['k:abcdefghijkl', '0 k:mnopqrstuvwxy', '0 k:z']],
    ['lists in lists', 'k:[[111,222,333],9]', 18, ['k:[[111]]', '1 k:[[222]]', '1 k:[[333]]', '0 k:[9]']],
    [
      'maps in maps',
      'k:{a:{b:11,c:22,d:33,e:44,f:5}}',
      27,
      ['k:{a:{b:11,c:22}}', '1 k:{a:{d:33,e:44}}', '1 k:{a:{f:5}}'],
    ],
    ['a text in a list', 'k:[1,abcdefghijklmnop]', 19, ['k:[1]', '0 k:[abcdefghi]', '1 k:[jklmnop]']],
    ['digits in a text', 'k:x777777777770077777777', 15, ['k:x7777777777', '0 k:$70077777777']],
    ['a sign before digits', 'k:aaaaaaaaa-1234567', 13, ['k:aaaaaaaaa', '0 k:-', '0 k:$1234567']],
    ['words in a text', 'k:aaaaaaaaatrue', 13, ['k:aaaaaaaaa', '0 k:$true']],
    ['digits that begin a text', 'k:0000000000x', 13, ['k:$000000000', '0 k:0x']],
  ];
  test.each(cases)('%s', (_what, body, room, frames) => {
    const payload = payloadOf(body);
    const pieces = splitParams(payload, room, lengthOf);
    const shown = pieces.map(({ params, cut }) => (cut === undefined ? '' : `${cut} `) + printed(params).slice(7, -1));
    expect(shown).toEqual(frames);
    expect(joinPieces(received(pieces))).toEqual(payload);
  });

  test('for any payload and room, the message comes back', () => {
    const string = fc.oneof(
      fc.stringMatching(/^[!-~]{1,60}$/),
      fc.stringMatching(/^'[0-9]{1,90}$/),
      fc.stringMatching(/^[-.0-9]{1,60}[-x.]$/),
      fc.stringMatching(/^x(true|false|-[0-9]{4}){1,12}$/),
    );
    const plain = string.filter((value) => !/^(?:true|false|-?[0-9]+(?:\.[0-9]+)?)$/.test(value)).map(text);
    const { value } = fc.letrec<{ value: Value }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small', maxDepth: 3 },
        plain,
        fc.integer().map((number): Value => ({ kind: 'integer', value: number })),
        fc.constant<Value>({ kind: 'ref', path: 'hot.value' }),
        fc.array(tie('value'), { maxLength: 12 }).map((items): Value => ({ kind: 'array', items })),
        fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('value'), { noNullPrototype: true }).map((map): Value => {
          const entries = Object.entries(map).map(([key, member]) => ({ key, value: member }));
          return { kind: 'map', entries: entries.sort((one, other) => (one.key < other.key ? -1 : 1)) };
        }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 4 }), fc.integer({ min: 1, max: 120 }), (values, room) => {
        const params = values.map((member, index) => ({ key: `k${index}`, value: member }));
        const payload = parseFrame(printed(params)).payload;
        expect(joinPieces(received(splitParams(params, room, lengthOf)))).toEqual(payload);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['7'.repeat(5000), '0'.repeat(5000), `-${'1'.repeat(5000)}`])('digits in a string: %.5s', (query) => {
    const { codec, a, b } = endpoints({ text: 'transliterate' });
    const { frames } = codec.encode({ intent: 'req', operation: 'x', payload: { query } }, a);
    expect(frames.length).toBeGreaterThan(5);
    expect(Math.max(...frames.map(({ length }) => length))).toBeLessThan(2000);
    expect(accepted(decodeAll(codec, frames, b)).message.payload['query']).toBe(query);
  });

  test('no piece is longer than the room, except for longer words', () => {
    const payload = payloadOf(`k:{a:[${listOf(90, (index) => `word${index}`)}],b:{c:${'x'.repeat(500)},d:1}}|l:last`);
    for (const { params } of splitParams(payload, 60, lengthOf)) {
      expect(printed(params).length - '@a>a:a{}'.length).toBeLessThanOrEqual(60);
    }
  });
});

describe('the time for splitting is linear in the payload', () => {
  const bodies: readonly [what: string, body: (count: number) => string][] = [
    ['a list', (count) => `q:[${listOf(count, String)}]`],
    ['a map in a map', (count) => `q:{r:{${listOf(count, (index) => `k${index}:${index}`)}}}`],
    ['a list in a list', (count) => `q:[[${listOf(count, String)}]]`],
    ['lists of lists', (count) => `q:[[[${listOf(count / 10, () => '[1,2,3,4,5,6,7,8,9,10]')}]]]`],
    ['a text', (count) => `q:${'word.'.repeat(count)}`],
    ['digits in a text', (count) => `q:x${'7'.repeat(count)}`],
    ['a text in maps', (count) => `q:{r:{s:${'word.'.repeat(count)}}}`],
  ];
  test.each(bodies)('%s', (_what, body) => {
    const work = (count: number): number => {
      let measured = 0;
      splitParams(payloadOf(body(count)), 200, (param) => {
        const length = lengthOf(param);
        measured += length + 1;
        return length;
      });
      return measured;
    };
    const small = work(1000);
    expect(work(8000)).toBeLessThan(small * 10);
    expect(small).toBeLessThan(40 * 1000);
  });
});

describe('pieces that do not match are rejected', () => {
  const cases: readonly [what: string, first: string, next: string, cut: number][] = [
    ['another key', 'k:[1]', 'j:[1]', 0],
    ['another kind', 'k:[1]', 'k:{a:1}', 0],
    ['a number that goes on', 'k:1', 'k:2', 0],
    ['text that goes on in a list', 'k:abc', 'k:[1]', 0],
    ['a cut deeper than the value', 'k:[abc]', 'k:[abc]', 2],
    ['a cut in an empty list', 'k:[]', 'k:[1]', 1],
    ['a cut in another entry', 'k:{a:[1]}', 'k:{b:[1]}', 1],
    ['an entry that is there already', 'k:{a:1}', 'k:{a:2}', 0],
  ];
  test.each(cases)('%s', (_what, first, next, cut) => {
    const pieces = [
      { params: payloadOf(first), cut: undefined },
      { params: payloadOf(next), cut },
    ];
    expect(() => joinPieces(pieces)).toThrow(expect.objectContaining({ code: 'E1001' }));
  });

  test('a duplicate parameter', () => {
    const pieces = [
      { params: payloadOf('k:1'), cut: undefined },
      { params: payloadOf('k:2'), cut: undefined },
    ];
    expect(() => joinPieces(pieces)).toThrow(expect.objectContaining({ code: 'E1001' }));
  });

  test('joining does not change the pieces', () => {
    const first = payloadOf('k:[[1],{a:abc}]');
    const pieces = [
      { params: first, cut: undefined },
      { params: payloadOf('k:[{a:def,b:1}]'), cut: 1 },
      { params: payloadOf('k:[{c:2}]'), cut: 1 },
    ];
    expect(() => joinPieces(pieces)).toThrow();
    expect(first).toEqual(payloadOf('k:[[1],{a:abc}]'));
    const fitting = [pieces[0]!, { params: payloadOf('k:[{a:def,b:1}]'), cut: 2 }, pieces[2]!];
    expect(joinPieces(fitting)).toEqual(payloadOf('k:[[1],{a:abcdef,b:1,c:2}]'));
    expect(first).toEqual(payloadOf('k:[[1],{a:abc}]'));
  });
});
