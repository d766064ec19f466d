/** Heartbeats (draft-benzing-accp-00, section 11.2: ping and pong every 30 seconds). */

import { LONGEST_TIMER } from '../../../async/timers.js';
import type { MessageInput } from '../../message/message.js';
import { type Carrier, CLOSE } from './contract.js';

export const PING: MessageInput = { intent: 'ping', operation: 'heartbeat', payload: {} };

export interface HeartbeatOptions {
  /** Seconds between two pings; 0 or `Infinity` for none. @default 30 */
  readonly heartbeat?: number | undefined;
  /** Pings without an answer before the other side counts as gone. @default 2 */
  readonly maxMissed?: number | undefined;
}

export interface Heartbeat {
  readonly alive: () => void;
  readonly stop: () => void;
}

/** @throws TypeError if an option is invalid */
export function checkHeartbeat({ heartbeat = 30, maxMissed = 2 }: HeartbeatOptions): void {
  checkSeconds({ heartbeat });
  if (!(maxMissed >= 1)) throw new TypeError(`maxMissed is a number from 1 on; got ${maxMissed}`);
}

/** Pings until nothing at all has come over a socket for too long, and terminates it then. */
export function startHeartbeat(
  { heartbeat = 30, maxMissed = 2 }: HeartbeatOptions,
  socket: Pick<Carrier, 'isStopped' | 'terminate'>,
  ping: () => void,
): Heartbeat {
  if (heartbeat === 0 || heartbeat === Number.POSITIVE_INFINITY) return { alive: () => {}, stop: () => {} };
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
  }, heartbeat * 1000);
  (timer as { readonly unref?: () => void }).unref?.();
  return {
    alive: () => {
      missed = 0;
    },
    stop: () => clearInterval(timer as never),
  };
}

const MAX_SECONDS = Math.floor(LONGEST_TIMER / 1000);

/** Seconds. */
export const LEAST_TIMEOUT = 0.001;

/** @throws TypeError if a time is not `Infinity` and no timer can hold it */
export function checkSeconds(times: Readonly<Record<string, number | undefined>>, least = 0): void {
  for (const [name, value] of Object.entries(times)) {
    if (value === undefined || value === Number.POSITIVE_INFINITY) continue;
    if (!(value >= least && value <= MAX_SECONDS))
      throw new TypeError(`${name} is a number of seconds from ${least} to ${MAX_SECONDS}, or Infinity; got ${value}`);
  }
}
