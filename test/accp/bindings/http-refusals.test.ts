/** Frames over HTTP: requests that are refused, and what goes wrong on the way to an answer. */
import { describe, expect, test } from 'vitest';
import type { FrameHandler } from '../../../src/accp/bindings/frames.js';
import { createHandler, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { parseFrame } from '../../../src/accp/index.js';
import {
  ANSWER,
  codeOf,
  ERROR,
  endpointOf,
  failing,
  REQUEST,
  send,
  TYPE,
  testServers,
  URL_OF_NOBODY,
} from './http-server.js';

const UTF8 = new TextEncoder();
const { serving } = testServers();

describe('requests that are refused', () => {
  const frames: FrameHandler = () => ANSWER;
  const long = `@a>req:x{q:${'y'.repeat(200)}}[mid:m1]`;

  test.each<[string, string | Uint8Array, Record<string, string>, number, boolean?]>([
    ['a frame', REQUEST, TYPE, 200],
    ['a frame with LF', `${REQUEST}\n`, TYPE, 200],
    ['a frame with CRLF', `${REQUEST}\r\n`, TYPE, 200],
    ['the charset in capitals', REQUEST, { 'content-type': 'Application/ACCP; Charset=UTF-8' }, 200],
    ['the charset in quotes', REQUEST, { 'content-type': 'application/accp;charset="u\\tf-8"' }, 200],
    ['other parameters', REQUEST, { 'content-type': 'application/accp ; v="1;charset=x" ;; charset=utf-8 ;' }, 200],
    ['no content coding', REQUEST, { ...TYPE, 'content-encoding': 'identity' }, 200],
    ['another method', '', { ...TYPE, method: 'PUT' }, 405],
    ['another type', REQUEST, { 'content-type': 'text/plain' }, 415, false],
    ['a type that begins like it', REQUEST, { 'content-type': 'application/accpx' }, 415, false],
    ['another charset', REQUEST, { 'content-type': 'application/accp; charset=latin1' }, 415],
    ['two charsets', REQUEST, { 'content-type': 'application/accp; charset=utf-8; charset=latin1' }, 415, false],
    ['a type that is garbled', REQUEST, { 'content-type': 'application/accp; charset' }, 415, false],
    ['a string that is not closed', REQUEST, { 'content-type': 'application/accp; charset="utf-8' }, 415, false],
    ['no type', REQUEST, {}, 415, false],
    ['a content coding', REQUEST, { ...TYPE, 'content-encoding': 'gzip' }, 415],
    ['a frame that is too long', long, TYPE, 413],
    ['one of unknown length that is too long', long, { ...TYPE, 'transfer-encoding': 'chunked' }, 413],
    ['no body', '', TYPE, 400],
    ['a line end alone', '\r\n', TYPE, 400],
    ['two lines', `${REQUEST}\n${REQUEST}\n`, TYPE, 400],
    ['two frames without a line end between', REQUEST + REQUEST, TYPE, 400],
    ['two frames without metadata', '@a>x:y{}@a>x:y{}', TYPE, 400],
    ['two line ends', `${REQUEST}\n\n`, TYPE, 400],
    ['bytes that are no UTF-8', Uint8Array.of(...UTF8.encode('@a>b:c{d:'), 0xff, 0x7d), TYPE, 400],
    ['an overlong zero', Uint8Array.of(0x40, 0xc0, 0x80), TYPE, 400],
  ])('%s', async (_name, body, headers, status, isSpoken = true) => {
    const url = await serving(frames, { maxFrameBytes: 100 });
    const response = await send(url, body, headers);
    expect(response.status).toBe(status);
    if (status === 200) return;
    // Who does not speak of frames is not answered with one.
    expect(response.body === '' ? '' : codeOf(response.body)).toBe(isSpoken ? 'E1001' : '');
    if (status === 405) expect(response.headers.allow).toBe('POST');
  });

  test.each<[string, string | Uint8Array]>([
    ['a word', 'hello'],
    ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, ...UTF8.encode(REQUEST))],
    ['white space', ` ${REQUEST}`],
    ['a zero', '\0'],
    ['a frame that is cut off', REQUEST.slice(0, -1)],
    ['a CR alone', `${REQUEST}\r`],
    ['letters beyond ASCII', '@a>req:x{q:\u00fc}[mid:m1,seq:1]'],
    ['what nests too deep', '@a>req:x{q:[[[[[[1]]]]]]}[mid:m1,seq:1]'],
    ['a key that is there twice', '@a>req:x{q:1|q:2}[mid:m1,seq:1]'],
    ['no numbers', '@a>req:x{}'],
  ])('a text that is no frame of a session: %s', async (_name, body) => {
    const response = await send(await serving(endpointOf()), body, TYPE);
    expect([response.status, codeOf(response.body)]).toEqual([400, 'E1001']);
  });

  test('another path is not found, in the words of who asks', async () => {
    const url = (await serving(frames)).replace('/v1/', '/v2/');
    const asked = await send(url, REQUEST, TYPE);
    expect([asked.status, codeOf(asked.body)]).toEqual([404, 'E1001']);
    const browsed = await send(url, '', { method: 'GET' });
    expect([browsed.status, browsed.body]).toEqual([404, '']);
    expect((await send(await serving(frames, { path: '/frames' }), REQUEST, TYPE)).status).toBe(404);
  });

  test('a length that is too long is refused before a byte is read', async () => {
    let isRead = false;
    const body = new ReadableStream(
      {
        pull: () => {
          isRead = true;
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { ...TYPE, 'content-length': '2000000' };
    const init = { method: 'POST', headers, body, duplex: 'half' };
    const response = await createHandler(frames)(new Request(URL_OF_NOBODY, init as RequestInit));
    expect([response.status, isRead]).toEqual([413, false]);
  });

  test('of a body without a length, no more is read than a frame may have', async () => {
    let pulled = 0;
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          pulled++;
          controller.enqueue(UTF8.encode('x'.repeat(40)));
        },
      },
      { highWaterMark: 0 },
    );
    const request = new Request(URL_OF_NOBODY, { method: 'POST', headers: TYPE, body, duplex: 'half' } as RequestInit);
    const response = await createHandler(frames, { maxFrameBytes: 100 })(request);
    expect([response.status, pulled]).toEqual([413, 3]);
  });

  test.each<[string, FrameHandler]>([
    ['a handler that throws', () => Promise.reject(new Error('secret'))],
    ['a stream that throws before its first frame', () => failing([])],
    ['an answer of two lines', () => `${ANSWER}\n${ANSWER}`],
    ['an answer that is no string', () => 42 as unknown as string],
  ])('%s is told as E9999, and about to the host', async (_name, handle) => {
    const failures: unknown[] = [];
    const url = await serving(handle, { agent: 'gate', onError: (thrown, frame) => failures.push([thrown, frame]) });
    const response = await send(url, REQUEST, TYPE);
    expect([response.status, codeOf(response.body)]).toEqual([400, 'E9999']);
    expect(response.body).not.toContain('secret');
    expect(parseFrame(response.body)).toMatchObject({ agent: 'gate' });
    expect(response.body).toContain('aid:m1');
    expect(failures).toEqual([[expect.any(Error), REQUEST]]);
    // An error is never answered by another.
    expect(await send(url, ERROR, TYPE)).toMatchObject({ status: 400, body: '' });
  });

  test.each<[string, () => unknown]>([
    ['a path without a slash', () => createHandler(frames, { path: 'frames' })],
    ['no bytes', () => createHandler(frames, { maxFrameBytes: 0 })],
    ['an agent that is none', () => createHandler(frames, { agent: 'a b' })],
    ['no handler', () => createHandler(undefined as unknown as FrameHandler)],
    ['a frame of two lines', () => streamFrames(URL_OF_NOBODY, 'a\nb')],
    ['an empty frame', () => streamFrames(URL_OF_NOBODY, '')],
    ['a negative timeout', () => streamFrames(URL_OF_NOBODY, REQUEST, { timeoutMs: -1 })],
    ['a timeout of zero', () => streamFrames(URL_OF_NOBODY, REQUEST, { timeoutMs: 0 })],
    ['no bytes of an answer', () => streamFrames(URL_OF_NOBODY, REQUEST, { maxFrameBytes: 0 })],
  ])('%s: a TypeError', (_name, wrong) => {
    expect(wrong).toThrow(TypeError);
  });
});

