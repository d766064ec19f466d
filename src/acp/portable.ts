/** The part of `pegwire/acp` that does not require Node, public as `pegwire/acp/portable`. */

export type { Channel, Receiver } from '../channels/channel.js';
export { LineDecoder, MAX_LINE_BYTES } from '../channels/line-decoder.js';
export { memoryChannels } from '../channels/memory.js';
export { type WebSocketChannelOptions, type WebSocketLike, webSocketChannel } from '../channels/websocket.js';
export { type ErrorJson, PegwireError } from '../text/errors.js';
export { type BatchChoice, LIFECYCLE_METHODS } from './batches.js';
export { createConnection } from './connection.js';
export { ConnectionError, type ConnectionErrorCode, ERROR_CODES, RpcError } from './errors.js';
export type { Stream } from './from-stream.js';
export {
  type BatchMessage,
  type Classified,
  classify,
  type ErrorObject,
  type FailureMessage,
  type Id,
  type Message,
  type NotificationMessage,
  type Params,
  type RequestMessage,
  type ResponseMessage,
  type SuccessMessage,
} from './message.js';
export { type StreamOptions, toStream } from './to-stream.js';
export type {
  BatchEntry,
  CallContext,
  Connection,
  ConnectionOptions,
  Handler,
  RequestOptions,
} from './types.js';
