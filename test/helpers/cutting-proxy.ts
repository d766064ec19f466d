/** A network that can be cut: a proxy for TCP and Unix domain sockets. */
import { connect, createServer, type Socket } from 'node:net';

/** The way in which a connection is cut. `fin`: the output of the server is ended; `reset`: the connection is reset (on Unix domain sockets, destroyed). */
export type SocketEnding = 'fin' | 'reset';
export const SOCKET_ENDINGS: readonly SocketEnding[] = ['fin', 'reset'];

export interface CuttingProxy {
  /** The path, or the TCP port. */
  readonly place: string | number;
  /** The TCP port. */
  readonly port: number;
  /** Destroys all connections, with the data in flight. */
  readonly cut: () => void;
  /** Cuts all connections after the given number of bytes, counted over all connections and both directions. */
  readonly cutAfter: (bytes: number) => void;
  /** Stops all data without closing connections; new connections hang. */
  readonly freeze: () => void;
  /** Lets new connections pass again; frozen ones stay frozen. */
  readonly thaw: () => void;
  /** Returns the number of connections so far. */
  readonly connections: () => number;
  /** Returns the number of connections that were cut because of the options. */
  readonly cuts: () => number;
  readonly close: () => Promise<void>;
}

export interface CuttingOptions {
  /** The path or port of the server. */
  readonly target: string | number;
  /** The path of the proxy, or 0 for a free port. @default 0 */
  readonly listen?: string | 0 | undefined;
  /** The way in which the options cut a connection. @default both sides are destroyed */
  readonly ending?: SocketEnding | undefined;
  /** Returns the offset at which to cut the data of the server (as Latin-1), or -1 to continue. */
  readonly cut?: ((data: string) => number) | undefined;
  /** The maximum number of connections that `cut` cuts. @default 1 */
  readonly times?: number | undefined;
  /** Returns the number of bytes, in both directions together, after which the next connection is cut; `Infinity` for never. */
  readonly bytes?: (() => number) | undefined;
}

/** Starts a proxy. */
export async function cuttingProxy(options: CuttingOptions): Promise<CuttingProxy> {
  const { target, listen = 0, ending, cut: placeOf, times = 1, bytes } = options;
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let left = Number.POSITIVE_INFINITY;
  let connections = 0;
  let cuts = 0;

  function cutAll(): void {
    left = Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    connections++;
    sockets.add(client);
    client.on('error', () => {}).on('close', () => sockets.delete(client));
    if (isFrozen) return;
    const upstream = connect({ ...at(target), allowHalfOpen: true });
    sockets.add(upstream);
    upstream.on('error', () => {}).on('close', () => sockets.delete(upstream));
    let data = '';
    let remaining = bytes?.() ?? Number.POSITIVE_INFINITY;
    let isCut = false;

    function endConnection(): void {
      if (ending === 'fin') client.end();
      else if (ending === 'reset' && typeof target === 'number') client.resetAndDestroy();
      else client.destroy();
      upstream.destroy();
    }

    /** Returns the number of bytes that pass before the connection is cut. */
    function allowedBytes(piece: Buffer, from: Socket): number {
      remaining -= piece.length;
      if (remaining <= 0) return piece.length + remaining;
      if (from === client || placeOf === undefined) return Number.POSITIVE_INFINITY;
      const before = data.length;
      data += piece.toString('latin1');
      const place = cuts < times ? placeOf(data) : -1;
      return place < 0 ? Number.POSITIVE_INFINITY : Math.max(0, place - before);
    }

    function pipe(from: Socket, to: Socket): void {
      from.on('data', (piece: Buffer) => {
        if (isCut) return;
        left -= piece.length;
        if (left < 0) {
          // Part of a message may have passed.
          to.write(piece.subarray(0, piece.length + left), cutAll);
          return;
        }
        const length = allowedBytes(piece, from);
        if (length === Number.POSITIVE_INFINITY) {
          to.write(piece);
          return;
        }
        isCut = true;
        cuts++;
        to.write(piece.subarray(0, length), endConnection);
      });
      from.on('end', () => {
        if (!isCut) to.end();
      });
      from.on('close', () => {
        if (!isCut || to === upstream) to.destroy();
      });
    }
    pipe(client, upstream);
    pipe(upstream, client);
  });
  const host = typeof listen === 'string' ? { path: listen } : { port: listen, host: '127.0.0.1' };
  await new Promise<void>((resolve) => server.listen(host, () => resolve()));
  const address = server.address();
  const place = typeof address === 'string' ? address : address!.port;
  return {
    place,
    port: Number(place),
    cut: cutAll,
    cutAfter: (count) => {
      left = count;
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
    },
    connections: () => connections,
    cuts: () => cuts,
    close: () => {
      cutAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function at(target: string | number): { path: string } | { port: number; host: string } {
  return typeof target === 'string' ? { path: target } : { port: target, host: '127.0.0.1' };
}

/** Returns the offsets of the ends of lines. */
export function lineEnds(data: string): number[] {
  return [...data.matchAll(/\n/g)].map(({ index }) => index + 1);
}

/** Returns the offsets of the ends of WebSocket messages from a server, which are not masked (RFC 6455, section 5.2). */
export function frameEnds(data: string): number[] {
  const ends: number[] = [];
  let at = data.indexOf('\r\n\r\n') + 4;
  while (at > 3 && at + 4 <= data.length) {
    const byte = (n: number): number => data.charCodeAt(at + n);
    const short = byte(1) & 0x7f;
    const length = short < 126 ? short + 2 : short === 126 ? byte(2) * 256 + byte(3) + 4 : Number.POSITIVE_INFINITY;
    at += length;
    if (at <= data.length) ends.push(at);
  }
  return ends;
}

/**
 * Returns a function that cuts after the first message that contains a text.
 *
 * @param more the number of bytes of the next message that pass
 */
export function behind(
  ends: (data: string) => readonly number[],
  text: string,
  more: number,
): (data: string) => number {
  return (data) => {
    let from = 0;
    for (const end of ends(data)) {
      if (data.slice(from, end).includes(text)) return data.length >= end + more ? end + more : -1;
      from = end;
    }
    return -1;
  };
}
