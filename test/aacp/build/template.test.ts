import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aacp, EncodeError } from '../../../src/aacp/build/index.js';
import { parsePacket } from '../../../src/aacp/index.js';
import { anyString } from '../../helpers/hostile.js';
import { runs } from '../../helpers/runs.js';

function refusal(make: () => string): { code: string; path: string } {
  try {
    make();
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    return { code: error.code, path: error.path };
  }
  throw new Error('was written');
}

const agent = 'HR-Agent';
const status = 'active';

test('interpolations become values, and lists are joined', () => {
  expect(aacp`FETCH|HR|return:${agent}|p:1|aacp:1.1|filter:status=${status}|fields:${['a', 'b']}`).toBe(
    'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|filter:status=active|fields:a,b',
  );
  expect(aacp`PROC|FIN|return:F|aacp:1.1|amt:${1e21}|ltv:${10n}|ccy:GBP|p:${2}`).toBe(
    'PROC|FIN|return:F|aacp:1.1|amt:1000000000000000000000|ltv:10|ccy:GBP|p:2',
  );
});

test('an interpolation may be the TASK, the DOM, a key, or a part of them', () => {
  expect(aacp`${'FETCH'}|${'HR'}|return:A|aacp:1.1|${'org_x'}:1|org_${'y'}:2`).toBe(
    'FETCH|HR|return:A|aacp:1.1|org_x:1|org_y:2',
  );
});

test('blanks and line breaks around the separators of the literal are removed', () => {
  const text = aacp`
    FETCH | HR | return:${agent}
      | aacp:1.1 |res:emp ${'salary'} list |
    p:1
  `;
  expect(text).toBe('FETCH|HR|return:HR-Agent|aacp:1.1|res:emp salary list|p:1');
});

describe('an interpolation is rejected if it', () => {
  test.each<[string, () => string, string, string]>([
    ['begins another field', () => aacp`A|B|return:${'x|p:9'}|aacp:1.1`, 'separator', 'return (interpolation 0)'],
    [
      'begins another field within a value',
      () => aacp`A|B|return:A|aacp:1.1|res:a${'|'}b`,
      'separator',
      'res (interpolation 0)',
    ],
    [
      'breaks the line',
      () => aacp`A|B|return:A|aacp:1.1|res:a${'x\ny'}b`,
      'control-character',
      'res (interpolation 0)',
    ],
    ['is empty', () => aacp`A|B|return:A|aacp:1.1|res:a${''}b`, 'empty-value', 'res (interpolation 0)'],
    ['is padded', () => aacp`A|B|return:A|aacp:1.1|res:${' x'}`, 'whitespace', 'res (interpolation 0)'],
    ['is a field without its key', () => aacp`A|B|return:A|aacp:1.1|${'res:x'}`, 'bad-key', 'slot 4 (interpolation 0)'],
    ['moves the colon', () => aacp`A|B|return:A|aacp:1.1|${'p:9'}:x`, 'bad-key', 'key of slot 4 (interpolation 0)'],
    ['is not a key', () => aacp`A|B|return:A|aacp:1.1|${'Res'}:x`, 'bad-key', 'key of slot 4 (interpolation 0)'],
    ['repeats a key', () => aacp`A|B|return:A|aacp:1.1|${'return'}:x`, 'duplicate-key', 'return'],
    ['is not a TASK', () => aacp`${'fetch'}|B|return:A|aacp:1.1`, 'bad-task', 'task (interpolation 0)'],
    ['is not a DOM', () => aacp`A|${'h r'}|return:A|aacp:1.1`, 'bad-dom', 'domain (interpolation 0)'],
    ['is a number as the TASK', () => aacp`${5}|B|return:A|aacp:1.1`, 'bad-input', 'task (interpolation 0)'],
    [
      'adds an item to a part',
      () => aacp`A|B|return:A|aacp:1.1|filter:s=${'a,b'}`,
      'list-separator',
      'filter (interpolation 0)',
    ],
    [
      'adds an item to a list',
      () => aacp`A|B|return:A|aacp:1.1|to:x,${'a,b'}`,
      'list-separator',
      'to (interpolation 0)',
    ],
    [
      'has an item with a comma',
      () => aacp`A|B|return:A|aacp:1.1|to:${['a', 'b,c']}`,
      'list-separator',
      'to (interpolation 0)[1]',
    ],
    ['is nothing', () => aacp`A|B|return:A|aacp:1.1|to:${undefined as never}`, 'bad-input', 'to (interpolation 0)'],
    ['is an empty list', () => aacp`A|B|return:A|aacp:1.1|to:${[]}`, 'bad-input', 'to (interpolation 0)'],
    ['is true', () => aacp`A|B|return:${'A'}|aacp:1.1|to:${true as never}`, 'bad-input', 'to (interpolation 1)'],
  ])('%s', (_name, make, code, path) => {
    expect(refusal(make)).toEqual({ code, path });
  });
});

