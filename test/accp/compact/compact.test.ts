/** `pegwire/accp/compact`: compact frames by the entries of a registry. */
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../src/accp/ast.js';
import { AccpError, compactFrame, createRegistry, expandFrame } from '../../../src/accp/compact/index.js';
import { staticEntries } from '../../../src/accp/compact/static.js';
import { CompactTables, shapeKey } from '../../../src/accp/compact/tables.js';
import { parseFrame } from '../../../src/accp/parse.js';
import { printFrame } from '../../../src/accp/print.js';
import { PrintError } from '../../../src/text/errors.js';
import { entriesOf } from './entries.js';

const REGISTRY = createRegistry({
  schemas: {},
  compact: {
    shapes: [{ operation: 'lookup', fields: ['query', 'limit'] }, { fields: ['name', 'due'] }],
    strings: ['in_progress'],
    agents: ['planner', 'worker-1'],
  },
});

function compact(text: string, registry = REGISTRY): string {
  return compactFrame(parseFrame(text), { registry });
}

function expand(text: string, registry = REGISTRY): string {
  return printFrame(expandFrame(parseFrame(text), registry));
}

/** Returns the code and the path of the error. */
function refusalOf(call: () => unknown): readonly unknown[] {
  try {
    return [call()];
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    return [thrown.code, thrown.path];
  }
}

describe('the forms', () => {
  test.each([
    ['a numbered operation', '@x>req:lookup{q:users|limit:10}', '@x>req:11{0:[users,10]}'],
    ['a numbered agent', '@planner>req:lookup{limit:10}[mid:m1,seq:1]', '@0>req:lookup{limit:10}[mid:m1,seq:1]'],
    ['an absent value', '@x>req:tool{tool:search|res:done|schema:TC}', '@x>req:8{0:[search,-,done]}'],
    ['a numbered payload', '@x>req:assign{asgn:bob|task:impl_auth|schema:TA}', '@x>req:assign{7:[bob,impl_auth]}'],
    [
      'a table, a string and dates',
      '@x>req:y{rows:[{name:in_progress,due:2026-04-08},{name:b,due:2026-04-09}]}',
      '@x>req:y{rows:{26:[[#46118,$0],[#46119,b]]}}',
    ],
    ['marks', '@x>req:y{1:-|a:##|b:$12}', '@x>req:y{_1:#-|a:###|b:$.12}'],
    ['a plain frame', '@x>req:y{k:1}', '@x>req:y{k:1}'],
  ])('%s', (_name, plain, text) => {
    expect(compact(plain)).toBe(text);
    expect(expand(text)).toBe(
      plain
        .replace('name:in_progress,due:2026-04-08', 'due:2026-04-08,name:in_progress')
        .replace('name:b,due:2026-04-09', 'due:2026-04-09,name:b'),
    );
    expect(compact(plain)).toBe(text);
  });

  test('absent values do not exceed the number of items that a frame may have', () => {
    const rows = Array.from({ length: 12_000 }, () => '{a:1,b:2,c:3},{b:2,c:3,d:4}').join(',');
    const plain = `@x>req:y{rows:[${rows}]}`;
    expect(expand(compact(plain))).toBe(plain);
  });

  test('a frame does not teach the next one', () => {
    const text = '@x>req:y{k:a_long_string_of_many_tokens|l:a_long_string_of_many_tokens|m:{c:1,d:2}}';
    expect(compact(text)).toBe(text);
    expect(compact(text)).toBe(text);
  });
});

describe('errors', () => {
  test('operations and agents that are numbers have no compact form', () => {
    expect(refusalOf(() => compact('@x>req:12{k:1}'))).toEqual(['E1004', 'operation']);
    expect(refusalOf(() => compact('@1>req:x{k:1}'))).toEqual(['E1004', 'agent']);
    expect(compact('@1>req:x{k:1}', createRegistry())).toBe('@1>req:x{k:1}');
  });

  test('an unknown number is E2001, an invalid form E1001', () => {
    expect(refusalOf(() => expand('@x>req:99{0:[1]}'))).toEqual(['E2001', 'operation']);
    expect(refusalOf(() => expand('@x>req:y{k:[1,$7]}'))).toEqual(['E2001', 'payload.k.1']);
    expect(refusalOf(() => expand('@x>req:y{k:#no}'))).toEqual(['E1001', 'payload.k']);
  });

  test('a tree that is no frame cannot be printed, and is not expanded either', () => {
    const deep = Array.from({ length: 20_000 }).reduce<object>((items) => ({ kind: 'array', items: [items] }), {});
    for (const payload of [undefined, [null], [{ key: 'k' }], [{ key: 'k', value: deep }]]) {
      const tree = { ...parseFrame('@x>req:y{}'), payload } as unknown as Frame;
      expect(() => expandFrame(tree)).toThrow(PrintError);
      expect(() => compactFrame(tree)).toThrow(PrintError);
    }
  });

  test('a frame that marks make too long has no compact form', () => {
    const plain = `@x>req:y{k:[${'-,'.repeat(99_000)}-]|l:${'x'.repeat(848_000)}}`;
    expect(refusalOf(() => compact(plain))).toEqual(['E1004', 'frame']);
  });

  test('the plain frame has at most 1048576 characters', () => {
    const registry = createRegistry({ schemas: {}, compact: { strings: ['x'.repeat(96)] } });
    const times = (count: number): string => `@x>req:y{k:[${Array<string>(count).fill('$0').join(',')}]}`;
    // A string with a comma, in `@x>req:y{k:[` and `]}`, which have one less.
    const most = Math.floor((1_048_576 - 13) / 97);
    expect(expandFrame(parseFrame(times(most)), registry).payload).toHaveLength(1);
    expect(refusalOf(() => expandFrame(parseFrame(times(most + 1)), registry))).toEqual(['E1001', 'payload']);
    // Far longer ones are not built first.
    expect(refusalOf(() => expandFrame(parseFrame(times(20_000)), registry))).toEqual(['E1001', 'payload.k.10810']);
  });
});

