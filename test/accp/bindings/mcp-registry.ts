/** Registry sync between an official client and an official server. */
import { describe, expect, test } from 'vitest';
import {
  createRegistryExchange,
  frameResource,
  framesIn,
  REGISTRY_URI,
  readRegistry,
  registryCapability,
  registryIn,
} from '../../../src/accp/bindings/mcp/index.js';
import { createCodec, createSession } from '../../../src/accp/codec/index.js';
import { toolClient, toolServer } from './mcp-fixture.js';
import type { CallResult, Wiring } from './mcp-wiring.js';

export function testMcpRegistry(connect: Wiring['connect']): void {
  describe('registry sync', () => {
    const PLACE = { code: 'PL', version: 1, fields: ['street', 'town'], types: { street: 'string' } } as const;

    test('equal registries are announced on both sides, and nothing more is read', async () => {
      const server = toolServer();
      const exchange = createRegistryExchange({ codec: createCodec(), agent: 'planner' });
      const fixture = await connect(server.serve, registryCapability(exchange.full));
      expect(registryIn(fixture.client.getInstructions())).toBe(server.exchange.announcement);
      expect(await readRegistry(fixture.client, exchange)).toMatchObject({ agent: 'tools', complete: true });
      expect(server.reads()).toBe(0);
    });

    test('a different registry is read completely, once for each hash, and sessions decode frames with it', async () => {
      const codec = createCodec();
      codec.registerSchema('place', PLACE);
      const server = toolServer(codec);
      const client = await toolClient(await connect(server.serve));
      expect(client.agreement).toMatchObject({ agent: 'tools', complete: true });
      const again = await connect(server.serve);
      expect(await readRegistry(again.client, client.exchange)).toBe(client.agreement);
      expect(server.reads()).toBe(1);
      const serverSession = createSession({ agent: 'tools', id: client.session.id, sequence: 'sender' });
      const payload = { street: '42', town: 'Rome' };
      const { frames } = codec.encode({ intent: 'done', operation: 'find', schema: 'PL', payload }, serverSession);
      expect(client.codec.decode(frames[0]!, client.session)).toMatchObject({
        outcome: 'message',
        message: { payload },
      });
    });

    test("the server decodes a client's frames with the client's own registry", async () => {
      const server = toolServer();
      const codec = createCodec();
      codec.registerSchema('place', PLACE);
      const exchange = createRegistryExchange({ codec, agent: 'planner' });
      const fixture = await connect(server.serve, registryCapability(exchange.full));
      const { call, session } = await toolClient(fixture, codec);
      await call('now');
      const serverSession = server.endpoint.open(session.id);
      expect(serverSession.peers.get('planner')?.hash).toMatch(/^[0-9a-f]{6,}$/);
      const payload = { street: '42', town: 'Rome' };
      const { frames } = codec.encode({ intent: 'req', operation: 'find', schema: 'PL', payload }, session);
      expect(server.endpoint.codec.decode(frames[0]!, serverSession)).toMatchObject({
        outcome: 'message',
        message: { payload },
      });
    });

    test('a client that announces an unreadable registry is rejected', async () => {
      const { serve, runs } = toolServer();
      const { client } = await connect(serve, registryCapability('@planner>sync:registry{v:x}[mid:a1,seq:1]'));
      const frame = '@planner>req:tool{tool:now|schema:TC}[mid:a2,seq:1]';
      const result = (await client.callTool({ name: 'now', _meta: { 'accp/frame': frame } })) as CallResult;
      expect(framesIn(result.content)).toEqual([expect.stringContaining('code:E1004')]);
      expect(runs).toEqual([]);
    });

    test('a registry that does not match its announcement is rejected with E5001', async () => {
      const codec = createCodec();
      codec.registerSchema('place', PLACE);
      const { announcement } = createRegistryExchange({ codec, agent: 'tools' });
      const other = createCodec();
      other.registerSchema('place', { ...PLACE, fields: ['town'], types: {} });
      const { full } = createRegistryExchange({ codec: other, agent: 'tools' });
      const { client } = await connect(() => ({
        instructions: announcement,
        resources: [{ uri: REGISTRY_URI, read: (uri) => frameResource(uri, full) }],
      }));
      const exchange = createRegistryExchange({ codec: createCodec(), agent: 'planner' });
      await expect(readRegistry(client, exchange)).rejects.toMatchObject({ code: 'E5001' });
    });
  });
}
