/** The parts of ACCP over MCP that need no connection. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  callTool,
  createEndpoint,
  createRegistryExchange,
  frameContent,
  frameResource,
  framesIn,
  registryCapability,
  registryIn,
  registryInCapabilities,
  tcTool,
  withRegistry,
} from '../../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession, ref } from '../../../src/accp/codec/index.js';

const FRAME = '@a>done:x{v:1}[mid:a1,seq:1,sid:s/1]';
const codec = createCodec();

describe('content', () => {
  test.each([
    [FRAME, 'accp://session/s%2F1/frame/a1'],
    ['@a>done:x{v:1}[mid:a1,seq:1]', 'accp://frame/a1'],
    ['no frame', 'accp://frame'],
  ])('%s has the URI %s by default', (frame, uri) => {
    expect(frameContent(frame).resource).toEqual({ uri, mimeType: 'application/accp', text: frame });
    expect(frameContent(frame, 'x://y').resource.uri).toBe('x://y');
  });

  test('any texts are read in their order, from content and from resources', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => {
        expect(framesIn(texts.map((text) => frameContent(text)))).toEqual(texts);
        expect(framesIn(frameResource('accp://x', texts).contents)).toEqual(texts);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['base64', { mimeType: 'application/accp', blob: Buffer.from(FRAME).toString('base64') }],
    ['a charset', { mimeType: 'Application/ACCP; charset=utf-8', text: FRAME }],
  ])('frames with %s are read', (_, resource) => {
    expect(framesIn([{ type: 'resource', resource }])).toEqual([FRAME]);
  });

  test.each([
    ['nothing', undefined],
    ['no list', { type: 'text' }],
    ['other blocks', [null, 1, 'x', [], { type: 'text', text: FRAME }, { type: 'resource' }]],
    ['other types', [{ type: 'resource', resource: { mimeType: 'text/plain', text: FRAME } }]],
    ['a link', [{ type: 'resource_link', uri: 'accp://x', mimeType: 'application/accp' }]],
  ])('%s contains no frames', (_, content) => {
    expect(framesIn(content)).toEqual([]);
  });

  test.each(['////', 'no base64!'])('content that is not UTF-8 in base64 is rejected with E1001: %s', (blob) => {
    const content = [{ type: 'resource', resource: { mimeType: 'application/accp', blob } }];
    expect(() => framesIn(content)).toThrow(expect.objectContaining({ code: 'E1001' }));
  });
});

describe('registry frames', () => {
  const { announcement } = createRegistryExchange({ codec, agent: 'tools' });

  test.each([
    ['alone', undefined],
    ['after instructions', 'Adds numbers.\nMail me @home>now, or not.'],
  ])('the announcement is found %s', (_, instructions) => {
    expect(registryIn(withRegistry(instructions, announcement))).toBe(announcement);
    expect(registryIn(`${withRegistry(instructions, announcement)}\r\nMore.`)).toBe(announcement);
  });

  test.each([undefined, '', 'Adds numbers.', FRAME, `Say "${announcement}".`])(
    'there is none in %o',
    (instructions) => {
      expect(registryIn(instructions)).toBeNull();
    },
  );

  test('it names no session, and contains only version, hash and features', () => {
    expect(announcement).toMatch(/^@tools>sync:registry\{v:\d+\|hash:\w+\|text:transliterate\|sequence:sender\}\[/);
    expect(announcement).not.toContain('sid:');
  });

  test('capabilities are read as they were written', () => {
    const experimental = registryCapability([announcement, FRAME]);
    expect(registryInCapabilities({ experimental })).toEqual([announcement, FRAME]);
    for (const none of [undefined, null, {}, { experimental: {} }, { experimental: { 'application/accp': [] } }]) {
      expect(registryInCapabilities(none)).toEqual([]);
    }
  });

  test('a registry that grows is announced again', () => {
    const growing = createCodec();
    const exchange = createRegistryExchange({ codec: growing, agent: 'tools' });
    const before = exchange.announcement;
    growing.registerSchema('place', { code: 'PL', version: 1, fields: ['town'] });
    expect(exchange.announcement).not.toBe(before);
    const agreement = createRegistryExchange({ codec, agent: 'planner' }).agree(exchange.full);
    expect(agreement).toMatchObject({ agent: 'tools', complete: true, version: growing.registry.version });
    expect(createRegistryExchange({ codec, agent: 'planner' }).agree(exchange.announcement).complete).toBe(false);
  });

  test.each([
    ['no frame', 'hello', 'E1001'],
    ['another message', '@tools>done:x{v:1}[mid:a1,seq:1]', 'E1004'],
    ['an announcement without a version', '@tools>sync:registry{hash:abc}[mid:a1,seq:1]', 'E1004'],
    ['another numbering', '@tools>sync:registry{v:1|hash:abc|sequence:session}[mid:a1,seq:1]', 'E1004'],
  ])('%s is rejected', (_, frame, code) => {
    const exchange = createRegistryExchange({ codec, agent: 'planner' });
    expect(() => exchange.agree(frame)).toThrow(expect.objectContaining({ code }));
  });
});

describe('misuse', () => {
  const session = createSession({ agent: 'planner' });
  const endpoint = createEndpoint({ codec, agent: 'tools', handle: () => null });

  test.each([
    ['content of another type without a URI', () => frameContent('x', undefined, { mimeType: 'text/x' })],
    ['a tool without a name', () => tcTool(() => 1, { name: '', endpoint })],
    ['a tool without a session', () => tcTool(() => 1, { name: 'x' } as never)],
    ['a tool with two', () => tcTool(() => 1, { name: 'x', endpoint, session, codec } as never)],
    ['a session without its codec', () => tcTool(() => 1, { name: 'x', session } as never)],
    ['an invalid agent', () => createRegistryExchange({ codec, agent: 'a b' })],
    ['no peers at all', () => createRegistryExchange({ codec, agent: 'a', maxPeers: 0 })],
  ])('%s is a TypeError', (_, use) => {
    expect(use).toThrow(TypeError);
  });

  test.each([
    ['big integers', { n: 2n ** 60n }],
    ['references', { deep: [{ r: ref('cold.k') }] }],
  ])('arguments with %s are rejected before anything is sent', async (_, args) => {
    const client = { callTool: () => Promise.reject(new Error('called')) };
    const own = createSession({ agent: 'planner' });
    const call = callTool(client, { tool: 'x', arguments: args }, { codec, session: own });
    await expect(call).rejects.toMatchObject({ code: 'E1004' });
    expect(codec.encode({ intent: 'req', operation: 'x' }, own).frames[0]).toContain(',seq:1,');
  });

  test('the error of a client whose server has not answered is rethrown, and the session continues', async () => {
    const own = createSession({ agent: 'planner', sequence: 'sender' });
    const closedClient = { callTool: () => Promise.reject(Object.assign(new Error('closed'), { code: -32000 })) };
    await expect(callTool(closedClient, { tool: 'x' }, { codec, session: own })).rejects.toThrow('closed');
    const tool = tcTool(() => 'ok', { name: 'x', endpoint });
    const back = { callTool: ({ _meta }: { _meta?: object }) => tool({ _meta }) };
    const { message } = await callTool(back, { tool: 'x' }, { codec, session: own });
    expect(message.payload['result']).toBe('ok');
  });
});

describe('an answer to a call', () => {
  /** A client whose server answers each call with one frame. */
  const answering = (frame: (cid: string) => string, isError = false) => ({
    callTool: async ({ _meta }: { readonly _meta?: { readonly [name: string]: unknown } }) => {
      const [, cid] = /cid:([^,\]]+)/.exec(String(_meta?.['accp/frame']))!;
      return { content: [frameContent(frame(cid!))], isError };
    },
  });
  const meta = (cid: string): string => `[mid:b1,seq:1,cid:${cid}]`;

  test.each([
    ['another tool', (cid: string) => `@e>done:tool{tool:rm_rf|res:1|schema:TC}${meta(cid)}`],
    ['no tool', (cid: string) => `@e>done:something{a:1}${meta(cid)}`],
    ['another profile', (cid: string) => `@e>done:chat{content:x|schema:CH}${meta(cid)}`],
    ['another operation', (cid: string) => `@e>done:chat{tool:add|res:1|schema:TC}${meta(cid)}`],
  ])('of %s is not an answer, but E4003', async (_, frame) => {
    const session = createSession({ agent: 'planner', sequence: 'sender' });
    await expect(callTool(answering(frame), { tool: 'add' }, { codec, session })).rejects.toMatchObject({
      code: 'E4003',
    });
  });

  test('is invalid if the result is an error, and its frame is not', async () => {
    const session = createSession({ agent: 'planner', sequence: 'sender' });
    const done = (cid: string): string => `@e>done:tool{tool:add|res:1|schema:TC}${meta(cid)}`;
    await expect(callTool(answering(done, true), { tool: 'add' }, { codec, session })).rejects.toMatchObject({
      code: 'E4003',
    });
    const another = createSession({ agent: 'planner', sequence: 'sender' });
    const { message } = await callTool(answering(done), { tool: 'add' }, { codec, session: another });
    expect(message.payload['result']).toBe(1);
  });
});
