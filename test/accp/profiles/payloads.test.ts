/** Messages and payloads made for others: they keep the rules themselves. */
import { describe, expect, test } from 'vitest';
import { AccpError, type AccpErrorCode, ERROR_CODES } from '../../../src/accp/errors.js';
import { completeError, errorPayload, errorPayloadOf, standardError } from '../../../src/accp/profiles/error.js';
import { chatMessage } from '../../../src/accp/profiles/profiles.js';
import { handlerErrorCode, toolErrorPayload } from '../../../src/accp/profiles/tool.js';
import { message, verdict } from './cases.js';

const CODES = Object.keys(ERROR_CODES) as AccpErrorCode[];

describe('error payloads', () => {
  test.each(CODES)('of %s can be sent', (code) => {
    const payload = errorPayload(code, 'why', { expected: 4 });
    expect(payload).toEqual({ code, message: 'why', retryable: ERROR_CODES[code].retryable, expected: 4 });
    expect(verdict(message('fail:error', 'ER', payload), 'send')).toBe('fine');
  });

  test('have the details of an error, which replace nothing', () => {
    const details = { expected: 4, code: 'E1001', retryable: false };
    const error = new AccpError({ code: 'E3003', message: 'A gap.', path: 'metadata.seq', details });
    expect(errorPayloadOf(error)).toEqual({
      expected: 4,
      code: 'E3003',
      message: 'metadata.seq: A gap.',
      retryable: true,
    });
  });

  test.each<[string, object, boolean | undefined]>([
    ['a retryable code', { code: 'E3001' }, true],
    ['another one', { code: 'E1001' }, false],
    ['a code that is not in Table 6', { code: 'E1234' }, undefined],
    ['no code', {}, undefined],
    ['a name that objects have', { code: 'constructor' }, undefined],
    ['one that says it itself', { code: 'E3001', retryable: false }, false],
  ])('are completed by Table 6: %s', (_, payload, retryable) => {
    const checked = message('fail:error', 'ER', payload as { code: string });
    expect(completeError(checked)['retryable']).toBe(retryable);
    expect(Object.hasOwn(checked.payload, 'retryable')).toBe('retryable' in payload);
  });

  test('of other messages are unchanged', () => {
    const checked = message('req:x', 'SR', { code: 'E3001' });
    expect(completeError(checked)).toBe(checked.payload);
  });

  test('know the codes of Table 6 only', () => {
    expect(CODES.map((code) => standardError(code)?.name)).toEqual(Object.values(ERROR_CODES).map(({ name }) => name));
    expect([standardError('toString'), standardError(7), standardError(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a tool that failed', () => {
  test.each([
    [new Error('no route to host'), 'The tool "web_search" failed: no route to host'],
    [new Error(''), 'The tool "web_search" failed.'],
    ['secret', 'The tool "web_search" failed.'],
    [undefined, 'The tool "web_search" failed.'],
  ])('is reported as E4002: %s', (thrown, text) => {
    const payload = toolErrorPayload('web_search', thrown);
    expect(payload).toEqual({ code: 'E4002', message: text, retryable: true, tool_name: 'web_search' });
    const answer = message('fail:error', 'ER', payload, 'm1');
    expect(verdict(answer, 'send', { request: { schema: 'TC' } })).toBe('fine');
  });

  test('has another code than any other handler', () => {
    expect([
      handlerErrorCode({ schema: 'TC' }),
      handlerErrorCode({ schema: 'TA' }),
      handlerErrorCode(undefined),
    ]).toEqual(['E4002', 'E9999', 'E9999']);
  });
});

describe('a text as a chat message', () => {
  test("is the assistant's", () => {
    expect(chatMessage('Hello')).toEqual({
      intent: 'done',
      operation: 'chat',
      schema: 'CH',
      payload: { role: 'assistant', content: 'Hello' },
    });
  });

  test('can have other roles, with all fields', () => {
    expect(chatMessage('Bonjour?', { role: 'user', turn: 3, lang: 'fr', replyTo: 'm2' })).toEqual({
      intent: 'req',
      operation: 'chat',
      schema: 'CH',
      payload: { role: 'user', content: 'Bonjour?', turn: 3, lang: 'fr', reply_to: 'm2' },
    });
    expect(chatMessage('Wait', { intent: 'wait' }).intent).toBe('wait');
  });
});
