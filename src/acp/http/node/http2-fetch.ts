// biome-ignore-all lint/correctness/noNodejsModules: the platform of Node
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { abortable, withTimeout } from '../../../async/abort.js';
import { guardSession, HTTP2_SETTINGS } from '../../../channels/node/http2-session.js';
import type { FetchLike } from '../requests.js';

/** A `fetch` for one server. */
export interface ServerFetch {
  readonly fetch: FetchLike;
  /** Closes its connections. */
  readonly close: () => void;
}

/** Statuses whose responses have no body (Fetch, section 2.2.3). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);
/** Milliseconds to open a connection. */
const OPEN_MS = 10_000;

/**
 * Creates a `fetch` that uses HTTP/2 if the server accepts it, and otherwise that of the platform. A connection of HTTP/2 on which the server
 * does not answer a ping before the next is closed. With TLS the server chooses the version by ALPN; without it, a server of HTTP/1.1 answers the
 * beginning of an HTTP/2 connection with an error (RFC 9113, section 3.3), or closes the connection. After a server has accepted HTTP/2 once, only
 * that is used: a connection that then fails is lost.
 *
 * @param pingMs milliseconds between two pings
 */
export function createServerFetch(url: string, tls: ConnectionOptions, pingMs: number): ServerFetch {
  /** The connections that are open: the last one, and those that only finish their streams. */
  const sessions = new Set<ClientHttp2Session>();
  let last: Promise<ClientHttp2Session | null> | undefined;
  let opening: AbortController | undefined;
  let hasWorked = false;
  let isClosed = false;
  const open = async (aborter: AbortController): Promise<ClientHttp2Session | null> => {
    const opened = await withTimeout(aborter.signal, OPEN_MS, (signal) => openSession(url, tls, pingMs, signal));
    if (opened !== null) {
      hasWorked = true;
      sessions.add(opened);
      opened.once('close', () => sessions.delete(opened));
    } else if (hasWorked) throw new Error('the server did not answer over HTTP/2, as it did before');
    return opened;
  };
  const current = (): Promise<ClientHttp2Session | null> => {
    if (last !== undefined) return last;
    const aborter = new AbortController();
    const promise = open(aborter);
    // The next request opens a new one.
    const forget = (): void => {
      if (last === promise) last = undefined;
    };
    promise
      .then((opened) => {
        opened?.once('close', forget).once('goaway', forget);
        if (opened?.destroyed === true) forget();
      }, forget)
      .finally(() => {
        if (opening === aborter) opening = undefined;
      });
    opening = aborter;
    last = promise;
    return promise;
  };
  /** The number of requests without a response. */
  let waiting = 0;
  /** Closes the connections when all requests are answered, also that which ends the connection of ACP: it could be sent after GOAWAY. */
  const closeUnused = (): void => {
    if (waiting > 0) return;
    opening?.abort();
    if (isClosed) for (const session of sessions) session.close();
  };
  return {
    fetch: async (address, request) => {
      request.signal.throwIfAborted();
      waiting++;
      try {
        const opened = await abortable(current(), request.signal);
        // A redirection would send messages elsewhere.
        if (opened === null) return await fetch(address, { ...request, redirect: 'error' });
        return await send(opened, address, request);
      } finally {
        waiting--;
        closeUnused();
      }
    },
    close: () => {
      isClosed = true;
      closeUnused();
    },
  };
}

function ignore(): void {}

/**
 * Opens a session.
 *
 * @param signal destroys it while it is opened
 * @returns `null` if the server does not accept HTTP/2
 * @throws Error if the server cannot be reached
 */
