/** Endpoints: rejected frames and failures. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EndpointOptions } from '../../../src/accp/bindings/endpoint.js';
import { bareErrorFrame } from '../../../src/accp/bindings/error-frame.js';
import { readHead } from '../../../src/accp/bindings/frames.js';
import { AccpError, type MessageInput, streamMessages } from '../../../src/accp/codec/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import { answersOf, endpointOf, peer } from './endpoint-peer.js';
import { codeOf } from './http-server.js';

describe('errors', () => {
  test('the exception of a handler is reported on both sides, its message only on one', async () => {
    const failures: unknown[] = [];
    const endpoint = endpointOf({
      handle: () => Promise.reject(new Error('the password is x')),
      onError: (thrown, { operation }) => failures.push([(thrown as Error).message, operation]),
    });
    const { say, hear } = peer();
    const [answer] = await answersOf(endpoint, say({ intent: 'req', operation: 'x' }));
    expect(codeOf(answer!)).toBe('E9999');
    expect(answer).not.toContain('password');
    expect(hear(answer!)).toMatchObject({ schema: 'ER' });
    expect(failures).toEqual([['the password is x', 'x']]);
  });

  test.each<[string, unknown, string]>([
    ['an AccpError has its code', new AccpError({ code: 'E5001', message: 'not you' }), 'E5001'],
    // These are about frames: the peer would send its own again.
    [
      'one about delivery does not keep its code',
      new AccpError({ code: 'E3003', message: 'gap', details: { expected: 1 } }),
      'E9999',
    ],
    ['a value that is not an error', 'oh', 'E9999'],
  ])('%s', async (_name, thrown, code) => {
    const handle = (): never => {
      throw thrown;
    };
    const [answer] = await answersOf(endpointOf({ handle }), '@a>req:x{}[mid:m1,seq:1]');
    expect(codeOf(answer!)).toBe(code);
    expect(answer).not.toContain('expected');
  });

  test.each<[string, unknown, string]>([
    ['a text that a frame cannot hold', { intent: 'done', operation: 'x', payload: { text: 'two words' } }, 'E1004'],
    ['an invalid intent', { intent: 'dance', operation: 'x' }, 'E1002'],
    ['a number of its own', { intent: 'done', operation: 'x', envelope: { sequence: 9 } }, 'E1004'],
    ['a value that is not a message', 42, 'E1004'],
  ])('an answer that cannot be encoded becomes an error frame: %s', async (_name, answer, code) => {
    const endpoint = endpointOf({ handle: () => answer as MessageInput });
    const [frame, ...more] = await answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1]');
    expect(codeOf(frame!)).toBe(code);
    expect(more).toEqual([]);
  });

  test.each<[string, EndpointOptions['handle']]>([
    ['a handler that throws', () => Promise.reject(new Error('no'))],
    ['an answer that cannot be encoded', () => ({ intent: 'done', operation: 'x', payload: { t: 'a b' } })],
    [
      'an error for an answer',
      () => ({ intent: 'fail', operation: 'error', schema: 'ER', payload: { code: 'E9999', message: 'm' } }),
    ],
    [
      'a stream that throws',
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no')) }) }),
    ],
  ])('an error is never answered with an error: %s', async (_name, handle) => {
    const failures: unknown[] = [];
    const endpoint = endpointOf({ handle, onError: (thrown) => failures.push(thrown) });
    const error = 'fail:error{code:E9999|msg:m|retry:true|schema:ER}';
    expect(await answersOf(endpoint, `@a>${error}[mid:m1,seq:1]`)).toEqual([]);
    expect(failures.length).toBe(1);
  });

  test.each<[string, string, string | null]>([
    ['a number that is too high', '@a>req:x{}[mid:m1,seq:4]', 'E3003'],
    ['no number', '@a>req:x{}[mid:m1]', 'E1001'],
    ['an invalid intent', '@a>dance:x{}[mid:m1,seq:1]', 'E1002'],
    ['the lenient dialect', '@a>req:x{nx:@b:c}[mid:m1,seq:1]', 'E1001'],
    ['no frame', 'hello', 'E1001'],
    ['nothing', '', 'E1001'],
    ['a session id that is too long', `@a>req:x{}[mid:m1,seq:1,sid:${'s'.repeat(257)}]`, 'E1004'],
    ['an error frame that is rejected', '@a>fail:error{code:E9999|msg:m|schema:ER}[mid:m1,seq:9]', null],
    ['an error frame of such a session', `@a>fail:error{schema:ER}[mid:m1,seq:1,sid:${'s'.repeat(257)}]`, null],
    ['a frame that has expired', '@a>req:x{}[mid:m1,seq:1,ts:1000,ttl:5]', null],
    ['a part of a message', '@a>req:x{q:1}[mid:m1,seq:1,cid:c1,idx:0,tot:2]', null],
  ])('%s', async (_name, frame, code) => {
    const answers = await answersOf(endpointOf(), frame);
    expect(answers.map(codeOf)).toEqual(code === null ? [] : [code]);
    for (const answer of answers) expect(parseFrame(answer).kind).toBe('frame');
  });

  test('texts that are not frames do not evict sessions', async () => {
    const endpoint = endpointOf({ maxSessions: 1 });
    const session = endpoint.open('one');
    for (let at = 0; at < 5; at++) await answersOf(endpoint, `no frame ${at}`);
    expect(endpoint.open('one')).toBe(session);
  });

  test('a stream that throws ends with one error frame', async () => {
    const failures: unknown[] = [];
    const failed = (thrown: unknown): unknown => failures.push(thrown);
    async function* broken(): AsyncGenerator<string> {
      yield 'one_';
      throw new Error('the line is dead');
    }
    const handles: EndpointOptions['handle'][] = [
      async function* () {
        yield { intent: 'wait', operation: 'x' };
        throw new Error('the line is dead');
      },
      ({ envelope: { msg_id: cid } }) => streamMessages(broken(), { correlationId: cid, operation: 'x' }),
    ];
    for (const handle of handles) {
      const answers = await answersOf(endpointOf({ handle, onError: failed }), '@a>req:x{}[mid:m1,seq:1]');
      expect(answers.map((answer) => readHead(answer)!.schema === 'ER').filter(Boolean)).toEqual([true]);
      expect(readHead(answers.at(-1)!)).toMatchObject({ schema: 'ER' });
    }
    expect(failures.map((thrown) => (thrown as Error).message)).toEqual(['the line is dead', 'the line is dead']);
  });

  test('a stream ends with the message that cannot be encoded, and its source is ended', async () => {
    let isLeft = false;
    const endpoint = endpointOf({
      handle: async function* () {
        try {
          yield { intent: 'wait', operation: 'x' };
          yield { intent: 'wait', operation: 'x', payload: { t: 'a b' } };
          yield { intent: 'wait', operation: 'x' };
        } finally {
          isLeft = true;
        }
      },
    });
    const answers = await answersOf(endpoint, '@a>req:x{}[mid:m1,seq:1]');
    expect(answers.map((answer) => readHead(answer)!.intent)).toEqual(['wait', 'fail']);
    expect(isLeft).toBe(true);
  });

  test.each<[string, Partial<EndpointOptions>]>([
    ['an agent name that a frame cannot hold', { agent: 'a b' }],
    ['no sessions', { maxSessions: 0 }],
    ['a negative timeout', { idleTimeoutMs: -1 }],
    ['a timeout of zero', { idleTimeoutMs: 0 }],
    ['no handler', { handle: undefined as unknown as EndpointOptions['handle'] }],
  ])('%s: a TypeError', (_name, options) => {
    expect(() => endpointOf(options)).toThrow(TypeError);
  });
});

describe('error frames outside of any session', () => {
  test('can contain any message, in answer to any frame, within the grammar', () => {
    const identifiers = fc.option(fc.string({ unit: 'binary', maxLength: 300 }), { nil: undefined });
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), identifiers, identifiers, (message, mid, cid) => {
        const frame = bareErrorFrame('E9999', message, { mid, cid });
        expect(readHead(frame)).toMatchObject({ agent: 'accp', intent: 'fail', operation: 'error', schema: 'ER' });
        expect(parseFrame(frame).payload[0]).toMatchObject({ key: 'code', value: { value: 'E9999' } });
      }),
    );
  });

  test('name the frame that they answer', () => {
    const answered = (mid: string, cid?: string): unknown => readHead(bareErrorFrame('E1001', 'no', { mid, cid }))!.cid;
    expect(answered('m1')).toBe('m1');
    expect(answered('m1', 'c1')).toBe('c1');
    expect(bareErrorFrame('E1001', 'The body is empty.', { mid: '007', cid: 'a,b' })).toMatch(
      /^@accp>fail:error\{code:E1001\|msg:The_body_is_empty\|retry:false\|schema:ER\}\[mid:[a-f][0-9]{11},seq:1,ts:[0-9]+,cid:a\\,b,aid:007\]$/,
    );
  });
});
