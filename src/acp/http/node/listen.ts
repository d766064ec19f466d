// biome-ignore-all lint/correctness/noNodejsModules: servers require Node
import type { AddressInfo } from 'node:net';
import type { Channel } from '../../../channels/channel.js';
import { boundPort, listenError, placeOf } from '../../../channels/node/listen.js';
import { type IncomingConnection, type ListenAcpOptions, resolveOptions } from './options.js';
import { AcpServer } from './server.js';

export type { IncomingConnection, ListenAcpOptions } from './options.js';

/** A server of ACP that listens. */
export interface AcpListener {
  /** The name or address that it listens on. */
  readonly host: string;
  /** The port that it listens on. */
  readonly port: number;
  /** The URL for HTTP. */
  readonly http: string;
  /** The URL for WebSockets. */
  readonly ws: string;
  /** Returns the number of connections of clients. */
  readonly connections: () => number;
  /** Ends all connections after what was sent, and stops listening. */
  readonly close: () => Promise<void>;
  /** Breaks all connections at once, and stops listening. */
  readonly terminate: () => void;
}

/**
 * Serves agents over HTTP and WebSocket, at one path. Each client that connects gets a channel of its own, with the rules of every channel: the
 * agent can be a connection of this package, or any other.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport".
 *
 * @param onConnection called with the channel of each client. If it throws or rejects, the client is refused
 * @throws ServeError if the server cannot listen, or if other machines could reach it without a token or without TLS
 * @throws TypeError if an option is invalid
 * @example
 * const server = await listenAcp((channel) => createConnection(channel, { handlers }), { port: 4712 });
 */
export async function listenAcp(
  onConnection: (channel: Channel, connection: IncomingConnection) => unknown,
  options: ListenAcpOptions = {},
): Promise<AcpListener> {
  const settings = resolveOptions(options);
  const { port, tls } = settings;
  const { host, address, isLoopback, admission } = await placeOf({ ...settings, isEncrypted: tls !== undefined });
  const { allowHttp1 = isLoopback } = options;
  const served = new AcpServer(onConnection, admission, { ...settings, allowHttp1 });
  await new Promise<void>((resolve, reject) => {
    served.server.once('error', (error) => reject(listenError(error, address, port)));
    served.server.listen(port, address, resolve);
  });
  const bound = boundPort(host, (served.server.address() as AddressInfo).port);
  const place = `${bound.authority}${settings.path}`;
  const s = tls === undefined ? '' : 's';
  const { connections, close, terminate } = served;
  return {
    ...{ host: bound.host, port: bound.port, http: `http${s}://${place}`, ws: `ws${s}://${place}` },
    ...{ connections, close, terminate },
  };
}
