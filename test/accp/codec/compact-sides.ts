/** Two endpoints that send compact frames to each other. */
import {
  type Codec,
  type CodecOptions,
  createCodec,
  createSession,
  type DecodeOutcome,
  type MessageInput,
  type Session,
  type SessionOptions,
} from '../../../src/accp/codec/index.js';
import { NOON } from './endpoints.js';

export interface Side {
  readonly codec: Codec;
  readonly session: Session;
}

export function side(agent: string, options: CodecOptions = {}, session: Partial<SessionOptions> = {}): Side {
  const codec = createCodec({ compact: true, now: () => NOON * 1000, ...options });
  return { codec, session: createSession({ agent, id: 's', sequence: 'sender', ...session }) };
}

/** Delivers frames and the answers to them, until there are none. Returns the outcome of the last frame. */
export function deliver(frames: readonly string[], from: Side, to: Side): DecodeOutcome {
  const outcomes = frames.map((frame) => {
    const outcome = to.codec.decode(frame, to.session);
    if (outcome.outcome === 'rejected') deliver(outcome.reply === null ? [] : [outcome.reply], to, from);
    else if (outcome.outcome !== 'dropped') deliver(outcome.replies, to, from);
    return outcome;
  });
  return outcomes.at(-1)!;
}

/** Lets one side announce its registry to the other one, which answers. */
export function introduced(a: Side, b: Side): readonly [Side, Side] {
  deliver(a.codec.announce(a.session).frames, a, b);
  return [a, b];
}

export function framesOf({ codec, session }: Side, message: Partial<MessageInput>): readonly string[] {
  return codec.encode({ intent: 'done', operation: 'find', ...message }, session).frames;
}

/** Sends a message, and returns what the other side made of its last frame. */
export function send(from: Side, to: Side, message: Partial<MessageInput>): DecodeOutcome {
  return deliver(framesOf(from, message), from, to);
}
