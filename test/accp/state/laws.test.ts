import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/accp/message/json.js';
import { summarizeFacts } from '../../../src/accp/state/digest.js';
import { extractFacts } from '../../../src/accp/state/facts/extract.js';
import type { CheckpointResult, HotFrame } from '../../../src/accp/state/state.js';
import { stateText } from '../../../src/accp/state/tier.js';
import { counter, message, open } from './open.js';

const words = fc.constantFrom(
  'revenue',
  'agreed',
  '12%',
  'May',
  '3',
  'Priya',
  'no',
  'to',
  'task_4',
  '2026-05-12',
  '?',
  ';',
  '.',
);
const texts = fc.oneof(
  fc.array(words, { maxLength: 20 }).map((some) => some.join(' ')),
  fc.array(words, { maxLength: 5 }).map((some) => some.join('_')),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
);
const keys = fc.oneof(
  fc.constantFrom(
    'task',
    'id',
    'status',
    'content',
    'result',
    'findings',
    'delta',
    'target',
    'msg',
    'code',
    'note',
    '__proto__',
  ),
  fc.stringMatching(/^[a-z_]{1,6}$/),
);
const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    texts,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.bigInt(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
  ),
}));
const messages = fc.array(
  fc.record({
    agent: fc.constantFrom('dev', 'qa', 'planner'),
    intent: fc.constantFrom('req', 'done', 'fail', 'esc', 'sync', 'ack', 'wait'),
    operation: fc.constantFrom('plan', 'error', 'approve', 'tool', 'state', 'chat'),
    schema: fc.constantFrom(undefined, 'TC', 'TX', 'CH', 'ER', 'TA'),
    payload: fc.dictionary(keys, values, { maxKeys: 6 }) as fc.Arbitrary<JsonObject>,
  }),
  { minLength: 1, maxLength: 6 },
);

/** Returns all keys and values of messages, one per line; spaces and underscores are equivalent, as in facts of sentences. */
function everything(some: readonly { readonly agent: string; readonly payload: JsonObject }[]): string {
  const lines: string[] = [];
  const walk = (value: Json): void => {
    if (typeof value !== 'object' || value === null) lines.push(String(value));
    else for (const [key, inner] of Object.entries(value)) lines.push(key) && walk(inner as Json);
  };
  for (const { agent, payload } of some) {
    lines.push(agent);
    walk(payload);
  }
  return folded(lines.join('\n'));
}

function folded(text: string): string {
  return text.replace(/[\s_]+/g, ' ').trim();
}

describe('of any messages', () => {
  test('no fact invents a value', () => {
    fc.assert(
      fc.property(messages, (some) => {
        const text = everything(some);
        for (const { value } of extractFacts(some)) expect(text).toContain(folded(String(value)));
      }),
      { numRuns: 300 },
    );
  });

  test('the facts and the summary are always the same', () => {
    fc.assert(
      fc.property(messages, (some) => {
        const facts = extractFacts(some);
        expect(extractFacts(structuredClone(some))).toEqual(facts);
        expect(summarizeFacts(facts, 100, counter)).toBe(summarizeFacts([...facts], 100, counter));
      }),
      { numRuns: 200 },
    );
  });

  test('no summary and no entry exceeds its budget', () => {
    fc.assert(
      fc.property(
        messages,
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 80, max: 300 }),
        (some, summary, checkpoint) => {
          const { state } = open({ budgets: { hot: 100_000, summary, checkpoint } });
          for (const given of some) state.addFrame(message({ ...(given as Partial<HotFrame>), text: 'short' }));
          const result = state.checkpoint('phase') as CheckpointResult;
          expect(counter.count(result.summary)).toBeLessThanOrEqual(summary);
          expect(counter.count(stateText(state.resolve('warm.ckpt_1')))).toBe(result.warmTokens);
          expect(result.warmTokens).toBeLessThanOrEqual(checkpoint);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('of large messages', () => {
  test('no more than a thousand facts are kept', () => {
    const long = 'no Priya 12% agreed; '.repeat(100_000);
    const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
    const list = Array.from({ length: 100_000 }, (_, index) => ({ id: index, v: index }));
    for (const payload of [
      { content: long },
      { note: long },
      wide,
      { d: list },
      { d: '_'.repeat(1_000_000) },
      { content: ' '.repeat(1_000_000) },
    ]) {
      expect(extractFacts([{ agent: 'a', intent: 'done', operation: 'x', payload }]).length).toBeLessThanOrEqual(1000);
    }
  });
});
