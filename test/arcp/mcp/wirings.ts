/** Clients of both lines of the official SDK, each connected to a server in memory. */
import { Client as Client2, type Transport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import type { McpClient } from '../../../src/arcp/mcp/index.js';

type Params = Readonly<Record<string, unknown>>;

/** The handlers of requests, by method. */
export type Handlers = Readonly<
  Record<string, (request: { readonly params: Params; readonly signal: AbortSignal }) => unknown>
>;

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
}

const INFO = { name: 'test', version: '1.0.0' };
const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  prompts: { listChanged: true },
  tasks: { requests: { tools: { call: {} } }, cancel: {} },
};

const SCHEMAS: Readonly<Record<string, unknown>> = {
  'tools/list': types.ListToolsRequestSchema,
  'tools/call': types.CallToolRequestSchema,
  'resources/list': types.ListResourcesRequestSchema,
  'resources/read': types.ReadResourceRequestSchema,
  'resources/templates/list': types.ListResourceTemplatesRequestSchema,
  'resources/subscribe': types.SubscribeRequestSchema,
  'resources/unsubscribe': types.UnsubscribeRequestSchema,
  'prompts/list': types.ListPromptsRequestSchema,
  'prompts/get': types.GetPromptRequestSchema,
  'tasks/get': types.GetTaskRequestSchema,
  'tasks/result': types.GetTaskPayloadRequestSchema,
  'tasks/cancel': types.CancelTaskRequestSchema,
};

/** The lists are empty unless a test provides them. */
const EMPTY: Handlers = {
  'tools/list': () => ({ tools: [] }),
  'resources/list': () => ({ resources: [] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'prompts/list': () => ({ prompts: [] }),
};

function serverOf(handlers: Handlers): Server {
  const server = new Server(INFO, { capabilities: CAPABILITIES });
  for (const [method, handle] of Object.entries({ ...EMPTY, ...handlers }))
    server.setRequestHandler(
      SCHEMAS[method] as typeof types.CallToolRequestSchema,
      async ({ params = {} }: { params?: object }, { signal }: { signal: AbortSignal }) =>
        (await handle({ params: params as Params, signal })) as object,
    );
  return server;
}

async function pairOf(
  client: McpPair['client'],
  connect: (transport: InMemoryTransport) => Promise<void>,
  handlers: Handlers,
): Promise<McpPair> {
  let server!: Server;
  const reconnect = async (): Promise<void> => {
    server = serverOf(handlers);
    const [here, there] = InMemoryTransport.createLinkedPair();
    await server.connect(there);
    await connect(here);
  };
  await reconnect();
  return {
    client,
    notify: (method, params) => server.notification({ method, params } as never),
    cut: () => server.close(),
    reconnect,
  };
}

export const WIRINGS: readonly Wiring[] = [
  {
    name: 'line 1 of the SDK',
    connect: (handlers) => {
      const client = new Client1(INFO);
      return pairOf(client, (transport) => client.connect(transport), handlers);
    },
  },
  {
    name: 'line 2 of the SDK',
    connect: (handlers) => {
      const client = new Client2(INFO);
      return pairOf(client, (transport) => client.connect(transport as Transport2), handlers);
    },
  },
];

/** Creates an error that a handler throws. */
export function rpcError(code: number, message: string, data?: unknown): Error {
  return new types.McpError(code, message, data);
}
