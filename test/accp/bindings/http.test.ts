/** Frames over HTTP: answers, and the mounting of the handler. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Hono } from 'hono';
import { describe, expect, test } from 'vitest';
import { createHandler, postFrame, streamFrames } from '../../../src/accp/bindings/http/index.js';
import { createCodec, createSession, streamMessages } from '../../../src/accp/codec/index.js';
import { ANSWER, collect, ERROR, each, endpointOf, REQUEST, send, TYPE, testServers } from './http-server.js';

const { serveHandler } = testServers();

describe('a request and its answer', () => {
  test('two sessions exchange messages and keep their numbers', async () => {
    const url = await serveHandler(endpointOf());
    const codec = createCodec();
    const session = createSession({ agent: 'client', sequence: 'sender' });
    for (const n of [1, 2, 3]) {
      const { frames } = codec.encode({ intent: 'req', operation: 'add', payload: { n } }, session);
      const outcome = codec.decode((await postFrame(url, frames[0]!))!, session);
      expect(outcome).toMatchObject({ outcome: 'message', message: { payload: { n }, envelope: { sequence: n } } });
    }
  });

  test('one frame is the whole body, unchanged', async () => {
    const response = await fetch(await serveHandler(() => ANSWER), { method: 'POST', headers: TYPE, body: REQUEST });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/accp');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toBe(ANSWER);
  });

  test('without an answer, the status is 204', async () => {
    const response = await fetch(await serveHandler(() => null), { method: 'POST', headers: TYPE, body: REQUEST });
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([204, '', null]);
    expect(await postFrame(await serveHandler(() => null), REQUEST)).toBeNull();
    expect(await collect(streamFrames(await serveHandler(() => null), REQUEST))).toEqual([]);
  });

  test('an expired frame is not answered', async () => {
    const url = await serveHandler(endpointOf());
    expect(await postFrame(url, '@a>req:x{}[mid:m1,seq:1,ts:1000,ttl:5]')).toBeNull();
  });

  test.each<[string, string, number]>([
    ['an answer', ANSWER, 200],
    ['a failure without the schema', '@b>fail:x{why:late}[mid:n1,seq:1]', 200],
    ['an error frame', ERROR, 400],
    ['a value that looks like the schema', '@b>done:x{q:schema\\:ER}[mid:n1,seq:1]', 200],
    ['a map that holds such a key', '@b>done:x{m:{schema:ER}}[mid:n1,seq:1]', 200],
  ])('%s has its status, and is an answer for the client', async (_name, frame, status) => {
    const url = await serveHandler(() => frame);
    expect((await send(url, REQUEST, TYPE)).status).toBe(status);
    expect(await postFrame(url, REQUEST)).toBe(frame);
  });

  test('the rejection of a session arrives as an error frame that the peer can read', async () => {
    const url = await serveHandler(endpointOf());
    const codec = createCodec();
    const session = createSession({ agent: 'client', sequence: 'sender' });
    codec.encode({ intent: 'req', operation: 'lost' }, session);
    const { frames } = codec.encode({ intent: 'req', operation: 'x', payload: { n: 2 } }, session);
    const outcome = codec.decode((await postFrame(url, frames[0]!))!, session);
    expect(outcome).toMatchObject({ outcome: 'message', message: { payload: { code: 'E3003' } } });
    // The requested frames are sent and answered.
    const replies = outcome.outcome === 'message' ? outcome.replies : [];
    const answers: string[] = [];
    for (const reply of replies) answers.push(...(await collect(streamFrames(url, reply))));
    const messages = answers.map((answer) => codec.decode(answer, session));
    expect(messages).toMatchObject([
      { outcome: 'message', message: { intent: 'done', operation: 'lost' } },
      { outcome: 'message', message: { intent: 'done', payload: { n: 2 } } },
    ]);
  });
});

describe('mounted in other environments', () => {
  test('on Hono, with and without a stream', async () => {
    const handler = createHandler(
      endpointOf(({ operation, envelope: { msg_id: cid } }) =>
        operation === 'infer' ? streamMessages('ab', { correlationId: cid, operation }) : { intent: 'done', operation },
      ),
      { path: '/agents/accp' },
    );
    const app = new Hono();
    app.all('/agents/accp', (context) => handler(context.req.raw));
    const options = { fetch: (url: string, init: RequestInit) => app.request(url, init) };
    expect(await postFrame('http://x/agents/accp', REQUEST, options)).toContain('done:x');
    const frames = await collect(streamFrames('http://x/agents/accp', '@a>req:infer{}[mid:m1,seq:1]', options));
    expect(frames.at(-1)).toContain('end:infer');
    expect((await app.request('/agents/accp')).status).toBe(405);
  });

  const curl = promisify(execFile);
  test('curl posts a frame and reads a stream', async ({ skip }) => {
    const isThere = await curl('curl', ['--version']).then(
      () => true,
      () => false,
    );
    if (!isThere) skip('curl is not installed: apt install curl');
    const url = await serveHandler((frame) => (frame.includes('infer') ? each([ANSWER, ANSWER]) : ANSWER));
    const post = async (body: string): Promise<string> => {
      // Other options for data read a text that begins with @ as the name of a file.
      const options = ['-sS', '--noproxy', '*', '-H', 'Content-Type: application/accp', '--data-raw', body];
      return (await curl('curl', [...options, '-w', '%{http_code}', url])).stdout;
    };
    expect(await post(REQUEST)).toBe(`${ANSWER}200`);
    expect(await post(`${REQUEST}\n`)).toBe(`${ANSWER}200`);
    expect(await post('@a>req:infer{}[mid:m1,seq:1]')).toBe(`${ANSWER}\n${ANSWER}\n200`);
    expect(await post(`${REQUEST}\n${REQUEST}`)).toMatch(/^@accp>fail:error\{code:E1001\|.*\]400$/);
  });
});
