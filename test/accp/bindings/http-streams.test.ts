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
  ERROR,
  each,
  endpointOf,
  failing,
  REQUEST,
  send,
  signalled,
  TYPE,
  testServers,
  URL_OF_NOBODY,
} from './http-server.js';

const { serving } = testServers();

describe('streams', () => {
  const chunks = ['one_', 'two_', 'three'];
  const handle: EndpointOptions['handle'] = ({ envelope: { msg_id: cid } }) =>
    streamMessages(chunks, { cid, operation: 'infer' });

  test('are frames that a session puts together', async () => {
    const url = await serving(endpointOf(handle));
    const codec = createCodec();
    const session = createSession({ agent: 'client', sequence: 'sender' });
    const { frames, correlationId } = codec.encode({ intent: 'req', operation: 'infer' }, session);
    const text = collect(session.stream(correlationId));
    for await (const frame of streamFrames(url, frames[0]!)) {
      expect(['pending', 'message']).toContain(codec.decode(frame, session).outcome);
    }
    expect((await text).map(({ data }) => data).join('')).toBe(chunks.join(''));
  });

  test('come with a line end for each frame, in chunks', async () => {
    const url = await serving(() => each([ANSWER, ANSWER]));
    const response = await send(url, REQUEST, TYPE);
    expect(response.headers['transfer-encoding']).toBe('chunked');
    expect(response.body).toBe(`${ANSWER}\n${ANSWER}\n`);
  });

  test('each frame arrives before the next one is made', async () => {
    const taken = [signalled(), signalled()];
    const url = await serving(async function* () {
      yield ANSWER;
      await taken[0]!.promise;
      yield ERROR;
      await taken[1]!.promise;
      yield ANSWER;
    } as FrameHandler);
    const seen: string[] = [];
    for await (const frame of streamFrames(url, REQUEST)) taken[seen.push(frame) - 1]?.done();
    expect(seen).toEqual([ANSWER, ERROR, ANSWER]);
  });

  test.each<[string, readonly string[], number, readonly string[]]>([
    ['the first frame decides', [ANSWER, ERROR], 200, [ANSWER, ERROR]],
    ['an error first', [ERROR, ANSWER], 400, [ERROR, ANSWER]],
    ['nothing at all', [], 204, []],
  ])('%s about the status', async (_name, frames, status, expected) => {
    const url = await serving(() => each(frames));
    expect((await send(url, REQUEST, TYPE)).status).toBe(status);
    expect(await collect(streamFrames(url, REQUEST))).toEqual(expected);
  });

  test('an error on the way is the last chunk', async () => {
    const failures: unknown[] = [];
    const url = await serving(() => failing([ANSWER]), { onError: (thrown) => failures.push(thrown) });
    const frames = await collect(streamFrames(url, REQUEST));
    expect(frames.map(codeOf)).toEqual([undefined, 'E9999']);
    expect(failures).toEqual([new Error('the line is dead')]);
  });

  test('a client that leaves ends the stream, and its handler knows', async () => {
    const left = signalled();
    const aborted = signalled();
    const url = await serving((_frame, { signal }) => {
      signal.addEventListener('abort', () => aborted.done());
      return endless(left.done).frames;
    });
    for await (const frame of streamFrames(url, REQUEST)) {
      expect(frame).toContain('@b>wait');
      break;
    }
    await Promise.all([left.promise, aborted.promise]);
  });

  test('a client that aborts gets its reason', async () => {
    const left = signalled();
    const url = await serving(() => endless(left.done).frames);
    const controller = new AbortController();
    const reason = new Error('enough');
    const frames = streamFrames(url, REQUEST, { signal: controller.signal });
    const reading = (async () => {
      for await (const _frame of frames) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    await left.promise;
  });

  test('a client that goes while nothing has been said is noticed', async () => {
    const begun = signalled();
    const aborted = signalled();
    const url = await serving((_frame, { signal }) => {
      begun.done();
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
    await begun.promise;
    controller.abort(new Error('gone home'));
    await refused;
    await aborted.promise;
  });

  test('a reader that is slow slows the source', async () => {
    const left = signalled();
    const source = endless(left.done, 'x'.repeat(60_000));
    const url = new URL(await serving(() => source.frames));
    // It asks, and does not read.
    const socket = connect(Number(url.port), url.hostname);
    socket.pause();
    const head = [`POST ${url.pathname} HTTP/1.1`, 'Host: x', 'Content-Type: application/accp'];
    socket.write(`${head.join('\r\n')}\r\nContent-Length: ${REQUEST.length}\r\n\r\n${REQUEST}`);
    await source.isStalled();
    const made = source.made();
    // What the buffers of both sides hold; a source at full speed would be far beyond.
    expect(made).toBeLessThan(1000);
    socket.destroy();
    await left.promise;
  });

  test('without a socket, nothing is made that is not asked for', async () => {
    const source = endless(() => undefined);
    const request = new Request(URL_OF_NOBODY, { method: 'POST', headers: TYPE, body: REQUEST });
    const reader = (await createHandler(() => source.frames)(request)).body!.getReader();
    expect(source.made()).toBe(1);
    await reader.read();
    expect(source.made()).toBe(1);
    await reader.read();
    expect(source.made()).toBe(2);
    await reader.cancel();
    expect(source.made()).toBe(2);
  });

  /** Frames without end. */
  function endless(
    left: () => void,
    text = 'y',
  ): { frames: AsyncIterable<string>; made: () => number; isStalled: () => Promise<void> } {
    let made = 0;
    async function* frames(): AsyncGenerator<string> {
      try {
        for (;;) yield `@b>wait:x{q:${text}}[mid:n${++made},seq:${made}]`;
      } finally {
        left();
      }
    }
    return {
      frames: frames(),
      made: () => made,
      isStalled: async () => {
        let before = 0;
        for (let calm = 0; calm < 10; calm = made === before && made > 0 ? calm + 1 : 0) {
          before = made;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      },
    };
  }
});
