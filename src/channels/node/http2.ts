// biome-ignore-all lint/correctness/noNodejsModules: HTTP/2 requires Node
/** Channels over HTTP/2: one stream that is open in both directions, with one JSON document per line. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants, type Http2Stream } from 'node:http2';
import { nextTurn } from '../../async/timers.js';
import { systemReason } from '../../text/system-reason.js';
import type { Channel } from '../channel.js';
import { ConnectionError } from '../errors.js';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';
import { guardSession, HTTP2_SETTINGS, MAX_SESSION_MEGABYTES, MAX_STREAMS, resetStream } from './http2-session.js';
import { type Trust, tlsOptionsOf } from './trust.js';

/** The media type of the bodies: JSON documents, each on its own line. */
export const NDJSON = 'application/x-ndjson';

/** Options of {@link connectHttp2}. */
export interface Http2Options extends ByteChannelOptions, Trust {
  /** The bearer token. @default none */
  readonly token?: string | undefined;
  /** Milliseconds between two pings of a connection; one that has not answered at the next is closed. @default 15_000 */
  readonly pingMs?: number | undefined;
  /** Milliseconds for the connection and the response. @default 10_000 */
  readonly handshakeMs?: number | undefined;
}

/** Creates a channel over a stream that is open in both directions. A destroyed channel resets it. */
export function http2Channel(stream: Http2Stream, options: ByteChannelOptions = {}): Channel {
  const channel = byteChannel(stream, stream, options);
  let isCorked = false;
  const uncork = (): void => {
    isCorked = false;
    stream.uncork();
  };
  return {
    ...channel,
    // All texts of one turn share frames, and a system call.
    send: (text) => {
      if (!isCorked) {
        isCorked = true;
        stream.cork();
        nextTurn(uncork);
      }
      channel.send(text);
    },
    destroy: () => {
      resetStream(stream);
      channel.destroy();
    },
  };
}

/** A connection and the number of its streams. */
interface Pooled {
  readonly session: ClientHttp2Session;
  streams: number;
}

/** Open connections by origin and trust. Channels share them; a connection closes after its last stream. */
const pool = new Map<string, Set<Pooled>>();

const HANDSHAKE_MS = 10_000;

/**
 * Opens a stream: `http:` connects without encryption, by prior knowledge, and `https:` over TLS.
 *
 * @throws ConnectionError `closed` if the connection fails or the server refuses
 */
export async function connectHttp2(url: URL, options: Http2Options = {}): Promise<Channel> {
  const pooled = acquire(url, options);
  const { session } = pooled;
  let stream: ClientHttp2Stream;
  try {
    stream = session.request(
      {
        ':method': 'POST',
        ':path': `${url.pathname}${url.search}`,
        'content-type': NDJSON,
        accept: NDJSON,
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      },
      { endStream: false },
    );
  } catch (cause) {
    release(pooled);
    throw new ConnectionError('closed', `Cannot connect to ${url.host}: ${systemReason(cause)}`, { cause });
  }
  stream.once('close', () => release(pooled));
  await opened(stream, session, url, options.handshakeMs);
  return http2Channel(stream, options);
}

/** Resolves when the server has accepted the stream. */
async function opened(
  stream: ClientHttp2Stream,
  session: ClientHttp2Session,
  { host }: URL,
  handshakeMs = HANDSHAKE_MS,
): Promise<void> {
  let failure: unknown;
  const fail = (error: unknown): void => {
    failure ??= error;
  };
  stream.on('error', fail);
  session.on('error', fail);
  stream.setTimeout(handshakeMs, () => {
    const error = new Error('the server does not answer');
    fail(error);
    // A stream does not close before its connection is open.
    if (session.connecting) session.destroy(error);
    else stream.close(constants.NGHTTP2_CANCEL);
  });
  try {
    const status = await new Promise<number | undefined>((resolve) => {
      stream.once('response', (headers) => resolve(headers[':status']));
      stream.once('close', () => resolve(undefined));
    });
    if (status === 200) return;
    const reason = status === undefined ? systemReason(failure, 'the server closed the stream') : await refusal(stream);
    stream.close(constants.NGHTTP2_CANCEL);
    const shown = status === undefined ? reason : `the server answered ${status}${reason === '' ? '' : `: ${reason}`}`;
    throw new ConnectionError('closed', `Cannot connect to ${host}: ${shown}`, { cause: failure });
  } finally {
    stream.setTimeout(0);
    session.off('error', fail);
  }
}

const MAX_REFUSAL = 1000;

/** Reads the beginning of the body of a refusal. */
async function refusal(stream: ClientHttp2Stream): Promise<string> {
  let text = '';
  stream.setEncoding('utf8');
  try {
    for await (const part of stream) {
      text += part;
      if (text.length > MAX_REFUSAL) break;
    }
  } catch {
    // The status says enough.
  }
  return text.slice(0, MAX_REFUSAL).trim();
}

/** Reserves a stream of an open connection, or of a new one. */
function acquire(url: URL, { ca, serverName, pingMs }: Http2Options): Pooled {
  const key = JSON.stringify([url.origin, ca, serverName, pingMs]);
  const found = pool.get(key) ?? new Set<Pooled>();
  pool.set(key, found);
  for (const one of found) {
    // One that is connecting may never be connected.
    if (one.session.connecting || one.session.closed || one.session.destroyed) continue;
    const limit = one.session.remoteSettings.maxConcurrentStreams ?? MAX_STREAMS;
    if (one.streams >= Math.min(limit, MAX_STREAMS)) continue;
    one.streams++;
    return one;
  }
  const session = connect(url, {
    settings: HTTP2_SETTINGS,
    maxSessionMemory: MAX_SESSION_MEGABYTES,
    ...tlsOptionsOf({ ca, serverName }),
  });
  guardSession(session, { pingMs });
  // Each stream that is opened has one.
  session.setMaxListeners(0);
  const pooled = { session, streams: 1 };
  found.add(pooled);
  const forget = (): void => {
    found.delete(pooled);
    if (found.size === 0 && pool.get(key) === found) pool.delete(key);
  };
  // The server shuts down: open streams continue, and new ones need another connection.
  session.once('goaway', forget).once('close', forget);
  return pooled;
}

function release(pooled: Pooled): void {
  pooled.streams--;
  if (pooled.streams === 0) pooled.session.close();
}
