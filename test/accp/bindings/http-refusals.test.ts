/** Frames over HTTP: requests that are rejected, and failures of the answer. */
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
  UNUSED_URL,
} from './http-server.js';

const UTF8 = new TextEncoder();
const { serveHandler } = testServers();

describe('requests that are rejected', () => {
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
    ['a malformed type', REQUEST, { 'content-type': 'application/accp; charset' }, 415, false],
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
    ['bytes that are not UTF-8', Uint8Array.of(...UTF8.encode('@a>b:c{d:'), 0xff, 0x7d), TYPE, 400],
    ['an overlong zero', Uint8Array.of(0x40, 0xc0, 0x80), TYPE, 400],
  ])('%s', async (_name, body, headers, status, isSpoken = true) => {
    const url = await serveHandler(frames, { maxFrameBytes: 100 });
    const response = await send(url, body, headers);
    expect(response.status).toBe(status);
    if (status === 200) return;
    // A client that does not name the media type of frames gets no error frame.
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
    ['too deep nesting', '@a>req:x{q:[[[[[[1]]]]]]}[mid:m1,seq:1]'],
    ['a repeated key', '@a>req:x{q:1|q:2}[mid:m1,seq:1]'],
    ['no numbers', '@a>req:x{}'],
  ])('a text that is not a frame of a session: %s', async (_name, body) => {
    const response = await send(await serveHandler(endpointOf()), body, TYPE);
    expect([response.status, codeOf(response.body)]).toEqual([400, 'E1001']);
  });

  test('another path is 404, with an error frame only for requests with frames', async () => {
    const url = (await serveHandler(frames)).replace('/v1/', '/v2/');
    const asked = await send(url, REQUEST, TYPE);
    expect([asked.status, codeOf(asked.body)]).toEqual([404, 'E1001']);
    const browsed = await send(url, '', { method: 'GET' });
    expect([browsed.status, browsed.body]).toEqual([404, '']);
    expect((await send(await serveHandler(frames, { path: '/frames' }), REQUEST, TYPE)).status).toBe(404);
  });

  test('a length that is too long is rejected before a byte is read', async () => {
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
    const response = await createHandler(frames)(new Request(UNUSED_URL, init as RequestInit));
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
    const request = new Request(UNUSED_URL, { method: 'POST', headers: TYPE, body, duplex: 'half' } as RequestInit);
    const response = await createHandler(frames, { maxFrameBytes: 100 })(request);
    expect([response.status, pulled]).toEqual([413, 3]);
  });

  test.each<[string, FrameHandler]>([
    ['a handler that throws', () => Promise.reject(new Error('secret'))],
    ['a stream that throws before its first frame', () => failing([])],
    ['an answer of two lines', () => `${ANSWER}\n${ANSWER}`],
    ['an answer that is not a string', () => 42 as unknown as string],
  ])('%s is E9999 for the client, and is reported to the host', async (_name, handle) => {
    const failures: unknown[] = [];
    const url = await serveHandler(handle, {
      agent: 'gate',
      onError: (thrown, frame) => failures.push([thrown, frame]),
    });
    const response = await send(url, REQUEST, TYPE);
    expect([response.status, codeOf(response.body)]).toEqual([400, 'E9999']);
    expect(response.body).not.toContain('secret');
    expect(parseFrame(response.body)).toMatchObject({ agent: 'gate' });
    expect(response.body).toContain('aid:m1');
    expect(failures).toEqual([[expect.any(Error), REQUEST]]);
    // An error is never answered with an error.
    expect(await send(url, ERROR, TYPE)).toMatchObject({ status: 400, body: '' });
  });

  test.each<[string, () => unknown]>([
    ['a path without a slash', () => createHandler(frames, { path: 'frames' })],
    ['no bytes', () => createHandler(frames, { maxFrameBytes: 0 })],
    ['an invalid agent', () => createHandler(frames, { agent: 'a b' })],
    ['no handler', () => createHandler(undefined as unknown as FrameHandler)],
    ['a frame of two lines', () => streamFrames(UNUSED_URL, 'a\nb')],
    ['an empty frame', () => streamFrames(UNUSED_URL, '')],
    ['a negative timeout', () => streamFrames(UNUSED_URL, REQUEST, { timeoutMs: -1 })],
    ['a timeout of zero', () => streamFrames(UNUSED_URL, REQUEST, { timeoutMs: 0 })],
    ['no bytes of an answer', () => streamFrames(UNUSED_URL, REQUEST, { maxFrameBytes: 0 })],
  ])('%s: a TypeError', (_name, wrong) => {
    expect(wrong).toThrow(TypeError);
  });
});

describe('failures of the host', () => {
  const posted = (body: string): Request => new Request(UNUSED_URL, { method: 'POST', headers: TYPE, body });

  test('a listener that throws: the client gets its answer', async () => {
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

  test('a body that was read before: it is reported on both sides', async () => {
    const failures: unknown[] = [];
    const handler = createHandler(() => ANSWER, { onError: (thrown) => failures.push(thrown) });
    const request = posted(REQUEST);
    await request.text();
    const response = await handler(request);
    expect(response.status).toBe(500);
    expect(codeOf(await response.text())).toBe('E9999');
    expect(failures).toEqual([expect.any(TypeError)]);
  });

  test.each(['frames', '/a?b', '/é', '/a b', '/a#x', '/a/../b'])('a path that a request cannot have: %s', (path) => {
    expect(() => createHandler(() => ANSWER, { path })).toThrow(TypeError);
  });
});

test('a source is ended if the client has disconnected before its first frame', async () => {
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
  const answering = handler(new Request(UNUSED_URL, { method: 'POST', headers: TYPE, body: REQUEST, signal }));
  controller.abort();
  expect((await answering).status).toBe(204);
  await ended;
});
