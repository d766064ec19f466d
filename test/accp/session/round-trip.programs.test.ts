/** Messages come back as they were: those of the corpus, arbitrary ones, and across processes. */
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import corpus from '../../../bench/corpus/messages.json' with { type: 'json' };
import {
  createCodec,
  createSession,
  type DecodeOutcome,
  type Message,
  memoryStore,
  type SequenceMode,
  type TextPolicy,
} from '../../../src/accp/codec/index.js';
import { fromText } from '../../../src/accp/store/text.js';
import { bundledProgram } from '../../helpers/bundled-program.js';
import { start } from '../../helpers/child.js';
import { differences, ends, NOW, normalized, pass } from './exchange.js';
import { payloads } from './payloads.js';
import { POLICIES, testRoundTrips } from './round-trip-properties.js';

const MESSAGES = corpus.map(({ id, message }) => ({ id, message: message as unknown as Message }));

describe('the messages of the corpus', () => {
  test.each(POLICIES)('come back under "%s", or are rejected with the path', (text) => {
    const refused: string[] = [];
    for (const { id, message } of MESSAGES) {
      const { session_id, sequence, timestamp } = message.envelope;
      const line = ends({
        codec: { text, now: () => timestamp! * 1000 },
        both: { store: memoryStore(), shared: text === 'externalize', id: session_id!, firstSequence: sequence - 1 },
        sender: { agent: message.agent },
        receiver: { agent: 'receiver' },
      });
      // A message before this one brings both ends to the state that deltas are against.
      const version = Number(message.payload['version'] ?? 1) - 1;
      pass({ intent: 'sync', operation: 'state', payload: { version, state: {} } }, line);
      try {
        const { received, losses } = pass(message, line);
        expect({ id, losses, ...received.message }).toEqual({
          id,
          losses: [],
          ...message,
          payload: normalized(message),
        });
      } catch (thrown) {
        // A07 breaks a rule: the result of a tool without the identifier of its request.
        const path = id === 'A07' ? 'envelope.correlation_id' : expect.stringMatching(/^payload\./);
        expect([id, thrown]).toMatchObject([id, { code: 'E1004', path }]);
        refused.push(id);
      }
    }
    // The grammar alone has no spaces: it cannot hold what people say.
    if (text === 'reject') expect(refused.length).toBeGreaterThan(5);
    else expect(refused).toEqual(['A07']);
  });
});

testRoundTrips(60);

const reader = bundledProgram(new URL('programs/reader.ts', import.meta.url));

/** Frames to another process, and what it says of each. */
async function elsewhere(frames: readonly string[], sequence: SequenceMode, text?: TextPolicy) {
  const command = [process.execPath, reader(), sequence, ...(text === undefined ? [] : [text])];
  const child = start(command, { stdin: frames.map((frame) => `${frame}\n`).join('') });
  const outcomes: DecodeOutcome[] = [];
  for await (const line of createInterface({ input: child.stdout })) outcomes.push(fromText(line) as DecodeOutcome);
  return outcomes;
}

describe('across two processes', () => {
  test.each(['transliterate', 'reject'] as const)('nothing but frames is needed under "%s"', async (text) => {
    const codec = createCodec({ text, now: () => NOW * 1000, state: false });
    const session = createSession({ agent: 'a', id: 's', sequence: 'sender' });
    const frames: string[] = [];
    const expected: unknown[] = [];
    for (const payload of fc.sample(payloads, 40)) {
      try {
        const sent = codec.encode({ intent: 'ack', operation: 'x', payload }, session);
        frames.push(...sent.frames);
        expected.push([payload, sent.losses]);
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'E1004', path: expect.stringMatching(/^payload/) });
      }
    }
    const outcomes = await elsewhere(frames, 'sender', text);
    expect(outcomes.filter(({ outcome }) => outcome === 'rejected')).toEqual([]);
    const messages = outcomes.filter((outcome) => outcome.outcome === 'message');
    expect(messages).toHaveLength(expected.length);
    for (const [index, { message, losses }] of messages.entries()) {
      const [payload, told] = expected[index] as [Message['payload'], typeof losses];
      const changed = differences(normalized({ payload }), message.payload);
      const inexact = [...told, ...losses].filter(({ kind }) => kind !== 'renamed');
      expect(new Set(inexact.map(({ path }) => path))).toEqual(new Set(changed));
    }
  });

  test('by default, the announcements of both sides determine the spelling of text', async () => {
    const codec = createCodec({ now: () => NOW * 1000, state: false });
    const session = createSession({ agent: 'a', id: 's', sequence: 'sender' });
    const said = 'Two words, and ünïcode.';
    const message = { intent: 'ack', operation: 'x', payload: { said } };
    expect(() => codec.encode(message, session)).toThrow(
      expect.objectContaining({ code: 'E1004', path: 'payload.said' }),
    );
    const first = codec.announce(session).frames;
    const [answer] = await elsewhere(first, 'sender');
    for (const reply of (answer as DecodeOutcome & { outcome: 'message' }).replies) {
      expect(codec.decode(reply, session).outcome).toBe('message');
    }
    const outcomes = await elsewhere([...first, ...codec.encode(message, session).frames], 'sender');
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'message', message: { payload: { said } } });
  });

  test('"externalize" rejects values that the other side could not resolve', async () => {
    const codec = createCodec({ text: 'externalize', now: () => NOW * 1000, state: false });
    const session = createSession({ agent: 'a', id: 's' });
    const message = { intent: 'ack', operation: 'x', payload: { deep: { said: 'two words' } } };
    expect(() => codec.encode(message, session)).toThrow(
      expect.objectContaining({
        code: 'E1004',
        path: 'payload.deep.said',
        message: expect.stringContaining('shares no store'),
        help: expect.stringContaining('transliterate'),
      }),
    );
    // An endpoint with shared: true and a store of its own gets an error from the other side.
    const deceived = createSession({ agent: 'a', id: 's', shared: true });
    const [outcome] = await elsewhere(codec.encode(message, deceived).frames, 'session', 'externalize');
    expect(outcome).toMatchObject({ outcome: 'rejected', error: { code: 'E2001' } });
  });
});
