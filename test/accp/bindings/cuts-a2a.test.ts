/** The end of a transport is not the end of the stream: server-sent events of A2A, through a proxy that cuts them. */
import { afterEach, describe, expect, test } from 'vitest';
import { type FrameHandler, streamFrame } from '../../../src/accp/bindings/a2a/index.js';
import { cuttingHttpProxy, ENDINGS, type Ending } from '../../helpers/cutting-http-proxy.js';
import { type ConnectOptions, startConversation } from './a2a-fixture.js';

const proxies: { close: () => Promise<void> }[] = [];
afterEach(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close();
});

const ANSWERS = [
  '@w>ack:x{}[mid:w1,seq:1,cid:q1]',
  '@w>stream:x{idx:0|d:a|schema:ST}[mid:w2,seq:2,cid:q1]',
  '@w>stream:x{idx:1|d:b|done:true|schema:ST}[mid:w3,seq:3,cid:q1]',
  '@w>done:x{v:1}[mid:w4,seq:4,cid:q1]',
];

/** Returns the outcome of an answer whose body is cut after a number of events and bytes. */
async function read(ending: Ending, events: number, more: number, answers: readonly string[], version = '1.0') {
  const cut = (body: string): number => {
    let at = 0;
    for (let n = 0; n < events; n++) {
      at = body.indexOf('\n\n', at) + 2;
      if (at === 1) return -1;
    }
    return body.startsWith('data:') && body.length >= at + more ? at + more : -1;
  };
  const through: ConnectOptions['through'] = async (port) => {
    const proxy = await cuttingHttpProxy(port, ending, cut);
    proxies.push(proxy);
    return proxy.port;
  };
  const handler = async function* () {
    yield* answers;
  } as unknown as FrameHandler;
  const { client } = await startConversation(handler, { through, protocolVersion: version });
  const frames: string[] = [];
  try {
    for await (const frame of streamFrame(client, '@p>req:x{}[mid:q1,seq:1]', { legacy: version !== '1.0' }))
      frames.push(frame);
    return { frames, end: 'ended' };
  } catch (thrown) {
    return { frames, end: (thrown as { code?: unknown }).code ?? 'failed' };
  }
}

// The task, and an event for each frame but the last, which the status contains.
describe.each(ENDINGS)('an answer over A2A whose events are cut (%s)', (ending) => {
  test.each([
    ['1.0', 'before the first', 0, 1],
    ['1.0', 'after the task', 1, 0],
    ['1.0', 'between two of them', 3, 0],
    ['1.0', 'inside one', 3, 60],
    ['1.0', 'before the one that ends the task', 4, 0],
    ['0.3', 'between two of them', 3, 0],
    ['0.3', 'inside one', 3, 60],
  ])('A2A %s: %s, does not end like a complete one', async (version, _, events, more) => {
    const { frames, end } = await read(ending, events, more, ANSWERS, version);
    if (ending === 'chunked' || ending === 'closed') {
      expect(frames).toHaveLength(Math.max(0, events - 1));
      expect(end).toBe('truncated');
    } else expect(end).not.toBe('ended');
  });

  test('after the last of them, it has ended', async () => {
    const { frames, end } = await read(ending, 5, 0, ANSWERS);
    if (ending !== 'reset') expect([frames, end]).toEqual([ANSWERS, 'ended']);
  });
});

test.each([
  ['an agent that waits for its client', ['@w>wait:x{for:b}[mid:w1,seq:1,cid:q1]']],
  ['an agent that continues later', ['@w>ack:x{}[mid:w1,seq:1,cid:q1]']],
  ['an agent that does not answer', []],
])('the events of %s have ended', async (_, answers) => {
  expect(await read('chunked', 100, 0, answers)).toEqual({ frames: answers, end: 'ended' });
});
