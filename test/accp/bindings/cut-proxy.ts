/** A network that can be cut: a TCP proxy on the loopback. */
import { connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  readonly port: number;
  /** Ends all connections at once. What is on its way is lost. */
  readonly cut: () => void;
  /** Lets so many more bytes pass, counted over both directions, and then cuts. */
  readonly cutAfter: (bytes: number) => void;
  /** Nothing passes any more, and nobody is told; new connections hang. */
  readonly freeze: () => void;
  /** New connections pass again; those that were frozen stay so. */
  readonly thaw: () => void;
  /** Connections so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export async function cutProxy(target: number): Promise<CutProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let left = Number.POSITIVE_INFINITY;
  let connections = 0;

  const cut = (): void => {
    left = Number.POSITIVE_INFINITY;
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  const pipe = (from: Socket, to: Socket): void => {
    from.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left >= 0) to.write(chunk);
      else {
        // A part of a frame may have passed.
        to.write(chunk.subarray(0, chunk.length + left), cut);
      }
    });
    from.on('end', () => to.end());
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  };
  const server = createServer((client) => {
    connections++;
    sockets.add(client);
    client.on('error', () => {});
    if (isFrozen) return;
    const upstream = connect(target, '127.0.0.1');
    sockets.add(upstream);
    pipe(client, upstream);
    pipe(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    cut,
    cutAfter: (bytes) => {
      left = bytes;
    },
    freeze: () => {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw: () => {
      isFrozen = false;
    },
    connections: () => connections,
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
