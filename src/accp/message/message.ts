/** Messages with full key names and plain JSON (draft-benzing-accp-00, sections 3.5, 4.2, 7.1). */

import { quotedShort } from '../../text/visible.js';
import type { Json } from './json.js';

/** The standard envelope of a message, with the full names of its fields (section 3.5, Table 4). */
export interface Envelope {
  /** The identifier of the message, unique in the session: 12 hexadecimal digits if pegwire generates it. */
  readonly msg_id: string;
  /** The number of the frame in its session, or among the frames of its sender. */
  readonly sequence: number;
  /** The time of sending, in seconds since 1970, as on the wire. Frames of other implementations may lack it. */
  readonly timestamp?: number | undefined;
  /** The identifier that a request shares with its answers, and with everything else that belongs to it. */
  readonly correlation_id?: string | undefined;
  /** The `msg_id` of the message that caused this one. */
  readonly causation_id?: string | undefined;
  /** The identifier of the session. */
  readonly session_id?: string | undefined;
  /** Seconds after `timestamp` until the frame expires, as on the wire; a frame with 0 or without `ttl` never expires. */
  readonly ttl?: number | undefined;
}

/** A message: what a frame means, independent of its spelling. */
export interface Message {
  /** The name of the sender. */
  readonly agent: string;
  /** The intent, such as `req` (Table 7). */
  readonly intent: string;
  /** The operation, such as `schedule`. */
  readonly operation: string;
  /** The code of the schema of the payload, such as `TC`; absent if the frame names none. */
  readonly schema?: string;
  /** The payload, by full key names. */
  readonly payload: { readonly [key: string]: Json };
  /** The standard envelope. */
  readonly envelope: Envelope;
}

/** A message to encode. The codec fills in absent members. */
export interface MessageInput {
  /** The name of the sender. @default the agent of the session */
  readonly agent?: string | undefined;
  /** The intent, such as `req` (Table 7). */
  readonly intent: string;
  /** The operation, such as `schedule`. */
  readonly operation: string;
  /** The code of a registered schema, such as `TC`. */
  readonly schema?: string | undefined;
  /** The payload; its keys may be abbreviated. @default {} */
  readonly payload?: { readonly [key: string]: Json } | undefined;
  /** Fields of the envelope. The codec generates absent identifiers; `sequence`, if present, must be the next number. */
  readonly envelope?: Partial<Envelope> | undefined;
}

/** The name of a sender that a message without a session does not name. */
export const UNKNOWN_AGENT = 'agent';

/** A value that was not written or read exactly. */
export interface Loss {
  /** The path of the value, such as `payload.points[3].value`. */
  readonly path: string;
  /**
   * `rounded`: a decimal beyond six places (section 3.1.1). `negative-zero`: -0 became 0. `narrowed`: a small bigint comes back as
   * a number. `precision`: digits that a double does not keep. `renamed`: an abbreviated key comes back under its full name (4.2).
   */
  readonly kind: 'rounded' | 'negative-zero' | 'narrowed' | 'precision' | 'renamed';
  /** The digits, or the key, before. */
  readonly from: string;
  /** The digits, or the key, after. */
  readonly to: string;
}

export type Step = string | number;

const WORD = /^[A-Za-z_][A-Za-z0-9_]{0,79}$/;
/** Deeper steps are cut. */
const MAX_STEPS = 16;

/** Returns a path such as `payload.args["file name"][2]`, from the steps below the payload. */
export function pathText(steps: readonly Step[]): string {
  let text = 'payload';
  for (let index = 0; index < steps.length; index++) {
    if (index === MAX_STEPS) return `${text}...`;
    const step = steps[index]!;
    text += stepText(step);
  }
  return text;
}

/** Returns one step of a path: `.args`, `["file name"]` or `[2]`. */
export function stepText(step: Step): string {
  if (typeof step === 'number') return `[${step}]`;
  return WORD.test(step) ? `.${step}` : `[${quotedShort(step)}]`;
}

/** Converts a time to whole seconds, the unit of times in frames (section 3.5). */
export function inSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}
