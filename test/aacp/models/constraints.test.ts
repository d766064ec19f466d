/** The constraint that each provider sends so that the model can only write packets, and its fallback if that is rejected. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anthropicModel } from '../../../src/aacp/models/anthropic-model.js';
import type { ProviderModel } from '../../../src/aacp/models/model.js';
import { openaiCompatibleModel } from '../../../src/aacp/models/openai-compatible-model.js';
import { openaiModel } from '../../../src/aacp/models/openai-model.js';
import type { ModelNotice } from '../../../src/aacp/models/provider.js';
import { readReply } from '../../../src/aacp/models/read-reply.js';
import { answer, type ProviderServer, startServer } from './provider-server.js';
import { ANTHROPIC, COMPATIBLE, KEY, OPENAI, PACKET, REQUEST } from './providers.js';

let server: ProviderServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const IN_JSON = JSON.stringify({ packet: PACKET });
const OTHER_AGENT = PACKET.replace('HR-Agent', 'EVIL-Agent');

async function bodyOf(model: ProviderModel, reply: object): Promise<Readonly<Record<string, unknown>>> {
  server.answers(answer(reply));
  const { text } = await model(REQUEST);
  expect(readReply(text)).toEqual({ packet: PACKET });
  return server.requests[0]!.body;
}

/** The schema of an object with a packet, whose pattern accepts exactly the packets for this request. */
function expectPacketSchema(schema: unknown): void {
  expect(schema).toMatchObject({ type: 'object', required: ['packet'], additionalProperties: false });
  const { packet } = (schema as { properties: { packet: { type: string; pattern: string } } }).properties;
  const pattern = new RegExp(packet.pattern, 'u');
  expect(packet.type).toBe('string');
  expect([PACKET, OTHER_AGENT, `x${PACKET}`, `${PACKET}\n`].filter((text) => pattern.test(text))).toEqual([PACKET]);
}

describe('anthropic', () => {
  const make = (options: object = {}): ProviderModel =>
    anthropicModel({ model: 'm', apiKey: KEY, baseUrl: server.url, maxRetries: 0, ...options });

  test('sends a JSON Schema with the pattern of the packets, beside other members of the same name', async () => {
    const body = await bodyOf(make({ body: { output_config: { effort: 'low' } } }), ANTHROPIC.says(IN_JSON));
    const config = body['output_config'] as { effort: string; format: { type: string; schema: unknown } };
    expect(config).toMatchObject({ effort: 'low', format: { type: 'json_schema' } });
    expectPacketSchema(config.format.schema);
    expect(body['system']).toMatch(/^SYSTEM\n\n.*\{"packet": "\.\.\."\}/);
  });

  test('sends a strict tool that must be used, and reads its arguments', async () => {
    const call = { type: 'tool_use', id: 't1', name: 'packet', input: { packet: PACKET } };
    const reply = {
      ...ANTHROPIC.says(''),
      content: [{ type: 'text', text: 'I will.' }, call],
      stop_reason: 'tool_use',
    };
    const body = await bodyOf(make({ constrain: 'tool' }), reply);
    const [tool] = body['tools'] as [{ name: string; strict: boolean; input_schema: unknown }];
    expect(tool).toMatchObject({ name: 'packet', strict: true });
    expectPacketSchema(tool.input_schema);
    expect(body['tool_choice']).toEqual({ type: 'tool', name: 'packet', disable_parallel_tool_use: true });
  });

  test('marks the system message for the cache on request', async () => {
    const body = await bodyOf(make({ constrain: 'none', cacheSystem: true }), ANTHROPIC.says(PACKET));
    expect(body['system']).toEqual([{ type: 'text', text: 'SYSTEM', cache_control: { type: 'ephemeral' } }]);
    expect(body).not.toHaveProperty('output_config');
  });
});

