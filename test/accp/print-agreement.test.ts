/** The printer gives what a simple one gives, and refuses what it refuses, with the same error. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Frame, type PrintOptions, parseFrame, printFrame, type Value } from '../../src/accp/index.js';
import { frames } from '../helpers/accp-arbitraries.js';
import { runs } from '../helpers/runs.js';
import { printSlowly } from '../oracle/frame-printer.js';

const RUNS = runs(400);

function frame(parts: object): Frame {
  return { kind: 'frame', agent: 'a', intent: 'req', operation: 'x', payload: [], metadata: null, ...parts } as Frame;
}

function withValue(value: unknown): Frame {
  return frame({ payload: [{ key: 'k', value }] });
}

type Outcome = { readonly text: string } | { readonly name: string; readonly message: string; readonly code: unknown };

function outcome(print: () => string): Outcome {
  try {
    return { text: print() };
  } catch (thrown) {
    const { name, message, code } = thrown as Error & { readonly code?: unknown };
    return { name, message, code };
  }
}

function expectSame(tree: Frame, options?: PrintOptions): Outcome {
  const printed = outcome(() => printSlowly(tree, options));
  expect(outcome(() => printFrame(tree, options))).toEqual(printed);
  return printed;
}

/** Puts something else in place of one part of a tree; `pick` says which of them. */
function spoiled(tree: unknown, pick: { left: number }, other: unknown): unknown {
  if (pick.left-- === 0) return other;
  if (Array.isArray(tree)) return tree.map((part) => spoiled(part, pick, other));
  if (typeof tree !== 'object' || tree === null) return tree;
  return Object.fromEntries(Object.entries(tree).map(([name, part]) => [name, spoiled(part, pick, other)]));
}

const OTHERS: readonly unknown[] = [
  ...[null, undefined, true, 7, -0, 1.5, 2 ** 31, -(2 ** 31), 2 ** 53, Number.NaN, 1e21, 10n ** 30n],
  ...['', 'true', '42', 'a b', '\u00e9', '\u0140', '\ud800', '~', 'k', 'string', 'a\n', 'x'.repeat(70_000)],
  ...[[], {}, new Array(2), { kind: 'null' }, { kind: 'decimal', value: 0.1 + 0.2 }, { kind: 'array', items: null }],
];

describe('the output equals that of the simple printer', () => {
  test('for trees that can be printed', () => {
    const law = fc.property(frames, fc.boolean(), (tree, sortParams) => {
      expect(expectSame(tree, { sortParams })).toHaveProperty('text');
    });
    fc.assert(law, RUNS);
  });

  test('for trees with one invalid part', () => {
    const law = fc.property(frames, fc.nat(60), fc.constantFrom(...OTHERS), (tree, left, other) => {
      expectSame(spoiled(tree, { left }, other) as Frame);
    });
    fc.assert(law, runs(2000));
  });

  test('for any numbers', () => {
    const numbers = fc.oneof(
      fc.double().map((value) => ({ kind: 'decimal', value })),
      fc.integer({ min: -(10 ** 15), max: 10 ** 15 }).map((value) => ({ kind: 'decimal', value: value / 1e6 })),
      fc.integer({ min: -9999, max: 9999 }).map((value) => ({ kind: 'decimal', value: value / 100 })),
      fc.integer().map((value) => ({ kind: 'integer', value })),
      fc.maxSafeInteger().map((value) => ({ kind: 'integer', value })),
      fc.bigInt().map((value) => ({ kind: 'integer', value })),
    );
    fc.assert(
      fc.property(numbers, (value) => void expectSame(withValue(value))),
      runs(5000),
    );
    for (const value of [0, -0, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1]) {
      expectSame(withValue({ kind: 'integer', value }));
    }
    for (const value of [
      0, -0, 1e-6, 1e-7, 4.9e-7, 5e-7, 0.999999, 0.9999995, 999999999.999999, 1e9, 1e15, -0.000001,
    ]) {
      expectSame(withValue({ kind: 'decimal', value }));
    }
  });

  test('for metadata in any order, with identifiers that keep their digits', () => {
    for (const metadata of [
      'zz:1,mid:007',
      'b:1,a:2',
      'seq:1,mid:x',
      'mid:007',
      'ttl:5,ts:6,b:7,a:8',
      'mid:1,mid2:2',
      'midx:b,tsx:1,seqs:2,m:4,mi:5,t:6,ts:7,seq:8,mid:9',
      'zz:1,midx:007,mid2:1,cidx:00',
      'cid:1.50',
    ]) {
      expect(expectSame(parseFrame(`@a>req:x{}[${metadata}]`))).toHaveProperty('text');
    }
  });

  test('for keys with equal beginnings', () => {
    const key = fc.oneof(fc.constantFrom('mid', 'seq', 'ts', 'midx', 'mi', 'tsa'), fc.stringMatching(/^[ab_0]{1,6}$/));
    const value = fc.constantFrom({ kind: 'integer', value: 7, text: '007' }, { kind: 'boolean', value: true });
    const lists = fc.uniqueArray(fc.record({ key, value }), {
      minLength: 1,
      maxLength: 34,
      selector: (one) => one.key,
    });
    const law = fc.property(lists, lists, fc.boolean(), (payload, entries, sortParams) => {
      const map = { key: 'map', value: { kind: 'map', entries } };
      const tree = frame({ payload: [...payload, map], metadata: entries });
      expect(expectSame(tree, { sortParams })).toHaveProperty('text');
    });
    fc.assert(law, RUNS);
  });

  test('for duplicate keys at any place', () => {
    const node = { kind: 'null' };
    const names = Array.from({ length: 40 }, (_, index) => `key${index}`);
    for (const count of [2, 5, 31, 33, 40]) {
      for (const place of [0, 1, count - 1]) {
        const keys = names.slice(0, count - 1);
        const list = keys.toSpliced(place, 0, keys[0]!).map((key) => ({ key, value: node }));
        expectSame(frame({ payload: list }));
        expectSame(frame({ metadata: list }));
        expectSame(withValue({ kind: 'map', entries: list }));
      }
    }
  });

  test('for texts and frames of any size', () => {
    for (const length of [1, 1000, 32_000, 33_000, 65_000, 65_536, 200_000]) {
      expectSame(withValue({ kind: 'string', value: 's'.repeat(length) }));
      expectSame(withValue({ kind: 'string', value: '~'.repeat(length) }));
      expectSame(frame({ agent: 'a'.repeat(length) }));
      expectSame(frame({ payload: [{ key: 'k'.repeat(length), value: { kind: 'ref', path: 'p' } }] }));
      expectSame(withValue({ kind: 'array', items: new Array(length).fill({ kind: 'integer', value: 12 }) }));
    }
  });

  test('for trees of any depth', () => {
    const nested = (depth: number): Value =>
      depth === 0 ? { kind: 'null' } : { kind: 'array', items: [nested(depth - 1)] };
    for (const depth of [4, 5, 6, 63, 64, 65, 300]) {
      for (const maxDepth of [0, 5, 64, Number.POSITIVE_INFINITY]) expectSame(withValue(nested(depth)), { maxDepth });
    }
    // Brackets that end together where the buffer ends.
    for (let length = 65_100; length < 65_540; length++) {
      const items = [{ kind: 'string', value: 's' }, nested(60)];
      const payload = [
        { key: 'a', value: { kind: 'string', value: 's'.repeat(32_500) } },
        { key: 'b', value: { kind: 'string', value: 's'.repeat(length - 32_600) } },
        { key: 'c', value: { kind: 'array', items } },
      ];
      expectSame(frame({ payload }), { maxDepth: 64 });
    }
  });

  test('under any limits', () => {
    const tree = withValue({ kind: 'integer', value: 12345 });
    for (const options of [{}, { maxDigits: 4 }, { maxDigits: 5 }, { maxDigits: -1 }, { maxDepth: Number.NaN }]) {
      expectSame(tree, options);
    }
  });
});

