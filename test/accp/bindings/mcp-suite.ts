/** The behaviour of ACCP over MCP, with either line of the official SDK and any transport. */
import { afterEach, describe } from 'vitest';
import { testMcpContent } from './mcp-content.js';
import { COMMON } from './mcp-fixture.js';
import { testPlainServers } from './mcp-plain.js';
import { testMcpRegistry } from './mcp-registry.js';
import { testMcpTools } from './mcp-tools.js';
import type { McpFixture, Wiring } from './mcp-wiring.js';

export function testMcp(wiring: Wiring): void {
  describe(wiring.name, () => {
    const fixtures: McpFixture[] = [];
    const connect: Wiring['connect'] = async (serve, experimental = COMMON) => {
      const fixture = await wiring.connect(serve, experimental);
      fixtures.push(fixture);
      return fixture;
    };
    afterEach(async () => {
      await Promise.all(fixtures.splice(0).map((fixture) => fixture.close()));
    });

    testMcpTools(connect);
    testPlainServers(connect);
    testMcpRegistry(connect);
    testMcpContent(connect);
  });
}
