/** Channels, over which all protocols of the package can run: one text per message. Public as `pegwire/channels`; requires Node. */
export { type Channel, flushed, type Receiver } from './channel.js';
export { channelSocket } from './channel-socket.js';
export { type ChannelErrorCode, ConnectionError } from './errors.js';
export { memoryChannels } from './memory.js';
export { type AddressOptions, connectProgram, dialAddress, type Program } from './node/addresses.js';
export { type ByteChannelOptions, byteChannel } from './node/byte-channel.js';
export { connectFifo, type FifoListener, type FifoPair, fifoPair, listenFifo } from './node/fifo.js';
export { type Address, connectSocket, type Listener, type ListenOptions, listenSocket } from './node/socket.js';
export { stdioChannel } from './node/stdio.js';
export { type WebSocketChannelOptions, type WebSocketLike, webSocketChannel } from './websocket.js';
