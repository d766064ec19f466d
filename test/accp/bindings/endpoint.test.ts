/** Endpoints: the messages that a handler gets, and the answers. */
import { describe, expect, test } from 'vitest';
import type { EndpointOptions } from '../../../src/accp/bindings/endpoint.js';
import { readHead } from '../../../src/accp/bindings/frames.js';
import { createCodec, createSession, type Message, streamMessages } from '../../../src/accp/codec/index.js';
import { answersOf, endpointOf, NEVER, peer } from './endpoint-peer.js';
import { collect, createSignal } from './http-server.js';

describe('messages for the handler', () => {
  const frames: readonly [string, boolean][] = [
    ['req:x{q:1}', true],
    ['qry:x{}', true],
    ['done:x{}', true],
    ['wait:x{}', true],
    ['esc:x{why:stuck}', true],
    ['fail:x{why:late}', true],
    ['fail:error{code:E9999|msg:m|retry:true|schema:ER}', true],
    ['cancel:x{}', true],
    ['sync:notes{k:v}', true],
    ['ack:x{}', false],
    ['ping:heartbeat{}', false],
    ['pong:heartbeat{}', false],
    ['sync:state{v:1|state:{a:b}}', false],
    ['sync:registry{v:1|hash:abc123}', false],
    ['stream:x{idx:0|d:one|schema:ST}', true],
    ['stream:x{idx:1|d:two|schema:ST}', false],
  ];

  test.each(frames)('%s: %s', async (body, isTold) => {
    const received: Message[] = [];
    const endpoint = endpointOf({
      handle: (message) => {
        received.push(message);
        return null;
      },
    });
    await answersOf(endpoint, `@a>${body}[mid:m1,seq:1,cid:c1,sid:s1]`);
    expect(received.length).toBe(isTold ? 1 : 0);
  });

  test('the chunks of a stream are read from the session', async () => {
    const read = createSignal<unknown[]>();
    const endpoint = endpointOf({
      handle: ({ intent, envelope }, { session }) => {
        if (intent === 'stream') collect(session.stream(envelope.correlation_id!)).then(read.done);
        return null;
      },
    });
    const { say } = peer();
    for await (const message of streamMessages('one_two', { correlationId: 'c1', operation: 'tell' })) {
      expect(await answersOf(endpoint, say(message))).toEqual([]);
    }
    expect((await read.promise).map((chunk) => (chunk as { data: unknown }).data).join('')).toBe('one_two');
  });
});

