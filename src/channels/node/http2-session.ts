// biome-ignore-all lint/correctness/noNodejsModules: HTTP/2 requires Node
/** Settings and guards of HTTP/2 connections, for both sides. */
import { constants, type Http2Session, type Http2Stream, type ServerHttp2Stream, type Settings } from 'node:http2';
import type { Writable } from 'node:stream';
import { watchPings } from '../../async/silence.js';
import { nextTurn } from '../../async/timers.js';

const MIB = 1024 * 1024;

/** The flow-control window of a stream. The default of the protocol, 64 KiB, makes a large message wait for many round trips. */
const STREAM_WINDOW = MIB;
/** The flow-control window of a connection, which its streams share. */
const CONNECTION_WINDOW = 16 * MIB;

/** The maximum number of concurrent streams of a connection. */
export const MAX_STREAMS = 128;
/** The maximum size of the headers of a request in bytes. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** The settings of both sides. */
export const HTTP2_SETTINGS: Settings = {
  initialWindowSize: STREAM_WINDOW,
  maxConcurrentStreams: MAX_STREAMS,
  maxHeaderListSize: MAX_HEADER_BYTES,
  enablePush: false,
};

/** The memory that a connection may use, in megabytes. */
export const MAX_SESSION_MEGABYTES = 64;

/** Options of {@link guardSession}. */
export interface GuardOptions {
  /** Milliseconds between two pings; a connection that has not answered one at the next is destroyed. @default 15_000 */
  readonly pingMs?: number | undefined;
}

const PING_MS = 15_000;

/** Raises the window of a connection, and destroys the connection when the other side no longer answers pings. */
export function guardSession(session: Http2Session, { pingMs = PING_MS }: GuardOptions = {}): void {
  // An error event without a listener ends the process. Streams report the error, too.
  session.on('error', () => {});
  const raise = (): void => {
    if (!session.destroyed) session.setLocalWindowSize(CONNECTION_WINDOW);
  };
  if (session.connecting) session.once('connect', raise);
  else raise();
  const watch = watchPings(
    pingMs,
    () => !session.connecting && !session.destroyed && session.ping(() => watch.answered()),
    () => session.destroy(new Error('the other side does not answer'), constants.NGHTTP2_CANCEL),
  );
  session.once('close', watch.stop);
}

/** The number of streams that a client may reset in one period, and the period in milliseconds. */
const MAX_RESETS = 2 * MAX_STREAMS;
const RESET_PERIOD_MS = 10_000;

/** Streams that this side has reset. */
const ownResets = new WeakSet<object>();

/** Resets a stream of HTTP/2, so that the other side does not take its end for that of a complete body. Does nothing to other streams. */
export function resetStream(stream: Writable | Http2Stream): void {
  if (!('rstCode' in stream) || stream.closed) return;
  ownResets.add(stream);
  stream.close(constants.NGHTTP2_CANCEL);
}

/**
 * Counts the streams that a client resets, and closes a connection that resets too many: a reset costs the client nothing, and the server the
 * start of a request (CVE-2023-44487).
 *
 * @returns a function that counts one stream
 */
export function resetLimit(session: Http2Session, now: () => number): (stream: ServerHttp2Stream) => void {
  let periodAt = now();
  let resets = 0;
  return (stream) => {
    let isReset = false;
    stream.once('aborted', () => {
      // A stream that this side resets or destroys is aborted, too.
      isReset = !(stream.destroyed || ownResets.has(stream));
    });
    stream.once('close', () => {
      if (!isReset || session.destroyed) return;
      if (now() - periodAt >= RESET_PERIOD_MS) {
        periodAt = now();
        resets = 0;
      }
      if (++resets > MAX_RESETS) {
        // Not here: Node 20 may loop for ever if a session is destroyed while its streams close. Without an error, it ignores the code.
        const error = new Error('too many streams were reset');
        nextTurn(() => session.destroy(error, constants.NGHTTP2_ENHANCE_YOUR_CALM));
      }
    });
  };
}
