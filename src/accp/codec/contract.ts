/** The options and results of a codec (draft-benzing-accp-00, sections 3.4 and 7.1). */

import type { Diagnostic } from '../../text/diagnostic.js';
import { resolveChoice } from '../../text/limits.js';
import { ESTIMATING_COUNTER, type TokenCounter } from '../../tokens/counter.js';
import type { Frame } from '../ast.js';
import type { AccpError } from '../errors.js';
import type { Loss, Message } from '../message/message.js';
import type { TextPolicy } from '../message/write-value.js';
import type { Dialect } from '../parse.js';
import { PROFILES, type Tools } from '../profiles/profiles.js';
import type { Registry } from '../registry/registry.js';
import { createIds, createShortIds, systemClock } from '../session/runtime.js';
import { type ReferenceLimits, resolveReferenceLimits } from '../state/resolve.js';
import type { CheckpointResult, CheckpointTools } from '../state/state.js';
import type { EventListener } from '../store/events.js';
import { INTENTS } from '../vocabulary.js';

/** Options of {@link createCodec}. */
export interface CodecOptions {
  /** The initial registry, as `createRegistry` returns it. @default the six schemas of the profiles */
  readonly registry?: Registry | undefined;
  /**
   * The treatment of strings that the grammar cannot write. `externalize` needs a store that both ends share.
   * @default 'reject', and 'transliterate' once both sides have announced it
   */
  readonly text?: TextPolicy | undefined;
  /**
   * If true, the codec announces the profile `compact1`, and sends compact frames once all other ends have announced it, too. Compact frames
   * are always read.
   * @default false
   */
  readonly compact?: boolean | undefined;
  /** The dialect of received frames; sent frames are always in the strict dialect. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** The counter of tokens, such as `await loadTokenCounter('o200k_base')`. @default an estimate */
  readonly counter?: TokenCounter | undefined;
  /** The maximum numbers of tokens of a frame and of its parts. @default those of Table 3 */
  readonly limits?: Partial<FrameLimits> | undefined;
  /** The limits on the references of one received frame; beyond them, the frame is rejected with E2003. */
  readonly references?: Partial<ReferenceLimits> | undefined;
  /** The codes of the active profiles. @default all: CH, TC, TX, ST, TA, ER */
  readonly profiles?: readonly string[] | undefined;
  /** The allowed intents beyond those of Table 7, `ping` and `pong`. @default none */
  readonly intents?: readonly string[] | undefined;
  /**
   * The tools of this side, from {@link defineTools}: requests for other tools are rejected with E4001, invalid arguments with
   * E4003.
   * @default no check
   */
  readonly tools?: Tools | undefined;
  /**
   * Returns `true` to accept a frame that has passed all checks of delivery. `false`, or a string with the reason, rejects it with
   * E5001.
   */
  readonly authorize?: ((frame: Frame) => boolean | string) | undefined;
  /** The extraction of facts and summaries at checkpoints. @default deterministic rules */
  readonly checkpointTools?: CheckpointTools | undefined;
  /** `auto`: the codec makes checkpoints as section 5.2 requires. `manual`: the host calls `checkpoint(session)`. @default 'auto' */
  readonly checkpoints?: 'auto' | 'manual' | undefined;
  /** If true, messages are added to hot state. `false` is conformance level 1. @default true */
  readonly state?: boolean | undefined;
  /**
   * `always`: every frame has a `sid`. `first`: only the first frame of a session has one, which saves tokens.
   * @default 'always', and 'first' while frames are compact
   */
  readonly sessionId?: 'always' | 'first' | undefined;
  /** Returns the time in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /**
   * Returns a new identifier of a message.
   * @default a random letter from a to f and eleven random digits; if `compact` is true, letters of few tokens and a counter of six digits
   */
  readonly createId?: (() => string) | undefined;
  /** The debug log: a function that receives every event of every session (section 9, item 1). */
  readonly log?: EventListener | undefined;
  /** If true, events about frames explain them in plain English. @default false */
  readonly explain?: boolean | undefined;
}

export type Settings = ReturnType<typeof resolveCodecOptions>;

const TEXT_POLICIES: readonly TextPolicy[] = ['reject', 'transliterate', 'externalize'];

/** The heartbeats of a transport (section 11.2). */
const HEARTBEAT = ['ping', 'pong'];

export function resolveCodecOptions(options: CodecOptions) {
  const codes = PROFILES.map(({ code }) => code);
  for (const code of options.profiles ?? []) resolveChoice('profiles', code, codes);
  return {
    text: options.text === undefined ? undefined : resolveChoice('text', options.text, TEXT_POLICIES),
    compact: options.compact ?? false,
    dialect: resolveChoice('dialect', options.dialect, ['strict', 'lenient']),
    counter: options.counter ?? ESTIMATING_COUNTER,
    limits: resolveFrameLimits(options.limits),
    references: resolveReferenceLimits(options.references),
    profiles: new Set(options.profiles ?? codes),
    intents: new Set([...Object.keys(INTENTS), ...HEARTBEAT, ...(options.intents ?? [])]),
    tools: options.tools,
    authorize: options.authorize,
    checkpointTools: options.checkpointTools ?? {},
    checkpoints: resolveChoice('checkpoints', options.checkpoints, ['auto', 'manual']),
    state: options.state ?? true,
    sessionId:
      options.sessionId === undefined ? undefined : resolveChoice('sessionId', options.sessionId, ['always', 'first']),
    now: options.now ?? systemClock,
    createId: options.createId ?? (options.compact ? createShortIds(options.counter) : createIds()),
    log: options.log,
    explain: options.explain ?? false,
  };
}

