import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ReplayGuardOptions, replayGuard } from '../../../src/aacp/dispatch/index.js';
import { runs } from '../../helpers/runs.js';

/** A guard with a clock that the test sets. */
function setUp(options: ReplayGuardOptions = {}) {
  let now = 1_000_000;
  const guard = replayGuard({ windowMs: 1_000, capacity: 3, now: () => now, ...options });
  const admit = (nonce: string, time = now): string => {
    const admission = guard.admit({ nonce, sentAt: time });
    return admission.ok ? 'in' : admission.reason;
  };
  return { guard, admit, at: (time: number) => (now = 1_000_000 + time) };
}

test('a nonce is admitted once, however often and with whatever time it is sent', () => {
  const { admit, at } = setUp();
  expect(admit('a')).toBe('in');
  expect(admit('a')).toBe('repeated');
  at(500);
  expect(admit('a')).toBe('repeated');
  expect(admit('b')).toBe('in');
});

test('a nonce from the future is remembered until its time has left the window', () => {
  const { admit, at } = setUp();
  expect(admit('a', 1_001_000)).toBe('in');
  at(1_999);
  expect(admit('a', 1_001_000)).toBe('repeated');
  expect(admit('a', 1_002_500)).toBe('repeated');
  at(2_001);
  expect(admit('a', 1_001_000)).toBe('too-old');
});

test.each([
  [-1_001, 'too-old'],
  [-1_000, 'in'],
  [1_000, 'in'],
  [1_001, 'too-new'],
])('a time that differs by %d is %s', (off, outcome) => {
  expect(setUp().admit('a', 1_000_000 + off)).toBe(outcome);
});

describe('an envelope is rejected if it', () => {
  test.each<[string, unknown, string]>([
    ['is missing', undefined, 'no-envelope'],
    ['is null', null, 'no-envelope'],
    ['is empty', {}, 'bad-envelope'],
    ['has no nonce', { sentAt: 1_000_000 }, 'bad-envelope'],
    ['has an empty nonce', { nonce: '', sentAt: 1_000_000 }, 'bad-envelope'],
    ['has a nonce that is too long', { nonce: 'x'.repeat(257), sentAt: 1_000_000 }, 'bad-envelope'],
    ['has a number as nonce', { nonce: 1, sentAt: 1_000_000 }, 'bad-envelope'],
    ['has no time', { nonce: 'a' }, 'bad-envelope'],
    ['has an invalid time', { nonce: 'a', sentAt: Number.NaN }, 'bad-envelope'],
    ['has a text as time', { nonce: 'a', sentAt: '1000000' }, 'bad-envelope'],
  ])('%s', (_name, envelope, reason) => {
    expect(setUp().guard.admit(envelope as never)).toEqual({ ok: false, reason });
  });
});

test('a full guard rejects packets, and forgets no nonce early', () => {
  const { guard, admit, at } = setUp();
  expect(['a', 'b', 'c', 'd'].map((nonce) => admit(nonce))).toEqual(['in', 'in', 'in', 'guard-full']);
  expect(admit('a')).toBe('repeated');
  expect(guard.size()).toBe(3);
  at(1_100);
  expect(admit('d')).toBe('in');
  expect(guard.size()).toBe(1);
});

test('a released nonce can be used again', () => {
  const { guard, admit } = setUp();
  const first = guard.admit({ nonce: 'a', sentAt: 1_000_000 });
  expect(first.ok).toBe(true);
  if (first.ok) first.release();
  expect(guard.size()).toBe(0);
  expect(admit('a')).toBe('in');
  expect(admit('a')).toBe('repeated');
});

test('a clock that is set back admits no nonce twice', () => {
  const { admit, at } = setUp();
  expect(admit('a', 1_000_000)).toBe('in');
  at(5_000);
  expect(admit('b')).toBe('in');
  at(0);
  expect(admit('a', 1_000_000)).toBe('too-old');
});

test('a clock that jumps by an hour and back rejects no new packet', () => {
  for (const jump of [3_600_000, -3_600_000]) {
    const { admit, at } = setUp({ capacity: 10 });
    expect(admit('a')).toBe('in');
    at(jump);
    expect(admit('b')).toBe('in');
    at(jump + 500);
    expect(admit('c')).toBe('in');
    at(100);
    expect(admit('a', 1_000_000)).not.toBe('in');
    expect(admit('d')).toBe('in');
    expect(admit('d')).toBe('repeated');
  }
});

test('with any jumps of the clock, no packet is admitted twice', () => {
  const steps = fc.array(fc.record({ nonce: fc.constantFrom('a', 'b'), time: fc.nat(40), now: fc.nat(40) }), {
    maxLength: 30,
  });
  const law = fc.property(steps, (list) => {
    let now = 0;
    const guard = replayGuard({ windowMs: 1_000, now: () => now });
    const taken = new Set<string>();
    for (const step of list) {
      now = 500 * step.now;
      const packet = `${step.nonce} ${step.time}`;
      if (!guard.admit({ nonce: step.nonce, sentAt: 500 * step.time }).ok) continue;
      expect(taken).not.toContain(packet);
      taken.add(packet);
    }
  });
  fc.assert(law, runs(1000));
});

test('names of Object.prototype are ordinary nonces', () => {
  const { admit } = setUp();
  expect(['__proto__', 'constructor', '__proto__'].map((nonce) => admit(nonce))).toEqual(['in', 'in', 'repeated']);
});

test.each<[ReplayGuardOptions, string]>([
  [{ windowMs: 0 }, 'windowMs'],
  [{ windowMs: Number.POSITIVE_INFINITY }, 'windowMs'],
  [{ windowMs: '1' as never }, 'windowMs'],
  [{ capacity: 0 }, 'capacity'],
  [{ capacity: 1.5 }, 'capacity'],
  [{ now: 5 as never }, 'now'],
])('%j is a TypeError', (options, name) => {
  expect(() => replayGuard(options)).toThrow(new RegExp(`^${name} must`));
});

test('in any order, no nonce is admitted twice, and all are forgotten in the end', () => {
  const steps = fc.array(
    fc.record({
      nonce: fc.constantFrom('a', 'b', 'c'),
      off: fc.integer({ min: -1_200, max: 1_200 }),
      wait: fc.nat(700),
    }),
  );
  const law = fc.property(steps, fc.integer({ min: 1, max: 3 }), (list, capacity) => {
    let now = 0;
    const guard = replayGuard({ windowMs: 1_000, capacity, now: () => now });
    /** The time at which each nonce may be admitted again, with a time that was too old to be remembered at its first use. */
    const remembered = new Map<string, number>();
    for (const { nonce, off, wait } of list) {
      now += wait;
      const time = now + off;
      const admission = guard.admit({ nonce, sentAt: time });
      expect(guard.size()).toBeLessThanOrEqual(capacity);
      if (!admission.ok) continue;
      expect(Math.abs(off)).toBeLessThanOrEqual(1_000);
      // Its earlier time was outside the window, so the earlier packet itself would be rejected.
      expect(now).toBeGreaterThan(remembered.get(nonce) ?? Number.NEGATIVE_INFINITY);
      remembered.set(nonce, time + 1_000);
    }
    now += 10_000;
    guard.admit({ nonce: 'z', sentAt: now });
    expect(guard.size()).toBe(1);
  });
  fc.assert(law, runs(300));
});
