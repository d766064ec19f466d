/** Frames from one end of a session to the other, and whatever has to be sent back because of them. */
import type { DecodeOutcome } from '../../accp/codec/contract.js';
import { repliesOf } from '../replies.js';
import type { Endpoint } from './agents.js';

/** A frame that has come. */
export interface Delivery {
  readonly frame: string;
  readonly from: Endpoint;
  readonly to: Endpoint;
  readonly outcome: DecodeOutcome;
  /** Whether the protocol itself has sent it, as an answer to another frame. */
  readonly isReply: boolean;
}

/** Delivers frames, the replies to them, the replies to those, and so on. */
export function deliver(frames: readonly string[], from: Endpoint, to: Endpoint): readonly Delivery[] {
  const deliveries: Delivery[] = [];
  const waiting = frames.map((frame) => ({ frame, from, to, isReply: false }));
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const outcome = next.to.codec.decode(next.frame, next.to.session);
    deliveries.push({ ...next, outcome });
    for (const frame of repliesOf(outcome)) waiting.push({ frame, from: next.to, to: next.from, isReply: true });
  }
  return deliveries;
}
