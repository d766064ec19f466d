/** The interface to an official client that is connected to an official server. */
import type * as z from 'zod';
import type {
  EmbeddedResource,
  ResourceResult,
  registryCapability,
  ToolHandler,
} from '../../../src/accp/bindings/mcp/index.js';

/** The result of an official client's call, in the form that both lines share. */
export interface CallResult {
  readonly content: unknown;
  readonly isError?: unknown;
  readonly structuredContent?: unknown;
}

/** An official client. */
export interface ConnectedClient {
  callTool(params: {
    name: string;
    arguments?: { [name: string]: unknown };
    _meta?: { [name: string]: unknown };
  }): Promise<unknown>;
  readResource(params: { uri: string }): Promise<{ contents: unknown[] }>;
  getPrompt(params: { name: string }): Promise<{ messages: { content: unknown }[] }>;
  getInstructions(): string | undefined;
}

export interface ServerTool {
  readonly name: string;
  /** `undefined` for a tool without arguments. */
  readonly input?: z.ZodObject;
  readonly output?: z.ZodObject;
  readonly handler: ToolHandler;
}

export interface ServerParts {
  readonly instructions?: string;
  readonly tools?: readonly ServerTool[];
  readonly resources?: readonly { readonly uri: string; readonly read: (uri: URL) => ResourceResult }[];
  readonly prompts?: readonly { readonly name: string; readonly content: EmbeddedResource }[];
}

export interface McpFixture {
  readonly client: ConnectedClient;
  /** Calls a tool and aborts the call. */
  readonly callAndAbort: (name: string, signal: AbortSignal, meta: { [name: string]: unknown }) => Promise<unknown>;
  readonly close: () => Promise<void>;
}

export type ExperimentalCapabilities = ReturnType<typeof registryCapability>;

/** One way to connect the official client and server of an SDK line. */
export interface Wiring {
  readonly name: string;
  readonly connect: (
    serve: (capabilities: () => unknown) => ServerParts,
    experimental?: ExperimentalCapabilities,
  ) => Promise<McpFixture>;
}
