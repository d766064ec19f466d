import { notifyListener } from '../../../async/listeners.js';
import { after } from '../../../async/timers.js';
import type { WebSocketLike } from '../../../channels/websocket.js';
import type { AccpErrorCode } from '../../errors.js';
import type { MessageInput } from '../../message/message.js';
import { checkDurations } from '../durations.js';
import type { Endpoint } from '../endpoint.js';
import { DISCONNECTED } from '../endpoint-sessions.js';
import { bareErrorFrame } from '../error-frame.js';
import { isErrorHead, readHead } from '../frames.js';
import { CLOSE, LinkError } from '../link/contract.js';
import { checkHeartbeat, type HeartbeatOptions } from '../link/heartbeat.js';
import { checkFrameSocket, FrameSocket, type FrameSocketOptions } from './frame-socket.js';
import { Seat } from './seat.js';

export interface AcceptOptions extends FrameSocketOptions, HeartbeatOptions {
  /** Milliseconds for the first frame to arrive; `Infinity` for no limit. @default 10000 */
  readonly handshakeTimeoutMs?: number | undefined;
  /** Milliseconds for which a session continues without a connection, so that the client can reconnect; `Infinity` for no limit. @default 300000 */
  readonly resumeWindowMs?: number | undefined;
  /** Limit of the sessions without a connection; beyond it, the one that has had none for longest ends. @default 1024 */
  readonly maxDetached?: number | undefined;
  /** Messages of one session that are handled at once; up to 1024 more wait, then no more are read. @default 64 */
  readonly maxConcurrent?: number | undefined;
  /** Called with what ended a connection other than a normal close. */
  readonly onError?: ((error: Error, sid: string | undefined) => void) | undefined;
}

interface AcceptedPeer {
  /** Whether the peer may speak in a session: the one that it names, or a new one. @default every session */
  readonly authorize?: ((sid: string | undefined) => boolean) | undefined;
  /** Called with the session that it speaks in. */
  readonly onJoin?: ((sid: string) => void) | undefined;
}

export interface WebSocketEndpoint {
  /** Takes an open socket, and is responsible for it from then on. */
  readonly accept: (socket: WebSocketLike, peer?: AcceptedPeer) => void;
  /**
   * Disconnects a session as `disconnect` of the endpoint: its connection is closed (1008), and all bindings of the endpoint refuse it. A
   * client that connects with its id again is refused with the same reason.
   *
   * @returns whether the session was there
   */
  readonly disconnect: (sid: string, reason?: string) => boolean;
  /** The ids of the sessions that have a connection now. */
  readonly connected: () => readonly string[];
  /**
   * Sends a message that is not an answer. It waits while the other side is slow, or away for a while; messages of a session go out in the
   * order of the calls.
   *
   * @returns whether it was sent: `false` if there is no such session here, or the other side did not come back
   * @throws AccpError if the message cannot be sent
   * @throws StoreError when the session's store fails
   */
  readonly send: (sid: string, message: MessageInput | string) => Promise<boolean>;
  /** Closes all connections with 1001. Sessions stay open. */
  readonly close: () => Promise<void>;
}

/**
 * Answers frames over WebSockets. The first frame has to be `sync:registry`; its `sid` names the session, which goes on if the endpoint has
 * it, and is answered by a registry. A session has one connection: a second one takes the place of the first.
 *
 * A client that knows the id of a session can take it over, unless `admits` refuses it.
 *
 * Source: draft-benzing-accp-00, section 11.2.
 *
 * @throws TypeError if an option is invalid
 * @example
 * const sockets = createWebSocketEndpoint(endpoint);
 * new WebSocketServer({ port: 4711, maxPayload: 1_048_576 }).on('connection', (socket) => sockets.accept(socket));
 */