describe('a getter that returns another value the next time', () => {
  const values = (...all: unknown[]): (() => unknown) => {
    let call = 0;
    return () => all[Math.min(call++, all.length - 1)];
  };
  const changingKey = (next: () => unknown): Frame => {
    const entry = Object.defineProperty({ value: { kind: 'null' } }, 'key', { get: next });
    return withValue({ kind: 'map', entries: [entry] });
  };

  test.each([
    ['an empty key', ['a', '']],
    ['a number', ['a', 5]],
    ['nothing', ['a', null]],
    ['another beginning', ['aaaa', 'bbbb']],
    ['an object with a length', ['a', { length: '3' }]],
  ])('%s in place of a key is rejected', (_name, keys) => {
    expect(outcome(() => printFrame(changingKey(values(...keys))))).toMatchObject({ code: 'E1004' });
  });

  test('a text in place of an identifier is not written', () => {
    const node = Object.defineProperty({ kind: 'integer', value: 7 }, 'text', { get: values('007', '007,cid:666') });
    const tree = frame({ metadata: [{ key: 'mid', value: node }] });
    expect(outcome(() => printFrame(tree))).not.toMatchObject({ text: expect.stringContaining('666') as string });
  });

  test('a list that becomes shorter is rejected', () => {
    const entries: object[] = [{ key: 'b', value: { kind: 'null' } }];
    entries.unshift(
      Object.defineProperty({ key: 'a' }, 'value', {
        get: () => {
          entries.length = 1;
          return { kind: 'null' };
        },
      }),
    );
    expect(outcome(() => printFrame(withValue({ kind: 'map', entries })))).toMatchObject({ code: 'E1004' });
  });
});

test('the place of a bad key in a long list is that of the tree', () => {
  const entries = Array.from({ length: 40 }, (_, index) => ({ key: `k${99 - index}`, value: { kind: 'null' } }));
  entries[5]!.key = 'key!';
  expectSame(withValue({ kind: 'map', entries }));
  expectSame(frame({ metadata: entries }));
});

test('a getter may write another frame meanwhile', () => {
  const inner = withValue({ kind: 'string', value: 'inner' });
  const param = {
    key: 'k',
    get value() {
      return { kind: 'string', value: printFrame(inner).slice(1, 2) };
    },
  };
  const outer = frame({ operation: 'outer', payload: [param] });
  expect(printFrame(outer)).toBe('@a>req:outer{k:a}');
});

test('an error of a getter is thrown', () => {
  const tree = Object.defineProperty(frame({}), 'payload', {
    get() {
      throw new Error('not now');
    },
  });
  expect(() => printFrame(tree)).toThrow('not now');
  expect(printFrame(frame({}))).toBe('@a>req:x{}');
});
