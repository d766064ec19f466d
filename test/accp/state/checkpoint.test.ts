import { describe, expect, test } from 'vitest';
import { type JsonObject, ref } from '../../../src/accp/message/json.js';
import type {
  CheckpointResult,
  CheckpointTools,
  HotSnapshot,
  HotSnapshotWithFacts,
} from '../../../src/accp/state/state.js';
import { memoryStore } from '../../../src/accp/store/memory.js';
import { codeOf, counter, message, type Opened, open } from './open.js';

const PAYMENT: JsonObject = { transaction_id: 'txn_001', amount: 142.5, status: 'settled' };

/** A session with two messages in hot state. */
function begun(options: Parameters<typeof open>[0] = {}): Opened {
  const opened = open(options);
  opened.state.addFrame(
    message({ intent: 'req', operation: 'transaction', payload: { ...PAYMENT, status: 'pending' } }),
  );
  opened.state.addFrame(message({ intent: 'done', operation: 'transaction', payload: PAYMENT }));
  return opened;
}

/** A tool that returns on demand. */
function later<T>(): { answer: (value: T) => void; fail: () => void; promise: Promise<T> } {
  let answer: (value: T) => void = () => {};
  let fail: () => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    answer = resolve;
    fail = () => reject(new Error('the model is down'));
  });
  return { answer, fail, promise };
}

describe('checkpoint triggers', () => {
  test.each([
    ['done', 'done'],
    ['esc', 'esc'],
    ['comp', 'comp'],
    ['req', null],
    ['fail', null],
  ])('after %s: %s', (intent, trigger) => {
    const { state } = begun();
    expect(state.dueTrigger(intent)).toBe(trigger);
  });

  test('when hot state has more than 400 tokens, and not before', () => {
    const { state } = open();
    const word = message({ text: 'word' });
    for (let count = 0; count < 400; count++) state.addFrame(word);
    expect([state.hotTokens(), state.dueTrigger('ack')]).toEqual([400, null]);
    state.addFrame(word);
    expect([state.hotTokens(), state.dueTrigger('ack')]).toEqual([401, 'hot-tokens']);
  });
});