describe('answers', () => {
  test('belong to the message that they answer', async () => {
    const { say, hear } = peer();
    const request = say({ intent: 'req', operation: 'x' });
    const { mid } = readHead(request)!;
    const [answer] = await answersOf(endpointOf({ handle: () => 'hello' }), request);
    expect(hear(answer!)).toMatchObject({
      operation: 'chat',
      payload: { content: 'hello' },
      envelope: { correlation_id: mid, causation_id: mid, session_id: 'sid1' },
    });
  });

  test('keep the correlation of the message, and the fields that they set themselves', async () => {
    const { say, hear } = peer();
    const handle: EndpointOptions['handle'] = ({ operation }) =>
      operation === 'x'
        ? { intent: 'done', operation, envelope: { ttl: 60 } }
        : { intent: 'done', operation, envelope: { correlation_id: 'own', causation_id: 'mine' } };
    const endpoint = endpointOf({ handle });
    const first = await answersOf(endpoint, say({ intent: 'req', operation: 'x', envelope: { correlation_id: 'c7' } }));
    expect(hear(first[0]!).envelope).toMatchObject({ correlation_id: 'c7', ttl: 60 });
    const second = await answersOf(endpoint, say({ intent: 'req', operation: 'y' }));
    expect(hear(second[0]!).envelope).toMatchObject({ correlation_id: 'own', causation_id: 'mine' });
  });

  test('to a ping are a pong of the same operation', async () => {
    const { say, hear } = peer();
    const [answer] = await answersOf(
      endpointOf(),
      say({ intent: 'ping', operation: 'beat', envelope: { msg_id: 'p1' } }),
    );
    expect(hear(answer!)).toMatchObject({ intent: 'pong', operation: 'beat', envelope: { correlation_id: 'p1' } });
  });

  test('to a message over a hard limit may have several frames, like the message', async () => {
    const codec = createCodec({ limits: { total: { soft: 100, hard: 150 } } });
    const client = createSession({ agent: 'client', id: 'big', sequence: 'sender' });
    const text = Array.from({ length: 120 }, (_, at) => `word${at}`).join('_');
    const { frames } = codec.encode({ intent: 'req', operation: 'x', payload: { text } }, client);
    expect(frames.length).toBeGreaterThan(1);
    const endpoint = endpointOf({ codec: createCodec({ limits: { total: { soft: 100, hard: 150 } } }) });
    const answers: string[] = [];
    for (const frame of frames) answers.push(...(await answersOf(endpoint, frame)));
    expect(answers.length).toBeGreaterThan(1);
    const outcomes = answers.map((frame) => codec.decode(frame, client));
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'message', message: { payload: { text } } });
  });

  test('use the features that were agreed on when a registry is announced', async () => {
    const codec = createCodec();
    const client = createSession({ agent: 'client', id: 'sid1', sequence: 'sender' });
    const endpoint = endpointOf();
    const [reply] = await answersOf(endpoint, codec.announce(client).frames[0]!);
    expect(codec.decode(reply!, client)).toMatchObject({ outcome: 'message', message: { operation: 'registry' } });
    const { frames } = codec.encode({ intent: 'req', operation: 'x', payload: { text: 'zwei Wörter' } }, client);
    const [answer] = await answersOf(endpoint, frames[0]!);
    expect(codec.decode(answer!, client)).toMatchObject({ message: { payload: { text: 'zwei Wörter' } } });
  });

  test('of a stream are one message after the other, each with the correlation', async () => {
    const { say, hear } = peer();
    const endpoint = endpointOf({
      handle: ({ envelope: { msg_id: cid } }) =>
        streamMessages(['a', 'b', 'c'], { correlationId: cid, operation: 'infer' }),
    });
    const messages = (await answersOf(endpoint, say({ intent: 'req', operation: 'infer' }))).map(hear);
    expect(messages.map(({ intent }) => intent)).toEqual(['stream', 'stream', 'stream', 'end'].slice(-messages.length));
    expect(new Set(messages.map(({ envelope }) => envelope.correlation_id)).size).toBe(1);
    expect(messages.map(({ envelope }) => envelope.sequence)).toEqual(messages.map((_, at) => at + 1));
  });

  test('are read no faster than they are requested', async () => {
    let produced = 0;
    const endpoint = endpointOf({
      handle: async function* () {
        for (; produced < 100; produced++) yield { intent: 'wait', operation: 'x' };
      },
    });
    const answer = (await endpoint.handler('@a>req:x{}[mid:m1,seq:1]', { signal: NEVER })) as AsyncIterable<string>;
    const iterator = answer[Symbol.asyncIterator]();
    expect(produced).toBe(0);
    await iterator.next();
    expect(produced).toBe(0);
    await iterator.next();
    expect(produced).toBe(1);
    await iterator.return!();
    expect(produced).toBe(1);
  });

  test('losses and warnings are reported to the listener', async () => {
    const notices: unknown[] = [];
    const endpoint = endpointOf({
      handle: () => ({ intent: 'done', operation: 'x', payload: { n: 0.12345678 } }),
      onNotice: ({ direction, losses }) => notices.push([direction, losses.map(({ kind }) => kind)]),
    });
    await answersOf(endpoint, '@a>req:x{n:1.00000000000000000001}[mid:m1,seq:1]');
    expect(notices).toEqual([
      ['received', ['precision']],
      ['sent', ['rounded']],
    ]);
  });
});
