import { describe, expect, test } from 'vitest';
import { AccpError } from '../../../src/accp/errors.js';
import { type Json, ref } from '../../../src/accp/message/json.js';
import type { Tier } from '../../../src/accp/state/state.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { codeOf, counter, message, open } from './open.js';

const TIERS: readonly Tier[] = ['hot', 'warm', 'cold'];

describe.each(TIERS)('%s state', (tier) => {
  test('stores values until they are deleted', () => {
    const { state } = open();
    state.set(tier, 'k', { a: [1, 2n, null] });
    expect(state.get(tier, 'k')).toEqual({ a: [1, 2n, null] });
    expect(state.resolve(`${tier}.k.a.1`)).toBe(2n);
    state.delete(tier, 'k');
    expect(state.get(tier, 'k')).toBeUndefined();
    expect(codeOf(() => state.resolve(`${tier}.k`))).toBe('E2001');
  });

  test('distinguishes expired values from unknown ones', () => {
    const { state, clock } = open();
    state.set(tier, 'short', 'v', { ttlMs: 60_000 });
    state.set(tier, 'long', 'v', { ttlMs: Infinity });
    clock.now += 59;
    expect(state.resolve(`${tier}.short`)).toBe('v');
    clock.now += 1;
    expect(codeOf(() => state.resolve(`${tier}.short`))).toBe('E2002');
    expect(codeOf(() => state.resolve('short'))).toBe('E2002');
    expect(state.get(tier, 'short')).toBeUndefined();
    expect(state.resolve(`${tier}.long`)).toBe('v');
    expect(codeOf(() => state.resolve(`${tier}.other`))).toBe('E2001');
  });

  test('is not affected by later changes of the object', () => {
    const { state } = open();
    const list = [1];
    state.set(tier, 'k', { list });
    list.push(2);
    expect(state.get(tier, 'k')).toEqual({ list: [1] });
  });

  test('survives the process', () => {
    const { state, journal, store, clock } = open();
    state.set(tier, 'k', { source: ref('cold.db'), big: 2n ** 70n }, { ttlMs: 60_000 });
    journal.commit();
    const later = open({ store });
    expect(later.state.get(tier, 'k')).toEqual({ source: ref('cold.db'), big: 2n ** 70n });
    later.clock.now = clock.now + 61;
    expect(codeOf(() => later.state.resolve(`${tier}.k`))).toBe('E2002');
  });

  test.each([
    ['an empty key', ''],
    ['a key with a dot', 'a.b'],
    ['a key that no frame can hold', 'größe'],
    ['a key of a checkpoint', { hot: 'ckpt', warm: 'ckpt_3', cold: 'ckpt_3' }[tier]],
  ])('rejects %s', (_name, key) => {
    expect(codeOf(() => open().state.set(tier, key, 1))).toBe('E1004');
  });

  test.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['undefined', { a: undefined }],
    ['a date', [new Date(0)]],
    ['a function', () => 1],
  ])('rejects %s', (_name, value) => {
    expect(codeOf(() => open().state.set(tier, 'k', value as Json))).toBe('E1004');
  });

  test('rejects an object that contains itself', () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect(codeOf(() => open().state.set(tier, 'k', circle as Json))).toBe('E1004');
  });

  test.each([-1, 0, Number.NaN])('rejects a ttlMs of %d', (ttlMs) => {
    expect(() => open().state.set(tier, 'k', 1, { ttlMs })).toThrow(TypeError);
  });

  test('treats hostile keys as ordinary keys', () => {
    const { state } = open();
    state.set(tier, '__proto__', JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(state.resolve(`${tier}.__proto__.__proto__.polluted`)).toBe(true);
    expect(codeOf(() => state.resolve(`${tier}.__proto__.toString`))).toBe('E2001');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });
});

