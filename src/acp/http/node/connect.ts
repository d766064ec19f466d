// biome-ignore-all lint/correctness/noNodejsModules: the platform of Node
import type { ConnectionOptions } from 'node:tls';
import { WebSocket } from 'ws';
import type { Channel } from '../../../channels/channel.js';
import { wsChannel } from '../../../channels/node/ws-channel.js';
import { connectWith, type ConnectAcpOptions as PortableOptions } from '../connect.js';
import { createServerFetch } from './http2-fetch.js';

/** Options of {@link connectAcp}. */
export interface ConnectAcpOptions extends PortableOptions {
  /** Trusted authorities and other options of TLS, as for `tls.connect`. */
  readonly tls?: ConnectionOptions | undefined;
}

const HANDSHAKE_MS = 10_000;

/**
 * Connects to an agent over HTTP or WebSocket, as the scheme of the URL says. The first message must be the request `initialize`. Over HTTP,
 * HTTP/2 is used if the server accepts it.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport".
 *
 * @throws TypeError if an option is invalid
 * @example
 * const connection = createConnection(connectAcp('http://127.0.0.1:4712/acp'), { handlers });
 */
export function connectAcp(url: string, options: ConnectAcpOptions = {}): Channel {
  const { tls = {} } = options;
  const { fetch, close } = createServerFetch(url, tls);
  return connectWith(url, options, {
    fetch,
    release: close,
    webSocket: (address, { token, headers }, maxLength) => {
      const socket = new WebSocket(address, {
        headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
        ...{ perMessageDeflate: false, handshakeTimeout: HANDSHAKE_MS, ...tls },
      });
      return wsChannel(socket, { maxLength });
    },
  });
}
