/** Frames, and messages of other protocols, as MCP content. */
import { describe, expect, test } from 'vitest';
import { parsePacket } from '../../../src/aacp/index.js';
import { frameContent, frameResource, framesIn } from '../../../src/accp/bindings/mcp/index.js';
import type { CallResult, Wiring } from './mcp-wiring.js';

export function testMcpContent(connect: Wiring['connect']): void {
  describe('content', () => {
    const FRAMES = ['@a>done:x{v:1}[mid:a1,seq:1]', '@a>done:x{v:2}[mid:a2,seq:2]'];
    const PACKET = 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|period:2024-08';
    const PACKET_TYPE = 'application/x.aacp';

    test('frames are read from resources and prompts unchanged', async () => {
      const { client } = await connect(() => ({
        resources: [{ uri: 'accp://session/s1', read: (uri) => frameResource(uri, FRAMES) }],
        prompts: [{ name: 'last', content: frameContent(FRAMES[1]!) }],
      }));
      expect(framesIn((await client.readResource({ uri: 'accp://session/s1' })).contents)).toEqual(FRAMES);
      const { messages } = await client.getPrompt({ name: 'last' });
      expect(framesIn(messages.map(({ content }) => content))).toEqual([FRAMES[1]]);
    });

    test('messages of another protocol have their own media type and are not frames', async () => {
      const { client } = await connect(() => ({
        tools: [
          {
            name: 'next',
            handler: async () => ({
              content: [frameContent(PACKET, 'aacp://packets/1', { mimeType: PACKET_TYPE }), frameContent(FRAMES[0]!)],
            }),
          },
        ],
        resources: [
          { uri: 'aacp://packets', read: (uri) => frameResource(uri, [PACKET, PACKET], { mimeType: PACKET_TYPE }) },
        ],
      }));
      const { content } = (await client.callTool({ name: 'next' })) as CallResult;
      expect(framesIn(content, { mimeType: PACKET_TYPE }).map((text) => parsePacket(text))).toMatchObject([
        { task: 'FETCH', domain: 'HR' },
      ]);
      expect(framesIn(content)).toEqual([FRAMES[0]]);
      const { contents } = await client.readResource({ uri: 'aacp://packets' });
      expect(framesIn(contents, { mimeType: PACKET_TYPE })).toEqual([PACKET, PACKET]);
    });
  });
}