describe('a reference', () => {
  test('without a tier is looked up in hot, then warm, then cold state', () => {
    const { state } = open();
    state.set('cold', 'k', 'cold');
    expect(state.resolve('k')).toBe('cold');
    state.set('warm', 'k', 'warm');
    expect(state.resolve('k')).toBe('warm');
    state.set('hot', 'k', 'hot');
    expect(state.resolve('k')).toBe('hot');
    expect(state.resolve('cold.k')).toBe('cold');
  });

  test('that has expired in one tier is found in the next', () => {
    const { state, clock } = open();
    state.set('hot', 'k', 'hot', { ttlMs: 1_000 });
    state.set('cold', 'k', 'cold');
    clock.now += 2;
    expect(state.resolve('k')).toBe('cold');
  });

  test('follows maps, lists and other references', () => {
    const { state } = open();
    state.set('cold', 'db', { regions: [{ name: 'emea' }, { name: 'apac' }] });
    state.set('warm', 'main', ref('cold.db'));
    state.set('hot', 'ctx', { db: ref('main.regions') });
    expect(state.resolve('ctx.db.1.name')).toBe('apac');
    expect(state.resolve('main.regions.0')).toEqual({ name: 'emea' });
    expect(state.get('warm', 'main')).toEqual(ref('cold.db'));
  });

  test.each([
    ['nothing', 'none'],
    ['a tier that has no such key', 'hot.a'],
    ['a member that is not there', 'cold.a.c'],
    ['a place behind the end of a list', 'cold.a.list.2'],
    ['a segment that is not an index', 'cold.a.list.length'],
    ['a number that is no place', 'cold.a.list.01'],
    ['what a string has', 'cold.a.text.length'],
    ['what every object has', 'cold.a.constructor'],
    ['an empty segment', 'cold..a'],
    ['a dot at the end', 'cold.a.'],
    ['no segment', '.'],
    ['a circle', 'x'],
  ])('to %s is E2001', (_name, path) => {
    const { state } = open();
    state.set('cold', 'a', { list: [1, 2], text: 'abc' });
    state.set('cold', 'x', ref('y'));
    state.set('cold', 'y', ref('cold.x'));
    expect(codeOf(() => state.resolve(path))).toBe('E2001');
  });

  test('names itself in the error', () => {
    expect(() => open().state.resolve('warm.ckpt_7.status')).toThrow(/\$warm\.ckpt_7\.status/);
  });
});

describe('cold state of another session', () => {
  function two() {
    const store = memoryStore();
    const other = open({ store, session: 'other' });
    other.state.set('cold', 'plan', { secret: 1 }, { ttlMs: 10_000 });
    other.journal.commit();
    return { store, other, own: open({ store }) };
  }

  test('is rejected', () => {
    const { own } = two();
    expect(codeOf(() => own.state.resolve('cold.plan.secret'))).toBe('E5002');
    expect(codeOf(() => own.state.resolve('plan'))).toBe('E5002');
    expect(codeOf(() => own.state.resolve('hot.plan'))).toBe('E2001');
  });

  test('is unknown after it was deleted there', () => {
    const { own, other } = two();
    other.state.delete('cold', 'plan');
    other.journal.commit();
    expect(codeOf(() => own.state.resolve('cold.plan'))).toBe('E2001');
    expect(codeOf(() => own.state.resolve('plan'))).toBe('E2001');
  });

  test.each(['cold.ckpt_1', 'ckpt_1', 'cold.warm_ckpt_1', 'ckpt', 'ckpt.status'])(
    'is not addressed by %s, which each session has for itself',
    (path) => {
      const { own, other } = two();
      other.state.set('cold', 'ckpt', 'of the host');
      for (let count = 0; count < 20; count++) other.state.checkpoint('phase', { summarize: () => 'told' });
      other.journal.commit();
      expect(codeOf(() => other.state.resolve(path))).toBe('none');
      expect(codeOf(() => own.state.resolve(path))).toBe('E2001');
      own.state.grant('other');
      expect(codeOf(() => own.state.resolve(path))).toBe('E2001');
    },
  );

  test('is readable with a grant, also in a later process', () => {
    const { own, store } = two();
    own.state.grant('third');
    expect(codeOf(() => own.state.resolve('cold.plan.secret'))).toBe('E5002');
    own.state.grant('other');
    expect(own.state.resolve('cold.plan.secret')).toBe(1);
    own.journal.commit();
    const later = open({ store });
    expect(later.state.resolve('plan.secret')).toBe(1);
    later.clock.now += 10;
    expect(codeOf(() => later.state.resolve('cold.plan'))).toBe('E2002');
    expect(open({ store, agent: 'you', grants: ['other'] }).state.resolve('plan.secret')).toBe(1);
  });

  test('never hides our own value', () => {
    const { own } = two();
    own.state.set('cold', 'plan', 'mine');
    expect(own.state.resolve('cold.plan')).toBe('mine');
  });
});

describe('an externalized value', () => {
  test('is resolved by its path, and one value has one path', () => {
    const { state } = open();
    const path = state.externalize({ b: 'x'.repeat(60), a: 1 });
    expect(path).toMatch(/^cold\.v[0-9a-f]{6}$/);
    expect(state.resolve(path)).toEqual({ a: 1, b: 'x'.repeat(60) });
    expect(state.externalize({ a: 1, b: 'x'.repeat(60) })).toBe(path);
    expect(state.externalize({ a: 1n, b: 'x'.repeat(60) })).not.toBe(path);
  });

  test('keeps its path among thousands of others', () => {
    // With six digits, some pairs in 12000 values share them.
    const { state } = open();
    const paths = Array.from({ length: 12_000 }, (_, index) => state.externalize(`value ${index}`));
    expect(new Set(paths).size).toBe(12_000);
    expect(paths.some((path) => path.length > 'cold.v000000'.length)).toBe(true);
    paths.forEach((path, index) => {
      expect(state.resolve(path)).toBe(`value ${index}`);
    });
  });

  test('may be as deep as a message, and is resolved unchanged', () => {
    const { state, journal } = open();
    let deep: Json = 'core';
    for (let depth = 0; depth < 1000; depth++) deep = depth % 2 === 0 ? [deep] : { k: deep };
    const path = state.externalize({ q: deep });
    journal.commit();
    expect(JSON.stringify(state.resolve(`${path}.q`))).toBe(JSON.stringify(deep));
    let endless: Json = [];
    for (let depth = 0; depth < 100_000; depth++) endless = [endless];
    expect(codeOf(() => state.externalize(endless))).toBe('E1004');
  });

  test('has the same path at another endpoint that shares the store, even before a commit', () => {
    const store = memoryStore();
    const a = open({ store, agent: 'a' });
    const b = open({ store, agent: 'b' });
    const paths = [a.state.externalize('one'), b.state.externalize('two')];
    a.journal.commit();
    b.journal.commit();
    expect(paths.map((path) => a.state.resolve(path))).toEqual(['one', 'two']);
    expect(paths.map((path) => b.state.resolve(path))).toEqual(['one', 'two']);
  });
});

