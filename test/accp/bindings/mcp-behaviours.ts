/** The behaviour of ACCP over MCP, with either line of the official SDK and any transport. */
import { afterEach, describe } from 'vitest';
import { testMcpContent } from './mcp-content.js';
import { COMMON } from './mcp-fixture.js';
import { testPlainServers } from './mcp-plain.js';
import { testMcpRegistry } from './mcp-registry.js';
import { testMcpTools } from './mcp-tools.js';
import type { Wiring, World } from './mcp-world.js';

export function testMcp(wiring: Wiring): void {
  describe(wiring.name, () => {
    const worlds: World[] = [];
    const connect: Wiring['connect'] = async (serve, experimental = COMMON) => {
      const world = await wiring.connect(serve, experimental);
      worlds.push(world);
      return world;
    };
    afterEach(async () => {
      await Promise.all(worlds.splice(0).map((world) => world.close()));
    });

    testMcpTools(connect);
    testPlainServers(connect);
    testMcpRegistry(connect);
    testMcpContent(connect);
  });
}
