import type { WebSocketLike } from '../../../channels/websocket.js';
import { systemReason } from '../../../text/system-reason.js';
import { CLOSE, type Link, LinkError, type LinkOptions } from '../link/contract.js';
import { checkHeartbeat, type HeartbeatOptions } from '../link/heartbeat.js';
import { openLink } from '../link/link.js';
import { checkFrameSocket, FrameSocket, type FrameSocketOptions, type SocketEnd } from './frame-socket.js';

/** The subprotocol of frames (RFC 6455, section 1.9). */
export const SUBPROTOCOL = 'accp';

/** The `WebSocket` of browsers, of Node from version 22, or of `ws`. */
export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => WebSocketLike;

export interface ConnectOptions extends LinkOptions, FrameSocketOptions, HeartbeatOptions {
  /** @default the global one, if there is one */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/**
 * Connects a session over a WebSocket. The first frame is `sync:registry`; when the other side has answered, messages can be sent. A
 * lost connection is made anew, and the session goes on: what was lost on the way is sent again, nothing twice.
 *
 * Source: draft-benzing-accp-00, section 11.2.
 *
 * @param target an address, or a function that makes a socket: for headers and the like
 * @throws LinkError when no connection comes about
 * @throws TypeError if an option is invalid
 * @example
 * const session = createSession({ agent: 'planner', sequence: 'sender' });
 * const link = await connectWebSocket('ws://127.0.0.1:4711/accp/v1/frames', { codec, session, WebSocket });
 * const { payload } = await link.request({ intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name: 'now' } });
 */
export async function connectWebSocket(
  target: string | URL | (() => WebSocketLike),
  options: ConnectOptions,
): Promise<Link> {
  checkHeartbeat(options);
  checkFrameSocket(options);
  const socketOf = typeof target === 'function' ? target : maker(String(target), options.WebSocket);
  return openLink((receiver) => {
    const closed = (end: SocketEnd): void => receiver.closed(errorOf(end));
    return new FrameSocket(socketOf(), { ...receiver, closed }, options);
  }, options);
}

/** Another attempt would end in the same way. */
const FOR_GOOD: ReadonlySet<number> = new Set([CLOSE.binary, CLOSE.notUtf8, CLOSE.noRegistry, CLOSE.tooBig]);

function errorOf({ code, reason, error }: SocketEnd): LinkError {
  const said = reason === '' ? (error === undefined ? `code ${code}` : systemReason(error)) : reason;
  const details = { closeCode: code, cause: error };
  if (code === CLOSE.replaced)
    return new LinkError('replaced', 'The session goes on over another connection.', details);
  if (FOR_GOOD.has(code))
    return new LinkError('refused', `The other side has closed the connection: ${said}.`, details);
  return new LinkError('unreachable', `The connection was lost: ${said}.`, details);
}

/** @throws TypeError if there is no WebSocket */
function maker(url: string, given: WebSocketConstructor | undefined): () => WebSocketLike {
  const WebSocket = given ?? (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket;
  if (WebSocket === undefined) throw new TypeError('There is no global WebSocket here: give that of the package ws');
  return () => new WebSocket(url, SUBPROTOCOL);
}
