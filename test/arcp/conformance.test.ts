/** Conformance checks: this runtime passes all of them, and each defect is detected. */
import { describe, expect, test } from 'vitest';
import { dialOf } from '../../src/arcp/client/index.js';
import { type CheckResult, type CheckTarget, checkRuntime } from '../../src/arcp/conformance/index.js';
import { bearer, createRuntime, listenWebSocket } from '../../src/arcp/runtime/index.js';
import type { Channel } from '../../src/channels/channel.js';
import { memoryChannels } from '../../src/channels/memory.js';

const NAMES: Readonly<Record<string, string>> = { a: 'alice', b: 'bob' };

function runtime() {
  return createRuntime({
    auth: bearer((token) => (NAMES[token] === undefined ? undefined : { principal: NAMES[token], trust: 'trusted' })),
  })
    .tool('echo', {}, (input) => input)
    .tool('slow', { durable: true }, async (_, { signal, progress, stream }) => {
      const out = stream({ kind: 'text' });
      for (let n = 0; !signal.aborted; n++) {
        await out.write(`${n} `);
        await progress({ current: n });
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw signal.reason;
    });
}

const auth = (token: string) => ({ scheme: 'bearer', token });
const CALLS = { tool: { tool: 'echo' }, job: { tool: 'slow' }, auth: auth('a'), otherAuth: auth('b') };

async function resultsOf(subject: CheckTarget): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for await (const result of checkRuntime(subject)) results.push(result);
  return results;
}

const bad = (results: readonly CheckResult[]): string[] =>
  results
    .filter(({ outcome }) => outcome === 'failed' || outcome === 'warned')
    .map(({ id, reason }) => `${id}: ${reason}`);

type Message = { type: string; [name: string]: unknown };

/** A runtime with a defect: its messages are changed in transit. */
function mistaken({ says, hears }: Mistake): { readonly dial: () => Channel; readonly close: () => Promise<void> } {
  const subject = runtime();
  const change = (text: string, by: ((message: Message) => readonly Message[]) | undefined): readonly string[] => {
    if (by === undefined) return [text];
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch {
      return [text];
    }
    return by(message).map((one) => JSON.stringify(one));
  };
  return {
    close: () => subject.close(),
    dial: () => {
      const [here, there] = memoryChannels();
      void subject.accept(there);
      return {
        ...here,
        send: (text) => {
          for (const one of change(text, hears)) here.send(one);
        },
        start: (receiver) =>
          here.start({
            ...receiver,
            text: (text) => {
              for (const one of change(text, says)) receiver.text(one);
            },
          }),
      };
    },
  };
}

interface Mistake {
  readonly says?: (message: Message) => readonly Message[];
  readonly hears?: (message: Message) => readonly Message[];
}

const saying = (type: string, how: (message: Message) => readonly Message[]): Mistake => ({
  says: (message) => (message.type === type ? how(message) : [message]),
});
const hearing = (is: (message: Message) => boolean, how: (message: Message) => readonly Message[]): Mistake => ({
  hears: (message) => (is(message) ? how(message) : [message]),
});

let copies = 0;
/** Without replayed messages, which concurrent tests count. */
let chunks = 0;

