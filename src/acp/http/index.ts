/** ACP over HTTP and WebSocket. Public as `pegwire/acp/http`; requires Node. For browsers, see `pegwire/acp/http/portable`. */
export type { TlsIdentity } from '../../channels/node/http-server.js';
export { ServeError, type ServeErrorCode } from '../../channels/node/listen.js';
export { type ConnectAcpOptions, connectAcp } from './node/connect.js';
export { type AcpListener, type IncomingConnection, type ListenAcpOptions, listenAcp } from './node/listen.js';
export type { FetchLike } from './requests.js';