export function createWebSocketEndpoint(endpoint: Endpoint, options: AcceptOptions = {}): WebSocketEndpoint {
  const {
    handshakeTimeoutMs = 10_000,
    resumeWindowMs = 300_000,
    maxConcurrent = 64,
    maxDetached = 1024,
    onError,
  } = options;
  checkHeartbeat(options);
  checkFrameSocket(options);
  checkDurations({ handshakeTimeoutMs });
  checkDurations({ resumeWindowMs }, 0);
  if (!(maxConcurrent >= 1)) throw new TypeError(`maxConcurrent must be a number >= 1; got ${maxConcurrent}`);
  if (!(maxDetached >= 0)) throw new TypeError(`maxDetached must be a number >= 0; got ${maxDetached}`);
  const seats = new Map<string, Seat>();
  const waiting = new Set<FrameSocket>();
  /** Sessions without a connection; the one that has none for longest comes first. */
  const away = new Set<Seat>();
  let isClosed = false;

  const tell = (error: Error, sid: string | undefined): void => notifyListener(() => onError?.(error, sid));

  const seatOf = (sid: string | undefined): Seat => {
    const known = sid === undefined ? undefined : seats.get(sid);
    if (known !== undefined) return known;
    const session = endpoint.open(sid);
    const forget = endpoint.onDisconnect(session, () =>
      seat.close(CLOSE.noRegistry, endpoint.disconnectReason(session.id) ?? ''),
    );
    const seat = new Seat(endpoint, session, {
      ...{ heartbeatMs: options.heartbeatMs, maxMissed: options.maxMissed, resumeWindowMs, maxConcurrent },
      failed: (error) => tell(error, session.id),
      away: () => {
        away.add(seat);
        if (away.size > maxDetached) away.values().next().value!.leave();
      },
      left: () => {
        forget();
        away.delete(seat);
        if (seats.get(session.id) === seat) seats.delete(session.id);
      },
    });
    seats.set(session.id, seat);
    return seat;
  };

  const accept = (webSocket: WebSocketLike, { authorize, onJoin }: AcceptedPeer = {}): void => {
    let seat: Seat | undefined;
    let stopTimer = (): void => undefined;
    const first = (frame: string): void => {
      stopTimer();
      waiting.delete(socket);
      const head = readHead(frame);
      const refuse = (code: AccpErrorCode, why: string, reason = why, closeCode: number = CLOSE.noRegistry): void => {
        socket.send(bareErrorFrame(code, why, head));
        socket.close(closeCode, reason);
      };
      if (head?.intent !== 'sync' || head.operation !== 'registry') {
        const reason = 'the first frame is sync:registry';
        // An error is never answered by another.
        if (head !== null && isErrorHead(head)) socket.close(CLOSE.noRegistry, reason);
        else refuse(head === null ? 'E1001' : 'E1002', 'The first frame is sync:registry.', reason);
        return;
      }
      const barred = head.sid === undefined ? undefined : endpoint.disconnectReason(head.sid);
      if (barred !== undefined) {
        refuse('E5001', DISCONNECTED, barred);
        return;
      }
      let found: Seat;
      try {
        if (authorize?.(head.sid) === false) {
          refuse('E5001', 'the session is not for who has connected');
          return;
        }
        found = seatOf(head.sid);
      } catch (thrown) {
        // The store fails, the endpoint is closed, or the id is invalid.
        refuse('E9999', 'The session cannot be opened.', 'the session cannot be opened', CLOSE.failed);
        tell(thrown instanceof Error ? thrown : new Error(String(thrown)), head.sid);
        return;
      }
      if (found.isStale(head)) {
        // The seat was made for this connection alone.
        if (!found.isConnected && !away.has(found)) found.leave();
        refuse('E5001', 'the session has gone on since this registry');
        return;
      }
      seat = found;
      away.delete(seat);
      const { sid } = seat;
      notifyListener(() => onJoin?.(sid));
      seat.connect(socket, frame);
    };
    const socket = new FrameSocket(
      webSocket,
      {
        frame: (frame) => (seat === undefined ? first(frame) : seat.take(frame)),
        held: (frame) => seat?.heard(frame),
        stopped: () => seat?.stopped(),
        closed: (end) => {
          stopTimer();
          waiting.delete(socket);
          seat?.disconnected(socket, end);
          if (end.error !== undefined) tell(end.error, seat?.sid);
        },
      },
      options,
    );
    if (isClosed) {
      socket.close(CLOSE.goingAway, 'the server ends');
      return;
    }
    waiting.add(socket);
    stopTimer = after(handshakeTimeoutMs, () => {
      socket.close(CLOSE.noRegistry, 'no frame came');
      tell(new LinkError('unreachable', `No frame arrived within ${handshakeTimeoutMs} ms.`), undefined);
    });
  };

  return {
    accept,
    connected: () => [...seats.values()].filter(({ isConnected }) => isConnected).map(({ sid }) => sid),
    disconnect: (sid, reason) => endpoint.disconnect(sid, reason),
    send: async (sid, message) => (await seats.get(sid)?.say(message)) ?? false,
    close: async () => {
      isClosed = true;
      for (const socket of waiting) socket.close(CLOSE.goingAway, 'the server ends');
      for (const seat of [...seats.values()]) seat.close(CLOSE.goingAway, 'the server ends');
    },
  };
}
