/** A network that can be cut: a proxy for sockets, TCP and Unix-domain ones, that lets what is said pass until it is told otherwise. */
import { connect, createServer, type Socket } from 'node:net';

/** `fin`: the server's side is ended; `reset`: the connection is reset, on Unix-domain sockets only dropped */
export type SocketEnding = 'fin' | 'reset';
export const SOCKET_ENDINGS: readonly SocketEnding[] = ['fin', 'reset'];

export interface CuttingProxy {
  /** The path, or the TCP port. */
  readonly place: string | number;
  /** The TCP port. */
  readonly port: number;
  /** Ends all connections at once. What is on its way is lost. */
  readonly cut: () => void;
  /** Lets so many more bytes pass, counted over all connections and both directions, and then cuts. */
  readonly cutAfter: (bytes: number) => void;
  /** Nothing passes any more, and nobody is told; new connections hang. */
  readonly freeze: () => void;
  /** New connections pass again; those that were frozen stay so. */
  readonly thaw: () => void;
  /** Connections so far. */
  readonly connections: () => number;
  /** Connections that the options have cut. */
  readonly cuts: () => number;
  readonly close: () => Promise<void>;
}

export interface CuttingOptions {
  /** The path or the port that is connected to. */
  readonly target: string | number;
  /** A path, or 0 for a free port. @default 0 */
  readonly listen?: string | 0 | undefined;
  /** How the options cut a connection. @default both sides are dropped */
  readonly ending?: SocketEnding | undefined;
  /** Given what the server has said on a connection, as Latin-1; gives the offset to cut at, or -1 to let it pass. */
  readonly cut?: ((said: string) => number) | undefined;
  /** Connections that are so cut; later ones pass. @default 1 */
  readonly times?: number | undefined;
  /** Gives after how many bytes, of both directions together, the next connection is cut; infinite for never. */
  readonly bytes?: (() => number) | undefined;
}

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
    let said = '';
    let own = bytes?.() ?? Number.POSITIVE_INFINITY;
    let isCut = false;

    function endConnection(): void {
      if (ending === 'fin') client.end();
      else if (ending === 'reset' && typeof target === 'number') client.resetAndDestroy();
      else client.destroy();
      upstream.destroy();
    }

    /** How many bytes of a piece pass before the connection is cut. */
    function passing(piece: Buffer, from: Socket): number {
      own -= piece.length;
      if (own <= 0) return piece.length + own;
      if (from === client || placeOf === undefined) return Number.POSITIVE_INFINITY;
      const before = said.length;
      said += piece.toString('latin1');
      const place = cuts < times ? placeOf(said) : -1;
      return place < 0 ? Number.POSITIVE_INFINITY : Math.max(0, place - before);
    }

    function pipe(from: Socket, to: Socket): void {
      from.on('data', (piece: Buffer) => {
        if (isCut) return;
        left -= piece.length;
        if (left < 0) {
          // A part of a frame may have passed.
          to.write(piece.subarray(0, piece.length + left), cutAll);
          return;
        }
        const length = passing(piece, from);
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

/** Offsets behind the messages of a text of lines. */
export function lineEnds(said: string): number[] {
  return [...said.matchAll(/\n/g)].map(({ index }) => index + 1);
}

/** Offsets behind the messages that a server has sent over a WebSocket: frames without a mask (RFC 6455, section 5.2). */
export function frameEnds(said: string): number[] {
  const ends: number[] = [];
  let at = said.indexOf('\r\n\r\n') + 4;
  while (at > 3 && at + 4 <= said.length) {
    const byte = (n: number): number => said.charCodeAt(at + n);
    const short = byte(1) & 0x7f;
    const length = short < 126 ? short + 2 : short === 126 ? byte(2) * 256 + byte(3) + 4 : Number.POSITIVE_INFINITY;
    at += length;
    if (at <= said.length) ends.push(at);
  }
  return ends;
}

/**
 * Cuts behind the first message that holds something.
 *
 * @param more bytes of the next message that pass
 */
export function behind(
  ends: (said: string) => readonly number[],
  what: string,
  more: number,
): (said: string) => number {
  return (said) => {
    let from = 0;
    for (const end of ends(said)) {
      if (said.slice(from, end).includes(what)) return said.length >= end + more ? end + more : -1;
      from = end;
    }
    return -1;
  };
}
