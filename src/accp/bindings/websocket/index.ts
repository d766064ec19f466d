/** ACCP over WebSocket (draft-benzing-accp-00, section 11.2), from both sides. Public as `pegwire/accp/websocket`. */

export type { WebSocketLike } from '../../../channels/websocket.js';
// biome-ignore lint/performance/noReExportAll: it lists names for entry points alone
export * from '../entry.js';
export { CLOSE } from '../link/contract.js';
export type { HeartbeatOptions } from '../link/heartbeat.js';
export { type AcceptedPeer, type AcceptOptions, createWebSocketEndpoint, type WebSocketEndpoint } from './accept.js';
export { type ConnectOptions, connectWebSocket, SUBPROTOCOL, type WebSocketConstructor } from './connect.js';
export type { FrameSocketOptions } from './frame-socket.js';
