// biome-ignore-all lint/correctness/noNodejsModules: the sockets of ws are those of Node
import process from 'node:process';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type Channel, flushed } from '../channel.js';
import { type WebSocketChannelOptions, webSocketChannel } from '../websocket.js';

/**
 * Creates a channel over a WebSocket of `ws`. All messages of one turn are written with one system call, which takes longer than the rest of the
 * work for a small message.
 *
 * @param stream the stream below the WebSocket of a server; that of a client is known after its upgrade
 * @throws TypeError if an option is invalid
 */
export function wsChannel(socket: WebSocket, options: WebSocketChannelOptions, stream?: Duplex): Channel {
  const channel = webSocketChannel(socket, options);
  let below = stream;
  if (below === undefined)
    socket.once('upgrade', (response) => {
      below = response.socket;
    });
  /** Resolves when the messages of this turn are written. */
  let written: Promise<void> | undefined;
  const writeTogether = (corked: Duplex): Promise<void> => {
    corked.cork();
    return new Promise((resolve) =>
      process.nextTick(() => {
        written = undefined;
        corked.uncork();
        resolve();
      }),
    );
  };
  return {
    ...channel,
    send: (text) => {
      if (below !== undefined) written ??= writeTogether(below);
      channel.send(text);
    },
    flushed: async () => {
      await written;
      return flushed(channel);
    },
  };
}
