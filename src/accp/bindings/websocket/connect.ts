/** The side that connects (draft-benzing-accp-00, section 11.2). */
import type { WebSocketLike } from '../../../bindings/web-socket.js';
import { partsOfSession } from '../../session/session.js';
import { checkFrameSocket, FrameSocket } from './frame-socket.js';
import { checkHeartbeat } from './heartbeat.js';
import { WebSocketLink } from './link.js';
import type { Link, LinkOptions } from './link-options.js';
import { checkSeconds, LEAST_TIMEOUT } from './seconds.js';

/** The name under which both sides agree on frames (RFC 6455, section 1.9). */
export const SUBPROTOCOL = 'accp';

/** The `WebSocket` of browsers, of Node from version 22 on, or of `ws`. */
export type WebSocketConstructor = new (url: string, protocols?: string | string[]) => WebSocketLike;

export interface ConnectOptions extends LinkOptions {
  /** @default the global one, where there is one */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

/**
 * Connects a session over a WebSocket. The first frame is `sync:registry`; when the other side has answered, messages can be sent. A
 * connection that is lost is made anew, and the session goes on: what was lost on the way is sent again, nothing twice.
 *
 * Source: draft-benzing-accp-00, section 11.2.
 *
 * @param target an address, or a function that makes a socket: for headers and the like
 * @throws LinkError when no connection comes about
 * @throws TypeError on options that are none
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
  const { handshakeTimeout, reconnect } = options;
  checkSeconds({ handshakeTimeout }, LEAST_TIMEOUT);
  const { min, max, attempts = 0 } = reconnect === false ? {} : (reconnect ?? {});
  checkSeconds({ 'reconnect.min': min, 'reconnect.max': max });
  if (!(attempts >= 0)) throw new TypeError(`reconnect.attempts is a number from 0 on; got ${attempts}`);
  if (partsOfSession(options.session).options.sequence !== 'sender')
    throw new TypeError("Over a WebSocket both sides may speak: the session is opened with sequence: 'sender'");
  const socketOf = typeof target === 'function' ? target : maker(String(target), options.WebSocket);
  const link = new WebSocketLink((receiver) => new FrameSocket(socketOf(), receiver, options), options);
  try {
    await link.open();
  } catch (thrown) {
    await link.close();
    throw thrown;
  }
  return link;
}

/** @throws TypeError where there is no WebSocket */
function maker(url: string, given: WebSocketConstructor | undefined): () => WebSocketLike {
  const WebSocket = given ?? (globalThis as { readonly WebSocket?: WebSocketConstructor }).WebSocket;
  if (WebSocket === undefined) throw new TypeError('There is no global WebSocket here: give that of the package ws');
  return () => new WebSocket(url, SUBPROTOCOL);
}
