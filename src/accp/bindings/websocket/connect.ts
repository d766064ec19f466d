import type { WebSocketLike } from '../../../channels/websocket.js';
import { systemReason } from '../../../text/system-reason.js';
import { CLOSE, type Link, LinkError, type LinkOptions } from '../link/contract.js';
import { checkHeartbeat, type HeartbeatOptions } from '../link/heartbeat.js';
import { openLink } from '../link/link.js';
import { checkFrameSocket, FrameSocket, type FrameSocketOptions, type SocketEnd } from './frame-socket.js';

/** The subprotocol of frames (RFC 6455, section 1.9). */
export const SUBPROTOCOL = 'accp';

/** The constructor `WebSocket` of browsers, of Node 22 and later, or of `ws`. */
export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => WebSocketLike;

/** Options of {@link connectWebSocket}. */
export interface ConnectOptions extends LinkOptions, FrameSocketOptions, HeartbeatOptions {
  /** The constructor of sockets. @default the global `WebSocket`, if there is one */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/**
 * Connects a session over a WebSocket. The first frame is `sync:registry`; when the server has answered it, messages can be sent. If the
 * connection is lost, the link reconnects and the session continues: lost frames are sent again, and none is processed twice.
 *
 * Source: draft-benzing-accp-00, section 11.2.
 *
 * @param target an address, or a function that creates a socket, for example with headers
 * @throws LinkError if no connection can be established
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
  const createSocket = typeof target === 'function' ? target : socketFactory(String(target), options.WebSocket);
  return openLink((listener) => {
    const closed = (end: SocketEnd): void => listener.closed(errorOf(end));
    return new FrameSocket(createSocket(), { ...listener, closed }, options);
  }, options);
}

/** Codes after which another attempt would end in the same way. */
const PERMANENT_CODES: ReadonlySet<number> = new Set([CLOSE.binary, CLOSE.notUtf8, CLOSE.noRegistry, CLOSE.tooBig]);

function errorOf({ code, reason, error }: SocketEnd): LinkError {
  const why = reason === '' ? (error === undefined ? `code ${code}` : systemReason(error)) : reason;
  const details = { closeCode: code, cause: error };
  if (code === CLOSE.replaced)
    return new LinkError('replaced', 'The session continues over another connection.', details);
  if (PERMANENT_CODES.has(code)) return new LinkError('refused', `The peer closed the connection: ${why}.`, details);
  return new LinkError('unreachable', `The connection was lost: ${why}.`, details);
}

/** @throws TypeError if there is no WebSocket */
function socketFactory(url: string, option: WebSocketConstructor | undefined): () => WebSocketLike {
  const WebSocket = option ?? (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket;
  if (WebSocket === undefined)
    throw new TypeError(
      'This platform has no global WebSocket; pass the one of the package ws as the option WebSocket',
    );
  return () => new WebSocket(url, SUBPROTOCOL);
}