test('a comma is allowed if the interpolation is the whole value', () => {
  expect(aacp`A|B|return:A|aacp:1.1|fields:${'id,name'}`).toBe('A|B|return:A|aacp:1.1|fields:id,name');
});

describe('a template without a valid packet is rejected: it', () => {
  test.each<[string, () => string]>([
    ['has no return', () => aacp`FETCH|HR|res:${'x'}|aacp:1.1`],
    ['has no version', () => aacp`FETCH|HR|return:${'x'}`],
    ['has an empty slot', () => aacp`FETCH|HR||return:${'x'}|aacp:1.1`],
    ['ends in a separator', () => aacp`FETCH|HR|return:${'x'}|aacp:1.1|`],
    ['has a field without a colon', () => aacp`FETCH|HR|return:${'x'}|aacp:1.1|res`],
    ['has blanks at a colon', () => aacp`FETCH|HR|return: ${'x'}|aacp:1.1`],
    ['has a line break in a value', () => aacp`FETCH|HR|return:${'x'}|aacp:1.1|res:a\nb`],
    ['has a TASK in small letters', () => aacp`fetch|HR|return:${'x'}|aacp:1.1`],
    ['is empty', () => aacp``],
  ])('%s', (_name, make) => {
    expect(refusal(make)).toEqual({ code: 'invalid-packet', path: 'template' });
  });
});

test.each([
  ['a call with a text', () => aacp('FETCH|HR|return:A' as never)],
  ['a call with a list', () => aacp(['FETCH|HR|return:A|aacp:1.1'] as never)],
  ['an escape that means nothing', () => aacp`FETCH|HR|return:\u{zz}|aacp:1.1`],
])('%s is a TypeError', (_name, make) => {
  expect(make).toThrow(TypeError);
});

test('an interpolation never changes the fields of the template', () => {
  const hostile = fc.oneof(
    anyString,
    fc.constantFrom('|', '|return:EVIL', 'x|return:EVIL|y', ':', 'return:EVIL', '\n', 'a', 'b c', '\u0085', '\ufeff'),
    fc.tuple(anyString, anyString).map(([a, b]) => `${a}|${b}`),
  );
  let written = 0;
  const law = fc.property(hostile, hostile, hostile, hostile, (a, b, c, d) => {
    let text: string;
    try {
      text = aacp`FETCH|HR|return:${a}|aacp:1.1|filter:x=${b}${c}-y|org_${d}:z`;
    } catch (error) {
      expect(error).toBeInstanceOf(EncodeError);
      return;
    }
    written++;
    expect(parsePacket(text)).toEqual({
      kind: 'packet',
      task: 'FETCH',
      domain: 'HR',
      fields: [
        { key: 'return', value: a },
        { key: 'aacp', value: '1.1' },
        { key: 'filter', value: `x=${b}${c}-y` },
        { key: `org_${d}`, value: 'z' },
      ],
    });
  });
  fc.assert(law, runs(2_000));
  expect(written).toBeGreaterThan(0);
});
