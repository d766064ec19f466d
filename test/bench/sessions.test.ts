/** The work of the benchmarks of sessions: all do the same; their speed does not matter. */
import { describe, expect, test } from 'vitest';
import { corpusMessages } from '../../bench/sessions/corpus.js';
import {
  createBatches,
  createEndpoint,
  createRounds,
  decodeBatch,
  encodeRound,
  readStreams,
} from '../../bench/sessions/endpoints.js';
import { longSession } from '../../bench/sessions/long-session.js';
import { readMessage } from '../../bench/sessions/message-schema.js';
import { counting, decoding, encoding } from '../../bench/sessions/runners.js';
import type { Message } from '../../src/accp/codec/index.js';
import { ESTIMATING_COUNTER } from '../../src/tokens/counter.js';

const TOKENS = ESTIMATING_COUNTER;

/** All messages of one round, as a session decodes them. */
function received(): Message[] {
  const batch = createBatches(TOKENS)();
  const endpoint = createEndpoint(TOKENS);
  readStreams(endpoint, batch);
  return batch.frames.flatMap((frame) => {
    const outcome = endpoint.codec.decode(frame, endpoint.session);
    return 'message' in outcome && outcome.message !== undefined ? [outcome.message] : [];
  });
}

describe('the corpus in a session', () => {
  test('is decoded as by JSON and zod, except for values that each session generates', () => {
    const messages = received();
    const texts = corpusMessages().map((message) => JSON.stringify(message));
    expect(messages).toHaveLength(texts.length);
    for (const [index, text] of texts.entries()) {
      const { agent, intent, operation, schema, payload } = readMessage(text) as Message;
      expect(messages[index]).toMatchObject({ agent, intent, operation, payload });
      expect(messages[index]!.schema).toBe(schema);
      expect(Object.keys(messages[index]!.payload).toSorted()).toEqual(Object.keys(payload).toSorted());
    }
  });

  test('keeps related messages together by their correlation identifiers', () => {
    const sent = corpusMessages();
    const came = received();
    for (const [index, { envelope }] of sent.entries()) {
      const request = sent.findIndex((message) => message.envelope.msg_id === envelope.correlation_id);
      if (request >= 0) expect(came[index]!.envelope.correlation_id).toBe(came[request]!.envelope.msg_id);
    }
    const stream = came.filter(({ schema }) => schema === 'ST');
    expect(new Set(stream.map(({ envelope }) => envelope.correlation_id)).size).toBe(1);
  });

  test('can be repeated, and its streams are read to their ends', async () => {
    const nextBatch = createBatches(TOKENS);
    const endpoint = createEndpoint(TOKENS);
    for (let round = 0; round < 70; round++) {
      const batch = nextBatch();
      readStreams(endpoint, batch);
      const chunks = [...batch.streams.values()].reduce((sum, count) => sum + count, 0);
      expect(decodeBatch(endpoint, batch)).toBe(corpusMessages().length - chunks);
    }
    await Promise.resolve();
    expect(endpoint.session.pendingStreams).toEqual([]);
  });

  test('cannot be measured on repeated frames', () => {
    const batch = createBatches(TOKENS)();
    const endpoint = createEndpoint(TOKENS);
    readStreams(endpoint, batch);
    decodeBatch(endpoint, batch);
    expect(() => decodeBatch(endpoint, batch)).toThrow('was received before');
  });

  test('has its own frames in each round', () => {
    const endpoint = createEndpoint(TOKENS);
    const nextRound = createRounds();
    const first = encodeRound(endpoint, nextRound());
    const second = encodeRound(endpoint, nextRound());
    expect(second.length).toBe(first.length);
    expect(new Set([...first, ...second]).size).toBe(2 * first.length);
  });
});

test('zod rejects an invalid message', () => {
  const [message] = corpusMessages();
  const bad = [
    { ...message, agent: 'a b' },
    { ...message, intent: 'want' },
    { ...message, extra: 1 },
    { ...message, schema: 'XX' },
    { ...message, payload: [] },
    { ...message, payload: { ...message!.payload, priority: 1 } },
    { ...message, envelope: { ...message!.envelope, sequence: -1 } },
    { ...message, envelope: { ...message!.envelope, msg_id: undefined } },
  ];
  expect(() => readMessage(JSON.stringify(message))).not.toThrow();
  for (const one of bad) expect(() => readMessage(JSON.stringify(one)), JSON.stringify(one)).toThrow();
});

describe('runners', () => {
  test('have as many batches as announced passes, prepared in advance', () => {
    for (const runner of [decoding('decode', TOKENS), encoding('encode', TOKENS)]) {
      runner.prepare!(3);
      for (let pass = 0; pass < 3; pass++) expect(runner.pass()).toBeTruthy();
      expect(() => runner.pass()).toThrow(TypeError);
      runner.prepare!(1);
      expect(runner.pass()).toBeTruthy();
    }
  });

  test('count each message once', () => {
    const messages = corpusMessages().filter(({ schema }) => schema !== undefined);
    expect(counting(TOKENS).pass()).toBeGreaterThan(messages.length);
  });
});

test('a long session returns its mean costs at either end', async () => {
  const { first, last } = await longSession(TOKENS, { frames: 500, window: 100 });
  expect(first).toBeGreaterThan(0);
  expect(last).toBeGreaterThan(0);
});
