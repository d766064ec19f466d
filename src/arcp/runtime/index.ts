/** ARCP runtimes for Node. Public as `pegwire/arcp/runtime`. */
export { type FifoListener, type FifoPair, fifoPair } from '../../channels/node/fifo.js';
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
export { listenFifo, listenUnix, serveStdio } from './node/listen.js';
export { type ListenWebSocketOptions, listenWebSocket, type WebSocketListener } from './node/listen-websocket.js';
export { sandboxed } from './node/sandbox/sandboxed.js';
export type { SandboxContext, SandboxedTool, SandboxOptions } from './node/sandbox/types.js';
export * from './portable.js';
