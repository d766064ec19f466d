/**
 * Where the frames of registry sync stand in MCP (draft-benzing-accp-00, section 11.3): the server's in the instructions, which clients
 * put into the system prompt; the client's in its capabilities; all of the server's registry in a resource.
 */
import { withoutBlanks } from '../../../text/ascii.js';
import { FRAME_TYPE, readHead } from '../frames.js';
import { members } from './sdk-shapes.js';

/** The resource with all of a server's registry. */
export const REGISTRY_URI = 'accp://registry';

/**
 * The instructions of a server that announces its registry: a line of their own.
 *
 * @example
 * new McpServer(info, { instructions: withRegistry('Searches the archive.', exchange.announcement) });
 */
export function withRegistry(instructions: string | undefined, frame: string): string {
  return instructions === undefined || instructions === '' ? frame : `${instructions}\n${frame}`;
}

/** The frame by which a server has announced its registry; `null` where there is none. */
export function registryIn(instructions: string | undefined): string | null {
  for (const line of instructions?.split(/\r?\n/) ?? []) {
    const text = withoutBlanks(line);
    // Prose is not read as frames.
    if (text.startsWith('@') && isRegistrySync(text)) return text;
  }
  return null;
}

function isRegistrySync(text: string): boolean {
  const head = readHead(text);
  return head?.intent === 'sync' && head.operation === 'registry';
}

/**
 * The experimental capability by which a client announces its registry.
 *
 * @param frames `exchange.full`; a server cannot ask a client for what it lacks
 * @example
 * new Client(info, { capabilities: { experimental: registryCapability(exchange.full) } });
 */
export function registryCapability(frames: string | readonly string[]): { [name: string]: { registry: string[] } } {
  return { [FRAME_TYPE]: { registry: typeof frames === 'string' ? [frames] : [...frames] } };
}

/**
 * What a client has announced by its capabilities; nothing where it does not speak ACCP.
 *
 * @param capabilities `server.server.getClientCapabilities()`; since revision 2026-07-28, they come with each request
 */
export function registryInCapabilities(capabilities: unknown): readonly string[] {
  const told = members(members(members(capabilities)?.['experimental'])?.[FRAME_TYPE])?.['registry'];
  const frames: readonly unknown[] = Array.isArray(told) ? told : [told];
  return frames.filter((frame) => typeof frame === 'string');
}
