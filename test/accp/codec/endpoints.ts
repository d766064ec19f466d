/** Two endpoints of one session, and frames between them. */

import {
  type Accepted,
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type DecodeOutcome,
  type Rejected,
  type Session,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { passingTime } from '../../helpers/passing-time.js';

/** A clock in seconds since 1970, which stands still until it is set. */
export interface Clock {
  now: number;
}

export interface Endpoints {
  readonly clock: Clock;
  readonly codec: Codec;
  readonly a: Session;
  readonly b: Session;
}

export const NOON = 1_714_000_000;

/** Sessions of the agents `a` and `b`, in turn by one count. */
export function endpoints(options: CodecOptions = {}, session: Partial<SessionOptions> = {}): Endpoints {
  const clock = passingTime(NOON, 1000);
  return {
    clock,
    codec: createCodec({ now: () => clock.now * 1000, ...options }),
    a: createSession({ agent: 'a', id: 's', ...session }),
    b: createSession({ agent: 'b', id: 's', ...session }),
  };
}

/** Returns the outcome, which must be a message. */
export function accepted(outcome: DecodeOutcome): Accepted {
  if (outcome.outcome === 'message') return outcome;
  throw new Error(`Not accepted: ${outcome.outcome === 'rejected' ? outcome.error.message : outcome.outcome}`);
}

export function rejected(outcome: DecodeOutcome): Rejected {
  if (outcome.outcome === 'rejected') return outcome;
  throw new Error(`Not rejected, but ${outcome.outcome}`);
}

/** Decodes frames one by one, and returns the last outcome. */
export function decodeAll(codec: Codec, frames: readonly string[], session: Session): DecodeOutcome {
  return frames.map((frame) => codec.decode(frame, session)).at(-1)!;
}

/** Exchanges frames until there are no more answers; returns all of them. */
export function converse(codec: Codec, frames: readonly string[], from: Session, to: Session): string[] {
  const all: string[] = [];
  let turn = { frames, to, other: from };
  while (turn.frames.length > 0) {
    all.push(...turn.frames);
    const replies = turn.frames.flatMap((frame) => {
      const outcome = codec.decode(frame, turn.to);
      if (outcome.outcome === 'rejected') return outcome.reply ?? [];
      return outcome.outcome === 'dropped' ? [] : outcome.replies;
    });
    turn = { frames: replies, to: turn.other, other: turn.to };
  }
  return all;
}
