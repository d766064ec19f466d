/** Tests of all providers: the real SDKs against a local server. */
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ModelRequest, ProviderModel } from '../../../src/aacp/models/model.js';
import { ModelError, type ModelErrorCode } from '../../../src/aacp/models/model.js';
import { readReply } from '../../../src/aacp/models/read-reply.js';
import { answer, broken, endless, type ProviderServer, reset, silence, startServer } from './provider-server.js';
import { KEY, PACKET, PROVIDERS, REQUEST } from './providers.js';

let server: ProviderServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

async function failureOf(model: ProviderModel, request: ModelRequest = REQUEST): Promise<ModelError> {
  const error: unknown = await model(request).then(
    (reply) => expect.fail(`got ${JSON.stringify(reply)}`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  return error as ModelError;
}

describe.each(PROVIDERS)('$name', (provider) => {
  const { says, error } = provider;
  const make: typeof provider.make = (url, options) => provider.make(url, { maxRetries: 0, ...options });

  beforeEach(() => server.answers(answer(says(PACKET))));

  test('sends the system message, the prompt and the limit, and returns the reply with its cost', async () => {
    const price = { input: 2, output: 10 };
    const reply = await make(server.url, { price })(REQUEST);
    expect(reply).toEqual({
      text: PACKET,
      finish: 'stop',
      model: 'wire-model',
      usage: { inputTokens: 1000, outputTokens: 20 },
      cost: expect.closeTo(0.0022, 10),
    });
    const [request] = server.requests;
    expect(server.log).toEqual(['request', 'answer 200']);
    expect(request?.path).toBe(provider.path);
    expect(JSON.stringify(request?.headers)).toContain(KEY);
    expect(request?.body).toMatchObject({ model: 'm', [provider.maxTokens]: 300 });
    expect(provider.systemOf(request!.body)).toBe('SYSTEM');
    expect(provider.turnsOf(request!.body)).toEqual([{ role: 'user', content: 'PROMPT' }]);
  });

  test('reports no cost without a price, and charges the cache at its own price', async () => {
    await expect(make(server.url)(REQUEST)).resolves.toMatchObject({ cost: null });
    const price = { input: 2, output: 10, cacheRead: 0, cacheWrite: 2 };
    await expect(make(server.url, { price })(REQUEST)).resolves.toMatchObject({ cost: expect.closeTo(0.0012, 10) });
  });

  test('reports no cost when the reply has no usage', async () => {
    server.answers(answer({ ...says(PACKET), usage: undefined }));
    const reply = await make(server.url, { price: { input: 2, output: 10 } })(REQUEST);
    expect(reply).toMatchObject({ text: PACKET, usage: undefined, cost: null });
  });

  test('continues the conversation in the second round', async () => {
    await make(server.url)({ ...REQUEST, repair: { reply: 'FIRST', prompt: 'REPAIR' } });
    expect(provider.turnsOf(server.requests[0]!.body)).toEqual([
      { role: 'user', content: 'PROMPT' },
      { role: 'assistant', content: 'FIRST' },
      { role: 'user', content: 'REPAIR' },
    ]);
  });

  test('sends no empty turn when the first reply was empty', async () => {
    await make(server.url)({ ...REQUEST, repair: { reply: ' \n', prompt: 'REPAIR' } });
    expect(provider.turnsOf(server.requests[0]!.body)).toEqual([
      { role: 'user', content: 'PROMPT' },
      { role: 'user', content: 'REPAIR' },
    ]);
  });

  test('sends further members of the body, which do not replace those of the request', async () => {
    await make(server.url, { body: { service_tier: 'auto', model: 'other' } })(REQUEST);
    expect(server.requests[0]?.body).toMatchObject({ service_tier: 'auto', model: 'm' });
  });

  test.each([
    ['fenced', `\`\`\`\n${PACKET}\n\`\`\``],
    ['chatty', `Of course! Here is the packet:\n\n${PACKET}\n\nLet me know if it fits.`],
    ['in JSON', JSON.stringify({ packet: PACKET, compression_loss: 'none' })],
  ])('returns a reply that is %s unchanged, and the packet can be read from it', async (_name, text) => {
    server.answers(answer(says(text)));
    const reply = await make(server.url)(REQUEST);
    expect(reply.text).toBe(text);
    expect(readReply(reply.text)).toEqual({ packet: PACKET });
  });

  test('reports that the reply was cut off', async () => {
    server.answers(answer(provider.cut('FETCH|HR|ret')));
    await expect(make(server.url)(REQUEST)).resolves.toMatchObject({ text: 'FETCH|HR|ret', finish: 'length' });
  });

  test('reports that the model declined, and the cost of the reply', async () => {
    server.answers(answer(provider.refusal));
    const usage = { inputTokens: 1000, outputTokens: 20 };
    await expect(make(server.url)(REQUEST)).resolves.toMatchObject({ text: '', finish: 'refusal', usage });
  });

  test('retries once when the server asks it to wait', async () => {
    const wait = answer(error('slow down'), 429, { 'retry-after-ms': '1' });
    server.answers(wait, answer(says(PACKET)));
    await expect(provider.make(server.url)(REQUEST)).resolves.toMatchObject({ text: PACKET });
    expect(server.log).toEqual(['request', 'answer 429', 'request', 'answer 200']);
  });

  test('retries after a server error, and fails after the second retry', async () => {
    const fault = answer(error('oops'), 500, { 'retry-after-ms': '1' });
    server.answers(fault, fault, answer(says(PACKET)));
    await expect(provider.make(server.url)(REQUEST)).resolves.toMatchObject({ text: PACKET });
    server.answers(fault);
    expect(await failureOf(provider.make(server.url))).toMatchObject({ code: 'model-unavailable', retryAfterMs: 1 });
    expect(server.requests).toHaveLength(3);
  });

  test('does not wait longer than the limit', async () => {
    server.answers(answer(error('come back tomorrow'), 429, { 'retry-after': '86400' }));
    const failure = await failureOf(provider.make(server.url));
    expect(failure).toMatchObject({ code: 'model-rate-limited', retryAfterMs: 86_400_000 });
    expect(server.requests).toHaveLength(1);
  });

  const DATE = 'Wed, 21 Oct 2015 07:28:00 GMT';
  test.each([
    ['retry-after in seconds', { 'retry-after': '7' }, 7000],
    ['retry-after as a date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT', date: DATE }, 30_000],
    ['retry-after as a date that is past', { 'retry-after': 'Wed, 21 Oct 2015 07:27:30 GMT', date: DATE }, 0],
    ['retry-after-ms', { 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    ['retry-after without sense', { 'retry-after': 'soon' }, null],
    ['nothing', {}, null],
  ])('reports the time to wait, from %s', async (_name, headers: Record<string, string>, retryAfterMs) => {
    server.answers(answer(error('slow down'), 429, headers));
    expect(await failureOf(make(server.url))).toMatchObject({ code: 'model-rate-limited', retryAfterMs });
  });

  test.each<[number, ModelErrorCode]>([
    [400, 'model-bad-request'],
    [401, 'model-unauthorised'],
    [402, 'model-unauthorised'],
    [403, 'model-unauthorised'],
    [404, 'model-bad-request'],
    [408, 'model-timeout'],
    [409, 'model-bad-request'],
    [413, 'model-bad-request'],
    [422, 'model-bad-request'],
    [429, 'model-rate-limited'],
    [500, 'model-unavailable'],
    [503, 'model-unavailable'],
    [529, 'model-unavailable'],
  ])('reports the status %i as %s', async (status, code) => {
    server.answers(answer(error('what the server says'), status));
    const failure = await failureOf(make(server.url));
    expect(failure.code).toBe(code);
    expect(failure.message).toContain(String(status));
    if (code !== 'model-unauthorised') expect(failure.message).toContain('what the server says');
    expect(server.requests).toHaveLength(1);
  });

  test.each([400, 401, 403, 429, 500])('never shows the key, with the status %i', async (status) => {
    server.answers((response, { headers }) =>
      answer(error(`Wrong key ${KEY} in ${JSON.stringify(headers)}`), status, { echo: KEY })(response, {} as never),
    );
    const failure = await failureOf(make(server.url));
    expect(inspect(failure, { depth: 9, showHidden: true }) + JSON.stringify(failure) + failure.format()).not.toContain(
      KEY,
    );
  });

  test('fails when the server does not answer in time', async () => {
    server.answers(silence);
    const failure = await failureOf(make(server.url, { timeoutMs: 50 }));
    expect(failure.code).toBe('model-timeout');
  });

  test('fails when a reply does not end in time', async () => {
    server.answers(endless);
    const failure = await failureOf(make(server.url, { timeoutMs: 200 }));
    expect(failure.code).toBe('model-timeout');
  });

  test('stops with the signal of the caller while it waits for the server', async () => {
    const controller = new AbortController();
    server.answers(() => controller.abort());
    const failure = await failureOf(provider.make(server.url), { ...REQUEST, signal: controller.signal });
    expect(failure.code).toBe('model-aborted');
    expect(server.requests).toHaveLength(1);
  });

  test('stops with the signal of the caller while it waits for the next attempt', async () => {
    const controller = new AbortController();
    server.answers((response, request) => {
      response.on('finish', () => setImmediate(() => controller.abort()));
      answer(error('slow down'), 429, { 'retry-after': '3000' })(response, request);
    });
    const model = provider.make(server.url, { maxRetryDelayMs: 2 ** 31 - 1 });
    const failure = await failureOf(model, { ...REQUEST, signal: controller.signal });
    expect(failure.code).toBe('model-aborted');
  });

  test('distinguishes a time limit of the caller from a cancellation', async () => {
    const controller = new AbortController();
    server.answers(() => controller.abort(new DOMException('late', 'TimeoutError')));
    const failure = await failureOf(make(server.url), { ...REQUEST, signal: controller.signal });
    expect(failure.code).toBe('model-timeout');
  });

  test('sends no request when the signal was aborted before', async () => {
    const failure = await failureOf(make(server.url), { ...REQUEST, signal: AbortSignal.abort() });
    expect(failure.code).toBe('model-aborted');
    expect(server.requests).toHaveLength(0);
  });

  test('reports that there is no connection', async () => {
    server.answers(reset);
    expect(await failureOf(make(server.url))).toMatchObject({ code: 'model-unavailable' });
    const gone = await startServer();
    await gone.close();
    const failure = await failureOf(make(gone.url));
    expect(failure).toMatchObject({
      code: 'model-unavailable',
      message: expect.stringContaining('the connection was refused'),
    });
  });

  test('reports that the connection broke within a reply', async () => {
    server.answers(broken);
    expect(await failureOf(make(server.url))).toMatchObject({ code: 'model-unavailable' });
  });

  test.each([
    ['JSON that is cut off', answer('{"content": [{"type": "te')],
    ['no JSON', answer('hello')],
    ['an empty body', answer('')],
    ['an empty body of no type', answer('', 200, { 'content-type': 'text/plain' })],
    ['no body at all', answer('', 204)],
    ['a page of a proxy', answer('<html>Sign in</html>', 200, { 'content-type': 'text/html' })],
    ['null', answer('null')],
    ['a list', answer([])],
    ['an object without a reply', answer({})],
    ['a reply of another shape', answer({ content: 'x', output: 'x', choices: 'x' })],
    ['no choice', answer({ choices: [] })],
  ])('rejects an invalid reply: %s', async (_name, reply) => {
    server.answers(reply);
    expect(await failureOf(make(server.url))).toMatchObject({ code: 'model-bad-reply' });
  });

  test('rejects a reply that is not marked as finished', async () => {
    for (const reply of provider.unfinished(PACKET)) {
      server.answers(answer(reply));
      const failure = await failureOf(make(server.url));
      expect(failure).toMatchObject({ code: 'model-bad-reply', message: expect.stringContaining('incomplete') });
    }
  });

  test('works with a client of the caller, and with a plain object that has its methods', async () => {
    const create = vi.fn(async () => says(PACKET));
    const client = { messages: { create }, responses: { create }, chat: { completions: { create } } };
    const model = provider.make(server.url, { client } as object);
    await expect(model(REQUEST)).resolves.toMatchObject({ text: PACKET });
    expect(create).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ model: 'm' }), {
      signal: expect.any(AbortSignal),
      timeout: 60_000,
      maxRetries: 2,
    });
    expect(server.requests).toHaveLength(0);
  });

  test('throws a ModelError for every error of a client', async () => {
    for (const thrown of [new Error('broken'), 'broken', null, undefined, Object.create(null)]) {
      const create = () => Promise.reject(thrown);
      const client = { messages: { create }, responses: { create }, chat: { completions: { create } } };
      expect(await failureOf(provider.make(server.url, { client } as object))).toMatchObject({
        code: 'model-unavailable',
      });
    }
  });

  test.each([
    [{ model: '' }, 'model must be the name of a model'],
    [{ timeoutMs: 0 }, 'timeoutMs must be a positive number of milliseconds or Infinity; got 0'],
    [{ timeoutMs: '1' }, 'timeoutMs must be a positive number of milliseconds or Infinity; got "1"'],
    [{ maxRetries: -1 }, 'maxRetries must be a non-negative integer; got -1'],
    [
      { maxRetryDelayMs: Number.NaN },
      'maxRetryDelayMs must be a non-negative number of milliseconds or Infinity; got NaN',
    ],
    [{ price: { input: 1 } }, 'price.output must be US dollars per million tokens'],
    [{ price: { input: 1, output: 1, cacheRead: -1 } }, 'price.cacheRead must be US dollars per million tokens'],
    [{ onNotice: 'log' }, 'onNotice must be a function'],
    [{ body: 1 }, 'body must be an object'],
    [{ apiKey: '' }, 'apiKey must be a non-empty string'],
    [{ baseUrl: 1 }, 'baseUrl must be a non-empty string'],
    [{ constrain: 'json' }, 'constrain must be one of'],
  ])('rejects the options %j', (options, message) => {
    expect(() => make(server.url, options as object)).toThrow(TypeError);
    expect(() => make(server.url, options as object)).toThrow(message);
  });

  test('leaves no listener on the signal of the caller', async () => {
    const { signal } = new AbortController();
    const add = vi.spyOn(signal, 'addEventListener');
    const remove = vi.spyOn(signal, 'removeEventListener');
    await make(server.url)({ ...REQUEST, signal });
    server.answers(answer(error('oops'), 500));
    await failureOf(make(server.url), { ...REQUEST, signal });
    expect(add).toHaveBeenCalledTimes(2);
    expect(remove.mock.calls.map(([, listener]) => listener)).toEqual(add.mock.calls.map(([, listener]) => listener));
  });

  test('prints nothing', async () => {
    const spies = (['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => vi.spyOn(console, name));
    server.answers(answer(error('oops'), 500, { 'retry-after-ms': '1' }));
    await failureOf(provider.make(server.url));
    for (const spy of spies) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });
});
