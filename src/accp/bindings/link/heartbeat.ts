/** Heartbeats (draft-benzing-accp-00, section 11.2: ping and pong every 30 seconds). */

import { assertDurations } from '../../../async/durations.js';
import { everyUnref, nextTurn } from '../../../async/timers.js';
import type { MessageInput } from '../../message/message.js';
import { CLOSE, type FrameTransport } from './contract.js';

export const PING: MessageInput = { intent: 'ping', operation: 'heartbeat', payload: {} };

/** Options of the heartbeat of a WebSocket. */
export interface HeartbeatOptions {
  /** Milliseconds between two pings; `Infinity` for none. @default 30000 */
  readonly heartbeatMs?: number | undefined;
  /** Number of unanswered pings in a row after which the peer counts as gone. @default 2 */
  readonly maxMissed?: number | undefined;
}

export interface Heartbeat {
  readonly alive: () => void;
  readonly stop: () => void;
}

/** @throws TypeError if an option is invalid */
export function checkHeartbeat({ heartbeatMs, maxMissed = 2 }: HeartbeatOptions): void {
  assertDurations({ heartbeatMs });
  if (!(maxMissed >= 1)) throw new TypeError(`maxMissed must be a number >= 1; got ${maxMissed}`);
}

/** Pings until nothing has arrived over a socket for too long, and then terminates it. */
export function startHeartbeat(
  { heartbeatMs = 30_000, maxMissed = 2 }: HeartbeatOptions,
  socket: Pick<FrameTransport, 'isReadingStopped' | 'terminate'>,
  ping: () => void,
): Heartbeat {
  let missed = 0;
  const stop = everyUnref(heartbeatMs, () => {
    if (missed >= maxMissed) {
      // If this process stood still, what has arrived is read first.
      nextTurn(() => {
        if (missed < maxMissed) return;
        stop();
        socket.terminate(CLOSE.goingAway, 'the peer does not answer');
      });
      return;
    }
    ping();
    // Nothing can arrive while reading is stopped.
    if (!socket.isReadingStopped) missed++;
  });
  return {
    alive: () => {
      missed = 0;
    },
    stop,
  };
}
