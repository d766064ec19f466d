import { assertDurations } from '../../../async/durations.js';
import { notifyListener } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import type { WebSocketLike } from '../../../channels/websocket.js';
import type { AccpErrorCode } from '../../errors.js';
import type { MessageInput } from '../../message/message.js';
import type { Endpoint } from '../endpoint.js';
import { DISCONNECTED } from '../endpoint-sessions.js';
import { bareErrorFrame } from '../error-frame.js';
import { isErrorHead, readHead } from '../frames.js';
import { CLOSE, LinkError } from '../link/contract.js';
import { checkHeartbeat, type HeartbeatOptions } from '../link/heartbeat.js';
import { checkFrameSocket, FrameSocket, type FrameSocketOptions } from './frame-socket.js';
import { ServerSession } from './server-session.js';

/** Options of {@link createWebSocketEndpoint}. */
export interface AcceptOptions extends FrameSocketOptions, HeartbeatOptions {
  /** Milliseconds for the first frame to arrive; `Infinity` for no limit. @default 10000 */
  readonly handshakeTimeoutMs?: number | undefined;
  /**
   * Milliseconds for which a session continues without a connection, so that the client can reconnect; `Infinity` for no limit.
   *
   * @default 300000
   */
  readonly resumeWindowMs?: number | undefined;
  /** The maximum number of sessions without a connection; beyond it, the one that has had none the longest ends. @default 1024 */
  readonly maxDetached?: number | undefined;
  /** The maximum number of messages of one session that are handled concurrently; 1024 more wait before reading stops. @default 64 */
  readonly maxInFlight?: number | undefined;
  /** Called with each error that ended a connection, and the session of the connection. */
  readonly onError?: ((error: Error, sid: string | undefined) => void) | undefined;
}

/** The rights of one client, as the server knows them from its request. */
export interface AcceptedPeer {
  /** Returns `true` if the client may use the session that it names, or a new one. @default () => true */
  readonly authorize?: ((sid: string | undefined) => boolean) | undefined;
  /** Called with the session that the client uses. */
  readonly onJoin?: ((sid: string) => void) | undefined;
}

/** An endpoint that answers frames over WebSockets. */
export interface WebSocketEndpoint {
  /** Takes over an open socket. */
  readonly accept: (socket: WebSocketLike, peer?: AcceptedPeer) => void;
  /**
   * Disconnects a session as `Endpoint.disconnect` does: its connection is closed (1008), and all bindings of the endpoint reject it. A client
   * that connects with its id again is rejected with the same reason.
   *
   * @returns `true` if the session existed
   */
  readonly disconnect: (sid: string, reason?: string) => boolean;
  /** Returns the ids of the sessions that have a connection. */
  readonly connected: () => readonly string[];
  /**
   * Sends a message that is not an answer. It waits while the client is slow or reconnects; messages of a session are sent in the order of
   * the calls.
   *
   * @returns `true` if the message was sent; `false` if there is no such session, or the client did not reconnect
   * @throws AccpError if the message cannot be sent
   * @throws StoreError if the session's store fails
   */
  readonly send: (sid: string, message: MessageInput | string) => Promise<boolean>;
  /** Closes all connections with 1001. Sessions stay open. */
  readonly close: () => Promise<void>;
}

const SHUTDOWN = 'the server is shutting down';

/**
 * Answers frames over WebSockets. The first frame must be `sync:registry`; its `sid` names the session, which continues if the endpoint has
 * it, and the endpoint answers with its own registry. A session has one connection: a second one replaces the first.
 *
 * A client that knows the id of a session can take it over, unless `authorize` returns `false`.
 *
 * Source: draft-benzing-accp-00, section 11.2.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const sockets = createWebSocketEndpoint(endpoint);
 * new WebSocketServer({ port: 4711, maxPayload: 1_048_576 }).on('connection', (socket) => sockets.accept(socket));
 */