describe('static entries', () => {
  test('those of all tables of a registry are the same objects', () => {
    expect(staticEntries(REGISTRY)).toBe(staticEntries(REGISTRY));
  });

  test('equal shapes, strings and keys are listed once', () => {
    const registry = createRegistry({
      schemas: {},
      compact: {
        shapes: [
          { operation: 'chat', schema: 'CH', fields: ['role', 'content', 'turn', 'lang', 'reply_to'] },
          { operation: 'x', fields: ['data', 'd', 'b'] },
          { operation: 'x', schema: 'TA', fields: ['schema', 'task'] },
        ],
        strings: ['abcd', 'efgh', 'abcd'],
      },
    });
    const { shapes, strings } = staticEntries(registry);
    expect(shapes.entries.slice(11).map(shapeKey)).toEqual(['x||d|b', 'x|TA|task']);
    expect(strings.entries).toEqual(['abcd', 'efgh']);
    expect(expand('@x>req:12{0:[do]}', registry)).toBe('@x>req:x{task:do|schema:TA}');
  });
});

describe('tables', () => {
  const tables = (): CompactTables => new CompactTables(staticEntries(createRegistry()), true);

  test('undone changes leave no trace, evictions included', () => {
    const [changed, same] = [tables(), tables()];
    for (const one of [changed, same]) for (let at = 0; at < 600; at++) one.learnString(`text${at}`);
    const mark = changed.mark();
    for (let at = 0; at < 700; at++) changed.learnString(`other${at}`);
    for (let at = 0; at < 200; at++) changed.learnShape({ operation: `x${at}`, schema: null, keys: ['a'] });
    changed.rollBack(mark);
    expect(entriesOf(changed.strings)).toEqual(entriesOf(same.strings));
    expect(entriesOf(changed.shapes)).toEqual(entriesOf(same.shapes));
    for (const one of [changed, same]) for (let at = 0; at < 40; at++) one.learnString('y'.repeat(57 + at));
    expect(entriesOf(changed.strings)).toEqual(entriesOf(same.strings));
  });

  test('settled changes lead to the same entries, and have no more additions than fit', () => {
    const one = tables();
    const stored = new Map<number, string>();
    for (const size of [3, 600, 1300, 0, 2, 511, 512]) {
      for (let at = 0; at < size; at++) one.learnString(`${size}text${at}`);
      const changes = one.strings.settle();
      for (const { count, entry, isAdded } of changes) {
        if (isAdded) stored.set(count, entry);
        else expect(stored.delete(count)).toBe(true);
      }
      expect([...stored.values()]).toEqual(entriesOf(one.strings).map(([, text]) => text));
      expect(changes.filter(({ isAdded }) => isAdded).length).toBeLessThanOrEqual(512);
    }
    const restored = tables();
    for (const [count, text] of stored) restored.strings.restore(count, text);
    for (const both of [one, restored]) both.learnString('one_more');
    expect(entriesOf(restored.strings)).toEqual(entriesOf(one.strings));
    expect(restored.strings.settle()).toEqual(one.strings.settle());
  });

  test('learned entries stay within their bounds', () => {
    const one = tables();
    for (let at = 0; at < 5000; at++) one.learnString(`text${at}${'_'.repeat(at % 80)}`);
    for (let at = 0; at < 500; at++)
      one.learnShape({ operation: null, schema: null, keys: [`k${at}`, 'l'.repeat(at)] });
    const strings = entriesOf(one.strings).map(([, text]) => text.length);
    const shapes = entriesOf(one.shapes)
      .slice(11)
      .map(([, shape]) => shapeKey(shape).length);
    const sum = (lengths: readonly number[]): number => lengths.reduce((total, length) => total + length, 0);
    expect(strings.length).toBeLessThanOrEqual(512);
    expect(shapes.length).toBeLessThanOrEqual(128);
    expect(sum(strings)).toBeLessThanOrEqual(16_384);
    expect(sum(shapes)).toBeLessThanOrEqual(8192);
    expect(sum(shapes)).toBeGreaterThan(8192 - 510);
  });
});
