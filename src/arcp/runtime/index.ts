/** ARCP runtimes for Node. Public as `pegwire/arcp/runtime`. */
export { type FifoListener, type FifoPair, fifoPair } from '../../channels/node/fifo.js';
export type { TlsIdentity } from '../../channels/node/http-server.js';
export { ServeError, type ServeErrorCode } from '../../channels/node/listen.js';
export { type SqliteStoreOptions, sqliteStore } from '../store/sqlite.js';
export {
  type BrokerFiles,
  type BrokerOptions,
  type BrokerServices,
  createBroker,
  type ExecOptions,
  type ExecResult,
} from './node/broker.js';
export { createRuntime } from './node/create-runtime.js';
export type { EndpointOptions } from './node/endpoint.js';
export { listenFifo, listenUnix, serveStdio } from './node/listen.js';
export { type HttpListener, type ListenHttpOptions, listenHttp } from './node/listen-http.js';
export { type ListenWebSocketOptions, listenWebSocket, type WebSocketListener } from './node/listen-websocket.js';
export { sandboxed } from './node/sandbox/sandboxed.js';
export type { SandboxContext, SandboxedTool, SandboxOptions } from './node/sandbox/types.js';
export * from './portable.js';
