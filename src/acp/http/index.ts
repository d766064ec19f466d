/** ACP over HTTP and WebSocket. Public as `pegwire/acp/http`; requires Node. */
export { type AcpListener, type IncomingConnection, type ListenAcpOptions, listenAcp } from './node/listen.js';
