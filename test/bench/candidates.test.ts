/** The compared candidates must do the same work: the same trees, the same rejections. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CANDIDATES } from '../../bench/candidates/index.js';
import { badFrames } from '../../bench/corpus/bad.js';
import { messageSamples } from '../../bench/corpus/messages.js';
import { tryParsePacket } from '../../src/aacp/index.js';
import { tryParseFrame } from '../../src/accp/index.js';
import { prepareAll, type Ready, type Sample } from '../../src/bench/candidate.js';
import { mixedPackets, packetCategories } from '../../src/bench/corpus/aacp.js';
import { frameCategories, frameSample, GROWTH_SHAPES, mixedFrames } from '../../src/bench/corpus/accp.js';
import { packetMutants, packetTexts } from '../helpers/aacp-arbitraries.js';
import { frameMutants, frameTexts } from '../helpers/accp-arbitraries.js';
import { EXAMPLES } from './examples.js';

const { ready, missing } = await prepareAll(CANDIDATES);

const FRAMES: readonly Sample[] = [
  ...EXAMPLES.map(frameSample),
  ...mixedFrames(),
  ...messageSamples(),
  ...frameCategories().flatMap(({ samples }) => samples),
];
const PACKETS: readonly Sample[] = [...mixedPackets(), ...packetCategories().flatMap(({ samples }) => samples)];

/** Frames with cases that are easy to get wrong: the limits, the edges of the lexeme rule, many keys. */
const EDGES: readonly string[] = [
  ...['', '@', '@a', '@a>b:c{', '@a>b:c{}', '@a>b:c{}[]', '@a>b:c{}[k:1]', '@a>b:c{}x', '@a>b1:c{}', ' @a>b:c{}'],
  ...['1', '-1', '-', '--1', '-0', '007', '00', '1.', '.1', '1.5', '1.50', '00.5', '-0.0', '0.0', '1.2.3', '1e5'].map(
    value,
  ),
  ...['true', 'false', 'true1', 'tru', 'falsee', 'true\\,', '1\\,', '1.5\\,', '-\\,', 'a\\,b', '\\,', '\\', '\\a'].map(
    value,
  ),
  ...['$', '$a', '$.', '$a$', '$a\\,', '~', '~~', '~a', 'a~', '[]', '{}', '[,]', '[1,]', '{a}', '{a:}', '{a:1,}'].map(
    value,
  ),
  ...['[[[[[1]]]]]', '[[[[[[1]]]]]]', '[[[[[[]]]]]]', '{a:{a:{a:{a:{a:1}}}}}', '{a:{a:{a:{a:{a:{}}}}}}'].map(value),
  ...['9007199254740991', '9007199254740992', '-9007199254740993', '123456789012345', '1234567890123456'].map(value),
  ...['1234567890123.45', '12345678901234.56', '0.1234567', '0.000001', '0.0000001', '999999999999999.9'].map(value),
  ...['9007199254740993.0', '100000000000000000000000.0', '3.14159265358979323846', '4.35', '0.3'].map(value),
  ...[1000, 1001].flatMap((length) => ['1'.repeat(length), `-${'1'.repeat(length)}`].map(value)),
  ...[998, 999, 1000].flatMap((length) => [`1.${'1'.repeat(length)}`, `-1.${'1'.repeat(length)}`].map(value)),
  `@a>req:x{v:${'1'.repeat(1001)}a|w:${'1'.repeat(1001)}\\,|x:$${'1'.repeat(1001)}}`,
  ...[2, 8, 9, 32, 33, 127, 128, 129, 200].flatMap((count) => [
    keys(count, -1),
    keys(count, 0),
    keys(count, count - 1),
  ]),
  ...['k:1|k:2', 'a:1|b:2|a:3', 'a:{b:1,b:2}', 'a:[{b:1},{b:1,b:2}]', 'a:{a:1}|b:{a:1}', 'abcde:1|abcdf:2'].map(
    payload,
  ),
  ...['abcde:1|abcde:2', 'aaaaa:1|a:2', 'ab:1|ba:2', 'abcdefgh:1|bbcdefgh:1|abcdefgh:2'].map(payload),
  '@a>b:c{k:1}[k:1,k:2]',
  '@a>b:c{k:1}[k:1]',
  `@a>b:c{k:[${'1,'.repeat(99_998)}1]}`,
  `@a>b:c{k:[${'1,'.repeat(99_999)}1]}`,
  '@a>b:c{k:\u00e9}',
  '@a>b:c{k:\ud800}',
  '@a>b:c{k:\u0140}',
  '@a>b:c{k:a\u0000}',
  '@a>b:c{k:a}\u0000',
];

const PACKET_EDGES: readonly string[] = [
  ...[
    '',
    'A',
    'A|',
    'A|B',
    'A|B|',
    '|B',
    'a|B',
    'A|b',
    '1A|B',
    'A1-_|B2',
    'A|B|k',
    'A|B|k:',
    'A|B|:v',
    'A|B|K:v',
    'A|B|k1:v',
  ],
  ...[
    'A|B|1k:v',
    'A|B|k: ',
    'A|B|k: v',
    'A|B|k:v ',
    'A|B|k:v w',
    'A|B|k:v  w',
    'A|B|k:a:b',
    'A|B|k:\t',
    'A|B|k:a\u007f',
  ],
  ...[
    'A|B|k:\u00e9',
    'A|B|k:\u00a0',
    'A|B|k:\ud800',
    'A|B|k:\u{1f600}|l:m',
    'A|B|k:\u0080',
    'A|B\u0000',
    'A|B|k:\u0000',
  ],
  ...[
    'A|B|k:v|k:w',
    'A|B|abcdefgh:1|abcdefghi:2|abcdefgi:3|abcd:4|abce:5',
    'A|B|k:v||l:w',
    'A|B|k:v\n',
    'A|B|k:1234567',
  ],
  `A|B${'|k:v'.repeat(100_000)}`,
  `A|B${'|k:v'.repeat(100_001)}`,
];

