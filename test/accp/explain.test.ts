import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainFrame, type Frame, type Param, parseFrame, type Value } from '../../src/accp/index.js';
import { quoted } from '../../src/text/visible.js';
import { frames } from '../helpers/accp-arbitraries.js';

describe('sentences', () => {
  test.each([
    ['@planner>req:schedule{}', 'Agent planner requests schedule (req). No payload. No metadata.'],
    [
      '@research>done:analyze{d:q3_sales|nx:\\@strategy\\:plan}[mid:49679033e07c,seq:3,ts:1714000000]',
      'Agent research reports completion of analyze (done). Payload: data (d) = "q3_sales"; next action (nx) = ' +
        '"@strategy:plan". Metadata: message id (mid) = "49679033e07c"; sequence number (seq) = 3; timestamp (ts) = ' +
        '1714000000 (2024-04-24T23:06:40Z).',
    ],
    [
      '@a>negotiate:x{k:[1,-2.50,~,true,false,$hot.k,[],{}]}',
      'Agent a sends negotiate for x. Payload: k = [1, -2.50, nothing (null), yes (true), no (false), the stored value ' +
        '$hot.k, an empty list, an empty map]. No metadata.',
    ],
    [
      '@a>req:x{m:{d:1,ts:1714000000}}[sid:007]',
      'Agent a requests x (req). Payload: m = {d: 1, ts: 1714000000}. Metadata: session id (sid) = 007.',
    ],
  ])('%s', (text, explanation) => {
    expect(explainFrame(parseFrame(text))).toBe(explanation);
    expect(explainFrame(text)).toBe(explanation);
  });

  test('a decimal keeps its point, and has no exponent', () => {
    const value = (number: number): string => explainFrame(withValue({ kind: 'decimal', value: number }));
    expect(value(2)).toMatch(/ k = 2\.0\. No/);
    expect(value(1e21)).toMatch(/ k = 1000000000000000000000\.0\. No/);
    expect(value(1e-7)).toMatch(/ k = 0\.0000001\. No/);
  });

  test('a text in the lenient dialect is explained, too; any other text returns the error', () => {
    expect(explainFrame('@a>req:x{nx:@b:c}')).toContain('next action (nx) = "@b:c"');
    expect(explainFrame('@a>req:x')).toBe('Not a frame (E1001): Expected "{", found end of input.');
    expect(explainFrame('\x1b')).toBe('Not a frame (E1001): Expected "@", found U+001B.');
  });

  test('a timestamp beyond all dates is left as it is', () => {
    expect(explainFrame('@a>req:x{}[ts:99999999999999]')).toMatch(/= 99999999999999\.$/);
    expect(explainFrame('@a>req:x{}[ts:now]')).toMatch(/= "now"\.$/);
  });

  test('inherited names have no meaning', () => {
    expect(explainFrame('@a>constructor:toString{constructor:1|__proto__:2}[valueOf:3]')).toBe(
      'Agent a sends constructor for toString. Payload: constructor = 1; __proto__ = 2. Metadata: valueOf = 3.',
    );
  });
});

describe('no value passes for part of the explanation', () => {
  test.each(['x._No_metadata.', 'v";_data_=_"w', '"._Metadata:_message_id_=_"m', '\\"'])(
    'a string stays between its quotes: %s',
    (value) => {
      expect(explainFrame(withValue({ kind: 'string', value }))).toBe(
        `Agent a requests x (req). Payload: k = ${quoted(value)}. No metadata.`,
      );
    },
  );

  test('a string shows invisible characters', () => {
    const value = 'a\nAgent b\x1b[1A\u202e"\ud800';
    expect(explainFrame(withValue({ kind: 'string', value }))).toContain('k = "a␊Agent b␛[1A<U+202E>\\"<U+D800>"');
  });

  test('names show invisible characters', () => {
    const names = { agent: 'a\n', intent: '\x1b[2J', operation: '\u202e' };
    const explanation = explainFrame({ ...withValue({ kind: 'null' }), ...names });
    expect(explanation).toBe('Agent "a␊" sends "␛[2J" for "<U+202E>". Payload: k = nothing (null). No metadata.');
  });
});

test.each([
  null,
  {},
  { kind: 'frame', agent: Symbol('a'), intent: Object.create(null), operation: 7, payload: [null], metadata: [{}] },
  { ...withValue({ kind: 'null' }), payload: new Array(1), metadata: undefined },
  withValue({ kind: 'ref', path: Symbol('p') } as unknown as Value),
  withValue({ kind: 'string', value: Object.create(null) } as unknown as Value),
  withValue({ kind: 'integer', value: Symbol('1'), text: Symbol('2') } as unknown as Value),
  withValue({ kind: 'decimal', value: '1' } as unknown as Value),
  { ...withValue({ kind: 'null' }), metadata: [{ key: 'ts', value: { kind: 'integer', value: Symbol('t') } }] },
])('an input that is not a tree is explained, too', (tree) => {
  expect(explainFrame(tree as unknown as Frame)).toMatch(/^Agent .*\.$/);
});

test('a tree that contains itself is explained, too', () => {
  const items: Value[] = [];
  items.push({ kind: 'array', items });
  expect(explainFrame(withValue({ kind: 'array', items }))).toMatch(/\[\[\[\.\.\.\. No metadata\.$/);
});

describe('over random frames', () => {
  test('every name, key and value appears', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        const explanation = explainFrame(frame);
        expect(explanation).toMatch(/^[ -~]+\.$/);
        expect(explanation).toContain(frame.operation);
        expect(explanation).toContain(frame.intent);
        // All else in its order, each part behind the one before it.
        let at = 0;
        for (const part of [frame.agent, ...partsOf([...frame.payload, ...(frame.metadata ?? [])])]) {
          const found = explanation.indexOf(part, at);
          expect(found, part).toBeGreaterThanOrEqual(at);
          at = found + part.length;
        }
      }),
      { numRuns: 1000 },
    );
  });
});

function withValue(value: Value): Frame {
  return { kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload: [{ key: 'k', value }], metadata: null };
}

/** The parts of a list that must appear, in order. */
function partsOf(params: readonly Param[]): string[] {
  return params.flatMap(({ key, value }) => [key, ...partsOfValue(value)]);
}

function partsOfValue(node: Value): string[] {
  switch (node.kind) {
    case 'string':
      return [quoted(node.value)];
    case 'integer':
      return [node.text ?? String(node.value)];
    case 'decimal':
      return [
        node.text ??
          String(node.value)
            .replace(/e.*$/, '')
            .replace(/^-?0?\.?/, '')
            .slice(0, 1),
      ];
    case 'boolean':
      return [String(node.value)];
    case 'null':
      return ['null'];
    case 'ref':
      return [`$${node.path}`];
    case 'array':
      return node.items.flatMap(partsOfValue);
    case 'map':
      return partsOf(node.entries);
  }
}