export function createWebSocketEndpoint(endpoint: Endpoint, options: AcceptOptions = {}): WebSocketEndpoint {
  const { handshakeTimeoutMs = 10_000, resumeWindowMs = 300_000 } = options;
  const { maxInFlight = 64, maxDetached = 1024, onError } = options;
  checkHeartbeat(options);
  checkFrameSocket(options);
  assertDurations({ handshakeTimeoutMs });
  assertDurations({ resumeWindowMs }, 0);
  if (!(maxInFlight >= 1)) throw new TypeError(`maxInFlight must be a number >= 1; got ${maxInFlight}`);
  if (!(maxDetached >= 0)) throw new TypeError(`maxDetached must be a number >= 0; got ${maxDetached}`);
  const sessions = new Map<string, ServerSession>();
  /** Sockets whose first frame has not arrived. */
  const pending = new Set<FrameSocket>();
  /** Sessions without a connection; the one that has had none the longest comes first. */
  const detached = new Set<ServerSession>();
  let isClosed = false;

  const reportError = (error: Error, sid: string | undefined): void => notifyListener(() => onError?.(error, sid));

  const sessionOf = (sid: string | undefined): ServerSession => {
    const existing = sid === undefined ? undefined : sessions.get(sid);
    if (existing !== undefined) return existing;
    const session = endpoint.open(sid);
    const removeListener = endpoint.onDisconnect(session, () =>
      serverSession.close(CLOSE.noRegistry, endpoint.disconnectReason(session.id) ?? ''),
    );
    const serverSession = new ServerSession(endpoint, session, {
      ...{ heartbeatMs: options.heartbeatMs, maxMissed: options.maxMissed, resumeWindowMs, maxInFlight },
      onError: (error) => reportError(error, session.id),
      onDetached: () => {
        detached.add(serverSession);
        if (detached.size > maxDetached) detached.values().next().value!.end();
      },
      onEnded: () => {
        removeListener();
        detached.delete(serverSession);
        if (sessions.get(session.id) === serverSession) sessions.delete(session.id);
      },
    });
    sessions.set(session.id, serverSession);
    return serverSession;
  };

  const accept = (webSocket: WebSocketLike, { authorize, onJoin }: AcceptedPeer = {}): void => {
    let session: ServerSession | undefined;
    let stopTimer = (): void => undefined;
    const receiveFirst = (frame: string): void => {
      stopTimer();
      pending.delete(socket);
      const head = readHead(frame);
      const reject = (code: AccpErrorCode, why: string, reason = why, closeCode: number = CLOSE.noRegistry): void => {
        socket.send(bareErrorFrame(code, why, head));
        socket.close(closeCode, reason);
      };
      if (head?.intent !== 'sync' || head.operation !== 'registry') {
        const reason = 'the first frame must be sync:registry';
        // An error is never answered with an error.
        if (head !== null && isErrorHead(head)) socket.close(CLOSE.noRegistry, reason);
        else reject(head === null ? 'E1001' : 'E1002', 'The first frame must be sync:registry.', reason);
        return;
      }
      const disconnectReason = head.sid === undefined ? undefined : endpoint.disconnectReason(head.sid);
      if (disconnectReason !== undefined) {
        reject('E5001', DISCONNECTED, disconnectReason);
        return;
      }
      let found: ServerSession;
      try {
        if (authorize?.(head.sid) === false) {
          reject('E5001', 'the client is not authorized to use the session');
          return;
        }
        found = sessionOf(head.sid);
      } catch (thrown) {
        // The store fails, the endpoint is closed, or the id is invalid.
        reject('E9999', 'The session cannot be opened.', 'the session cannot be opened', CLOSE.failed);
        reportError(thrown instanceof Error ? thrown : new Error(String(thrown)), head.sid);
        return;
      }
      if (found.isStale(head)) {
        // The session was opened for this connection alone.
        if (!found.isConnected && !detached.has(found)) found.end();
        reject('E5001', 'the session has continued since this registry');
        return;
      }
      session = found;
      detached.delete(session);
      const { sid } = session;
      notifyListener(() => onJoin?.(sid));
      session.connect(socket, frame);
    };
    const socket = new FrameSocket(
      webSocket,
      {
        frame: (frame) => (session === undefined ? receiveFirst(frame) : session.receive(frame)),
        buffered: (frame) => session?.frameArrived(frame),
        readingStopped: () => session?.readingStopped(),
        closed: (end) => {
          stopTimer();
          pending.delete(socket);
          session?.disconnected(socket, end);
          if (end.error !== undefined) reportError(end.error, session?.sid);
        },
      },
      options,
    );
    if (isClosed) {
      socket.close(CLOSE.goingAway, SHUTDOWN);
      return;
    }
    pending.add(socket);
    stopTimer = after(handshakeTimeoutMs, () => {
      socket.close(CLOSE.noRegistry, 'no frame arrived');
      reportError(new LinkError('unreachable', `No frame arrived within ${handshakeTimeoutMs} ms.`), undefined);
    });
  };

  return {
    accept,
    connected: () => [...sessions.values()].filter(({ isConnected }) => isConnected).map(({ sid }) => sid),
    disconnect: (sid, reason) => endpoint.disconnect(sid, reason),
    send: async (sid, message) => (await sessions.get(sid)?.send(message)) ?? false,
    close: async () => {
      isClosed = true;
      for (const socket of pending) socket.close(CLOSE.goingAway, SHUTDOWN);
      for (const session of [...sessions.values()]) session.close(CLOSE.goingAway, SHUTDOWN);
    },
  };
}
