/** Exactness: the decoded message equals the sent one, or the losses are reported. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callTool, tcTool } from '../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession, type Json, type Loss, type MessageInput } from '../../src/accp/codec/index.js';
import { accepted, endpoints, rejected } from './codec/endpoints.js';

const brief = (losses: readonly Loss[]) => losses.map(({ path, kind, from, to }) => `${path} ${kind} ${from} ${to}`);

describe('a message is exact, or its losses are listed', () => {
  test.each<[name: string, input: Partial<MessageInput>, losses: readonly string[]]>([
    ['a full key', { payload: { data: 1 } }, []],
    ['an abbreviated key', { payload: { d: 1 } }, ['payload.d renamed d data']],
    [
      'abbreviated keys of a profile',
      { intent: 'req', operation: 'tool', schema: 'TC', payload: { tool: 'add', args: { d: 1 } } },
      ['payload.tool renamed tool tool_name', 'payload.args renamed args arguments'],
    ],
    ['a decimal of seven places', { payload: { x: 0.1234567 } }, ['payload.x rounded 0.1234567 0.123457']],
    ['-0', { payload: { x: [-0] } }, ['payload.x[0] negative-zero -0 0']],
    ['a small bigint', { payload: { x: 7n } }, ['payload.x narrowed 7n 7']],
    ['a large bigint', { payload: { x: 2n ** 70n } }, []],
  ])('by the sender: %s', (_, input, losses) => {
    const { codec, a, b } = endpoints();
    const result = codec.encode({ intent: 'req', operation: 'x', ...input }, a);
    expect(brief(result.losses)).toEqual(losses);
    const { message } = accepted(codec.decode(result.frames[0]!, b));
    for (const { kind, from, to } of result.losses) {
      if (kind !== 'renamed') continue;
      expect(message.payload[from]).toBeUndefined();
      expect(message.payload[to]).toEqual(input.payload![from]);
    }
  });

  test.each<[written: string, losses: readonly string[]]>([
    ['x:7', []],
    ['x:0', []],
    ['x:-0', ['payload.x negative-zero -0 0']],
    ['x:[-0.0]', ['payload.x[0] negative-zero -0.0 0']],
    ['x:0.1000', []],
    ['x:0.12345678901234567891', ['payload.x precision 0.12345678901234567891 0.12345678901234568']],
    ['x:123456789012345678901234567890', []],
  ])('by the reader: %s', (written, losses) => {
    const { codec, b } = endpoints();
    const outcome = accepted(codec.decode(`@a>req:x{${written}}[mid:m1,seq:1]`, b));
    expect(brief(outcome.losses)).toEqual(losses);
  });

  test('for any message', () => {
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }),
      fc.maxSafeInteger(),
    );
    const key = fc.constantFrom('d', 'data', 'q', 'query', 'x', 'v', 'msg', 'why');
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(value, fc.array(value)), { noNullPrototype: true }), (payload) => {
        const names = Object.keys(payload);
        fc.pre(!['d,data', 'q,query'].some((pair) => pair.split(',').every((name) => names.includes(name))));
        const { codec, a, b } = endpoints();
        const { frames, losses } = codec.encode({ intent: 'req', operation: 'x', payload }, a);
        const received = frames.map((frame) => codec.decode(frame, b)).at(-1)!;
        const back = accepted(received).message.payload;
        const isSame = names.every((name) => isDeepStrictEqual(back[name], payload[name]));
        expect(isSame).toBe(losses.length === 0);
      }),
    );
  });
});

describe('an amount of money is never rounded', () => {
  const transaction = (amount: Json): MessageInput => ({
    intent: 'req',
    operation: 'transaction',
    schema: 'TX',
    payload: { transaction_id: 't1', amount },
  });

  test.each([1.2345678, 0.0000001, -1e-7, 0.1 + 0.2])('%s is not sent', (amount) => {
    const { codec, a } = endpoints();
    const message = 'payload.amount: An amount can have at most 6 decimal places';
    expect(() => codec.encode(transaction(amount), a)).toThrow(
      expect.objectContaining({ code: 'E1004', message: expect.stringContaining(message) }),
    );
  });

  test.each([0.123456, 142.5, 12345678901.12, 3, -0.5])('%s is sent as it is', (amount) => {
    const { codec, a, b } = endpoints();
    const { frames, losses } = codec.encode(transaction(amount), a);
    expect(losses).toEqual([]);
    expect(accepted(codec.decode(frames[0]!, b)).message.payload['amount']).toBe(amount);
  });

  test.each(['1.2345678', '12345678901234567.25', '0.12345678901234567891'])('%s is not received', (amount) => {
    const { codec, b } = endpoints();
    const frame = `@a>req:transaction{txn:t1|amt:${amount}|schema:TX}[mid:m1,seq:1]`;
    expect(rejected(codec.decode(frame, b)).error).toMatchObject({ code: 'E1004', path: 'payload.amount' });
  });
});

describe('a soft limit that no frame can meet', () => {
  const send = (codec: ReturnType<typeof createCodec>, session: ReturnType<typeof createSession>, payload = {}) =>
    codec
      .encode({ intent: 'req', operation: 'x', payload }, session)
      .warnings.filter(({ code }) => code === 'over-soft-limit')
      .map(({ message }) => message.slice(0, message.indexOf(' is ')));

  test('is warned of once in a session', () => {
    const codec = createCodec();
    const session = createSession({ agent: 'a', id: 's' });
    const first = send(codec, session);
    expect(first).toContain('The metadata');
    for (let index = 0; index < 5; index++) expect(send(codec, session)).toEqual([]);
    expect(send(codec, createSession({ agent: 'a', id: 's' }))).toEqual(first);
  });

  test('does not silence a limit that can be met', () => {
    const codec = createCodec();
    const session = createSession({ agent: 'a', id: 's' });
    send(codec, session);
    for (let index = 0; index < 3; index++) {
      expect(send(codec, session, { text: 'word_'.repeat(60) })).toContain('The body');
    }
  });
});

describe('the results of tools', () => {
  const call = async (answer: unknown) => {
    const options = { codec: createCodec({ text: 'transliterate' }), session: createSession({ agent: 'a' }) };
    return callTool({ callTool: async () => answer }, { tool: 'count' }, options);
  };

  test('list the numbers that may have lost digits', async () => {
    const structuredContent = JSON.parse('{"ids":[9007199254740993,7],"big":12345678901234567890}') as object;
    const { message, losses } = await call({ content: [], structuredContent });
    expect(message.payload['result']).toEqual({ ids: [9007199254740992n, 7], big: 12345678901234567000n + 168n });
    expect(losses.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
      'payload.result.ids[0] precision',
      'payload.result.big precision',
    ]);
  });

  const ranWith = async (result: unknown, meta?: unknown) => {
    const session = createSession({ agent: 'b', id: 's' });
    const codec = createCodec();
    const tool = tcTool(() => result, { name: 'count', session, codec, structured: true });
    return tool({}, { _meta: meta });
  };

  test('are lists of losses on both sides', async () => {
    const codec = createCodec();
    const session = createSession({ agent: 'a', id: 's' });
    const client = {
      callTool: ({ _meta }: { _meta?: { [name: string]: unknown } }) => ranWith({ kg: 0.1234567 }, _meta),
    };
    const { message, losses } = await callTool(client, { tool: 'count' }, { codec, session });
    expect(message.payload['result']).toEqual({ kg: 0.123457 });
    expect(brief(losses)).toEqual(['payload.result.kg rounded 0.1234567 0.123457']);
  });

  test('keep the digits of big integers for clients that read no frames', async () => {
    const result = (await ranWith({ id: 2n ** 70n })) as { structuredContent: unknown };
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ structuredContent: { id: String(2n ** 70n) } });
  });

  test.each<[name: string, answer: unknown]>([
    ['a result that no frame can hold', { content: [], structuredContent: { x: () => 1 } }],
    [
      'a result that nests too deep',
      { content: [], structuredContent: JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`) as unknown },
    ],
    ['no result', {}],
    [
      'a result that does not match its schema',
      {
        isError: true,
        content: [
          {
            type: 'text',
            text: 'MCP error -32602: Output validation error: Invalid structured content for tool count',
          },
        ],
      },
    ],
    [
      'no structured result',
      {
        isError: true,
        content: [{ type: 'text', text: 'Tool count has an output schema but no structured content was provided' }],
      },
    ],
  ])('request no second run if the tool has run: %s', async (_, answer) => {
    const { message } = await call(answer);
    expect(message.payload).toMatchObject({ code: 'E4003', retryable: false });
  });

  test('request no second run if the server could not write them', async () => {
    const session = createSession({ agent: 'b', id: 's' });
    const client = createSession({ agent: 'a', id: 's' });
    const codec = createCodec();
    const { frames } = codec.encode(
      { intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name: 'count' } },
      client,
    );
    const tool = tcTool(() => ({ x: Number.NaN }), { name: 'count', session, codec });
    const { content } = (await tool({}, { _meta: { 'accp/frame': frames[0] } })) as {
      content: { resource: { text: string } }[];
    };
    const { payload } = accepted(codec.decode(content.at(-1)!.resource.text, client)).message;
    expect(payload).toMatchObject({ code: 'E4003', retryable: false });
  });
});