describe('a checkpoint', () => {
  test('leaves the summary in warm state, the messages in cold state and a reference in hot state', () => {
    const { state } = begun();
    state.set('hot', 'goal', { region: 'emea' });
    state.applyFull(3, { a: 1 });
    const tokensBefore = state.hotTokens();
    const result = state.checkpoint('done') as CheckpointResult;

    expect(result).toMatchObject({ id: 'ckpt_1', trigger: 'done', tokensBefore, exact: true });
    expect(result.facts).toContainEqual({ entity: 'txn_001', relation: 'transaction', value: 'dev' });
    expect(result.summary).toContain('settled');
    expect(state.resolve('warm.ckpt_1')).toMatchObject({
      summary: result.summary,
      status: 'done',
      version: 3,
      frames: 2,
      trigger: 'done',
      at: 1_775_466_037,
    });
    expect(state.resolve('cold.ckpt_1.frames.1.payload')).toEqual(PAYMENT);
    expect(state.resolve('cold.ckpt_1.hot.goal.region')).toBe('emea');
    expect(codeOf(() => state.resolve('hot.goal'))).toBe('E2001');
    expect(state.get('hot', 'ckpt')).toEqual(ref('warm.ckpt_1'));
    expect(state.resolve('ckpt.status')).toBe('done');
    expect(result.tokensAfter).toBe(counter.count('ckpt:"$warm.ckpt_1"'));
    expect(state.hotTokens()).toBe(result.tokensAfter);
  });

  test('finds every fact of its entry by a reference', () => {
    const { state } = begun();
    const { facts } = state.checkpoint('done') as CheckpointResult;
    expect(facts.length).toBeGreaterThan(0);
    for (const { entity, relation, value } of facts) {
      expect([state.resolve(`warm.ckpt_1.facts.${entity}.${relation}`)].flat()).toContain(value);
    }
  });

  test('of empty hot state is a checkpoint, too', () => {
    const { state } = open();
    expect(state.checkpoint('phase')).toMatchObject({ id: 'ckpt_1', summary: '', facts: [], tokensBefore: 0 });
    expect(state.resolve('warm.ckpt_1.status')).toBe('open');
  });

  test('keeps its entry within 200 tokens as JSON, for any content', () => {
    const { state } = open();
    for (let index = 0; index < 12; index++) {
      const payload = Object.fromEntries(['a', 'b', 'c', 'd'].map((key) => [key + index, `value_${index}_${key}`]));
      state.addFrame(message({ intent: 'req', payload }));
    }
    const { warmTokens, summary } = state.checkpoint('hot-tokens') as CheckpointResult;
    const entry = JSON.stringify(state.resolve('warm.ckpt_1'));
    expect(counter.count(entry)).toBe(warmTokens);
    expect(warmTokens).toBeLessThanOrEqual(200);
    expect(warmTokens).toBeGreaterThan(150);
    expect(counter.count(summary)).toBeLessThanOrEqual(100);
    expect(state.budget().warm.checkpoints).toEqual([{ id: 'ckpt_1', tokens: warmTokens }]);
  });

  test('that does not fit into the budget is E2003, and hot state is unchanged', () => {
    const { state } = begun({ budgets: { checkpoint: 10 } });
    const tokens = state.hotTokens();
    expect(codeOf(() => state.checkpoint('done'))).toBe('E2003');
    expect(codeOf(() => state.checkpoint('done', { summarize: () => 'short' }))).toBe('E2003');
    expect(state.hotTokens()).toBe(tokens);
  });

  test('omits facts, then words, if the budget is small', () => {
    const { state } = begun({ budgets: { checkpoint: 60 } });
    const { facts, summary, warmTokens } = state.checkpoint('done', {
      summarize: () => 'word '.repeat(90),
    }) as CheckpointResult;
    expect(facts).toEqual([]);
    expect(summary).toMatch(/^word( word)*$/);
    expect(warmTokens).toBeLessThanOrEqual(60);
  });

  test('is the same after the process has ended, and the next one has the next number', () => {
    const { state, journal, store } = begun();
    const { summary } = state.checkpoint('done') as CheckpointResult;
    journal.commit();
    const next = open({ store }).state;
    expect(next.resolve('ckpt.summary')).toBe(summary);
    expect(next.resolve('warm.ckpt_1')).toEqual(state.resolve('warm.ckpt_1'));
    expect(next.checkpoint('phase')).toMatchObject({ id: 'ckpt_2' });
  });

  test('never uses the number of another endpoint that shares the store', () => {
    const store = memoryStore();
    const a = begun({ store, agent: 'a' });
    a.state.checkpoint('done');
    a.journal.commit();
    const b = open({ store, agent: 'b' });
    b.state.addFrame(message({ payload: { task: 'other' } }));
    expect(b.state.checkpoint('phase')).toMatchObject({ id: 'ckpt_2' });
    b.journal.commit();
    expect(a.state.resolve('cold.ckpt_1.frames.1.payload')).toEqual(PAYMENT);
    expect(b.state.resolve('warm.ckpt_1.status')).toBe('done');
  });

  test('is logged with its numbers', () => {
    const { state, notes } = begun();
    state.checkpoint('done');
    expect(notes).toEqual([{ type: 'checkpoint', message: expect.stringContaining('ckpt_1') as string }]);
  });
});

