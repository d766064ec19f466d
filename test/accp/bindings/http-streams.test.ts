/** Frames over HTTP: answers of several frames, which end early or late. */
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { EndpointOptions } from '../../../src/accp/bindings/endpoint.js';
import type { FrameHandler } from '../../../src/accp/bindings/frames.js';
import { createHandler, postFrame, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { createCodec, createSession, streamMessages } from '../../../src/accp/codec/index.js';
import {
  ANSWER,
  codeOf,
  collect,
  createSignal,
  ERROR,
  each,
  endpointOf,
  failing,
  REQUEST,
  send,
  TYPE,
  testServers,
  UNUSED_URL,
} from './http-server.js';

const { serveHandler } = testServers();

describe('streams', () => {
  const chunks = ['one_', 'two_', 'three'];
  const handle: EndpointOptions['handle'] = ({ envelope: { msg_id: cid } }) =>
    streamMessages(chunks, { correlationId: cid, operation: 'infer' });

  test('are frames that a session assembles', async () => {
    const url = await serveHandler(endpointOf(handle));
    const codec = createCodec();
    const session = createSession({ agent: 'client', sequence: 'sender' });
    const { frames, correlationId } = codec.encode({ intent: 'req', operation: 'infer' }, session);
    const text = collect(session.stream(correlationId));
    for await (const frame of streamFrames(url, frames[0]!)) {
      expect(['pending', 'message']).toContain(codec.decode(frame, session).outcome);
    }
    expect((await text).map(({ data }) => data).join('')).toBe(chunks.join(''));
  });

  test('have a line end for each frame, in chunks', async () => {
    const url = await serveHandler(() => each([ANSWER, ANSWER]));
    const response = await send(url, REQUEST, TYPE);
    expect(response.headers['transfer-encoding']).toBe('chunked');
    expect(response.body).toBe(`${ANSWER}\n${ANSWER}\n`);
  });

  test('each frame arrives before the next one is made', async () => {
    const consumed = [createSignal(), createSignal()];
    const url = await serveHandler(async function* () {
      yield ANSWER;
      await consumed[0]!.promise;
      yield ERROR;
      await consumed[1]!.promise;
      yield ANSWER;
    } as FrameHandler);
    const seen: string[] = [];
    for await (const frame of streamFrames(url, REQUEST)) consumed[seen.push(frame) - 1]?.done();
    expect(seen).toEqual([ANSWER, ERROR, ANSWER]);
  });

  test.each<[string, readonly string[], number, readonly string[]]>([
    ['the first frame decides', [ANSWER, ERROR], 200, [ANSWER, ERROR]],
    ['an error first', [ERROR, ANSWER], 400, [ERROR, ANSWER]],
    ['no frame at all', [], 204, []],
  ])('%s about the status', async (_name, frames, status, expected) => {
    const url = await serveHandler(() => each(frames));
    expect((await send(url, REQUEST, TYPE)).status).toBe(status);
    expect(await collect(streamFrames(url, REQUEST))).toEqual(expected);
  });

  test('an error after the first frame is the last chunk', async () => {
    const failures: unknown[] = [];
    const url = await serveHandler(() => failing([ANSWER]), { onError: (thrown) => failures.push(thrown) });
    const frames = await collect(streamFrames(url, REQUEST));
    expect(frames.map(codeOf)).toEqual([undefined, 'E9999']);
    expect(failures).toEqual([new Error('the line is dead')]);
  });

  test('a client that leaves ends the stream and aborts the signal of its handler', async () => {
    const cancelled = createSignal();
    const aborted = createSignal();
    const url = await serveHandler((_frame, { signal }) => {
      signal.addEventListener('abort', () => aborted.done());
      return endless(cancelled.done).frames;
    });
    for await (const frame of streamFrames(url, REQUEST)) {
      expect(frame).toContain('@b>wait');
      break;
    }
    await Promise.all([cancelled.promise, aborted.promise]);
  });

  test('a client that aborts gets its reason', async () => {
    const cancelled = createSignal();
    const url = await serveHandler(() => endless(cancelled.done).frames);
    const controller = new AbortController();
    const reason = new Error('enough');
    const frames = streamFrames(url, REQUEST, { signal: controller.signal });
    const reading = (async () => {
      for await (const _frame of frames) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    await cancelled.promise;
  });

  test('a client that disconnects before the first frame aborts the signal', async () => {
    const started = createSignal();
    const aborted = createSignal();
    const url = await serveHandler((_frame, { signal }) => {
      started.done();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted.done();
          resolve(null);
        });
      });
    });
    const controller = new AbortController();
    const answer = postFrame(url, REQUEST, { signal: controller.signal });
    const refused = expect(answer).rejects.toThrow('gone home');
    await started.promise;
    controller.abort(new Error('gone home'));
    await refused;
    await aborted.promise;
  });

  test('a slow reader slows the source down', async () => {
    const cancelled = createSignal();
    const source = endless(cancelled.done, 'x'.repeat(60_000));
    const url = new URL(await serveHandler(() => source.frames));
    // The client sends a request and does not read.
    const socket = connect(Number(url.port), url.hostname);
    socket.pause();
    const head = [`POST ${url.pathname} HTTP/1.1`, 'Host: x', 'Content-Type: application/accp'];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${REQUEST.length}\r\n\r\n${REQUEST}`);
    await source.isStalled();
    const produced = source.produced();
    // The capacity of the buffers of both sides; a source at full speed would be far beyond it.
    expect(produced).toBeLessThan(1000);
    socket.destroy();
    await cancelled.promise;
  });

  test('without a socket, frames are made only when they are requested', async () => {
    const source = endless(() => undefined);
    const request = new Request(UNUSED_URL, { method: 'POST', headers: TYPE, body: REQUEST });
    const reader = (await createHandler(() => source.frames)(request)).body!.getReader();
    expect(source.produced()).toBe(1);
    await reader.read();
    expect(source.produced()).toBe(1);
    await reader.read();
    expect(source.produced()).toBe(2);
    await reader.cancel();
    expect(source.produced()).toBe(2);
  });

  /** An endless stream of frames. */
  function endless(
    cancelled: () => void,
    text = 'y',
  ): { frames: AsyncIterable<string>; produced: () => number; isStalled: () => Promise<void> } {
    let produced = 0;
    async function* frames(): AsyncGenerator<string> {
      try {
        for (;;) yield `@b>wait:x{q:${text}}[mid:n${++produced},seq:${produced}]`;
      } finally {
        cancelled();
      }
    }
    return {
      frames: frames(),
      produced: () => produced,
      isStalled: async () => {
        let before = 0;
        for (let calm = 0; calm < 10; calm = produced === before && produced > 0 ? calm + 1 : 0) {
          before = produced;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      },
    };
  }
});
