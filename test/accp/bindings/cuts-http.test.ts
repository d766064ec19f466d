/** The end of a transport is not the end of the stream: HTTP, through a proxy that cuts the answer. */
import { afterEach, describe, expect, test } from 'vitest';
import { FRAMES_PATH, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { createCodec, createSession, streamMessages } from '../../../src/accp/codec/index.js';
import { cuttingHttpProxy, ENDINGS, type Ending } from '../../helpers/cutting-http-proxy.js';
import { endpointOf, testServers } from './http-server.js';

const { serveHandler } = testServers();
const proxies: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});

const WORDS = ['one_', 'two_', 'three_', 'four'];

/** Returns the position in a body after a number of lines and bytes; -1 if they have not arrived. */
const behind =
  (lines: number, more: number) =>
  (body: string): number => {
    let at = 0;
    for (let n = 0; n < lines; n++) {
      at = body.indexOf('\n', at) + 1;
      if (at === 0) return -1;
    }
    return body.length >= at + more ? at + more : -1;
  };

/** Returns the outcome of a stream of four chunks and its `end` through a proxy. */
async function read(ending: Ending, cut: (body: string) => number) {
  const endpoint = endpointOf(({ envelope: { msg_id: cid } }) =>
    streamMessages(WORDS, { correlationId: cid, operation: 'infer' }),
  );
  const { port } = new URL(await serveHandler(endpoint));
  const proxy = await cuttingHttpProxy(Number(port), ending, cut);
  proxies.push(proxy);
  const session = createSession({ agent: 'client', sequence: 'sender' });
  const [request] = createCodec().encode({ intent: 'req', operation: 'infer' }, session).frames;
  const frames: string[] = [];
  try {
    for await (const frame of streamFrames(`http://127.0.0.1:${proxy.port}${FRAMES_PATH}`, request!, {
      timeoutMs: 5000,
    }))
      frames.push(frame);
    return { frames, end: 'ended' };
  } catch (thrown) {
    return { frames, end: (thrown as { code: string }).code };
  }
}

describe.each(ENDINGS)('an answer over HTTP whose body is cut (%s)', (ending) => {
  test.each([
    ['between two chunks of a stream', 2, 0],
    ['after a frame, before its line end', 2, -1],
    ['inside a frame', 2, 20],
  ])('%s is truncated', async (_, lines, more) => {
    const { frames, end } = await read(ending, behind(lines, more));
    expect(end).toBe('truncated');
    // Data that a reset connection has not delivered is lost.
    if (ending !== 'reset') expect(frames).toHaveLength(2);
  });

  test('before its first frame is truncated', async () => {
    expect(await read(ending, (body) => (body.length > 0 ? 0 : -1))).toEqual({ frames: [], end: 'truncated' });
  });

  test.each([
    ['the final chunk', 4],
    ['the end of the stream', 5],
  ])('after %s has ended', async (_, lines) => {
    const { frames, end } = await read(ending, behind(lines, 0));
    if (ending === 'reset' && frames.length < 4) return;
    expect(frames).toHaveLength(lines);
    expect(end).toBe('ended');
  });
});

test('a message in several frames is truncated if some of them do not arrive', async () => {
  const endpoint = endpointOf(() => ({
    ...{ intent: 'done', operation: 'infer' },
    payload: { text: 'many_words_'.repeat(1000) },
  }));
  const { port } = new URL(await serveHandler(endpoint));
  const proxy = await cuttingHttpProxy(Number(port), 'chunked', behind(1, 0));
  proxies.push(proxy);
  const [request] = createCodec().encode({ intent: 'req', operation: 'x' }, createSession({ agent: 'client' })).frames;
  const reading = (async () => {
    for await (const _ of streamFrames(`http://127.0.0.1:${proxy.port}${FRAMES_PATH}`, request!));
  })();
  await expect(reading).rejects.toMatchObject({ code: 'truncated' });
});

test('a body that ends properly at any byte is truncated, until the final chunk is complete', async () => {
  const frames = [0, 1].map(
    (n) => `@b>stream:x{idx:${n}|d:t${n === 1 ? '|done:true' : ''}|schema:ST}[mid:m${n},seq:${n + 1},cid:c]`,
  );
  const body = `${frames.join('\n')}\n@b>end:x{}[mid:m9,seq:3,cid:c]\n`;
  const whole = frames.join('\n').length;
  for (let length = 1; length <= whole + 1; length++) {
    const fetch = () => new Response(body.slice(0, length), { headers: { 'content-type': 'application/accp' } });
    const reading = (async () => {
      for await (const _ of streamFrames('http://x', '@a>req:x{}[mid:c,seq:1]', { fetch }));
      return 'ended';
    })().catch(({ code }: { code: string }) => code);
    expect([length, await reading]).toEqual([length, length < whole ? 'truncated' : 'ended']);
  }
});
