import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AccpNode,
  FRAME_CHILD_KEYS,
  type Param,
  parseFrame,
  type Value,
  walkFrame,
} from '../../src/accp/index.js';
import { frames } from '../helpers/accp-arbitraries.js';

/** Kind and path of every node, in the order of the visits. */
function visits(root: AccpNode, leaveOut?: AccpNode['kind']): string[] {
  const seen: string[] = [];
  walkFrame(root, (node, { path }) => {
    seen.push(`${node.kind} ${path().join('.')}`.trimEnd());
    return node.kind !== leaveOut;
  });
  return seen;
}

const frame = parseFrame('@a>req:x{k:[1,{m:~,n:[true]}]|r:$hot.a}[mid:x,t:[2.5]]');

test('every node is visited once, parents first, in source order', () => {
  expect(visits(frame)).toEqual([
    'frame',
    'array payload.k',
    'integer payload.k.0',
    'map payload.k.1',
    'null payload.k.1.m',
    'array payload.k.1.n',
    'boolean payload.k.1.n.0',
    'ref payload.r',
    'string metadata.mid',
    'array metadata.t',
    'decimal metadata.t.0',
  ]);
});

test('a visitor that returns false skips the children', () => {
  expect(visits(frame, 'map')).not.toContain('null payload.k.1.m');
  expect(visits(frame, 'map')).toContain('ref payload.r');
  expect(visits(frame, 'frame')).toEqual(['frame']);
});

test('other results of a visitor do not matter', () => {
  const kinds: string[] = [];
  for (const returned of [undefined, null, 0, '']) {
    walkFrame(frame, ({ kind }) => {
      kinds.push(kind);
      return returned;
    });
  }
  expect(kinds).toHaveLength(4 * 11);
});

test('a value is walked like a frame, with paths from itself', () => {
  const { value } = frame.payload[0]!;
  expect(visits(value)).toEqual(['array', 'integer 0', 'map 1', 'null 1.m', 'array 1.n', 'boolean 1.n.0']);
});

test('a visit has the key and the parent', () => {
  const told = new Map<string, readonly [string | undefined, string | undefined]>();
  walkFrame(frame, (node, { key, parent, path }) => {
    told.set(path().join('.'), [key, parent?.kind]);
    return node.kind;
  });
  expect(told.get('')).toEqual([undefined, undefined]);
  expect(told.get('payload.k')).toEqual(['k', 'frame']);
  expect(told.get('payload.k.0')).toEqual([undefined, 'array']);
  expect(told.get('payload.k.1.m')).toEqual(['m', 'map']);
});

test('keys that look like indices or inherited names are keys', () => {
  expect(visits(parseFrame('@a>req:x{0:[9]|__proto__:{constructor:1}}'))).toEqual([
    'frame',
    'array payload.0',
    'integer payload.0.0',
    'map payload.__proto__',
    'integer payload.__proto__.constructor',
  ]);
});

test('a path can be requested later', () => {
  const later: (() => (string | number)[])[] = [];
  walkFrame(frame, (_node, { path }) => {
    later.push(path);
  });
  expect(later[4]?.()).toEqual(['payload', 'k', 1, 'm']);
});

test('a tree far deeper than the call stack is walked', () => {
  let value: Value = { kind: 'null' };
  for (let depth = 0; depth < 200_000; depth++) value = { kind: 'array', items: [value] };
  let count = 0;
  let deepest = 0;
  walkFrame(value, (node, { path }) => {
    count++;
    if (node.kind === 'null') deepest = path().length;
  });
  expect([count, deepest]).toEqual([200_001, 200_000]);
});

describe('over random frames', () => {
  /** The same by recursion, over whatever members hold nodes. */
  function kindsBelow(node: unknown): string[] {
    if (typeof node !== 'object' || node === null) return [];
    const kind = 'kind' in node ? [String(node.kind)] : [];
    return [...kind, ...Object.values(node).flatMap(kindsBelow)];
  }

  test('no node is missed', () => {
    fc.assert(
      fc.property(frames, (random) => {
        const kinds: string[] = [];
        walkFrame(random, ({ kind }) => kinds.push(kind) > 0);
        expect(kinds.toSorted()).toEqual(kindsBelow(random).toSorted());
      }),
    );
  });

  test('a path leads to its node', () => {
    fc.assert(
      fc.property(frames, (random) => {
        walkFrame(random, (node, { path }) => {
          expect(nodeAt(random, path())).toBe(node);
        });
      }),
    );
  });

  function nodeAt(root: AccpNode, path: readonly (string | number)[]): unknown {
    let at: unknown = root;
    for (const step of path) {
      const { items, entries } = at as { items?: Value[]; entries?: Param[] };
      if (Array.isArray(at)) at = (at as Param[]).find(({ key }) => key === step)?.value;
      else if (Array.isArray(items)) at = items[step as number];
      else if (Array.isArray(entries)) at = entries.find(({ key }) => key === step)?.value;
      else at = (at as Record<string, unknown>)[step];
    }
    return at;
  }
});

test('the table of children covers every kind', () => {
  expect(Object.keys(FRAME_CHILD_KEYS)).toEqual([
    'frame',
    'string',
    'integer',
    'decimal',
    'boolean',
    'null',
    'array',
    'map',
    'ref',
  ]);
});