describe('an endless session', () => {
  test.each<[string, CheckpointTools]>([
    ['the defaults', {}],
    ['a summarizer of its own', { summarize: ({ id }) => `summary of ${id}` }],
  ])('stores few checkpoints in memory and resolves all, with %s', (_name, tools) => {
    const { state, journal } = open({ keepCheckpoints: 3 });
    for (let index = 1; index <= 10; index++) {
      state.addFrame(message({ intent: 'done', payload: { task: `task_${index}`, status: 'complete' } }));
      state.checkpoint('done', tools);
      journal.commit();
    }
    expect(state.budget().warm.checkpoints.map(({ id }) => id)).toEqual(['ckpt_8', 'ckpt_9', 'ckpt_10']);
    for (let index = 1; index <= 10; index++) {
      expect(JSON.stringify(state.resolve(`warm.ckpt_${index}`))).toContain(
        tools.summarize === undefined ? `task_${index}` : `summary of ckpt_${index}`,
      );
    }
    expect(state.resolve('ckpt_1.frames')).toBe(1);
    expect(codeOf(() => state.resolve('warm.ckpt_11'))).toBe('E2001');
  });
});

describe("the host's tools", () => {
  test('receive the frozen content, and their results are stored', () => {
    const { state } = begun();
    const seen: HotSnapshot[] = [];
    const result = state.checkpoint('esc', {
      extractFacts: (frozen) => {
        seen.push(frozen);
        return [{ entity: 'txn_001', relation: 'risk', value: 'low' }];
      },
      summarize: ({ facts, frames }) => `${frames.length} messages, ${facts[0]!.relation} ${facts[0]!.value}`,
    });
    expect(seen[0]).toMatchObject({ id: 'ckpt_1', trigger: 'esc', frames: [{ agent: 'dev' }, { payload: PAYMENT }] });
    expect(result).toMatchObject({ summary: '2 messages, risk low', facts: [{ relation: 'risk' }] });
    expect(state.resolve('warm.ckpt_1.facts.txn_001.risk')).toBe('low');
  });

  test('cannot change stored data', () => {
    const spoil = (frozen: HotSnapshotWithFacts): string => {
      const attempts = [
        () => Object.assign(frozen.frames, { length: 0 }),
        () => Object.assign(frozen.frames[1]!, { agent: 'mallory' }),
        () => Object.assign(frozen.frames[1]!.payload, { status: 'failed' }),
        () => Object.assign(frozen.values['goal']!, { value: 'apac' }),
        () => Object.assign(frozen.facts, { length: 0 }),
        () => Object.assign(frozen.facts[0]!, { value: 'invented' }),
        () => Object.assign(frozen, { id: 'ckpt_7' }),
      ];
      return `${attempts.map(codeOf).filter((code) => code === 'none').length} changes`;
    };
    const { state } = begun();
    state.set('hot', 'goal', 'emea');
    const { summary, facts } = state.checkpoint('done', { summarize: spoil }) as CheckpointResult;
    expect(summary).toBe('0 changes');
    expect(facts).toContainEqual({ entity: 'txn_001', relation: 'transaction', value: 'dev' });
    expect(state.resolve('cold.ckpt_1.frames.1')).toMatchObject({ agent: 'dev', payload: PAYMENT });
    expect(state.resolve('cold.ckpt_1.hot.goal')).toBe('emea');
  });

  test('have long results cut at a word, which is logged', () => {
    const { state, notes } = begun();
    const { summary } = state.checkpoint('done', { summarize: () => 'alpha beta\n'.repeat(500) }) as CheckpointResult;
    expect(summary).toMatch(/^(alpha beta )*alpha( beta)?$/);
    expect(counter.count(summary)).toBeGreaterThan(95);
    expect(counter.count(summary)).toBeLessThanOrEqual(100);
    expect(notes).toContainEqual({ type: 'warning', message: expect.stringContaining('cut') as string });
  });

  test('have one endless word cut', () => {
    const { state } = begun();
    const { summary } = state.checkpoint('done', { summarize: () => '\u{1f600}'.repeat(50_000) }) as CheckpointResult;
    expect(counter.count(summary)).toBeLessThanOrEqual(100);
    expect(summary).toMatch(/^\u{1f600}+$/u);
  });

  test.each<[string, CheckpointTools]>([
    [
      'a summarizer that throws',
      {
        summarize: () => {
          throw new Error('down');
        },
      },
    ],
    ['a summarizer that rejects', { summarize: () => Promise.reject(new Error('down')) }],
    ['a summarizer that says nothing', { summarize: () => ' ' }],
    ['a summarizer that answers no text', { summarize: () => 42 as unknown as string }],
    [
      'an extractor that throws',
      {
        extractFacts: () => {
          throw new Error('down');
        },
      },
    ],
    ['an extractor that rejects', { extractFacts: () => Promise.reject(new Error('down')) }],
    ['an extractor that answers no facts', { extractFacts: () => [{ entity: '' }] as never }],
  ])('are replaced by the defaults: %s', async (_name, tools) => {
    const expected = begun().state.checkpoint('done') as CheckpointResult;
    const { state, notes } = begun();
    const { summary, facts } = await state.checkpoint('done', tools);
    expect({ summary, facts }).toEqual({ summary: expected.summary, facts: expected.facts });
    expect(notes).toContainEqual({ type: 'warning', message: expect.stringContaining('default') as string });
  });
});

