import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { afterUnref } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import { wsChannel } from '../../../channels/node/ws-channel.js';
import { closeWebSocket } from '../../../channels/websocket.js';
import { outlineOf } from '../protocol.js';
import { END_MS } from '../server-connection.js';
import { pinging } from './pinging.js';

/** Settings of {@link acceptWebSocket}. */
export interface WebSocketSettings {
  readonly maxMessageBytes: number;
  /** Milliseconds between two pings; a client that does not answer one before the next is cut off. */
  readonly keepAliveMs: number;
}

/**
 * Creates the channel of a client that has connected by WebSocket. Binary frames are ignored. A client whose first message is not the request
 * `initialize` is disconnected with 1002, and nothing of it is delivered.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", "Connection Establishment" and "Bidirectional Messaging".
 */
export function acceptWebSocket(
  socket: WebSocket,
  stream: Duplex,
  { maxMessageBytes, keepAliveMs }: WebSocketSettings,
): Channel {
  const channel = pinging(socket, wsChannel(socket, { maxLength: maxMessageBytes }, stream), keepAliveMs);
  // An agent that reads nothing more learns of the end, too.
  socket.once('close', () => afterUnref(END_MS, channel.destroy));
  return {
    ...channel,
    start: (receiver) => {
      let take = (text: string): void => {
        const outline = outlineOf(text);
        const first = outline?.entries?.[0] ?? outline;
        if (first?.kind === 'request' && first.method === 'initialize') take = receiver.text;
        else {
          take = () => undefined;
          closeWebSocket(socket, 1002, 'the first message must be initialize');
        }
        take(text);
      };
      channel.start({ ...receiver, text: (text) => take(text), invalid: () => undefined });
    },
  };
}
