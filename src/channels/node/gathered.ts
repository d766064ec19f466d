// biome-ignore-all lint/correctness/noNodejsModules: sockets are of Node
/** Messages that are sent together where they are said together. */
import process from 'node:process';
import type { Duplex } from 'node:stream';
import type { Channel } from '../channel.js';

/**
 * The same channel, whose messages go to the system at the end of the turn in which they are sent: a call of the system costs more than a
 * small message.
 *
 * @param socket what the channel writes to
 */
export function gathered(channel: Channel, socket: Duplex): Channel {
  let isHeld = false;
  const release = (): void => {
    isHeld = false;
    socket.uncork();
  };
  return {
    ...channel,
    send: (text) => {
      if (!isHeld) {
        isHeld = true;
        socket.cork();
        process.nextTick(release);
      }
      channel.send(text);
    },
  };
}
