import { WebSocket } from 'ws';
import { watchPings } from '../../../async/silence.js';
import type { Channel } from '../../../channels/channel.js';

/**
 * Sends pings over the WebSocket of a channel (RFC 6455, section 5.5.2), and cuts it off if the other side does not answer one before the next.
 *
 * @param keepAliveMs milliseconds between two pings
 */
export function pinging(socket: WebSocket, channel: Channel, keepAliveMs: number): Channel {
  let isPaused = false;
  const watch = watchPings(
    keepAliveMs,
    () => {
      if (socket.readyState === WebSocket.CONNECTING) return false;
      socket.ping();
      // A paused socket does not see the answer.
      return !isPaused;
    },
    () => socket.terminate(),
  );
  socket.on('pong', watch.answered);
  socket.once('close', watch.stop);
  return {
    ...channel,
    pause: () => {
      isPaused = true;
      watch.answered();
      channel.pause();
    },
    resume: () => {
      isPaused = false;
      channel.resume();
    },
  };
}
