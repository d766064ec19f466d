/** Heartbeats (draft-benzing-accp-00, section 11.2: ping and pong every 30 seconds). */

import type { MessageInput } from '../../message/message.js';
import { checkDurations } from '../durations.js';
import { type Carrier, CLOSE } from './contract.js';

export const PING: MessageInput = { intent: 'ping', operation: 'heartbeat', payload: {} };

export interface HeartbeatOptions {
  /** Milliseconds between two pings; `Infinity` for none. @default 30000 */
  readonly heartbeatMs?: number | undefined;
  /** Pings without an answer before the other side counts as gone. @default 2 */
  readonly maxMissed?: number | undefined;
}

export interface Heartbeat {
  readonly alive: () => void;
  readonly stop: () => void;
}

/** @throws TypeError if an option is invalid */
export function checkHeartbeat({ heartbeatMs = 30_000, maxMissed = 2 }: HeartbeatOptions): void {
  checkDurations({ heartbeatMs });
  if (!(maxMissed >= 1)) throw new TypeError(`maxMissed must be a number >= 1; got ${maxMissed}`);
}

/** Pings until nothing at all has come over a socket for too long, and terminates it then. */
export function startHeartbeat(
  { heartbeatMs = 30_000, maxMissed = 2 }: HeartbeatOptions,
  socket: Pick<Carrier, 'isStopped' | 'terminate'>,
  ping: () => void,
): Heartbeat {
  if (heartbeatMs === Number.POSITIVE_INFINITY) return { alive: () => {}, stop: () => {} };
  let missed = 0;
  const timer: unknown = setInterval(() => {
    if (missed >= maxMissed) {
      clearInterval(timer as never);
      socket.terminate(CLOSE.goingAway, 'the other side does not answer');
      return;
    }
    ping();
    // Nothing can arrive while reading is stopped.
    if (!socket.isStopped) missed++;
  }, heartbeatMs);
  (timer as { readonly unref?: () => void }).unref?.();
  return {
    alive: () => {
      missed = 0;
    },
    stop: () => clearInterval(timer as never),
  };
}
