import { WebSocket } from 'ws';
import { every } from '../../../async/timers.js';
import type { Channel } from '../../../channels/channel.js';

/**
 * Sends pings over the WebSocket of a channel (RFC 6455, section 5.5.2), and cuts it off if the other side does not answer one before the next.
 *
 * @param keepAliveMs milliseconds between two pings
 */
export function pinging(socket: WebSocket, channel: Channel, keepAliveMs: number): Channel {
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
