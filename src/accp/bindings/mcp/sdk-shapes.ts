/**
 * The shapes of the Model Context Protocol that the binding makes and reads. Both lines of the official SDK have them:
 * `@modelcontextprotocol/sdk` 1, and `@modelcontextprotocol/server` and `/client` 2. Neither is imported.
 */

/** What stands at a URI. */
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

/** What reading a resource gives. */
export type ResourceResult = {
  contents: TextResource[];
};

/** What calling a tool gives. */
export type ToolResult = {
  content: (EmbeddedResource | TextContent)[];
  structuredContent?: { [name: string]: unknown };
  isError?: boolean;
  _meta?: { [name: string]: unknown };
};

/** A client that calls tools. */
export interface ToolClient {
  callTool(params: {
    name: string;
    arguments?: { [name: string]: unknown };
    _meta?: { [name: string]: unknown };
  }): Promise<unknown>;
}

/** A client that has been connected. */
export interface RegistryClient {
  getInstructions(): string | undefined;
  readResource(params: { uri: string }): Promise<unknown>;
}

export type Members = { readonly [name: string]: unknown };

/** What is an object; nothing else has members worth looking at. */
export function members(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null ? (value as Members) : undefined;
}

/** The context of a request to a server, as far as both lines have it. */
export interface RequestContext {
  readonly meta: Members | undefined;
  readonly signal: AbortSignal | undefined;
  /** What the client has told of itself with the request (revision 2026-07-28). */
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
