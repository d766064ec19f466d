/** Messages as programs hold them: with full key names and plain JSON (draft-benzing-accp-00, sections 3.5, 4.2, 7.1). */

import { quotedShort } from '../../text/visible.js';
import type { Json } from './json.js';

/** The standard envelope with its full names (Table 4). */
export interface Envelope {
  /** Unique in the session; 12 hexadecimal digits when pegwire makes it. */
  readonly msg_id: string;
  readonly sequence: number;
  /** Seconds since 1970. A frame of a peer's may lack it. */
  readonly timestamp?: number | undefined;
  /** Links a request and everything that belongs to it. */
  readonly correlation_id?: string | undefined;
  /** The `msg_id` of the message that caused this one. */
  readonly causation_id?: string | undefined;
  readonly session_id?: string | undefined;
  /** Seconds after `timestamp` until the frame expires; 0 or none: never. */
  readonly ttl?: number | undefined;
}

/** A decoded message. */
export interface Message {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  /** The code of the schema that the payload was written by, such as `TC`. */
  readonly schema?: string;
  readonly payload: { readonly [key: string]: Json };
  readonly envelope: Envelope;
}

/** A message to encode; absent members are filled in. */
export interface MessageInput {
  /** @default the session's agent */
  readonly agent?: string | undefined;
  readonly intent: string;
  readonly operation: string;
  readonly schema?: string | undefined;
  /** Keys may be abbreviated. @default {} */
  readonly payload?: { readonly [key: string]: Json } | undefined;
  /** Absent identifiers are generated; `sequence`, if given, must be the session's next. */
  readonly envelope?: Partial<Envelope> | undefined;
}

/** A value that was not written or read exactly. */
export interface Loss {
  /** `payload.points[3].value` */
  readonly path: string;
  /**
   * `rounded`: a decimal beyond six places (section 3.1.1). `negative-zero`: -0 became 0. `narrowed`: a small bigint comes back as
   * a number. `precision`: digits that a double does not keep. `renamed`: an abbreviated key comes back under its full name (4.2).
   */
  readonly kind: 'rounded' | 'negative-zero' | 'narrowed' | 'precision' | 'renamed';
  /** The digits, or the key, before and after. */
  readonly from: string;
  readonly to: string;
}

export type Step = string | number;

const WORD = /^[A-Za-z_][A-Za-z0-9_]{0,79}$/;
/** Deeper steps are cut. */
const MOST_STEPS = 16;

/** `payload.args["file name"][2]`, from the steps below the payload. */
export function pathText(steps: readonly Step[]): string {
  let text = 'payload';
  for (let index = 0; index < steps.length; index++) {
    if (index === MOST_STEPS) return `${text}...`;
    const step = steps[index]!;
    text += stepText(step);
  }
  return text;
}

/** One step of a path: `.args`, `["file name"]`, `[2]`. */
export function stepText(step: Step): string {
  if (typeof step === 'number') return `[${step}]`;
  return WORD.test(step) ? `.${step}` : `[${quotedShort(step)}]`;
}

/** Converts a time to whole seconds, the unit of times in frames (section 3.5). */
export function inSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000);
}
