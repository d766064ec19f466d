// An MCP server on stdin and stdout, which can end in the middle of a call.
import process from 'node:process';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'fixture', version: '1.0.0' });
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
server.registerTool('pid', { annotations: { readOnlyHint: true } }, () => text(process.pid));
server.registerTool('variable', { annotations: { readOnlyHint: true } }, () => text(process.env.FIXTURE));
server.registerTool('exit', {}, () => process.exit(1));
await server.connect(new StdioServerTransport());
