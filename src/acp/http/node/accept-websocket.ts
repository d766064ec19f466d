import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { every } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import { wsChannel } from '../../../channels/node/ws-channel.js';

/** Settings of {@link acceptWebSocket}. */
export interface WebSocketSettings {
  readonly maxMessageBytes: number;
  /** Milliseconds between two pings; a client that does not answer one before the next is cut off. */
  readonly keepAliveMs: number;
}

/**
 * Creates the channel of a client that has connected by WebSocket. Binary frames are ignored.
 *
 * Source: ACP, RFD "Streamable HTTP & WebSocket Transport", "Bidirectional Messaging".
 */
export function acceptWebSocket(
  socket: WebSocket,
  stream: Duplex,
  { maxMessageBytes, keepAliveMs }: WebSocketSettings,
): Channel {
  const channel = wsChannel(socket, { maxLength: maxMessageBytes }, stream);
  let isAlive = true;
  let isPaused = false;
  socket.on('pong', () => {
    isAlive = true;
  });
  const stop = every(keepAliveMs, () => {
    // A paused socket does not see the answer.
    if (!isAlive && !isPaused) socket.terminate();
    else {
      isAlive = isPaused;
      socket.ping();
    }
  });
  socket.once('close', stop);
  return {
    ...channel,
    start: (receiver) => channel.start({ ...receiver, invalid: () => undefined }),
    pause: () => {
      isPaused = true;
      channel.pause();
    },
    resume: () => {
      isPaused = false;
      isAlive = true;
      channel.resume();
    },
  };
}
