import { expect, test } from 'vitest';
import { memoryStore } from '../../../src/accp/codec/index.js';
import { DELETED } from '../../../src/accp/store/store.js';

test('cold state in memory is bounded: the oldest values are dropped, and read as expired', () => {
  const endpoint = memoryStore({ maxCold: 100 }).claim('s', 'a');
  const value = 'x'.repeat(40);
  for (const key of ['k1', 'k2', 'k3']) endpoint.commit([], [{ key, value, expiresAt: null }]);
  expect(endpoint.readCold('k1')).toEqual({ value: 'null', expiresAt: 1 });
  expect(endpoint.readCold('k2')).toMatchObject({ value, expiresAt: null });
  expect(endpoint.sessionsWithCold('k1')).toEqual(['s']);
  endpoint.commit([], [{ key: 'k1', value, expiresAt: null }]);
  expect(endpoint.readCold('k1')).toMatchObject({ value, expiresAt: null });
  expect(endpoint.readCold('k2')?.expiresAt).toBe(1);
});

test('a value beyond the bound is kept until the next one is set', () => {
  const endpoint = memoryStore({ maxCold: 10 }).claim('s', 'a');
  const value = 'x'.repeat(40);
  endpoint.commit([], [{ key: 'k1', value, expiresAt: null }]);
  expect(endpoint.readCold('k1')?.value).toBe(value);
  endpoint.commit([], [{ key: 'k2', value, expiresAt: null }]);
  expect(endpoint.readCold('k1')?.expiresAt).toBe(1);
});

test('a dropped value that was deleted is unknown, not expired', () => {
  const endpoint = memoryStore({ maxCold: 50 }).claim('s', 'a');
  endpoint.commit([], [{ key: 'k1', value: 'null', expiresAt: DELETED }]);
  endpoint.commit([], [{ key: 'k2', value: 'x'.repeat(60), expiresAt: null }]);
  expect(endpoint.readCold('k1')).toBeUndefined();
});
