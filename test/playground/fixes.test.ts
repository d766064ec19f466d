/** The fixes that the playground offers: each one is tried here, as a click does it. */
import { describe, expect, test } from 'vitest';
import { analyzeFrames } from '../../src/playground/analysis/frame.js';
import { analyzePackets } from '../../src/playground/analysis/packet.js';
import { MAX_LINES, type MessageResult } from '../../src/playground/analysis/result.js';
import { ESTIMATING_COUNTER } from '../../src/tokens/counter.js';

const frames = (text: string, position = 0, dialect: 'strict' | 'lenient' = 'strict'): MessageResult =>
  analyzeFrames({ text, position, dialect }, ESTIMATING_COUNTER);
const packets = (text: string): MessageResult =>
  analyzePackets({ text, position: 0, profile: 'draft' }, ESTIMATING_COUNTER);

/** Takes the first fix of the first problem that has one, until there is none. */
function mended(text: string, analyze: (text: string) => MessageResult): string {
  let current = text;
  for (let step = 0; step < 10; step++) {
    const edit = analyze(current).problems.find(({ fixes }) => fixes.length > 0)?.fixes[0]?.edit;
    if (edit === undefined) break;
    current = current.slice(0, edit.from) + edit.insert + current.slice(edit.to);
  }
  return current;
}

describe('a frame', () => {
  test.each([
    ['@a>req:x{nx:@strategy:plan|n:1}[mid:m1,seq:1]', '@a>req:x{nx:\\@strategy\\:plan|n:1}[mid:m1,seq:1]'],
    ['@a>b:c{k:1|k:2}', '@a>b:c{k:1|k_2:2}'],
    ['@a>b:c{k:[1,2}', '@a>b:c{k:[1,2]}'],
    ['@a>b:c{k:two words}', '@a>b:c{k:two_words}'],
    [' @a>b:c{k:1} ', '@a>b:c{k:1}'],
    ['@a>b', '@a>b:operation{}'],
    ['a>b:c{k:1}', '@a>b:c{k:1}'],
    ['@a>b:c{k:}', '@a>b:c{k:~}'],
    ['@a>b:c{a:1,b:2}', '@a>b:c{a:1|b:2}'],
    ['@a>b:c{k:1}[mid:1|seq:2]', '@a>b:c{k:1}[mid:1,seq:2]'],
    ['@a>b:c{k:café}', '@a>b:c{k:cafe}'],
    ['@a>b:c{k:\\n}', '@a>b:c{k:\\\\n}'],
    ['@a>b:c{:1}', '@a>b:c{key:1}'],
    ['@a>b:c{}x', '@a>b:c{}'],
    ['@a>req x{k:1}', '@a>req:x{k:1}'],
    ['@a req:x{k:1}', '@a>req:x{k:1}'],
    ['@a>req:x{k=1|l 2}', '@a>req:x{k:1|l:2}'],
    ['@a>req:x{k:1][mid:m1]', '@a>req:x{k:1}[mid:m1]'],
    ['@a>req:x{k:a b c}[mid:m1,mid:m2]', '@a>req:x{k:a_b_c}[mid:m1]'],
  ])('%s becomes %s', (text, expected) => {
    expect(frames(text).valid).toBe(false);
    expect(mended(text, frames)).toBe(expected);
    expect(frames(expected).valid).toBe(true);
  });

  test('that only the lenient dialect accepts can be read by it', () => {
    const { fixes } = frames('@a>b:c{k:[rev:-12%]}').problems[0]!;
    expect(fixes).toContainEqual({ label: 'Parse in the lenient dialect', dialect: 'lenient' });
    expect(frames('@a>b:c{k:[rev:-12%]}', 0, 'lenient').problems).toEqual([]);
  });

  test('beyond a limit has no fix, since any would lose content', () => {
    expect(frames('@a>b:c{k:[[[[[[[1]]]]]]]}').problems).toMatchObject([{ code: 'E1001', fixes: [] }]);
  });
});

describe('a packet', () => {
  test.each([
    ['FECH|HR|return:A|p:1|aacp:1.1', 'FETCH|HR|return:A|p:1|aacp:1.1'],
    ['FETCH|HR|return:A|p:9', 'FETCH|HR|return:A|p:2|aacp:1.1'],
    ['FETCH|HR||return:A|p:1|aacp:1.1', 'FETCH|HR|return:A|p:1|aacp:1.1'],
    ['FETCH | HR|return: A|p:1|aacp:1.1', 'FETCH|HR|return:A|p:1|aacp:1.1'],
    ['FETCH|return:A|p:1|aacp:1.1', 'FETCH|HR|return:A|p:1|aacp:1.1'],
    ['FETCH|HR|return:A|p:1|aacp:1.1|res:x|res:y', 'FETCH|HR|return:A|p:1|aacp:1.1|res:x'],
    ['FETCH|HR|return:A|p:1|aacp:1.1|Peroid:2', 'FETCH|HR|return:A|p:1|aacp:1.1|period:2'],
    ['|HR|return:A|p:1|aacp:1.0', 'FETCH|HR|return:A|p:1|aacp:1.1'],
    ['FETCH|HR|return=A|p:1|aacp:1.1', 'FETCH|HR|return:A|p:1|aacp:1.1'],
  ])('%s becomes %s', (text, expected) => {
    expect(packets(text).problems).not.toEqual([]);
    expect(mended(text, packets)).toBe(expected);
    expect(packets(expected).problems).toEqual([]);
  });
});

test('the result is about the line at the position, and the problems about all lines', () => {
  const text = '@a>req:x{n:1}\n# a comment\n\n@b>req:y{n:}\n@c>req:z{n:3}';
  const result = frames(text, text.length);
  expect(result.canonical).toBe('@c>req:z{n:3}');
  expect(result.rows.map(({ from, to }) => text.slice(from, to))).toContain('n:3');
  expect(result.problems.map(({ from, to }) => text.slice(from, to))).toEqual(['}']);
  expect(result).toMatchObject({ lines: 5, checked: 3 });
});

test('results stay small, whatever the text is', () => {
  const texts = [
    `@a>b:c{k:[${'1,'.repeat(20_000)}1]}`,
    `@a>b:c{k:${'x'.repeat(300_000)}}`,
    '@a>b:c{k:}\n'.repeat(20_000),
    `${'|'.repeat(50_000)}`,
    `FETCH|HR|${'k:v|'.repeat(5_000)}x:1`,
  ];
  for (const text of texts) {
    for (const result of [frames(text), packets(text)]) {
      expect(JSON.stringify(result).length).toBeLessThanOrEqual(120_000);
      expect(result.checked).toBeLessThanOrEqual(MAX_LINES + 1);
    }
  }
});
