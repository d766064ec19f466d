/** A proxy for sockets that cuts what the server says: between two messages or inside one, as a side that ends or as one that breaks. */
import { connect, createServer, type Socket } from 'node:net';

/** `fin`: the server's side is ended; `reset`: the connection is reset, on Unix-domain sockets only dropped */
export type SocketEnding = 'fin' | 'reset';
export const SOCKET_ENDINGS: readonly SocketEnding[] = ['fin', 'reset'];

export interface CuttingProxy {
  /** The path, or the TCP port. */
  readonly place: string | number;
  readonly cuts: () => number;
  readonly close: () => Promise<void>;
}

export interface CuttingOptions {
  /** The path or the port that is connected to. */
  readonly target: string | number;
  /** A path, or 0 for a free port. */
  readonly listen: string | 0;
  readonly ending: SocketEnding;
  /** Given what the server has said on a connection, as Latin-1; gives the offset to cut at, or -1 to let it pass. */
  readonly cut: (said: string) => number;
  /** Connections that are cut; later ones pass. @default 1 */
  readonly times?: number | undefined;
}

export async function cuttingProxy({ target, listen, ending, cut, times = 1 }: CuttingOptions): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cuts = 0;
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ ...at(target), allowHalfOpen: true });
    let said = '';
    let isCut = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    client.on('data', (bytes) => upstream.write(bytes)).on('end', () => upstream.end());
    client.on('close', () => upstream.destroy());
    upstream.on('data', (bytes) => {
      if (isCut) return;
      const before = said.length;
      said += bytes.toString('latin1');
      const place = cuts < times ? cut(said) : -1;
      if (place < 0) {
        client.write(bytes);
        return;
      }
      isCut = true;
      cuts++;
      client.write(bytes.subarray(0, Math.max(0, place - before)), () => {
        if (ending === 'fin') client.end();
        else if (typeof target === 'number') client.resetAndDestroy();
        else client.destroy();
        upstream.destroy();
      });
    });
    upstream.on('end', () => client.end());
    upstream.on('close', () => {
      if (!isCut) client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(listen, () => resolve()));
  const address = server.address();
  return {
    place: typeof address === 'string' ? address : address!.port,
    cuts: () => cuts,
    close: () => {
      for (const socket of sockets) socket.destroy();
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