describe('the budget', () => {
  test('of hot state counts messages and values, exactly', () => {
    const { state, clock } = open();
    const frame = message({ payload: { q: 'revenue_by_region' } });
    state.addFrame(frame);
    state.set('hot', 'goal', 'win back customers', { ttlMs: 5_000 });
    const tokens = counter.count(frame.text);
    expect(state.hotTokens()).toBe(tokens + counter.count('goal:"win back customers"'));
    expect(state.budget().hot).toEqual({ used: state.hotTokens(), max: 500, trigger: 400 });
    clock.now += 5;
    expect(state.hotTokens()).toBe(tokens);
    expect(state.budget()).toMatchObject({ cold: { used: 0 }, exact: true, encoding: 'o200k_base' });
  });

  test('of hot state continues in a later process', () => {
    const { state, journal, store } = open();
    state.addFrame(message({ payload: { q: 'revenue_by_region' } }));
    journal.commit();
    const later = open({ store });
    expect(later.state.hotTokens()).toBe(state.hotTokens());
    later.state.addFrame(message());
    expect(later.state.hotTokens()).toBeGreaterThan(state.hotTokens());
  });

  test('of hot state replaces older values by references', () => {
    const { state, notes } = open();
    const words = (word: string): string => `${word} `.repeat(150);
    for (const key of ['one', 'two', 'three']) state.set('hot', key, words(key));
    state.set('hot', 'four', words('four'));
    expect(state.hotTokens()).toBeLessThanOrEqual(500);
    expect(state.resolve('hot.one')).toBe(words('one'));
    expect(state.resolve('hot.four')).toBe(words('four'));
    expect(state.get('hot', 'four')).toBe(words('four'));
    expect(notes).toContainEqual({ type: 'moved', message: expect.stringContaining('one') as string });
  });

  test('of hot state rejects with E2003 values that still do not fit, and changes nothing', () => {
    const { state } = open();
    state.set('hot', 'small', 'v');
    const before = state.hotTokens();
    expect(codeOf(() => state.set('hot', 'large', 'word '.repeat(600)))).toBe('E2003');
    expect(codeOf(() => state.addFrame(message({ payload: { d: 'word '.repeat(600) } })))).toBe('E2003');
    expect(state.get('hot', 'small')).toBe('v');
    expect(state.get('hot', 'large')).toBeUndefined();
    expect(state.hotTokens()).toBe(before);
  });

  test('of hot state is enforced if a checkpoint is overdue', () => {
    const { state } = open();
    let refused: unknown;
    for (let count = 0; count < 40 && refused === undefined; count++) {
      try {
        state.addFrame(message({ payload: { d: 'word '.repeat(40) } }));
      } catch (error) {
        refused = error;
      }
    }
    expect(refused).toBeInstanceOf(AccpError);
    expect(refused).toMatchObject({ code: 'E2003' });
    expect(state.dueTrigger('ack')).toBe('hot-tokens');
    expect(state.hotTokens()).toBeLessThanOrEqual(500);
    state.checkpoint('phase');
    state.addFrame(message());
  });

  test('of warm state is for each entry', () => {
    const { state } = open();
    for (let index = 0; index < 5; index++) state.set('warm', `k${index}`, 'word '.repeat(150));
    expect(codeOf(() => state.set('warm', 'large', 'word '.repeat(250)))).toBe('E2003');
    expect(state.budget().warm.used).toBeGreaterThan(5 * 150);
    expect(state.budget().warm.perCheckpoint).toBe(200);
  });

  test.each([
    ['no number', { hot: Number.NaN }],
    ['zero', { summary: 0 }],
    ['a trigger that is never reached', { hot: 100, hotTrigger: 200 }],
  ])('cannot be %s', (_name, budgets) => {
    expect(() => open({ budgets })).toThrow(TypeError);
  });
});
