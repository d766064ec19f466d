/** Frames over HTTP: the client, with every kind of response. */
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createHandler, HttpBindingError, postFrame, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { ANSWER, collect, ERROR, listen, REQUEST, serve, testServers, UNUSED_URL } from './http-server.js';

const { started, serveHandler, respondWith } = testServers();

describe('the client', () => {
  const accp = { 'content-type': 'application/accp; charset=utf-8' };

  test.each<[string, () => Promise<string>, string, number | undefined]>([
    ['no server listens', async () => UNUSED_URL, 'unreachable', undefined],
    ['another status', () => respondWith(500, accp, ANSWER), 'http-status', 500],
    ['400 with another body', () => respondWith(400, { 'content-type': 'text/html' }, '<p>'), 'http-status', 400],
    ['201', () => respondWith(201, accp, ANSWER), 'http-status', 201],
    ['a redirection', () => respondWith(307, { location: '/elsewhere' }), 'redirected', 307],
    ['another type', () => respondWith(200, { 'content-type': 'text/plain' }, ANSWER), 'not-accp', 200],
    ['no type', () => respondWith(200, {}, ANSWER), 'not-accp', 200],
    [
      'another charset',
      () => respondWith(200, { 'content-type': 'application/accp;charset=utf-16' }, ANSWER),
      'not-accp',
      200,
    ],
    ['bytes that are not UTF-8', () => respondWith(200, accp, Uint8Array.of(0x40, 0xff, 0x0a)), 'not-accp', 200],
    ['two frames', () => respondWith(200, accp, `${ANSWER}\n${ANSWER}\n`), 'more-than-one-frame', 200],
    ['two frames without a line end', () => respondWith(200, accp, ANSWER + ANSWER), 'more-than-one-frame', 200],
    ['half a frame', () => respondWith(200, accp, ANSWER.slice(0, -3)), 'truncated', 200],
    ['nothing', () => respondWith(200, accp), 'truncated', 200],
    ['a frame that is too long', () => respondWith(200, accp, `@b>done:x{q:${'y'.repeat(99)}}`), 'too-large', 200],
    ['a length that is not reached', () => started(listen(breakingOff())), 'truncated', 200],
  ])('%s is an error of the binding', async (_name, server, code, status) => {
    const url = await server();
    const failure = await postFrame(url, REQUEST, { maxFrameBytes: 99 }).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(HttpBindingError);
    expect(failure).toMatchObject({ code, status });
  });

  test('yields the frames that arrived before an answer broke off', async () => {
    const seen: string[] = [];
    const url = await respondWith(200, accp, `${ANSWER}\r\n${ERROR}${ANSWER.slice(0, 9)}`);
    const reading = (async () => {
      for await (const frame of streamFrames(url, REQUEST)) seen.push(frame);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'truncated' });
    expect(seen).toEqual([ANSWER, ERROR]);
  });

  test('accepts a frame with or without a line end', async () => {
    for (const end of ['', '\n', '\r\n']) {
      expect(await postFrame(await respondWith(200, accp, ANSWER + end), REQUEST)).toBe(ANSWER);
    }
  });

  test('waits as long as its timeout, and no longer', async () => {
    const url = await serveHandler(() => new Promise(() => undefined));
    await expect(postFrame(url, REQUEST, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
    await expect(collect(streamFrames(url, REQUEST, { timeoutMs: 20 }))).rejects.toMatchObject({ code: 'timeout' });
    expect(await postFrame(await serveHandler(() => ANSWER), REQUEST, { timeoutMs: 60_000 })).toBe(ANSWER);
  });

  test('sends the given headers and its own', async () => {
    const handler = createHandler(() => ANSWER);
    const answers: (string | null)[] = [];
    const url = await started(
      serve((request) => {
        for (const name of ['authorization', 'content-type', 'accept']) answers.push(request.headers.get(name));
        return handler(request);
      }),
    );
    await postFrame(url, REQUEST, { headers: { Authorization: 'Bearer t', 'Content-Type': 'text/plain' } });
    expect(answers).toEqual(['Bearer t', 'application/accp', 'application/accp']);
  });

  test('that has been aborted before sends no request', async () => {
    const signal = AbortSignal.abort(new Error('never mind'));
    let isAsked = false;
    const url = await serveHandler(() => {
      isAsked = true;
      return ANSWER;
    });
    await expect(postFrame(url, REQUEST, { signal })).rejects.toThrow('never mind');
    expect(isAsked).toBe(false);
  });

  /** Declares more bytes than it sends. */
  function breakingOff(): ReturnType<typeof createServer> {
    return createServer((request, response) => {
      request.resume();
      response.writeHead(200, { ...accp, 'content-length': '500' });
      response.write(ANSWER.slice(0, 9), () => response.destroy());
    });
  }
});

test('reports the error frame of a response with a status of its own', async () => {
  const url = await respondWith(413, { 'content-type': 'application/accp' }, ERROR);
  await expect(postFrame(url, REQUEST)).rejects.toMatchObject({
    ...{ code: 'http-status', status: 413, message: `The server responded with status 413. It sent: ${ERROR}` },
  });
});

describe('a fetch that ignores its signal', () => {
  const deaf = (): Promise<Response> => new Promise(() => {});

  test('is abandoned in time', async () => {
    const posting = postFrame(UNUSED_URL, REQUEST, { timeoutMs: 50, fetch: deaf });
    await expect(posting).rejects.toMatchObject({ code: 'timeout' });
  });

  test('is abandoned when its signal is aborted, and a late response is cancelled', async () => {
    const controller = new AbortController();
    let answer: (response: Response) => void = () => undefined;
    const requested = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const posting = postFrame(UNUSED_URL, REQUEST, { signal: controller.signal, fetch: () => requested });
    controller.abort(new Error('changed my mind'));
    await expect(posting).rejects.toThrow('changed my mind');
    const left = new Promise<void>((resolve) => {
      answer(new Response(new ReadableStream({ cancel: () => resolve() })));
    });
    await left;
  });
});

describe('an answer that is abandoned', () => {
  const endless = (cancelled: () => void): Response =>
    new Response(
      new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode(`${ANSWER}\n`)), cancel: cancelled }),
      {
        headers: { 'content-type': 'application/accp' },
      },
    );

  test.each([
    ['while it arrives', 0],
    ['before it arrives', 60],
  ])('is cancelled: %s', async (_, delay) => {
    let isLeft: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      isLeft = resolve;
    });
    const late = async (): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, delay));
      return endless(isLeft);
    };
    await expect(postFrame(UNUSED_URL, REQUEST, { timeoutMs: 30, fetch: late })).rejects.toMatchObject({
      code: 'timeout',
    });
    await left;
  });

  test('before it is requested is not requested', async () => {
    let requested = 0;
    const fetch = (): Response => {
      requested++;
      return endless(() => undefined);
    };
    const signal = AbortSignal.abort(new Error('mine'));
    await expect(postFrame(UNUSED_URL, REQUEST, { signal, fetch })).rejects.toThrow('mine');
    expect(requested).toBe(0);
  });
});
