/** A PostgreSQL server with TLS: a proxy that decrypts the connections to a server without it. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

const FOLDER = new URL('../fixtures/tls/', import.meta.url);
/** The certificate of the proxy for `localhost` and 127.0.0.1, which has no issuer but itself. */
export const certificate = readFileSync(new URL('certificate.pem', FOLDER), 'utf8');
const key = readFileSync(new URL('key.pem', FOLDER), 'utf8');

/** The length of the first message of a client that asks for TLS. */
const REQUEST_LENGTH = 8;

export interface TlsProxy {
  readonly port: number;
  /** Returns the number of connections that use TLS. */
  readonly encrypted: () => number;
  readonly close: () => void;
}

/** Starts a proxy, which refuses connections without TLS. @param target the server */
export async function tlsProxy(target: { readonly host: string; readonly port: number }): Promise<TlsProxy> {
  const sockets = new Set<Socket>();
  let encrypted = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', (request) => {
      if (request.length !== REQUEST_LENGTH) return void socket.destroy();
      socket.write('S');
      const client = new TLSSocket(socket, { isServer: true, cert: certificate, key });
      const upstream = connect(target.port, target.host);
      sockets.add(upstream);
      client.once('secure', () => encrypted++);
      for (const [one, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    encrypted: () => encrypted,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
