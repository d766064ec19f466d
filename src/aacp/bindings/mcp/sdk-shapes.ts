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

/** A packet in the content of a tool's result. */
export type PacketResource = {
  /** The kind of content. */
  type: 'resource';
  /** The packet, with its URI and its media type. */
  resource: TextResource;
};

type TextContent = {
  type: 'text';
  text: string;
};

/** The result of reading a resource. */
export type ResourceResult = {
  /** One entry. */
  contents: TextResource[];
};

/** The result of the tool that takes packets. */
export type PacketToolResult = {
  /** The packet that answers, if there is one, and the answer as text for models. */
  content: (PacketResource | TextContent)[];
  /** The answer, a `PacketAnswer`. */
  structuredContent: { [name: string]: unknown };
  /** If true, the packet was refused, or its handler failed. */
  isError?: boolean;
};

/** The part of the SDK's `Client` that `callPacketTool` uses. */
export interface PacketToolClient {
  /** Sends `tools/call`. */
  callTool(params: { name: string; arguments?: { [name: string]: unknown } }): Promise<unknown>;
}