describe('openai', () => {
  const make = (options: object = {}): ProviderModel =>
    openaiModel({ model: 'm', apiKey: KEY, baseUrl: `${server.url}/v1`, maxRetries: 0, ...options });
  const call = { type: 'custom_tool_call', id: 'c1', call_id: 'c1', name: 'packet', input: PACKET };
  const calls = { ...OPENAI.says(''), output: [{ type: 'reasoning', id: 'r1', summary: [] }, call] };

  test.each(['lark', 'regex'] as const)(
    'sends a custom tool with a grammar in %s, and reads its input',
    async (syntax) => {
      const body = await bodyOf(make({ constrain: syntax }), calls);
      expect(body['tools']).toEqual([
        {
          type: 'custom',
          name: 'packet',
          description: expect.any(String),
          format: { type: 'grammar', syntax, definition: await REQUEST.grammar(syntax) },
        },
      ]);
      expect(JSON.stringify(body['tools'])).toContain('HR-Agent');
      expect(body['tool_choice']).toEqual({ type: 'custom', name: 'packet' });
    },
  );

  test('uses Lark by default', async () => {
    const body = await bodyOf(make(), calls);
    expect(body['tools']).toMatchObject([{ format: { syntax: 'lark' } }]);
  });

  test('sends a strict JSON Schema with the pattern of the packets', async () => {
    const options = { constrain: 'json-schema', body: { text: { verbosity: 'low' } } };
    const body = await bodyOf(make(options), OPENAI.says(IN_JSON));
    const text = body['text'] as { format: { schema: unknown } };
    expect(text).toMatchObject({ verbosity: 'low', format: { type: 'json_schema', name: 'packet', strict: true } });
    expectPacketSchema(text.format.schema);
  });

  test('asks not to store the request, and for the cache only on request', async () => {
    expect(await bodyOf(make({ constrain: 'none' }), OPENAI.says(PACKET))).toMatchObject({ store: false });
    expect(server.requests[0]!.body).not.toHaveProperty('prompt_cache_key');
    const cached = await bodyOf(make({ constrain: 'none', cacheSystem: true }), OPENAI.says(PACKET));
    expect(cached['prompt_cache_key']).toBe('pegwire-aacp');
  });

  test.each([
    [
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      { finish: 'refusal', text: '' },
    ],
    [
      { output: [call, { ...call, id: 'c2', input: OTHER_AGENT }] },
      { finish: 'stop', text: `${PACKET}\n${OTHER_AGENT}` },
    ],
  ])('reads the response with %j', async (more, reply) => {
    server.answers(answer({ ...OPENAI.says(PACKET), ...more }));
    await expect(make()(REQUEST)).resolves.toMatchObject(reply);
  });

  test.each([
    ['rate_limit_exceeded', 'model-rate-limited'],
    ['server_error', 'model-unavailable'],
    ['invalid_prompt', 'model-bad-request'],
  ])('throws an error for a response that failed with %s', async (code, expected) => {
    server.answers(answer({ ...OPENAI.says(''), status: 'failed', error: { code, message: 'why' } }));
    await expect(make()(REQUEST)).rejects.toMatchObject({ code: expected, message: expect.stringContaining('why') });
  });

  test('distinguishes an account without credit from a rate limit', async () => {
    server.answers(answer({ error: { message: 'Pay.', type: 'insufficient_quota', code: 'insufficient_quota' } }, 429));
    await expect(make()(REQUEST)).rejects.toMatchObject({ code: 'model-unauthorised' });
  });
});

