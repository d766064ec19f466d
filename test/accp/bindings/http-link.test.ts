/** Tests that are specific to links over HTTP: each frame is a request of its own, and so is each answer. */
import { once } from 'node:events';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectHttp, createHandler, type FrameHandler, type Link } from '../../../src/accp/bindings/http/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { echo, endpointOf } from './http-server.js';

const codec = createCodec({ state: false });
const URL_OF_AGENT = 'http://agents/accp/v1/frames';
const req = (operation: string) => ({ intent: 'req', operation, payload: {} });

const links: Link[] = [];
afterEach(async () => {
  for (const link of links.splice(0)) await link.close();
});

type Options = Partial<Parameters<typeof connectHttp>[1]>;

async function connect(answer: (request: Request) => Promise<Response>, options: Options = {}): Promise<Link> {
  const session = createSession({ agent: 'client', sequence: 'sender' });
  const fetch = (url: string, init: RequestInit) => answer(new Request(url, init));
  const link = await connectHttp(URL_OF_AGENT, { codec, session, fetch, reconnect: { minDelayMs: 10 }, ...options });
  links.push(link);
  return link;
}

describe('answers that overtake each other', () => {
  test('are processed in the order of their numbers: nothing is sent again', async () => {
    const frames: string[] = [];
    const { handler } = endpointOf(echo);
    const served = createHandler(((frame, context) => {
      frames.push(frame);
      return handler(frame, context);
    }) satisfies FrameHandler);
    const link = await connect(async (request) => {
      const isSlow = (await request.clone().text()).includes('>req:slow{');
      const response = await served(request);
      // The answer has its number, and arrives late.
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 300));
      return response;
    });
    const order: string[] = [];
    const ask = async (operation: string): Promise<void> => {
      await link.request(req(operation));
      order.push(operation);
    };
    await Promise.all([ask('slow'), ask('fast')]);
    expect(order).toEqual(['slow', 'fast']);
    expect(frames.map((frame) => /^@client>([a-z]+:[a-z]+)/.exec(frame)![1])).toEqual([
      'sync:registry',
      'req:slow',
      'req:fast',
    ]);
  });
});

describe('requests that overtake each other', () => {
  /** A network that delivers groups of requests in reverse order. */
  async function turned(count: number, options: Options = {}) {
    const frames: string[] = [];
    const requested: unknown[] = [];
    const { handler } = endpointOf(({ intent, operation, payload }) => {
      if (intent !== 'req') return null;
      requested.push(payload['n']);
      return { intent: 'done', operation, payload };
    });
    const served = createHandler(((frame, context) => {
      frames.push(frame);
      return handler(frame, context);
    }) satisfies FrameHandler);
    const waiting: (() => void)[] = [];
    const link = await connect(async (request) => {
      if ((await request.clone().text()).includes('>req:')) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === count) for (const go of waiting.reverse()) setTimeout(go, 0);
        });
      }
      return served(request);
    }, options);
    return { link, frames, requested, waiting };
  }

  test('are processed in the order of their numbers: nothing is sent again', async () => {
    const { link, frames, requested } = await turned(20);
    const numbers = Array.from({ length: 20 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => link.request({ ...req('work'), payload: { n } })));
    expect(answers.map(({ payload }) => payload['n'])).toEqual(numbers);
    expect(frames.map((frame) => Number(/,seq:([0-9]+)/.exec(frame)![1]))).toEqual([
      1,
      ...numbers.map((n) => n + 2).reverse(),
    ]);
    expect(requested).toEqual(numbers);
  });

  test('are all sent before one of them is answered, within the limit of concurrent exchanges', async () => {
    const { link, waiting } = await turned(Number.POSITIVE_INFINITY, { maxExchanges: 30 });
    const answers = Array.from({ length: 40 }, () => link.request(req('work')).catch(() => undefined));
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(waiting).toHaveLength(30);
    await link.close();
    await Promise.all(answers);
    for (const go of waiting) go();
  });
});

