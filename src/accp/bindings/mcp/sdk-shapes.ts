/**
 * Shapes of the Model Context Protocol that the binding writes and reads. Both lines of the official SDK have them:
 * `@modelcontextprotocol/sdk` 1, and `@modelcontextprotocol/server` and `/client` 2. Neither is imported.
 */

// Types instead of interfaces: those of the SDKs allow further members.
type TextResource = {
  uri: string;
  mimeType: string;
  text: string;
};

/** A resource in the content of a tool's result, of a prompt, or of an ACP message. */
export type EmbeddedResource = {
  /** The kind of content. */
  type: 'resource';
  /** The frame, with its URI and its media type. */
  resource: TextResource;
};

type TextContent = {
  type: 'text';
  text: string;
};

/** The result of reading a resource. */
export type ResourceResult = {
  /** One entry per frame. */
  contents: TextResource[];
};

/** The result of calling a tool. */
export type ToolResult = {
  /** The frames of the answer and, for clients that send no frames, the result as text. */
  content: (EmbeddedResource | TextContent)[];
  /** The result as JSON, for tools with an output schema. */
  structuredContent?: { [name: string]: unknown };
  /** If true, the call failed or was rejected. */
  isError?: boolean;
  /** The losses of the frames (`accp/losses`), or the reason for their absence (`accp/dropped`). */
  _meta?: { [name: string]: unknown };
};

/** The part of the SDK's `Client` that {@link callTool} uses. */
export interface ToolClient {
  /** Sends `tools/call`. */
  callTool(params: {
    name: string;
    arguments?: { [name: string]: unknown };
    _meta?: { [name: string]: unknown };
  }): Promise<unknown>;
}

/** The part of a connected SDK `Client` that {@link readRegistry} uses. */
export interface RegistryClient {
  /** Returns the instructions of the server, in which it announces its registry. */
  getInstructions(): string | undefined;
  /** Sends `resources/read`. */
  readResource(params: { uri: string }): Promise<unknown>;
}

export type Members = { readonly [name: string]: unknown };

export function members(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null ? (value as Members) : undefined;
}

export interface RequestContext {
  readonly meta: Members | undefined;
  readonly signal: AbortSignal | undefined;
  /** The capabilities that the client sends with the request (revision 2026-07-28). */
  readonly capabilities: Members | undefined;
}

const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Reads `extra` of line 1 (`_meta`, `signal`), or `ctx` of line 2 (`mcpReq._meta`, `.signal`, `.envelope`). */
export function readRequestContext(context: unknown): RequestContext {
  const outer = members(context);
  const request = members(outer?.['mcpReq']) ?? outer;
  const signal = request?.['signal'];
  return {
    meta: members(request?.['_meta']),
    signal: signal instanceof AbortSignal ? signal : undefined,
    capabilities: members(members(request?.['envelope'])?.[CLIENT_CAPABILITIES]),
  };
}
