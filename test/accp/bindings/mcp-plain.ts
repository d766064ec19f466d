/** Calls of tools that do not support ACCP. */
import { describe, expect, test } from 'vitest';
import { callTool } from '../../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { toolClient } from './mcp-fixture.js';
import type { ServerParts, Wiring } from './mcp-wiring.js';

export function testPlainServers(connect: Wiring['connect']): void {
  describe('servers that do not support ACCP', () => {
    const IMAGE = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
    const plain = (): ServerParts => ({
      instructions: 'Plain tools.',
      tools: [
        { name: 'greet', handler: async () => ({ content: [{ type: 'text', text: 'Hello, world.' }] }) },
        { name: 'two', handler: async () => ({ content: [text('one'), text('two')] }) },
        {
          name: 'weigh',
          handler: async () => ({ content: [text('{"kg":4}')], structuredContent: { kg: 4.5, by: 'the scales' } }),
        },
        {
          name: 'measure',
          handler: async () => ({ content: [text('{}')], structuredContent: { kg: 0.123456789 } }),
        },
        { name: 'nothing', handler: async () => ({ content: [] }) },
        { name: 'draw', handler: async () => ({ content: [IMAGE as never] }) },
        { name: 'fail', handler: async () => ({ content: [text('No such file: /etc/x')], isError: true }) },
      ],
    });
    const text = (value: string) => ({ type: 'text' as const, text: value });

    test.each([
      ['text', 'greet', 'Hello, world.'],
      ['several texts', 'two', 'one\ntwo'],
      ['structured content', 'weigh', { kg: 4.5, by: 'the scales' }],
      ['other content', 'draw', [IMAGE]],
      ['no content', 'nothing', []],
    ])('%s becomes the result of a TC frame', async (_, tool, result) => {
      const { call, agreement } = await toolClient(await connect(plain));
      expect(agreement.agent).toBe('mcp');
      const { message, frames } = await call(tool);
      expect(message).toMatchObject({ agent: 'mcp', intent: 'done', schema: 'TC', payload: { tool_name: tool } });
      expect(message.payload['result']).toEqual(result);
      expect(frames).not.toEqual([]);
      expect((await call(tool)).message.payload['result']).toEqual(result);
    });

    test.each([
      ['an error', 'fail', 'E4002'],
      ['an unknown tool', 'nope', 'E4001'],
    ])('%s becomes an error frame', async (_, tool, code) => {
      const { call } = await toolClient(await connect(plain));
      const { message } = await call(tool);
      expect(message).toMatchObject({ agent: 'mcp', intent: 'fail', schema: 'ER', payload: { code } });
    });

    test('rounding losses of a result are reported', async () => {
      const { call } = await toolClient(await connect(plain));
      const { message, losses } = await call('measure');
      expect(message.payload['result']).toEqual({ kg: 0.123457 });
      expect(losses).toMatchObject([{ path: 'payload.result.kg' }]);
    });

    test('a session in which one side sends at a time works, too', async () => {
      const { client } = await connect(plain);
      const codec = createCodec({ text: 'transliterate' });
      const session = createSession({ agent: 'planner' });
      for (let round = 0; round < 3; round++) {
        const { message } = await callTool(client, { tool: 'greet' }, { codec, session });
        expect(message.payload['result']).toBe('Hello, world.');
      }
    });
  });
}