test('an answer that arrives while the link reconnects is received by the next connection, which continues to send', async () => {
  const served = createHandler(endpointOf(echo));
  let noteLoss!: () => void;
  const isLost = new Promise<void>((resolve) => {
    noteLoss = resolve;
  });
  let isCut = false;
  const link = await connect(
    async (request) => {
      const frame = await request.clone().text();
      if (frame.includes('>req:fast{') && !isCut) {
        isCut = true;
        throw new TypeError('fetch failed');
      }
      const response = await served(request);
      if (frame.includes('>req:slow{')) await isLost;
      return response;
    },
    {
      session: createSession({ agent: 'client', sequence: 'sender', timeoutMs: 5_000 }),
      reconnect: { minDelayMs: 50 },
      onState: (state) => {
        if (state === 'reconnecting') noteLoss();
      },
    },
  );
  const answers = await Promise.all(['slow', 'fast', 'fast'].map((operation) => link.request(req(operation))));
  expect(answers.map(({ intent }) => intent)).toEqual(['done', 'done', 'done']);
  expect(isCut).toBe(true);
});

describe('a rejection of the server outside of the session', () => {
  test('settles each request that it names', async () => {
    const link = await connect(
      createHandler((frame) => {
        if (frame.includes('>sync:registry{')) return null;
        throw new Error('the server is broken');
      }),
    );
    for (let n = 0; n < 3; n++) await expect(link.request(req('x'))).rejects.toMatchObject({ code: 'E9999' });
    expect(link.state).toBe('open');
  });
});

describe('a status without frames', () => {
  test('refuses the link if it is permanent', async () => {
    const connecting = connect(async () => new Response(null, { status: 401 }));
    await expect(connecting).rejects.toMatchObject({ code: 'refused' });
  });

  test('makes the link wait if it is temporary', async () => {
    const served = createHandler(endpointOf(echo));
    let busy = 0;
    const link = await connect(async (request) => (busy-- > 0 ? new Response(null, { status: 503 }) : served(request)));
    busy = 3;
    expect((await link.request(req('echo'))).intent).toBe('done');
  });
});

test('an exchange without a frame for too long fails', async () => {
  const { handler } = endpointOf(echo);
  const served = createHandler((frame, context) =>
    frame.includes('>req:') ? new Promise<null>(() => undefined) : handler(frame, context),
  );
  const link = await connect(served, { exchangeTimeoutMs: 50, reconnect: false });
  await expect(link.request(req('hang'))).rejects.toMatchObject({ code: 'unreachable' });
});

test('an exchange that does not end after its link was closed is aborted', async () => {
  const served = createHandler(endpointOf(echo));
  let hanging: Request | undefined;
  const link = await connect(async (request) => {
    if (!(await request.clone().text()).includes('>req:hang')) return served(request);
    hanging = request;
    return new Promise<Response>(() => undefined);
  });
  await link.send(req('hang'));
  await vi.waitUntil(() => hanging !== undefined, { timeout: 30_000 });
  await link.close();
  if (!hanging!.signal.aborted) await once(hanging!.signal, 'abort');
  expect(hanging!.signal.reason).toMatchObject({ code: 'closed' });
});

test('invalid options are rejected', async () => {
  const served = createHandler(endpointOf(echo));
  await expect(connect(served, { maxExchanges: 0 })).rejects.toThrow(TypeError);
  await expect(connect(served, { exchangeTimeoutMs: Number.NaN })).rejects.toThrow(TypeError);
});

test.each([20 * 86_400_000, 10 ** 12])(
  'a session may wait %d ms for its answers, longer than timers can',
  async (timeoutMs) => {
    const session = createSession({ agent: 'client', sequence: 'sender', timeoutMs });
    const link = await connect(createHandler(endpointOf(echo).handler), { session });
    expect((await link.request(req('echo'))).intent).toBe('done');
  },
);
