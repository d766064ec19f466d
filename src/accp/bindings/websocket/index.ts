/** ACCP over WebSocket (draft-benzing-accp-00, section 11.2), from both sides. Public as `pegwire/accp/websocket`. */

export type { WebSocketLike } from '../../../channels/websocket.js';
export { type ErrorJson, PegwireError } from '../../../text/errors.js';
export type { EncodeResult } from '../../codec/contract.js';
export type { Message, MessageInput } from '../../message/message.js';
export type { StreamChunk } from '../../streams/streams.js';
export {
  type Answer,
  type AnswerContext,
  createEndpoint,
  type Endpoint,
  type EndpointOptions,
  type Notice,
} from '../endpoint.js';
export type { Link, LinkOptions, LinkState, ReconnectOptions, RequestOptions } from '../link/contract.js';
export { CLOSE, LinkError, type LinkErrorCode } from '../link/contract.js';
export type { HeartbeatOptions } from '../link/heartbeat.js';
export { type AcceptOptions, createWebSocketEndpoint, type WebSocketEndpoint } from './accept.js';
export { type ConnectOptions, connectWebSocket, SUBPROTOCOL, type WebSocketConstructor } from './connect.js';
export type { FrameSocketOptions } from './frame-socket.js';
