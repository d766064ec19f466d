/** `pegwire connect --raw` over a WebSocket: lines go out as they are, and nothing else does. */

import { once } from 'node:events';
import { closeWebSocket } from '../../channels/web-socket.js';
import { systemReason } from '../../text/system-reason.js';
import { isAsking, type Said } from '../commands/connect/messages.js';
import type { Received } from '../commands/connect/received.js';
import type { Speaker, SpeakerOptions } from '../commands/connect/speaker.js';
import { socketTo, unreachable } from '../commands/connect/websocket.js';
import { UsageError } from '../options/command.js';
import { messageOfFrame } from './frame-message.js';
import { Outstanding } from './outstanding.js';
import { speakerOver } from './speaker-over.js';

/** Closed by who has nothing more to say (RFC 6455, section 7.4.1). */
const NORMAL = 1000;

/** @throws UsageError `unreachable` when no connection comes about */
export async function speakRaw(options: SpeakerOptions, received: Received): Promise<Speaker> {
  const socket = socketTo(options);
  const outstanding = new Outstanding();
  // Before it is open: the first frames may come with the answer to the handshake.
  socket.on('message', (data, isBinary) => {
    const frame = String(data);
    if (isBinary) {
      void received.note('binary', `A binary message came, of ${(data as Buffer).length} bytes.`);
      return;
    }
    const message = messageOfFrame(frame);
    void received.frame(frame, message, false);
    outstanding.heard(message);
  });
  const closed = new Promise<[code: number, reason: Buffer]>((resolve) => {
    socket.once('close', (...how) => resolve(how));
  });
  try {
    await once(socket, 'open');
  } catch (thrown) {
    throw unreachable(new Error(systemReason(thrown), { cause: thrown }));
  }
  // It is closed then, too.
  socket.on('error', (error) => void received.note('connection', systemReason(error)));
  let isEnding = false;
  const broken = closed.then(([code, reason]) => {
    if (isEnding) return new Promise<never>(() => {});
    throw new UsageError(
      `The other side has closed the connection with ${code} ${String(reason)}`.trim(),
      'unreachable',
    );
  });
  const stop = async (): Promise<void> => {
    isEnding = true;
    closeWebSocket(socket, NORMAL);
    await closed;
  };
  const say = async (said: Said): Promise<void> => {
    if (said.kind !== 'frame') throw new TypeError('Raw lines are sent as frames');
    const message = messageOfFrame(said.frame);
    if (message !== null && isAsking(message)) {
      const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
      outstanding.asked(mid, cid);
    }
    socket.send(said.frame);
  };
  return speakerOver({ say, broken, stop }, outstanding, options, received);
}
