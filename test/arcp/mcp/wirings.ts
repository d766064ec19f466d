/** Connected pairs of MCP clients and servers in memory, with both lines of the official SDK. */
import { Client as Client2, InMemoryTransport as Memory2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as Memory1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server as Server1 } from '@modelcontextprotocol/sdk/server/index.js';
import * as types1 from '@modelcontextprotocol/sdk/types.js';
import { ProtocolError, Server as Server2 } from '@modelcontextprotocol/server';
import type { McpClient } from '../../../src/arcp/mcp/index.js';

type Params = Readonly<Record<string, unknown>>;

/** The context of a request. */
export interface McpRequest {
  readonly params: Params;
  readonly signal: AbortSignal;
}

/** The handlers of requests, by method. */
export type Handlers = Readonly<Record<string, (request: McpRequest) => unknown>>;

export interface McpPair {
  readonly client: McpClient & { close(): Promise<void> };
  /** Sends a notification to the client. */
  readonly notify: (method: string, params?: Params) => Promise<void>;
  /** Ends the connection. */
  readonly cut: () => Promise<void>;
  /** Connects again. */
  readonly reconnect: () => Promise<void>;
}

export interface Wiring {
  readonly name: string;
  readonly connect: (handlers: Handlers) => Promise<McpPair>;
  /** Creates an error that a handler throws. */
  readonly error: (code: number, message: string, data?: unknown) => Error;
}

const INFO = { name: 'test', version: '1.0.0' };
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
};

/** The lists are empty unless a test provides them. */
const EMPTY: Handlers = {
  'tools/list': () => ({ tools: [] }),
  'resources/list': () => ({ resources: [] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'prompts/list': () => ({ prompts: [] }),
};

const SCHEMAS1: Readonly<Record<string, unknown>> = {
  'tools/list': types1.ListToolsRequestSchema,
  'tools/call': types1.CallToolRequestSchema,
  'resources/list': types1.ListResourcesRequestSchema,
  'resources/read': types1.ReadResourceRequestSchema,
  'resources/templates/list': types1.ListResourceTemplatesRequestSchema,
  'resources/subscribe': types1.SubscribeRequestSchema,
  'resources/unsubscribe': types1.UnsubscribeRequestSchema,
  'prompts/list': types1.ListPromptsRequestSchema,
  'prompts/get': types1.GetPromptRequestSchema,
};

const LINE_1: Wiring = {
  name: 'line 1 of the SDK',
  connect: async (handlers) => {
    const client = new Client1(INFO);
    let server!: Server1;
    const connect = async (): Promise<void> => {
      server = new Server1(INFO, { capabilities: CAPABILITIES });
      for (const [method, handle] of Object.entries({ ...EMPTY, ...handlers }))
        server.setRequestHandler(
          SCHEMAS1[method] as typeof types1.CallToolRequestSchema,
          async ({ params = {} }: { params?: object }, { signal }: { signal: AbortSignal }) =>
            (await handle({ params: params as Params, signal })) as object,
        );
      const [here, there] = Memory1.createLinkedPair();
      await server.connect(there);
      await client.connect(here);
    };
    await connect();
    return {
      client,
      notify: (method, params) => server.notification({ method, params } as never),
      cut: () => server.close(),
      reconnect: connect,
    };
  },
  error: (code, message, data) => new types1.McpError(code, message, data),
};

const LINE_2: Wiring = {
  name: 'line 2 of the SDK',
  connect: async (handlers) => {
    const client = new Client2(INFO, { versionNegotiation: { mode: 'legacy' } });
    let server!: Server2;
    const connect = async (): Promise<void> => {
      server = new Server2(INFO, { capabilities: CAPABILITIES });
      for (const [method, handle] of Object.entries({ ...EMPTY, ...handlers }))
        server.setRequestHandler(
          method as 'tools/call',
          async ({ params = {} }: { params?: object }, { mcpReq }) =>
            (await handle({ params: params as Params, signal: mcpReq.signal })) as never,
        );
      const [here, there] = Memory2.createLinkedPair();
      await server.connect(there);
      await client.connect(here);
    };
    await connect();
    return {
      client,
      notify: (method, params) => server.notification({ method, params } as never),
      cut: () => server.close(),
      reconnect: connect,
    };
  },
  error: (code, message, data) => new ProtocolError(code, message, data),
};

export const WIRINGS = [LINE_1, LINE_2];