/** The numbers of tokens of the parts of a frame (section 3.4, Table 3). */
export interface FrameTokens {
  /** The tokens of `@agent>intent`. */
  readonly header: number;
  /** The tokens of `:operation{payload}`. */
  readonly body: number;
  /** The tokens of `[metadata]`. */
  readonly metadata: number;
  /** The tokens of the whole text, which may differ from the sum of the parts. */
  readonly total: number;
  /** `true` if the numbers are exact; `false` if they are estimates. */
  readonly exact: boolean;
}

/** The result of encoding a message. */
export interface EncodeResult {
  /** The frames to send, in this order; several if the message exceeds a hard limit (section 3.4). */
  readonly frames: readonly string[];
  /** The identifier of the first frame, which answers have as their `causation_id`. */
  readonly msgId: string;
  /** The identifier that answers share: the `correlation_id` of the message or, without one, `msgId`. */
  readonly correlationId: string;
  /** The values that were not written exactly. */
  readonly losses: readonly Loss[];
  /** The warnings: `over-soft-limit`, `over-hard-limit`, and recommendations of the profiles. */
  readonly warnings: readonly Diagnostic[];
  /** The numbers of tokens of all frames together. */
  readonly tokens: FrameTokens;
  /** The checkpoint that the message caused; absent if it caused none. */
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult>;
}

/** The results of decoding besides the message. */
interface Findings {
  /** The values that were not read exactly, such as numbers with more digits than a double keeps. */
  readonly losses: readonly Loss[];
  /** Deviations from recommendations, and lost frames. */
  readonly warnings: readonly Diagnostic[];
  /** The frames to send back, in this order: answers to negotiation, frames to repeat after a gap. */
  readonly replies: readonly string[];
}

/** The outcome for a frame that completes a message. */
export interface Accepted extends Findings {
  readonly outcome: 'message';
  /** The message, with expanded keys and without the frame's syntax. */
  readonly message: Message;
  /** The checkpoint that the message caused; absent if it caused none. */
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult>;
}

/** The outcome for a frame that is part of something larger. */
export interface Pending extends Findings {
  readonly outcome: 'pending';
  /** `sequence`: a part of a message that was split. `stream`: a chunk, which `session.stream(cid)` yields in order. */
  readonly part: 'sequence' | 'stream';
  /** The identifier of the message or stream. */
  readonly correlationId: string;
  /** The chunk; absent for a part of a message. */
  readonly message?: Message;
}

/** The outcome for a frame that was rejected. */
export interface Rejected {
  readonly outcome: 'rejected';
  /** The reason for the rejection; its code is one of the draft's. */
  readonly error: AccpError;
  /** The error frame to send back; `null` if the rejected frame is an error frame itself. */
  readonly reply: string | null;
}

/** The outcome for a frame that was dropped silently. */
export interface Dropped {
  readonly outcome: 'dropped';
  /** The reason. The sender is not informed (section 3.7, item 5). */
  readonly reason: 'expired';
}

/** The outcome of decoding a frame, discriminated by `outcome`. */
export type DecodeOutcome = Accepted | Pending | Rejected | Dropped;

/** A limit in tokens (section 3.4). */
export interface Limit {
  /** The number of tokens above which there is a warning. */
  readonly soft: number;
  /** The number of tokens above which the message is split. */
  readonly hard: number;
}

/** The limits of the parts of a frame. */
export type FrameLimits = Readonly<Record<FramePart, Limit>>;

export type FramePart = 'header' | 'body' | 'metadata' | 'total';

/** The default limits (section 3.4, Table 3). */
export const FRAME_LIMITS: FrameLimits = {
  header: { soft: 5, hard: 10 },
  body: { soft: 50, hard: 200 },
  metadata: { soft: 10, hard: 30 },
  total: { soft: 65, hard: 240 },
};

export const FRAME_PARTS: readonly FramePart[] = ['header', 'body', 'metadata', 'total'];

function resolveFrameLimits(limits: Partial<FrameLimits> = {}): FrameLimits {
  const resolved = { ...FRAME_LIMITS, ...limits };
  for (const part of FRAME_PARTS) {
    const { soft, hard } = resolved[part];
    if (!(soft >= 0 && hard >= soft)) {
      throw new TypeError(`limits.${part} must have 0 <= soft <= hard; got soft: ${soft}, hard: ${hard}`);
    }
  }
  return resolved;
}

export function warningOf(code: string, message: string, section: string, help?: string): Diagnostic {
  return { code, severity: 'warning', message, span: null, section, ...(help === undefined ? {} : { help }) };
}
