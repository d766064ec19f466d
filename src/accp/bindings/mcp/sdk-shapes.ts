/**
 * The shapes of the Model Context Protocol that the binding makes and reads. Both lines of the official SDK have them:
 * `@modelcontextprotocol/sdk` 1, and `@modelcontextprotocol/server` and `/client` 2. Neither is imported.
 */

// Types and not interfaces: those of the SDKs are open to further members.
type TextResource = {
  uri: string;
  mimeType: string;
  text: string;
};

/** A resource inside the content of a tool's result, of a prompt, or of an ACP message. */
export type EmbeddedResource = {
  type: 'resource';
  resource: TextResource;
};

type TextContent = {
  type: 'text';
  text: string;
};

/** The result of reading a resource. */
export type ResourceResult = {
  contents: TextResource[];
};

/** The result of calling a tool. */
export type ToolResult = {
  content: (EmbeddedResource | TextContent)[];
  structuredContent?: { [name: string]: unknown };
  isError?: boolean;
  _meta?: { [name: string]: unknown };
};

export interface ToolClient {
  callTool(params: {
    name: string;
    arguments?: { [name: string]: unknown };
    _meta?: { [name: string]: unknown };
  }): Promise<unknown>;
}

/** A connected client. */
export interface RegistryClient {
  getInstructions(): string | undefined;
  readResource(params: { uri: string }): Promise<unknown>;
}

export type Members = { readonly [name: string]: unknown };

export function members(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null ? (value as Members) : undefined;
}

export interface RequestContext {
  readonly meta: Members | undefined;
  readonly signal: AbortSignal | undefined;
  /** What the client reports of itself with the request (revision 2026-07-28). */
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