describe('compatible servers', () => {
  const make = (options: object = {}): ProviderModel =>
    openaiCompatibleModel({ model: 'm', baseUrl: `${server.url}/v1`, maxRetries: 0, ...options });

  test.each<[object, (grammar: typeof REQUEST.grammar) => Promise<object>]>([
    [{ server: 'llama.cpp' }, async (grammar) => ({ grammar: await grammar('gbnf') })],
    [{ constrain: 'gbnf' }, async (grammar) => ({ grammar: await grammar('gbnf') })],
    [
      { server: 'llama.cpp', constrain: 'lark' },
      async (grammar) => ({ grammar: `%llguidance {}\n${await grammar('lark')}` }),
    ],
    [{ server: 'vllm' }, async (grammar) => ({ structured_outputs: { grammar: await grammar('gbnf') } })],
    [{ constrain: 'lark' }, async (grammar) => ({ structured_outputs: { grammar: await grammar('lark') } })],
    [{ constrain: 'regex' }, async (grammar) => ({ structured_outputs: { regex: await grammar('regex') } })],
    [{ server: 'vllm-guided' }, async (grammar) => ({ guided_grammar: await grammar('gbnf') })],
    [{ server: 'vllm-guided', constrain: 'regex' }, async (grammar) => ({ guided_regex: await grammar('regex') })],
  ])('get the grammar in their own notation: %j', async (options, expected) => {
    const body = await bodyOf(make(options), COMPATIBLE.says(PACKET));
    const { model, messages, max_tokens, ...rest } = body;
    expect(rest).toEqual(await expected(REQUEST.grammar));
    expect(JSON.stringify(rest)).toContain('HR-Agent');
  });

  test('get a JSON Schema by default', async () => {
    const body = await bodyOf(make(), COMPATIBLE.says(IN_JSON));
    const format = body['response_format'] as { json_schema: { schema: unknown } };
    expect(format).toMatchObject({ type: 'json_schema', json_schema: { name: 'packet', strict: true } });
    expectPacketSchema(format.json_schema.schema);
  });

  test('get only the key that is given', async () => {
    const before = { ...process.env };
    Object.assign(process.env, {
      OPENAI_API_KEY: 'env-secret',
      OPENAI_ADMIN_KEY: 'env-secret',
      OPENAI_ORG_ID: 'env-secret',
    });
    try {
      await bodyOf(make({ constrain: 'none' }), COMPATIBLE.says(PACKET));
      expect(JSON.stringify(server.requests)).not.toContain('env-secret');
    } finally {
      for (const name of ['OPENAI_API_KEY', 'OPENAI_ADMIN_KEY', 'OPENAI_ORG_ID']) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  test('may answer with an error and the status 200', async () => {
    server.answers(answer({ error: { code: 429, message: 'slow down' } }));
    await expect(make()(REQUEST)).rejects.toMatchObject({ code: 'model-rate-limited' });
  });

  test('do not appear in errors with the password of their address', async () => {
    const { host } = new URL(server.url);
    server.answers(answer(COMPATIBLE.error('oops'), 500));
    const model = make({ baseUrl: `http://user:secret@${host}/v1`, constrain: 'none' });
    const failure: unknown = await model(REQUEST).catch((thrown: unknown) => thrown);
    expect(String(failure)).toContain(host);
    expect(String(failure)).not.toContain('secret');
  });

  test.each([
    [{ baseUrl: undefined }, 'baseUrl must be the URL of a server'],
    [{ baseUrl: 'localhost' }, 'baseUrl must be the URL of a server'],
    [{ server: 'ollama' }, 'server must be one of'],
    [{ server: 'llama.cpp', constrain: 'regex' }, 'constrain: llama.cpp does not accept regular expressions'],
  ])('are rejected with the options %j', (options, message) => {
    expect(() => make(options)).toThrow(message);
  });
});

describe('a constraint that the provider does not support', () => {
  const refusing =
    (provider: typeof OPENAI, member: string, message: string, status = 400) =>
    (...answers: readonly object[]): void => {
      const rest = answers.map((reply) => answer(reply));
      server.answers((response, request) => {
        const refused = member in request.body;
        const reply = refused
          ? answer(provider.error(message), status)
          : (rest.shift() ?? answer(provider.says(PACKET)));
        reply(response, request);
      });
    };

  test.each([
    ['anthropic', ANTHROPIC, 'output_config', 'output_config: Extra inputs are not permitted', ['json-schema', 'none']],
    ['openai', OPENAI, 'text', "Unknown parameter: 'text.format'.", ['json-schema', 'none']],
    ['a compatible server', COMPATIBLE, 'response_format', 'response_format is not supported', ['json-schema', 'none']],
  ] as const)('is dropped permanently by %s, and reported', async (_name, provider, member, message, [from, to]) => {
    const notices: ModelNotice[] = [];
    const model = provider.make(server.url, {
      constrain: 'json-schema',
      maxRetries: 0,
      onNotice: (notice) => notices.push(notice),
    });
    refusing(provider, member, message)();
    await expect(model(REQUEST)).resolves.toMatchObject({ text: PACKET });
    // First with the pattern, then without it, then without a schema.
    expect(server.requests.map(({ body }) => member in body)).toEqual([true, true, false]);
    expect(notices).toEqual([
      { code: 'constraint-refused', provider: expect.any(String), from, to, message: expect.stringContaining(message) },
    ]);
    await model(REQUEST);
    expect(server.requests).toHaveLength(4);
    expect(notices).toHaveLength(1);
  });

  test('is replaced by the next one only', async () => {
    const notices: ModelNotice[] = [];
    const model = openaiModel({
      model: 'm',
      apiKey: KEY,
      baseUrl: `${server.url}/v1`,
      maxRetries: 0,
      onNotice: (notice) => notices.push(notice),
    });
    const error = {
      message: 'Not with this model.',
      type: 'invalid_request_error',
      param: 'tools[0].type',
      code: null,
    };
    server.answers(answer({ error }, 400), answer(OPENAI.says(IN_JSON)));
    await expect(model(REQUEST)).resolves.toMatchObject({ text: IN_JSON });
    expect(
      server.requests.map(({ body }) => Object.keys(body).filter((name) => ['tools', 'text'].includes(name))),
    ).toEqual([['tools'], ['text']]);
    expect(notices).toMatchObject([{ from: 'lark', to: 'json-schema' }]);
  });

  test('is dropped when the server rejects the request without a message', async () => {
    server.answers(answer('', 400), answer('', 422), answer(COMPATIBLE.says(PACKET)));
    const model = COMPATIBLE.make(server.url, { constrain: 'json-schema', maxRetries: 0 });
    await expect(model(REQUEST)).resolves.toMatchObject({ text: PACKET });
  });

  test('is kept when the request fails for another reason', async () => {
    const notices: ModelNotice[] = [];
    const model = ANTHROPIC.make(server.url, {
      constrain: 'json-schema',
      maxRetries: 0,
      onNotice: (notice) => notices.push(notice),
    });
    server.answers(answer(ANTHROPIC.error('prompt is too long'), 400));
    await expect(model(REQUEST)).rejects.toMatchObject({ code: 'model-bad-request' });
    expect(server.requests).toHaveLength(1);
    server.answers(answer(ANTHROPIC.says(IN_JSON)));
    await model(REQUEST);
    expect(server.requests[0]!.body).toHaveProperty('output_config');
    expect(notices).toEqual([]);
  });

  test('is kept when the request also fails without it', async () => {
    const model = ANTHROPIC.make(server.url, { constrain: 'json-schema', maxRetries: 0 });
    server.answers(answer(ANTHROPIC.error('schema: too complex'), 400), answer(ANTHROPIC.error('overloaded'), 529));
    await expect(model(REQUEST)).rejects.toMatchObject({ code: 'model-unavailable' });
    server.answers(answer(ANTHROPIC.says(IN_JSON)));
    await model(REQUEST);
    expect(JSON.stringify(server.requests[0]!.body)).toContain('pattern');
  });

  test('is left out of one request that has no grammar', async () => {
    const notices: ModelNotice[] = [];
    const model = ANTHROPIC.make(server.url, { constrain: 'json-schema', onNotice: (notice) => notices.push(notice) });
    server.answers(answer(ANTHROPIC.says(IN_JSON)));
    await model({ ...REQUEST, grammar: () => Promise.reject(new Error('It is too large.')) });
    await model(REQUEST);
    expect(server.requests.map(({ body }) => JSON.stringify(body).includes('pattern'))).toEqual([false, true]);
    expect(notices).toMatchObject([
      {
        code: 'grammar-unavailable',
        from: 'json-schema',
        to: 'json-object',
        message: expect.stringContaining('too large'),
      },
    ]);
  });

  test('is reported to a listener that throws, without an effect on the request', async () => {
    const onNotice = (): void => {
      throw new Error('mine');
    };
    const model = ANTHROPIC.make(server.url, { constrain: 'json-schema', maxRetries: 0, onNotice });
    refusing(ANTHROPIC, 'output_config', 'output_config: unknown')();
    await expect(model(REQUEST)).resolves.toMatchObject({ text: PACKET });
  });

  test('is reported without the key', async () => {
    const notices: ModelNotice[] = [];
    const model = OPENAI.make(server.url, { constrain: 'json-schema', onNotice: (notice) => notices.push(notice) });
    refusing(OPENAI, 'text', `schema: no, ${KEY}`)();
    await model(REQUEST);
    expect(notices).toHaveLength(1);
    expect(JSON.stringify(notices)).not.toContain(KEY);
  });
});
