/** Endpoints: work that ends early, and concurrent work. */
import { describe, expect, test } from 'vitest';
import { readHead } from '../../../src/accp/bindings/frames.js';
import { createCodec, createSession, type MessageInput } from '../../../src/accp/codec/index.js';
import { answersOf, endpointOf, NEVER, numberOf, peer } from './endpoint-peer.js';
import { codeOf, collect, createSignal, echo } from './http-server.js';

describe('work that ends early', () => {
  test('cancel aborts the work of its chain, and the answer reports it', async () => {
    const started = createSignal();
    const endpoint = endpointOf({
      handle: ({ intent }, { signal }) => {
        if (intent !== 'req') return null;
        started.done();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const { say } = peer();
    const request = say({ intent: 'req', operation: 'x' });
    const answers = answersOf(endpoint, request);
    await started.promise;
    const cancel = say({ intent: 'cancel', operation: 'x', envelope: { correlation_id: readHead(request)!.mid } });
    expect(await answersOf(endpoint, cancel)).toEqual([]);
    expect((await answers).map(codeOf)).toEqual(['E5001']);
  });

  test('a stream that is cancelled ends with an error, even if its source ignores the signal', async () => {
    const started = createSignal();
    const endpoint = endpointOf({
      handle: ({ intent }) => (intent === 'req' ? stuck(started.done) : null),
    });
    const { say } = peer();
    const request = say({ intent: 'req', operation: 'x' });
    const answers = answersOf(endpoint, request);
    await started.promise;
    await answersOf(
      endpoint,
      say({ intent: 'cancel', operation: 'x', envelope: { correlation_id: readHead(request)!.mid } }),
    );
    expect((await answers).map(codeOf)).toEqual([undefined, 'E5001']);
  });

  test('a stream whose reader is gone ends without a frame', async () => {
    const started = createSignal();
    const endpoint = endpointOf({ handle: () => stuck(started.done) });
    const disconnection = new AbortController();
    const answers = answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1]', disconnection.signal);
    await started.promise;
    disconnection.abort();
    expect((await answers).map(codeOf)).toEqual([undefined]);
  });

  test('a source is ended when its reader leaves', async () => {
    const ended = createSignal();
    const endpoint = endpointOf({
      handle: async function* () {
        try {
          for (;;) yield { intent: 'wait', operation: 'x' };
        } finally {
          ended.done();
        }
      },
    });
    const answer = (await endpoint.handler('@a>req:x{}[mid:m1,seq:1]', { signal: NEVER })) as AsyncIterable<string>;
    for await (const _frame of answer) break;
    await ended.promise;
  });

  /** Yields one message, and then never settles. */
  async function* stuck(started: () => void): AsyncGenerator<MessageInput> {
    yield { intent: 'wait', operation: 'x' };
    started();
    await new Promise(() => undefined);
  }
});

describe('receive, for bindings on which both sides may send at any time', () => {
  test('the frames of all answers are sent in the order of their numbers', async () => {
    const endpoint = endpointOf({
      codec: createCodec({ limits: { total: { soft: 60, hard: 90 } } }),
      handle: async function* ({ operation }) {
        for (let at = 0; at < 4; at++) {
          yield { intent: 'wait', operation, payload: { text: `${operation}_`.repeat(60) } };
          await Promise.resolve();
        }
      },
    });
    const session = endpoint.open('one');
    const sent: string[] = [];
    const carry = async (frame: string, ticks: number): Promise<void> => {
      for await (const answer of endpoint.receive(frame, session, NEVER)) {
        sent.push(answer);
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      }
    };
    await Promise.all(
      ['x', 'y', 'z'].map((operation, at) => carry(`@a>req:${operation}{}[mid:m${at},seq:${at + 1}]`, at * 3)),
    );
    expect(sent.length).toBeGreaterThan(12);
    expect(sent.map((frame) => numberOf(frame, 'seq'))).toEqual(sent.map((_, at) => at + 1));
    const client = createSession({ agent: 'a', id: 'one', sequence: 'sender' });
    const outcomes = sent.map((frame) => createCodec().decode(frame, client).outcome);
    expect(outcomes.filter((outcome) => outcome === 'message').length).toBe(12);
    expect(outcomes).not.toContain('rejected');
  });

  test('a frame is accepted while another one is handled', async () => {
    const release = createSignal();
    const endpoint = endpointOf({
      handle: async (message) => {
        if (message.operation === 'slow') await release.promise;
        return echo(message);
      },
    });
    const session = endpoint.open('one');
    const slow = collect(endpoint.receive('@a>req:slow{}[mid:m1,seq:1]', session, NEVER));
    const quick = await collect(endpoint.receive('@a>req:quick{}[mid:m2,seq:2]', session, NEVER));
    release.done();
    expect(quick.map((frame) => readHead(frame)!.operation)).toEqual(['quick']);
    expect((await slow).map((frame) => numberOf(frame, 'seq'))).toEqual([2]);
  });
});