describe('a checkpoint whose summary comes later', () => {
  test('does not block new messages', async () => {
    const { state } = begun();
    const summary = later<string>();
    const result = state.checkpoint('done', { summarize: () => summary.promise });
    expect(result).toBeInstanceOf(Promise);
    expect(state.hotTokens()).toBe(0);
    const frame = message({ payload: { task: 'next' } });
    state.addFrame(frame);
    summary.answer('all is paid');
    const tokensAfter = counter.count(frame.text) + counter.count('ckpt:"$warm.ckpt_1"');
    expect(await result).toMatchObject({ summary: 'all is paid', tokensAfter });
    expect(state.hotTokens()).toBe(tokensAfter);
    expect(state.resolve('cold.ckpt_1.frames.1.payload')).toEqual(PAYMENT);
  });

  test('may finish after a later one, to which the reference remains', async () => {
    const { state } = begun();
    const first = later<string>();
    const second = later<string>();
    const slow = state.checkpoint('done', { summarize: () => first.promise });
    state.addFrame(message({ intent: 'esc', payload: { task: 'next' } }));
    const fast = state.checkpoint('esc', { summarize: () => second.promise });
    second.answer('second');
    await fast;
    expect(state.get('hot', 'ckpt')).toEqual(ref('warm.ckpt_2'));
    first.answer('first');
    await slow;
    expect(state.get('hot', 'ckpt')).toEqual(ref('warm.ckpt_2'));
    expect(state.resolve('warm.ckpt_1.summary')).toBe('first');
    expect(state.budget().warm.checkpoints.map(({ id }) => id)).toEqual(['ckpt_1', 'ckpt_2']);
  });

  test('is finished after a restart, once', async () => {
    const { state, journal, store } = begun();
    state.set('hot', 'goal', 'emea');
    void state.checkpoint('done', { summarize: () => new Promise(() => {}) });
    journal.commit();

    const resumed = open({ store });
    expect(resumed.state.hotTokens()).toBe(0);
    const results = await Promise.all(resumed.state.resumeCheckpoints({ summarize: async () => 'told at last' }));
    expect(results).toMatchObject([{ id: 'ckpt_1', trigger: 'done', summary: 'told at last' }]);
    expect(resumed.state.resumeCheckpoints()).toEqual([]);
    expect(resumed.state.resolve('ckpt.summary')).toBe('told at last');
    expect(resumed.state.resolve('cold.ckpt_1.hot.goal')).toBe('emea');
    resumed.journal.commit();

    const third = open({ store });
    expect(third.state.resumeCheckpoints()).toEqual([]);
    expect(third.state.resolve('ckpt.summary')).toBe('told at last');
  });

  test('loses nothing if the process ends before anything is stored', () => {
    const { state, journal, store } = begun();
    journal.commit();
    const tokens = state.hotTokens();
    void state.checkpoint('done', { summarize: () => new Promise(() => {}) });
    const resumed = open({ store });
    expect(resumed.state.hotTokens()).toBe(tokens);
    expect(resumed.state.resumeCheckpoints()).toEqual([]);
  });
});

