import { WebSocket } from 'ws';
import { every } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';
import { textChannel } from '../connect.js';

/** Settings of {@link pingingChannel}. */
export interface PingingSettings {
  readonly maxMessageBytes: number;
  /** Milliseconds between two pings; the connection is cut off if the other side does not answer one before the next. */
  readonly keepAliveMs: number;
}

/** Creates the channel of a WebSocket that sends pings (RFC 6455, section 5.5.2). */
export function pingingChannel(socket: WebSocket, { maxMessageBytes, keepAliveMs }: PingingSettings): Channel {
  const channel = textChannel(socket, maxMessageBytes);
  let isAlive = true;
  let isPaused = false;
  socket.on('pong', () => {
    isAlive = true;
  });
  const stop = every(keepAliveMs, () => {
    if (socket.readyState === WebSocket.CONNECTING) return;
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