async function openSession(
  url: string,
  tls: ConnectionOptions,
  pingMs: number,
  signal: AbortSignal,
): Promise<ClientHttp2Session | null> {
  const { protocol, hostname, port, origin } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'https:';
  const place = { host, port: Number(port === '' ? (isSecure ? 443 : 80) : port) };
  // SNI contains no addresses (RFC 6066, section 3).
  const alpn = { ALPNProtocols: ['h2', 'http/1.1'], ...(isIP(host) === 0 ? { servername: host } : {}) };
  const socket = isSecure ? connectTls({ ...alpn, ...tls, ...place }) : connectTcp({ ...place, noDelay: true });
  const abort = (): void => void socket.destroy(signal.reason as Error);
  signal.addEventListener('abort', abort);
  try {
    await new Promise<void>((resolve, reject) => {
      socket
        .once(isSecure ? 'secureConnect' : 'connect', resolve)
        .once('error', reject)
        .on('error', ignore);
    });
    if (isSecure && (socket as { readonly alpnProtocol?: unknown }).alpnProtocol !== 'h2') {
      socket.destroy();
      return null;
    }
    const session = await accepted(socket, origin, pingMs);
    signal.throwIfAborted();
    if (session === null && isSecure) throw new Error('the server chose HTTP/2, but did not answer');
    return session;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Resolves with a session when the server has sent its settings; with `null` if it closes the connection before, or sends what is not HTTP/2. */
function accepted(socket: Socket, origin: string, pingMs: number): Promise<ClientHttp2Session | null> {
  return new Promise((resolve) => {
    const session = connect(origin, { createConnection: () => socket, settings: HTTP2_SETTINGS });
    const refuse = (): void => {
      session.destroy();
      resolve(null);
    };
    session.on('error', refuse).once('close', refuse);
    session.once('remoteSettings', () => {
      guardSession(session, { pingMs });
      resolve(session);
    });
  });
}

async function send(
  session: ClientHttp2Session,
  address: string,
  request: Parameters<FetchLike>[1],
): Promise<Response> {
  const { pathname, search } = new URL(address);
  const { method, headers, body, signal } = request;
  const stream = session.request({ ...headers, ':method': method, ':path': `${pathname}${search}` }, { signal });
  stream.end(body);
  const answer = await new Promise<IncomingHttpHeaders & { readonly ':status'?: number }>((resolve, reject) => {
    stream.once('response', resolve).once('error', reject);
    stream.once('close', () => reject(new Error('the connection was closed')));
  });
  const status = answer[':status'] ?? 0;
  const fields = new Headers();
  for (const [name, value] of Object.entries(answer)) {
    if (name.startsWith(':')) continue;
    for (const one of [value ?? []].flat()) fields.append(name, String(one));
  }
  const isEmpty = WITHOUT_BODY.has(status);
  if (isEmpty) stream.resume();
  return new Response(isEmpty ? null : bodyOf(stream), {
    status,
    headers: fields,
  });
}

const HIGH_WATER_MARK = 64 * 1024;

/** Returns the body of a response. A lost connection ends the stream of Node like a whole response; here it is an error. */
function bodyOf(stream: ClientHttp2Stream): ReadableStream<Uint8Array> {
  let hasEnded = false;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const end = (error?: Error): void => {
          if (hasEnded) return;
          hasEnded = true;
          if (error === undefined) controller.close();
          else controller.error(error);
        };
        const isWhole = (): boolean => !stream.aborted && stream.rstCode === constants.NGHTTP2_NO_ERROR;
        stream.on('data', (chunk: Buffer) => {
          if (hasEnded) return;
          controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
          if ((controller.desiredSize ?? 0) <= 0) stream.pause();
        });
        stream.on('error', end).once('aborted', () => end(new Error('the connection was lost')));
        stream.once('end', () => {
          if (isWhole()) end();
        });
        stream.once('close', () =>
          end(isWhole() && stream.readableEnded ? undefined : new Error('the connection was lost')),
        );
      },
      pull: () => {
        stream.resume();
      },
      cancel: () => {
        hasEnded = true;
        stream.close(constants.NGHTTP2_CANCEL);
      },
    },
    { highWaterMark: HIGH_WATER_MARK, size: (chunk) => chunk.byteLength },
  );
}
