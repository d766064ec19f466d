import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JOB_STATES } from '../../../src/arcp/index.js';
import { isTerminal, resolveRetry, retryDelay, TRANSITIONS } from '../../../src/arcp/runtime/job/spec.js';
import { negotiate } from '../../../src/arcp/runtime/sessions/session.js';

describe('states of a job', () => {
  const legal = [
    'accepted>queued accepted>running accepted>cancelled accepted>failed',
    'queued>running queued>paused queued>cancelled queued>failed',
    'running>blocked running>paused running>queued running>completed running>failed running>cancelled',
    'blocked>running blocked>queued blocked>paused blocked>failed blocked>cancelled',
    'paused>queued paused>cancelled paused>failed',
  ].flatMap((line) => line.split(' '));

  test.each(JOB_STATES.flatMap((from) => JOB_STATES.map((to) => ({ from, to }))))(
    'from $from to $to',
    ({ from, to }) => {
      const isLegal = legal.includes(`${from}>${to}`);
      expect(TRANSITIONS[from].includes(to)).toBe(isLegal);
    },
  );

  test('three of them are terminal', () => {
    expect(JOB_STATES.filter(isTerminal)).toEqual(['completed', 'failed', 'cancelled']);
  });
});

describe('retries', () => {
  const retry = resolveRetry({ maxAttempts: 5, backoffMs: 100, factor: 3, maxBackoffMs: 1000 });
  const error = { code: 'RATE_LIMITED', message: '' };

  test('wait longer each time, up to a limit, and end', () => {
    expect([1, 2, 3, 4, 5].map((attempt) => retryDelay(error, attempt, retry))).toEqual([
      100,
      300,
      900,
      1000,
      undefined,
    ]);
  });

  test('wait at least as long as the error requires', () => {
    expect(retryDelay({ ...error, details: { retry_after_seconds: 2 } }, 1, retry)).toBe(2000);
    expect(retryDelay({ ...error, details: { retry_after_seconds: 0.01 } }, 1, retry)).toBe(100);
    expect(retryDelay({ ...error, details: { retry_after_seconds: 'soon' } }, 1, retry)).toBe(100);
  });

  test.each([
    [{ code: 'UNAVAILABLE', message: '' }, true],
    [{ code: 'INVALID_ARGUMENT', message: '' }, false],
    [{ code: 'INTERNAL', message: '' }, false],
    [{ code: 'INTERNAL', message: '', retryable: true }, true],
    [{ code: 'UNAVAILABLE', message: '', retryable: false }, false],
    [{ code: 'X_OF_MY_OWN', message: '' }, false],
    [{ code: 'toString', message: '' }, false],
  ])('of %j: %s', (body, expected) => {
    expect(retryDelay(body, 1, retry) !== undefined).toBe(expected);
  });

  test.each([
    { maxAttempts: 0 },
    { maxAttempts: 1.5 },
    { backoffMs: -1 },
    { factor: 0.5 },
    { maxBackoffMs: Number.NaN },
  ])('%j is refused', (policy) => {
    expect(() => resolveRetry(policy)).toThrow(TypeError);
  });
});

describe('capabilities', () => {
  test.each([
    ['both', { streaming: true }, { streaming: true }, { streaming: true }],
    ['one of them', { streaming: true }, { streaming: false }, { streaming: false }],
    [
      'one of one side only',
      { streaming: true, durable_jobs: true },
      { checkpoints: true },
      { streaming: false, durable_jobs: false, checkpoints: false },
    ],
    [
      'the five of the specification',
      { streaming: true, durable_jobs: true, checkpoints: true, binary_streams: false, agent_handoff: true },
      { streaming: true, durable_jobs: true, checkpoints: false, binary_streams: true },
      { streaming: true, durable_jobs: true, checkpoints: false, binary_streams: false, agent_handoff: false },
    ],
    ['lists', { codecs: ['a', 'b', 'c'] }, { codecs: ['c', 'a'] }, { codecs: ['a', 'c'] }],
    ['numbers', { 'x.acme.limit': 5 }, { 'x.acme.limit': 3 }, { 'x.acme.limit': 3 }],
    ['unknown ones of both sides', { 'x.acme': true }, { 'x.acme': true }, { 'x.acme': true }],
    ['unknown ones of one side', { 'x.acme': true }, { 'x.other': true }, {}],
    ['one that is not a boolean of one side', { streaming: true }, { streaming: 'yes' }, { streaming: false }],
    ['other equal values', { x: { a: 1 } }, { x: { a: 1 } }, { x: { a: 1 } }],
    ['other different values', { x: { a: 1 } }, { x: { a: 2 } }, {}],
  ])('%s', (_, ours, theirs, agreed) => {
    expect(negotiate(ours, theirs)).toEqual(agreed);
  });

  test('are symmetric, and never exceed those of either side', () => {
    const capabilities = fc.dictionary(
      fc.constantFrom('streaming', 'a', 'b', '__proto__', 'toString'),
      fc.oneof(fc.boolean(), fc.nat(9)),
    );
    fc.assert(
      fc.property(capabilities, capabilities, (one, other) => {
        const agreed = negotiate(one, other);
        expect(agreed).toEqual(negotiate(other, one));
        for (const [name, value] of Object.entries(agreed))
          if (value === true) expect([one[name], other[name]]).toEqual([true, true]);
      }),
    );
  });
});
