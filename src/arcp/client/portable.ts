/** Clients of ARCP runtimes for any platform. Public as `pegwire/arcp/client/portable`. */
export type { Channel, Receiver } from '../../channels/channel.js';
export { memoryChannels } from '../../channels/memory.js';
export { connectEventStream, type EventStreamOptions } from '../../channels/sse.js';
export { type WebSocketChannelOptions, type WebSocketLike, webSocketChannel } from '../../channels/websocket.js';
export type { Content, StreamOptions, StreamWriter } from '../streams/content.js';
export { openClient } from './client.js';
export type * from './types.js';