describe('hosts that get in the way', () => {
  const posted = (body: string): Request => new Request(URL_OF_NOBODY, { method: 'POST', headers: TYPE, body });

  test('by a listener that throws: the client is told all the same', async () => {
    const handler = createHandler(
      () => {
        throw new Error('of the handler');
      },
      {
        onError: () => {
          throw new Error('of the listener');
        },
      },
    );
    const response = await handler(posted(REQUEST));
    expect(response.status).toBe(400);
    expect(codeOf(await response.text())).toBe('E9999');
  });

  test('by reading the body before: that is told on both sides', async () => {
    const failures: unknown[] = [];
    const handler = createHandler(() => ANSWER, { onError: (thrown) => failures.push(thrown) });
    const request = posted(REQUEST);
    await request.text();
    const response = await handler(request);
    expect(response.status).toBe(500);
    expect(codeOf(await response.text())).toBe('E9999');
    expect(failures).toEqual([expect.any(TypeError)]);
  });

  test.each(['frames', '/a?b', '/é', '/a b', '/a#x', '/a/../b'])('by a path that no request has: %s', (path) => {
    expect(() => createHandler(() => ANSWER, { path })).toThrow(TypeError);
  });
});

test('a source is ended when the client has gone before its first frame', async () => {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const controller = new AbortController();
  const handler = createHandler(() =>
    (async function* () {
      try {
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield ANSWER;
        yield ANSWER;
      } finally {
        end();
      }
    })(),
  );
  const { signal } = controller;
  const answering = handler(new Request(URL_OF_NOBODY, { method: 'POST', headers: TYPE, body: REQUEST, signal }));
  controller.abort();
  expect((await answering).status).toBe(204);
  await ended;
});