function value(text: string): string {
  return payload(`v:${text}`);
}

function payload(text: string): string {
  return `@a>req:x{${text}}`;
}

/** A number of keys, and after them the one with an index again. */
function keys(count: number, again: number): string {
  const all = Array.from({ length: count }, (_, index) => `key_${index * 7}:1`);
  return payload([...all, ...(again < 0 ? [] : [`key_${again * 7}:2`])].join('|'));
}

/** The tree or the verdict of a candidate; null if it rejects. */
function outcome({ read }: Ready, text: string): unknown {
  try {
    return read(text);
  } catch {
    return null;
  }
}

/** The expected result of a candidate for a text. */
function expected({ candidate }: Ready, text: string): unknown {
  const result = candidate.protocol === 'accp' ? tryParseFrame(text) : tryParsePacket(text);
  if (candidate.builds === 'verdict') return result.ok;
  return result.ok ? result.value : null;
}

/** Fewer texts are enough for these. */
const SLOW = new Set(['ohm-accp', 'ohm-aacp']);
const judged = ready.filter(({ candidate }) => ['ast', 'verdict'].includes(candidate.builds));

/** Spans are tested elsewhere; here trees are compared without them. */
function stripped(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(stripped);
  if (typeof tree !== 'object' || tree === null) return tree;
  return Object.fromEntries(
    Object.entries(tree)
      .filter(([name]) => name !== 'span')
      .map(([name, member]) => [name, stripped(member)]),
  );
}

describe.each(judged.map((one) => [one.candidate.id, one] as const))('%s', (id, one) => {
  const isAccp = one.candidate.protocol === 'accp';
  const spans = id.includes('spans');
  const give = (text: string): unknown => (spans ? stripped(outcome(one, text)) : outcome(one, text));

  test('is right on the whole corpus', () => {
    const samples = isAccp ? FRAMES : PACKETS;
    for (const { text } of SLOW.has(id) ? samples.slice(0, 110) : samples)
      expect(give(text)).toStrictEqual(expected(one, text));
  });

  test('rejects invalid texts', () => {
    if (!isAccp) return;
    for (const { text } of badFrames(mixedFrames().slice(-12))) {
      expect(expected(one, text)).toBe(one.candidate.builds === 'verdict' ? false : null);
      expect(give(text)).toBe(one.candidate.builds === 'verdict' ? false : null);
    }
  });

  test('is right on edge cases', () => {
    for (const text of isAccp ? EDGES : PACKET_EDGES) {
      if (SLOW.has(id) && text.length > 10_000) continue;
      const [answer, wanted] = [give(text), expected(one, text)];
      // The matcher takes seconds for large trees.
      if (isDeepStrictEqual(answer, wanted)) continue;
      expect({ text: text.slice(0, 200), answer }).toStrictEqual({ text: text.slice(0, 200), answer: wanted });
      expect.fail(`different trees for ${text.slice(0, 200)}`);
    }
  });

  test('is right on random and mutated texts', () => {
    const texts = isAccp
      ? fc.oneof(frameTexts('strict'), frameMutants('strict'))
      : fc.oneof(packetTexts('strict'), packetMutants('strict'));
    fc.assert(
      fc.property(texts, (text) => {
        expect(give(text)).toStrictEqual(expected(one, text));
      }),
      { numRuns: SLOW.has(id) ? 60 : 500, seed: 3 },
    );
  });
});

test('candidates have unique ids and names', () => {
  expect(new Set(CANDIDATES.map(({ id }) => id)).size).toBe(CANDIDATES.length);
  for (const protocol of ['accp', 'aacp']) {
    const names = CANDIDATES.filter((one) => one.protocol === protocol).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  }
});

test('candidates that cannot be measured have a reason', () => {
  expect(ready.length + missing.length).toBe(CANDIDATES.length);
  for (const { why } of missing) expect(why).toMatch(/\S/);
});

test('plain messages equal the frames', async () => {
  for (const one of ready.filter(({ candidate }) => candidate.builds === 'plain')) {
    const samples = one.candidate.protocol === 'accp' ? mixedFrames().slice(0, 15) : mixedPackets().slice(0, 15);
    for (const sample of samples) {
      const input = (await one.candidate.input?.(sample)) ?? sample.text;
      expect({ read: one.read(input) }).toEqual({ read: JSON.parse(sample.json) });
    }
  }
});

test('frames have about the requested length', () => {
  for (const make of Object.values(GROWTH_SHAPES)) {
    for (const length of [1_000, 10_000, 100_000]) {
      const text = make(length);
      expect(text.length / length).toBeGreaterThan(0.9);
      expect(text.length / length).toBeLessThan(1.2);
      expect(tryParseFrame(text).ok).toBe(true);
    }
  }
});
