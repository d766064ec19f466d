import { expect, test } from 'vitest';
import { createSchedule } from '../../../src/fuzz/process/schedule.js';

const CRASH = { kind: 'crash', detail: 'exit code 1' } as const;
const HANG = { kind: 'hang', timeoutMs: 1 } as const;

/** A schedule for texts, and their outcomes so far. */
function scheduleOf(window: number, inputs: readonly string[]) {
  const schedule = createSchedule(window);
  const outcomes: Record<string, string> = {};
  for (const input of inputs) {
    schedule.add({
      request: { input },
      resolve: (outcome) => {
        expect(outcomes).not.toHaveProperty(input);
        const note = outcome.kind !== 'answer' && outcome.note !== undefined ? ' in sequence' : '';
        outcomes[input] = outcome.kind + note;
      },
      reject: () => {
        outcomes[input] = 'rejected';
      },
    });
  }
  /** Takes all requests that may be sent now. */
  const send = (): string[] => {
    const sent: string[] = [];
    for (let next = schedule.next(); next !== undefined; next = schedule.next()) sent.push(next.input);
    return sent;
  };
  return { ...schedule, outcomes, send, answer: () => schedule.answered({ ok: true }) };
}

test('the limit of unanswered requests holds, and each answer admits one', () => {
  const { send, answer, outcomes, hasWork } = scheduleOf(2, ['a', 'b', 'c']);
  expect(send()).toEqual(['a', 'b']);
  answer();
  expect(send()).toEqual(['c']);
  answer();
  answer();
  expect([send(), hasWork(), outcomes]).toEqual([[], false, { a: 'answer', b: 'answer', c: 'answer' }]);
});

test('after a failure, the unanswered ones are sent one by one until one fails first in a run; then all continue', () => {
  const { send, answer, ended, outcomes } = scheduleOf(3, ['a', 'b', 'c', 'd']);
  send();
  ended(CRASH);
  expect(send()).toEqual(['a']);
  answer();
  expect(outcomes).toEqual({});
  expect(send()).toEqual(['b']);
  ended(HANG);
  // It came after another text: once more, first in a run.
  expect(send()).toEqual(['b']);
  ended(CRASH);
  expect(outcomes).toEqual({ a: 'answer', b: 'crash' });
  expect(send()).toEqual(['c', 'd']);
});

test('a text that fails only after another has a note', () => {
  const { send, answer, ended, outcomes } = scheduleOf(2, ['a', 'b']);
  send();
  ended(CRASH);
  send();
  answer();
  send();
  ended(HANG);
  expect(send()).toEqual(['b']);
  answer();
  expect(outcomes).toEqual({ a: 'answer', b: 'hang in sequence' });
});

test('if none fails alone, the first of them is reported', () => {
  const { send, answer, ended, outcomes } = scheduleOf(2, ['a', 'b', 'c']);
  send();
  ended(CRASH);
  send();
  answer();
  send();
  answer();
  expect(outcomes).toEqual({ a: 'crash in sequence', b: 'answer' });
  expect(send()).toEqual(['c']);
});

test('a text that fails as the first and only one of a run is not sent again', () => {
  const { send, ended, outcomes } = scheduleOf(5, ['a']);
  send();
  ended(CRASH);
  expect([send(), outcomes]).toEqual([[], { a: 'crash' }]);
});

test('an end without requests is reported for the next text, unless it was normal', () => {
  const { send, ended, outcomes } = scheduleOf(1, ['a', 'b']);
  ended(null);
  ended(CRASH);
  expect(send()).toEqual(['b']);
  expect(outcomes).toEqual({ a: 'crash in sequence' });
});

test('all waiting requests can be rejected', () => {
  const { send, answer, ended, rejectAll, outcomes, hasWork } = scheduleOf(3, ['a', 'b', 'c', 'd']);
  send();
  ended(CRASH);
  send();
  answer();
  send();
  rejectAll(new Error('closed'));
  expect(outcomes).toEqual({ a: 'rejected', b: 'rejected', c: 'rejected', d: 'rejected' });
  expect(hasWork()).toBe(false);
});
