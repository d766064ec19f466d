/** The side that WebSockets connect to (draft-benzing-accp-00, section 11.2). */
import type { WebSocketLike } from '../../../bindings/web-socket.js';
import type { MessageInput } from '../../message/message.js';
import type { Endpoint } from '../endpoint.js';
import { bareErrorFrame } from '../error-frame.js';
import { isErrorHead, readHead } from '../frames.js';
import { CLOSE, LinkError } from './errors.js';
import { checkFrameSocket, FrameSocket, type FrameSocketOptions } from './frame-socket.js';
import { checkHeartbeat, type HeartbeatOptions } from './heartbeat.js';
import { Seat } from './seat.js';

export interface AcceptOptions extends FrameSocketOptions, HeartbeatOptions {
  /** Seconds for the first frame to come. @default 10 */
  readonly handshakeTimeout?: number | undefined;
  /** Seconds that a session's work goes on without a connection, for the other side to come back. @default 300 */
  readonly resumeTime?: number | undefined;
  /** Frames of one session that are worked on at a time; beyond, no more are read. @default 64 */
  readonly maxConcurrent?: number | undefined;
  /** Told what ended a connection other than its being closed. */
  readonly onError?: ((error: Error, sid: string | undefined) => void) | undefined;
}

export interface WebSocketEndpoint {
  /** Takes a socket that is open. What becomes of it afterwards is this side's business. */
  readonly accept: (socket: WebSocketLike) => void;
  /** The ids of the sessions that have a connection now. */
  readonly connected: () => readonly string[];
  /**
   * Sends a message that nobody has asked for. It waits where the other side is slow, or away for a while; messages of a session go out in
   * the order in which they were given.
   *
   * @returns whether it was sent: `false` where there is no such session here, or the other side did not come back
   * @throws AccpError for a message that cannot be said
   * @throws StoreError when the session's store fails
   */
  readonly send: (sid: string, message: MessageInput | string) => Promise<boolean>;
  /** Closes all connections with 1001. Sessions stay the endpoint's. */
  readonly close: () => Promise<void>;
}

/**
 * Answers frames over WebSockets. The first frame has to be `sync:registry`; its `sid` names the session, which goes on where the
 * endpoint has it, and is answered by a registry. A session has one connection: a second one takes the place of the first.
 *
 * Who knows the id of a session can take it over: checking who may do so belongs in front of it.
 *
 * Source: draft-benzing-accp-00, section 11.2.
 *
 * @throws TypeError on options that are none
 * @example
 * const sockets = createWebSocketEndpoint(endpoint);
 * new WebSocketServer({ port: 4711, maxPayload: 1_048_576 }).on('connection', (socket) => sockets.accept(socket));
 */
export function createWebSocketEndpoint(endpoint: Endpoint, options: AcceptOptions = {}): WebSocketEndpoint {
  const { handshakeTimeout = 10, resumeTime = 300, maxConcurrent = 64, onError } = options;
  checkHeartbeat(options);
  checkFrameSocket(options);
  for (const [name, value] of Object.entries({ handshakeTimeout, resumeTime }))
    if (!(value >= 0)) throw new TypeError(`${name} is a number of seconds from 0 on; got ${value}`);
  if (!(maxConcurrent >= 1)) throw new TypeError(`maxConcurrent is a number from 1 on; got ${maxConcurrent}`);
  const seats = new Map<string, Seat>();
  const waiting = new Set<FrameSocket>();
  let isClosed = false;

  const seatOf = (sid: string | undefined): Seat => {
    const known = sid === undefined ? undefined : seats.get(sid);
    if (known !== undefined) return known;
    const session = endpoint.open(sid);
    const seat = new Seat(endpoint, session, {
      ...{ heartbeat: options.heartbeat, maxMissed: options.maxMissed, resumeTime, maxConcurrent },
      failed: (error) => onError?.(error, session.id),
      left: () => {
        if (seats.get(session.id) === seat) seats.delete(session.id);
      },
    });
    seats.set(session.id, seat);
    return seat;
  };

  const accept = (webSocket: WebSocketLike): void => {
    let seat: Seat | undefined;
    let timer: unknown;
    const first = (frame: string): void => {
      clearTimeout(timer as never);
      waiting.delete(socket);
      const head = readHead(frame);
      if (head?.intent !== 'sync' || head.operation !== 'registry') {
        const code = head === null ? 'E1001' : 'E1002';
        // An error is never answered by another.
        if (head === null || !isErrorHead(head))
          socket.send(bareErrorFrame(code, 'The first frame is sync:registry.', head));
        socket.close(CLOSE.noRegistry, 'the first frame is sync:registry');
        return;
      }
      try {
        seat = seatOf(head.sid);
      } catch (thrown) {
        // The store fails, the endpoint is closed, or the id is none.
        socket.send(bareErrorFrame('E9999', 'The session cannot be opened.', head));
        socket.close(CLOSE.failed, 'the session cannot be opened');
        onError?.(thrown instanceof Error ? thrown : new Error(String(thrown)), head.sid);
        return;
      }
      seat.connect(socket, frame);
    };
    const socket = new FrameSocket(
      webSocket,
      {
        frame: (frame) => (seat === undefined ? first(frame) : seat.take(frame)),
        held: (frame) => seat?.heard(frame),
        stopped: () => seat?.stopped(),
        closed: (end) => {
          clearTimeout(timer as never);
          waiting.delete(socket);
          seat?.disconnected(socket, end);
          if (end.error !== undefined) onError?.(end.error, seat?.sid);
        },
      },
      options,
    );
    if (isClosed) {
      socket.close(CLOSE.goingAway, 'the server ends');
      return;
    }
    waiting.add(socket);
    timer = setTimeout(() => {
      socket.close(CLOSE.noRegistry, 'no frame came');
      onError?.(new LinkError('unreachable', `No frame came within ${handshakeTimeout} s.`), undefined);
    }, handshakeTimeout * 1000);
  };

  return {
    accept,
    connected: () => [...seats.values()].filter(({ isConnected }) => isConnected).map(({ sid }) => sid),
    send: async (sid, message) => (await seats.get(sid)?.say(message)) ?? false,
    close: async () => {
      isClosed = true;
      for (const socket of waiting) socket.close(CLOSE.goingAway, 'the server ends');
      for (const seat of [...seats.values()]) seat.close();
    },
  };
}
