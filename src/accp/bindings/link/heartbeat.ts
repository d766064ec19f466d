/** Heartbeats (draft-benzing-accp-00, section 11.2: ping and pong every 30 seconds), and the check of times in seconds. */

import { LONGEST_TIMER } from '../../../async/timers.js';
import type { MessageInput } from '../../message/message.js';

export const PING: MessageInput = { intent: 'ping', operation: 'heartbeat', payload: {} };

export interface HeartbeatOptions {
  /** Seconds between two pings; 0 or `Infinity` for none. @default 30 */
  readonly heartbeat?: number | undefined;
  /** Pings that may go unanswered before the other side counts as gone. @default 2 */
  readonly maxMissed?: number | undefined;
}

export interface Heartbeat {
  /** Something has arrived, whatever it is. */
  readonly alive: () => void;
  readonly stop: () => void;
}

/** @throws TypeError on options that are none */
export function checkHeartbeat({ heartbeat = 30, maxMissed = 2 }: HeartbeatOptions): void {
  checkSeconds({ heartbeat });
  if (!(maxMissed >= 1)) throw new TypeError(`maxMissed is a number from 1 on; got ${maxMissed}`);
}

/**
 * Pings again and again, until nothing at all has come for too long.
 *
 * @param ping sends one; `false` says that nothing can arrive at present, so that nothing is missed
 * @param dead told once that the other side is gone
 */
export function startHeartbeat(
  { heartbeat = 30, maxMissed = 2 }: HeartbeatOptions,
  ping: () => boolean,
  dead: () => void,
): Heartbeat {
  if (heartbeat === 0 || heartbeat === Number.POSITIVE_INFINITY) return { alive: () => {}, stop: () => {} };
  let missed = 0;
  const timer: unknown = setInterval(() => {
    if (missed >= maxMissed) {
      clearInterval(timer as never);
      dead();
      return;
    }
    if (ping()) missed++;
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

/** The least time for something to come, in seconds. */
export const LEAST_TIMEOUT = 0.001;

/**
 * Checks times; `Infinity` is for ever.
 *
 * @param least the least that they may be
 * @throws TypeError on what no timer can hold
 */
export function checkSeconds(times: Readonly<Record<string, number | undefined>>, least = 0): void {
  for (const [name, value] of Object.entries(times)) {
    if (value === undefined || value === Number.POSITIVE_INFINITY) continue;
    if (!(value >= least && value <= MAX_SECONDS))
      throw new TypeError(`${name} is a number of seconds from ${least} to ${MAX_SECONDS}, or Infinity; got ${value}`);
  }
}