const MISTAKES: readonly (readonly [string, Mistake, readonly string[]])[] = [
  ['does not refuse invalid messages', saying('nack', () => []), ['no-json', 'unknown-type', 'unknown-tool', 'roles']],
  [
    'refuses with another code',
    saying('nack', (one) => [{ ...one, payload: { code: 'INTERNAL', message: 'x' } }]),
    ['unknown-type', 'same-id', 'errors'],
  ],
  [
    'accepts any version',
    hearing(
      ({ arcp }) => arcp === '9.9',
      (one) => [{ ...one, arcp: '1.0' }],
    ),
    ['other-version'],
  ],
  [
    'accepts only one version',
    hearing(
      ({ arcp }) => arcp === '1.4',
      (one) => [{ ...one, arcp: '9.4' }],
    ),
    ['minor-version'],
  ],
  [
    'accepts any timestamp',
    hearing(
      ({ timestamp }) => timestamp === 'yesterday',
      (one) => [{ ...one, timestamp: '2026-05-07T21:30:00Z' }],
    ),
    ['timestamps'],
  ],
  [
    'answers without correlation_id',
    saying('pong', ({ correlation_id: _, ...one }) => [one as Message]),
    ['alive', 'opaque-ids'],
  ],
  ['answers in another trace', saying('pong', (one) => [{ ...one, trace_id: 'f'.repeat(32) }]), ['traced']],
  [
    'sends an invalid message',
    saying('pong', (one) => [one, { ...one, timestamp: 'now' }]),
    ['alive', 'unknown-members'],
  ],
  [
    'negotiates any capability',
    saying('session.accepted', (one) => {
      const payload = one['payload'] as object;
      const capabilities = {
        streaming: true,
        durable_jobs: true,
        checkpoints: true,
        agent_handoff: true,
        x_nobody_knows: true,
      };
      return [{ ...one, payload: { ...payload, capabilities } }];
    }),
    ['agreement', 'unknown-capability'],
  ],
  [
    'executes a repeated command',
    hearing(
      ({ type, id }) => type === 'tool.invoke' && id !== undefined,
      (one) => [{ ...one, id: `${one['id']}_${++copies}` }],
    ),
    ['sent-again', 'same-id', 'one-end'],
  ],
  ['ends twice', saying('tool.result', (one) => [one, { ...one, id: `msg_again_${++copies}` }]), ['one-end']],
  [
    'sends a message after the end of a job',
    saying('job.cancelled', (one) => [
      one,
      { ...one, id: `msg_again_${++copies}`, type: 'job.progress', payload: { percent: 1 } },
    ]),
    ['in-order'],
  ],
  [
    'ignores cancellation',
    hearing(
      ({ type }) => type === 'cancel',
      (one) => [{ ...one, type: 'ping', payload: {} }],
    ),
    ['cancelled', 'unknown-job'],
  ],
  ['loses messages', saying('stream.chunk', (one) => (++chunks % 2 === 0 ? [] : [one])), ['in-order']],
  [
    'replays changed messages',
    saying('job.progress', (one) => [{ ...one, timestamp: new Date(1e12 + ++copies).toISOString() }]),
    ['replayed'],
  ],
  [
    'lets any client resume a session',
    hearing(
      ({ type, session_id }) => type === 'session.open' && session_id !== undefined,
      ({ session_id: _, ...one }) => [one as Message],
    ),
    ['unknown-session', 'wrong-token', 'other-principal'],
  ],
  [
    'ignores credentials',
    hearing(
      ({ type }) => type === 'session.open',
      (one) => [{ ...one, payload: { ...(one['payload'] as object), auth: auth('a') } }],
    ),
    ['other-jobs', 'other-principal'],
  ],
];

describe('conformance checks', () => {
  test('pass for this runtime, over a WebSocket', async () => {
    const subject = runtime();
    const { url, close } = await listenWebSocket(subject, { port: 0 });
    const results = await resultsOf({ dial: dialOf(url), ...CALLS });
    await close();
    await subject.close();
    expect(bad(results)).toEqual([]);
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['passed']));
    expect(new Set(results.map(({ id }) => id)).size).toBe(results.length);
  });

  test('are skipped with a reason if a prerequisite is missing', async () => {
    const { dial, close } = mistaken({});
    const results = await resultsOf({ dial, auth: auth('a'), isShared: false });
    await close();
    const skipped = results.filter(({ outcome }) => outcome === 'skipped');
    expect(skipped.length).toBeGreaterThan(8);
    for (const { reason } of skipped) expect(reason).toMatch(/^(?:The target has no|Each connection) /);
    expect(bad(results)).toEqual([]);
  });

  test.concurrent.each(MISTAKES)('detect a runtime that %s', async (_, mistake, found) => {
    const { dial, close } = mistaken(mistake);
    const results = await resultsOf({ dial, ...CALLS, timeoutMs: 100 });
    await close();
    const ids = results.filter(({ outcome }) => outcome === 'failed' || outcome === 'warned').map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining([...found]));
    for (const { transcript, outcome } of results)
      if (outcome === 'failed') expect(transcript?.length).toBeGreaterThan(0);
  });

  test('do not start if the runtime cannot be reached', async () => {
    const nobody = checkRuntime({ dial: () => Promise.reject(new Error('Nobody is there')) });
    await expect(nobody.next()).rejects.toThrow('Nobody is there');
  });
});
