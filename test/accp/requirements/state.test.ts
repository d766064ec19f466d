/** Context state (draft-benzing-accp-00, section 5), with exact token counts. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Json, type Message, type MessageInput, ref } from '../../../src/accp/codec/index.js';
import { loadTokenCounter } from '../../../src/tokens/index.js';
import { accepted, COUNTS_X, type Endpoints, endpoints, taken, thrownBy } from './endpoints.js';

const EXACT = await loadTokenCounter('o200k_base');
const exactly = (): Endpoints => endpoints({ codec: { counter: EXACT } });
const note = (text: string, rest: Partial<MessageInput> = {}): MessageInput => ({
  intent: 'req',
  operation: 'run',
  payload: { words: text },
  ...rest,
});

/** Returns the value of a reference on the other side. */
function resolved({ codec, planner, worker }: Endpoints, path: string): Json | undefined {
  const { frames } = codec.encode({ intent: 'qry', operation: 'lookup', payload: { v1: ref(path) } }, planner);
  return accepted(codec.decode(frames[0]!, worker)).message.payload['v1'];
}

describe('the three tiers (section 5.1)', () => {
  test('hot state holds frames and parameters, at most 500 tokens of them, counted exactly', () => {
    const { codec, planner } = exactly();
    const { frames } = codec.encode(note('the_plan'), planner);
    planner.state.set('hot', 'goal', 'launch');
    const { hot, exact } = codec.getBudget(planner);
    expect(exact).toBe(true);
    expect(hot).toEqual({
      used: EXACT.count(taken(frames[0]!).body) + EXACT.count('goal:"launch"'),
      max: 500,
      trigger: 400,
    });
  });

  test('hot state: values beyond the budget are rejected, and existing ones stay', () => {
    const { codec, planner } = endpoints({ codec: { counter: COUNTS_X } });
    codec.getBudget(planner);
    planner.state.set('hot', 'a', 'x'.repeat(500));
    expect(codec.getBudget(planner).hot.used).toBe(500);
    expect(thrownBy(() => planner.state.set('hot', 'b', 'x'.repeat(501))).code).toBe('E2003');
    expect(planner.state.get('hot', 'a')).toBe('x'.repeat(500));
  });

  test('hot state stays within its budget for any messages', () => {
    const turns = fc.array(fc.tuple(fc.constantFrom('req', 'wait', 'done'), fc.integer({ min: 0, max: 700 })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(turns, (said) => {
        const { codec, planner, worker } = endpoints({ codec: { counter: COUNTS_X } });
        for (const [intent, length] of said) {
          const { frames } = codec.encode(note('x'.repeat(length + 1), { intent }), planner);
          const outcomes = frames.map((frame) => codec.decode(frame, worker));
          expect(accepted(outcomes.at(-1)!).message.payload['words']).toHaveLength(length + 1);
          for (const end of [planner, worker]) expect(codec.getBudget(end).hot.used).toBeLessThanOrEqual(500);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('warm state holds the summaries and facts of checkpoints, and frames refer to them', () => {
    const ends = exactly();
    const { codec, planner, worker } = ends;
    const sent = codec.encode(note('ready', { intent: 'done', payload: { revenue: 12, status: 'ready' } }), planner);
    accepted(codec.decode(sent.frames[0]!, worker));
    expect(resolved(ends, 'warm.ckpt_1.status')).toBe('done');
    expect(resolved(ends, 'warm.ckpt_1.summary')).toEqual(expect.stringContaining('revenue'));
  });

  test('warm state: no checkpoint has more than 200 tokens, for any messages', () => {
    const { codec, planner } = exactly();
    for (let turn = 0; turn < 6; turn++) {
      const payload = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`metric_${at}`, turn * 1000 + at]));
      codec.encode({ intent: turn === 5 ? 'done' : 'req', operation: 'analyze', payload }, planner);
    }
    const { warm } = codec.getBudget(planner);
    expect(warm.perCheckpoint).toBe(200);
    expect(warm.checkpoints.length).toBeGreaterThan(0);
    for (const { tokens } of warm.checkpoints) {
      expect(tokens).toBeGreaterThan(20);
      expect(tokens).toBeLessThanOrEqual(200);
    }
  });

  test('warm state: an entry of the host of more than 200 tokens is rejected', () => {
    const { codec, planner } = endpoints({ codec: { counter: COUNTS_X } });
    codec.getBudget(planner);
    planner.state.set('warm', 'a', 'x'.repeat(200));
    expect(thrownBy(() => planner.state.set('warm', 'b', 'x'.repeat(201))).code).toBe('E2003');
  });

  test('cold state holds the history and raw outputs, is referred to, and costs no tokens', () => {
    const ends = endpoints({ shared: true, codec: { counter: EXACT } });
    const { codec, planner } = ends;
    codec.getBudget(planner);
    planner.state.set('cold', 'output', { rows: Array.from({ length: 2000 }, (_, at) => `row_${at}`) });
    const { hot, warm, cold } = codec.getBudget(planner);
    expect([hot.used, warm.used, cold.used]).toEqual([0, 0, 0]);
    expect(resolved(ends, 'cold.output.rows.1999')).toBe('row_1999');
  });

  test('a reference without a tier is looked up in hot, warm and cold state in turn', () => {
    const { codec, planner } = exactly();
    codec.getBudget(planner);
    for (const tier of ['cold', 'warm', 'hot'] as const) {
      planner.state.set(tier, 'goal', tier);
      expect(planner.state.resolve('goal')).toBe(tier);
    }
  });
});

describe('checkpoint triggers (section 5.2)', () => {
  test.each([
    ['1. an agent completes a task', 'done'],
    ['3. a handoff between agents occurs', 'esc'],
    ['5. an agent asks for compression', 'comp'],
  ])('%s: a %s frame makes a checkpoint, at both ends', (_what, intent) => {
    const { codec, planner, worker } = exactly();
    const sent = codec.encode(note('ready', { intent }), planner);
    expect(sent.checkpoint).toMatchObject({ id: 'ckpt_1', trigger: intent });
    const received = accepted(codec.decode(sent.frames[0]!, worker));
    expect(received.checkpoint).toMatchObject({ id: 'ckpt_1', trigger: intent });
  });

  test('2. hot state exceeds 400 tokens: at 400 there is no checkpoint, at 401 there is one', () => {
    for (const [tokens, trigger] of [
      [400, undefined],
      [401, 'hot-tokens'],
    ] as const) {
      const { codec, planner, worker } = endpoints({ codec: { counter: COUNTS_X } });
      accepted(codec.decode(codec.encode(note('x'.repeat(200)), planner).frames[0]!, worker));
      const { frames, checkpoint } = codec.encode(note('x'.repeat(tokens - 202)), planner);
      expect(checkpoint).toBeUndefined();
      accepted(codec.decode(frames[0]!, worker));
      const last = codec.encode(note('xx'), planner);
      expect((last.checkpoint as { trigger?: string } | undefined)?.trigger).toBe(trigger);
      const received = accepted(codec.decode(last.frames[0]!, worker)).checkpoint;
      expect((received as { trigger?: string } | undefined)?.trigger).toBe(trigger);
    }
  });

  test('4. the harness signals a phase boundary', async () => {
    const { codec, planner } = exactly();
    codec.encode(note('ready'), planner);
    expect(await codec.checkpoint(planner)).toMatchObject({ id: 'ckpt_1', trigger: 'phase' });
  });

  test.each(['req', 'fail', 'wait', 'sync', 'qry', 'ack', 'cancel', 'stream', 'end'])(
    '%s makes none by itself',
    (intent) => {
      const { codec, planner } = exactly();
      const sent = codec.encode(note('ready', { intent, envelope: { correlation_id: 'c1' } }), planner);
      expect(sent.checkpoint).toBeUndefined();
    },
  );
});

describe('the checkpoint process (section 5.3)', () => {
  test('1. hot state is frozen: messages that arrive during the summary are not part of it', async () => {
    let finish: (summary: string) => void = () => {};
    const summarize = (): Promise<string> =>
      new Promise((resolve) => {
        finish = resolve;
      });
    const { codec, planner } = endpoints({ codec: { checkpointTools: { summarize } } });
    codec.encode(note('before'), planner);
    const pending = codec.checkpoint(planner);
    await Promise.resolve();
    codec.encode(note('meanwhile'), planner);
    finish('it went well');
    expect(await pending).toMatchObject({ summary: 'it went well' });
    const { frames } = planner.state.resolve('cold.ckpt_1') as unknown as { frames: readonly Message[] };
    expect(frames.map(({ payload }) => payload['words'])).toEqual(['before']);
    expect(codec.getBudget(planner).hot.used).toBeGreaterThan(0);
  });

  test('2. key facts are extracted as triples of entity, relation and value', async () => {
    const { codec, planner } = exactly();
    const payload = { source: 'crm', revenue: -12.5, segment: { name: 'enterprise', trend: 'decline' } };
    codec.encode({ intent: 'done', operation: 'analyze', payload }, planner);
    const { facts } = await codec.checkpoint(planner);
    expect(facts).toEqual([]);
    const first = codec.encode({ intent: 'done', operation: 'analyze', payload }, planner).checkpoint;
    const found = (await first)!.facts;
    for (const value of ['crm', -12.5, 'enterprise', 'decline']) {
      expect(found).toContainEqual(
        expect.objectContaining({ entity: expect.any(String), relation: expect.any(String), value }),
      );
    }
  });

  test('2. the content of an error frame is a fact', async () => {
    const { codec, planner } = exactly();
    const payload = { code: 'E4002', message: 'connection_timed_out', tool_name: 'web_search' };
    codec.encode({ intent: 'fail', operation: 'error', schema: 'ER', payload }, planner);
    const { facts } = await codec.checkpoint(planner);
    for (const value of ['E4002', 'connection_timed_out', 'web_search']) expect(JSON.stringify(facts)).toContain(value);
  });

  test('2. a message of a single word is a fact, too', async () => {
    const { codec, planner } = exactly();
    codec.encode({ intent: 'req', operation: 'plan', payload: { goal: 'launch' } }, planner);
    expect(JSON.stringify((await codec.checkpoint(planner)).facts)).toContain('launch');
  });

  test('2. the same messages give the same facts and summary', async () => {
    const once = async (): Promise<unknown> => {
      const { codec, planner } = endpoints({ codec: { counter: EXACT, createId: counting() } });
      codec.encode({ intent: 'req', operation: 'fetch', payload: { source: 'crm' } }, planner);
      return await codec.encode({ intent: 'done', operation: 'fetch', payload: { rows: 7 } }, planner).checkpoint;
    };
    expect(await once()).toEqual(await once());
  });

  test('3. the summary has at most 100 tokens: the default one, and that of a host', async () => {
    const wordy = 'quarterly revenue declined '.repeat(80);
    for (const checkpointTools of [{}, { summarize: () => wordy }]) {
      const { codec, planner } = endpoints({ codec: { counter: EXACT, checkpointTools } });
      const payload = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`metric_${at}`, `value_${at}`]));
      const { checkpoint } = codec.encode({ intent: 'done', operation: 'analyze', payload }, planner);
      const { summary } = (await checkpoint)!;
      expect(EXACT.count(summary)).toBeGreaterThan(30);
      expect(EXACT.count(summary)).toBeLessThanOrEqual(100);
    }
  });

  test('4. the summary moves to warm state under the identifier of the checkpoint', async () => {
    const { codec, planner } = exactly();
    const { id, summary } = (await codec.encode(note('ready', { intent: 'done' }), planner).checkpoint)!;
    expect(planner.state.resolve(`warm.${id}.summary`)).toBe(summary);
    expect(codec.getBudget(planner).warm.checkpoints.map((entry) => entry.id)).toEqual([id]);
  });

  test('5. raw data moves to cold state, whole and in order', async () => {
    const { codec, planner } = exactly();
    codec.getBudget(planner);
    planner.state.set('hot', 'goal', 'launch');
    codec.encode(note('first'), planner);
    codec.encode(note('second', { intent: 'done' }), planner);
    const raw = planner.state.resolve('cold.ckpt_1');
    expect(raw).toMatchObject({
      frames: [
        { intent: 'req', payload: { words: 'first' } },
        { intent: 'done', payload: { words: 'second' } },
      ],
      hot: { goal: 'launch' },
    });
  });

  test('6. hot state is reset: it holds a reference to the checkpoint and nothing else', async () => {
    const { codec, planner } = exactly();
    codec.getBudget(planner);
    planner.state.set('hot', 'goal', 'launch');
    const { tokensBefore, tokensAfter } = (await codec.encode(note('ready', { intent: 'done' }), planner).checkpoint)!;
    expect(planner.state.get('hot', 'goal')).toBeUndefined();
    expect(codec.getBudget(planner).hot.used).toBe(tokensAfter);
    expect(tokensAfter).toBeLessThan(tokensBefore);
    expect(planner.state.get('hot', 'ckpt')).toEqual(ref('warm.ckpt_1'));
  });
});

describe('delta encoding (section 5.4)', () => {
  test('after the first state, only what has changed is sent, and removed keys as null', () => {
    const { codec, planner, worker } = exactly();
    const sync = (values: Parameters<typeof codec.syncState>[0]): string => {
      const { frames } = codec.syncState(values, planner);
      accepted(codec.decode(frames[0]!, worker));
      return taken(frames[0]!).body;
    };
    expect(sync({ task_3: 'wip', task_4: 'open', budget: 42.3 })).toBe(
      '@planner>sync:state{v:1|delta:{budget:42.3,task_3:wip,task_4:open}}',
    );
    expect(sync({ task_3: 'done', budget: 42.3 })).toBe('@planner>sync:state{v:2|delta:{task_3:done,task_4:~}}');
    expect({ ...worker.state.values() }).toEqual({ task_3: 'done', budget: 42.3 });
    expect(worker.state.version).toBe(2);
  });

  test('deltas continue the last checkpoint: the receiver always has the full state', () => {
    const { codec, planner, worker } = exactly();
    let values: Record<string, number> = {};
    for (let n = 1; n <= 12; n++) {
      values = { ...values, [`k${n}`]: n };
      if (n > 3) delete values[`k${n - 3}`];
      accepted(codec.decode(codec.syncState(values, planner).frames[0]!, worker));
      if (n % 4 === 0) accepted(codec.decode(codec.encode(note('x', { intent: 'done' }), planner).frames[0]!, worker));
      expect({ ...worker.state.values() }).toEqual(values);
    }
    expect(codec.getBudget(worker).warm.checkpoints).toHaveLength(3);
  });

  test('the draft’s example is read', () => {
    const { codec, worker } = endpoints({ codec: { dialect: 'lenient' } });
    accepted(codec.decode('@orchestrator>sync:state{v:6|task_3:wip}[mid:m1,seq:1]', worker));
    const example = '@orchestrator>sync:state{v:7|delta:{task_3:done,task_4:wip,budget:$42.30}}[mid:m2,seq:2]';
    accepted(codec.decode(example, worker));
    expect({ ...worker.state.values() }).toEqual({ task_3: 'done', task_4: 'wip', budget: '$42.30' });
  });

  test('a delta for another version is rejected, and repaired by the full state', () => {
    const { codec, planner, worker } = exactly();
    codec.syncState({ a: 1 }, planner);
    const stale = endpoints({ codec: { counter: EXACT }, session: { firstSequence: 2 } });
    const { frames } = codec.syncState({ a: 1, b: 2 }, planner);
    const refused = codec.decode(frames[0]!, stale.worker);
    expect(refused).toMatchObject({ outcome: 'rejected', error: { code: 'E2001', details: { version: 0 } } });
    expect(stale.worker.state.version).toBe(0);
    const { reply } = refused as { reply: string };
    const { replies } = accepted(codec.decode(reply, planner));
    for (const frame of replies) accepted(codec.decode(frame, stale.worker));
    expect({ ...stale.worker.state.values() }).toEqual({ a: 1, b: 2 });
    expect(stale.worker.state.version).toBe(planner.state.version);
    expect(worker.state.version).toBe(0);
  });
});

function counting(): () => string {
  let n = 0;
  return () => `a${n++}`;
}
