/** The client of ACP over HTTP and WebSocket for browsers. Public as `pegwire/acp/http/portable`. */
import type { Channel } from '../../channels/channel.js';
import { webSocketChannel } from '../../channels/websocket.js';
import { type ConnectAcpOptions, connectWith } from './connect.js';

export type { ConnectAcpOptions } from './connect.js';
export type { FetchLike } from './requests.js';

/**
 * Connects to an agent over HTTP or WebSocket, as the scheme of the URL says. The first message must be the request `initialize`. Over
 * HTTP/1.1, browsers open at most six connections to a server, of which each session uses one.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport".
 *
 * @throws TypeError if an option is invalid
 * @example
 * const connection = createConnection(connectAcp('ws://127.0.0.1:4712/acp'), { handlers });
 */
export function connectAcp(url: string, options: ConnectAcpOptions = {}): Channel {
  return connectWith(url, options, {
    // A redirection would send messages elsewhere.
    fetch: (address, request) => fetch(address, { ...request, redirect: 'error' }),
    release: () => undefined,
    webSocket: (address, { token }, maxLength) => {
      const protocols = token === undefined ? [] : ['acp', `bearer.${encodeURIComponent(token)}`];
      return webSocketChannel(new WebSocket(address, protocols), { maxLength });
    },
  });
}