test('a message may refer to the checkpoint that contains it', () => {
  const { state } = begun();
  state.addFrame(message({ intent: 'done', operation: 'note', payload: { source: ref('warm.ckpt_1') } }));
  state.addFrame(message({ intent: 'done', operation: 'note', payload: { source: ref('warm.ckpt_1.status') } }));
  const { summary } = state.checkpoint('done') as CheckpointResult;
  expect(summary).toContain('txn_001');
  expect(state.resolve('warm.ckpt_1')).toMatchObject({ summary, status: 'done', frames: 4 });
});

describe('tools that do not return', () => {
  const silent: CheckpointTools = { summarize: () => new Promise(() => {}) };

  test('time out after a minute, at the next tick', async () => {
    const expected = begun().state.checkpoint('done') as CheckpointResult;
    const { state, clock, notes } = begun();
    const result = state.checkpoint('done', silent);
    state.finishOverdue((clock.now + 60) * 1000);
    expect(state.get('hot', 'ckpt')).toBeUndefined();
    state.finishOverdue((clock.now + 61) * 1000);
    expect(state.get('hot', 'ckpt')).toEqual(ref('warm.ckpt_1'));
    expect(state.resolve('warm.ckpt_1.summary')).toBe(expected.summary);
    expect(await result).toMatchObject({ id: 'ckpt_1', summary: expected.summary, facts: expected.facts });
    expect(notes).toContainEqual({ type: 'warning', message: expect.stringContaining('took too long') as string });
  });

  test('time out after a minute, at the next checkpoint', async () => {
    const { state, clock } = begun();
    const result = state.checkpoint('done', silent);
    clock.now += 61;
    void state.checkpoint('phase', silent);
    expect(await result).toMatchObject({ id: 'ckpt_1' });
    expect(state.get('hot', 'ckpt')).toEqual(ref('warm.ckpt_1'));
  });

  test('never delay more than four checkpoints', () => {
    const { state, journal, store } = open();
    for (let index = 0; index < 50; index++) {
      state.addFrame(message({ intent: 'done', payload: { task: `task_${index}` } }));
      void state.checkpoint('done', silent);
      journal.commit();
    }
    const held = [...store.claim('own', 'me').entries()].filter(({ collection }) => collection === 'state.frozen');
    expect(held.map(({ key }) => key)).toEqual(['ckpt_47', 'ckpt_48', 'ckpt_49', 'ckpt_50']);
    expect(state.resolve('warm.ckpt_46.frames')).toBe(1);
    expect(JSON.stringify(state.resolve('cold.ckpt_50'))).toContain('task_49');
  });

  test.each<[string, (promise: Promise<never>) => CheckpointTools, unknown]>([
    ['summaries', (promise) => ({ summarize: () => promise }), 'took too long'],
    [
      'facts',
      (promise) => ({ extractFacts: () => promise, summarize: () => 'of late facts' }),
      [{ entity: 'x', relation: 'is', value: 'late' }],
    ],
  ])('have late %s ignored', async (_what, tools, given) => {
    const { state, clock, journal, store } = begun();
    const answer = later<never>();
    const result = state.checkpoint('done', tools(answer.promise));
    state.finishOverdue((clock.now + 61) * 1000);
    const { summary } = await result;
    answer.answer(given as never);
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(state.resolve('warm.ckpt_1.summary')).toBe(summary);
    expect(JSON.stringify(state.resolve('warm.ckpt_1'))).not.toContain('late');
    journal.commit();
    expect(open({ store }).state.resumeCheckpoints()).toEqual([]);
  });

  test('time out in a resumed session, too', async () => {
    const { state, journal, store } = begun();
    void state.checkpoint('done', silent);
    journal.commit();
    const resumed = open({ store });
    const [result] = resumed.state.resumeCheckpoints(silent);
    resumed.state.finishOverdue((resumed.clock.now + 61) * 1000);
    expect(await result).toMatchObject({ id: 'ckpt_1' });
    resumed.journal.commit();
    expect(open({ store }).state.resumeCheckpoints()).toEqual([]);
  });
});
