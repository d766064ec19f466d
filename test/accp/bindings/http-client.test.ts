/** Frames over HTTP: what a client makes of whatever a server says. */
import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createHandler, HttpBindingError, postFrame, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { ANSWER, collect, ERROR, listen, REQUEST, serve, testServers, URL_OF_NOBODY } from './http-server.js';

const { started, serving, saying } = testServers();

describe('the client', () => {
  const accp = { 'content-type': 'application/accp; charset=utf-8' };

  test.each<[string, () => Promise<string>, string, number | undefined]>([
    ['nobody listens', async () => URL_OF_NOBODY, 'unreachable', undefined],
    ['another status', () => saying(500, accp, ANSWER), 'http-status', 500],
    ['400 with something else', () => saying(400, { 'content-type': 'text/html' }, '<p>'), 'http-status', 400],
    ['201', () => saying(201, accp, ANSWER), 'http-status', 201],
    ['a redirection', () => saying(307, { location: '/elsewhere' }), 'redirected', 307],
    ['another type', () => saying(200, { 'content-type': 'text/plain' }, ANSWER), 'not-accp', 200],
    ['no type', () => saying(200, {}, ANSWER), 'not-accp', 200],
    [
      'another charset',
      () => saying(200, { 'content-type': 'application/accp;charset=utf-16' }, ANSWER),
      'not-accp',
      200,
    ],
    ['bytes that are no UTF-8', () => saying(200, accp, Uint8Array.of(0x40, 0xff, 0x0a)), 'not-accp', 200],
    ['two frames', () => saying(200, accp, `${ANSWER}\n${ANSWER}\n`), 'more-than-one-frame', 200],
    ['two frames without a line end', () => saying(200, accp, ANSWER + ANSWER), 'more-than-one-frame', 200],
    ['half a frame', () => saying(200, accp, ANSWER.slice(0, -3)), 'truncated', 200],
    ['nothing', () => saying(200, accp), 'truncated', 200],
    ['a frame that is too long', () => saying(200, accp, `@b>done:x{q:${'y'.repeat(99)}}`), 'too-large', 200],
    ['a length that is not kept', () => started(listen(breakingOff())), 'truncated', 200],
  ])('%s is an error of the binding', async (_name, server, code, status) => {
    const url = await server();
    const failure = await postFrame(url, REQUEST, { maxFrameBytes: 99 }).catch((thrown: unknown) => thrown);
    expect(failure).toBeInstanceOf(HttpBindingError);
    expect(failure).toMatchObject({ code, status });
  });

  test('gives the frames that came before an answer broke off', async () => {
    const seen: string[] = [];
    const url = await saying(200, accp, `${ANSWER}\r\n${ERROR}${ANSWER.slice(0, 9)}`);
    const reading = (async () => {
      for await (const frame of streamFrames(url, REQUEST)) seen.push(frame);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'truncated' });
    expect(seen).toEqual([ANSWER, ERROR]);
  });

  test('takes a frame with a line end, or without', async () => {
    for (const end of ['', '\n', '\r\n']) {
      expect(await postFrame(await saying(200, accp, ANSWER + end), REQUEST)).toBe(ANSWER);
    }
  });

  test('waits so long, and no longer', async () => {
    const url = await serving(() => new Promise(() => undefined));
    await expect(postFrame(url, REQUEST, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
    await expect(collect(streamFrames(url, REQUEST, { timeoutMs: 20 }))).rejects.toMatchObject({ code: 'timeout' });
    expect(await postFrame(await serving(() => ANSWER), REQUEST, { timeoutMs: 60_000 })).toBe(ANSWER);
  });

  test('sends the headers that it is given, and its own', async () => {
    const handler = createHandler(() => ANSWER);
    const told: (string | null)[] = [];
    const url = await started(
      serve((request) => {
        for (const name of ['authorization', 'content-type', 'accept']) told.push(request.headers.get(name));
        return handler(request);
      }),
    );
    await postFrame(url, REQUEST, { headers: { Authorization: 'Bearer t', 'Content-Type': 'text/plain' } });
    expect(told).toEqual(['Bearer t', 'application/accp', 'application/accp']);
  });

  test('that has been aborted before asks nobody', async () => {
    const signal = AbortSignal.abort(new Error('never mind'));
    let isAsked = false;
    const url = await serving(() => {
      isAsked = true;
      return ANSWER;
    });
    await expect(postFrame(url, REQUEST, { signal })).rejects.toThrow('never mind');
    expect(isAsked).toBe(false);
  });

  /** Promises more than it sends. */
  function breakingOff(): ReturnType<typeof createServer> {
    return createServer((request, response) => {
      request.resume();
      response.writeHead(200, { ...accp, 'content-length': '500' });
      response.write(ANSWER.slice(0, 9), () => response.destroy());
    });
  }
});

test('tells what a server says of a status of its own', async () => {
  const url = await saying(413, { 'content-type': 'application/accp' }, ERROR);
  await expect(postFrame(url, REQUEST)).rejects.toMatchObject({
    ...{ code: 'http-status', status: 413, message: `The server answers with 413. It said: ${ERROR}` },
  });
});

describe('a fetch that does not heed its signal', () => {
  const deaf = (): Promise<Response> => new Promise(() => {});

  test('is given up in time all the same', async () => {
    const posting = postFrame(URL_OF_NOBODY, REQUEST, { timeoutMs: 50, fetch: deaf });
    await expect(posting).rejects.toMatchObject({ code: 'timeout' });
  });

  test('is given up when its signal is aborted, and a response that comes late is left', async () => {
    const controller = new AbortController();
    let answer: (response: Response) => void = () => undefined;
    const asked = new Promise<Response>((resolve) => {
      answer = resolve;
    });
    const posting = postFrame(URL_OF_NOBODY, REQUEST, { signal: controller.signal, fetch: () => asked });
    controller.abort(new Error('changed my mind'));
    await expect(posting).rejects.toThrow('changed my mind');
    const left = new Promise<void>((resolve) => {
      answer(new Response(new ReadableStream({ cancel: () => resolve() })));
    });
    await left;
  });
});

describe('an answer that is given up', () => {
  const endless = (cancelled: () => void): Response =>
    new Response(
      new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode(`${ANSWER}\n`)), cancel: cancelled }),
      {
        headers: { 'content-type': 'application/accp' },
      },
    );

  test.each([
    ['while it comes', 0],
    ['before it came', 60],
  ])('is left: %s', async (_, delay) => {
    let isLeft: () => void = () => undefined;
    const left = new Promise<void>((resolve) => {
      isLeft = resolve;
    });
    const late = async (): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, delay));
      return endless(isLeft);
    };
    await expect(postFrame(URL_OF_NOBODY, REQUEST, { timeoutMs: 30, fetch: late })).rejects.toMatchObject({
      code: 'timeout',
    });
    await left;
  });

  test('before it is asked for is not asked for', async () => {
    let asked = 0;
    const fetch = (): Response => {
      asked++;
      return endless(() => undefined);
    };
    const signal = AbortSignal.abort(new Error('mine'));
    await expect(postFrame(URL_OF_NOBODY, REQUEST, { signal, fetch })).rejects.toThrow('mine');
    expect(asked).toBe(0);
  });
});
