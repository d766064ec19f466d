/** Options and results of a codec (draft-benzing-accp-00, sections 3.4 and 7.1). */

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
import { systemClock } from '../session/runtime.js';
import { type ReferenceLimits, resolveReferenceLimits } from '../state/resolve.js';
import type { CheckpointResult, CheckpointTools } from '../state/state.js';
import type { EventListener } from '../store/events.js';
import { INTENTS } from '../vocabulary.js';

export interface CodecOptions {
  /** Schemas to begin with, as `exportRegistry` writes them. @default the six of the profiles */
  readonly registry?: Registry | undefined;
  /**
   * What to do with strings that the grammar cannot write. By default `reject`, then `transliterate` once both sides have
   * announced it. `externalize` needs a store that both ends share.
   */
  readonly text?: TextPolicy | undefined;
  /** How frames are read; they are always written in the strict dialect. @default 'strict' */
  readonly dialect?: Dialect | undefined;
  /** Counts tokens: `await loadTokenCounter('o200k_base')`. @default estimates */
  readonly counter?: TokenCounter | undefined;
  /** Most tokens of a frame and its parts. @default those of Table 3 */
  readonly limits?: Partial<FrameLimits> | undefined;
  /** Limits for the references of one received frame; beyond, the frame is refused with E2003. */
  readonly references?: Partial<ReferenceLimits> | undefined;
  /** Codes of the profiles in use. @default all: CH, TC, TX, ST, TA, ER */
  readonly profiles?: readonly string[] | undefined;
  /** Intents beyond those of Table 7 and `ping` and `pong`. */
  readonly intents?: readonly string[] | undefined;
  /** The tools on this side: requests for others are refused with E4001, bad arguments with E4003. */
  readonly tools?: Tools | undefined;
  /** Authorizes a frame that passed all checks of delivery; a string is the reason for E5001. */
  readonly authorize?: ((frame: Frame) => boolean | string) | undefined;
  /** Extraction of facts and summaries at checkpoints. @default deterministic ones */
  readonly checkpointTools?: CheckpointTools | undefined;
  /** `manual`: the host calls `checkpoint(session)`. @default 'auto' */
  readonly checkpoints?: 'auto' | 'manual' | undefined;
  /** Whether frames go into hot state; `false` is conformance level 1. @default true */
  readonly state?: boolean | undefined;
  /** Whether every frame carries `sid`, or only the first of a session, to save tokens. @default 'always' */
  readonly sessionId?: 'always' | 'first' | undefined;
  /** Returns the time in milliseconds since 1970. @default Date.now */
  readonly now?: (() => number) | undefined;
  /** Makes identifiers of messages. @default a random letter from a to f and eleven digits */
  readonly ids?: (() => string) | undefined;
  /** The debug log: receives every event of every session (section 9, item 1). */
  readonly log?: EventListener | undefined;
  /** Adds plain English to the events about frames. @default false */
  readonly explain?: boolean | undefined;
}

export type Settings = ReturnType<typeof resolveCodecOptions>;

const TEXT_POLICIES: readonly TextPolicy[] = ['reject', 'transliterate', 'externalize'];

/** Heartbeats of a transport (section 11.2). */
const HEARTBEAT = ['ping', 'pong'];

export function resolveCodecOptions(options: CodecOptions, ids: () => string) {
  const codes = PROFILES.map(({ code }) => code);
  for (const code of options.profiles ?? []) resolveChoice('profiles', code, codes);
  return {
    text: options.text === undefined ? undefined : resolveChoice('text', options.text, TEXT_POLICIES),
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
    sessionId: resolveChoice('sessionId', options.sessionId, ['always', 'first']),
    now: options.now ?? systemClock,
    ids: options.ids ?? ids,
    log: options.log,
    explain: options.explain ?? false,
  };
}

/** Tokens of the parts of a frame (section 3.4, Table 3). */
export interface FrameTokens {
  readonly header: number;
  readonly body: number;
  readonly metadata: number;
  /** Of the whole text, which is not always the sum of the parts. */
  readonly total: number;
  readonly exact: boolean;
}

export interface EncodeResult {
  /** In sending order; more than one where the message is over a hard limit (section 3.4). */
  readonly frames: readonly string[];
  /** Identifier of the first frame. Answers have it as their `causation_id`. */
  readonly msgId: string;
  readonly correlationId: string;
  readonly losses: readonly Loss[];
  /** `over-soft-limit`, `over-hard-limit`, and what the profiles recommend. */
  readonly warnings: readonly Diagnostic[];
  readonly tokens: FrameTokens;
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult>;
}

/** Results of decoding beside the message. */
interface Findings {
  /** Digits that a number does not keep, and the like. */
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
  /** Frames to send back, in order: answers to negotiation, frames lost after a gap. */
  readonly replies: readonly string[];
}

export interface Accepted extends Findings {
  readonly outcome: 'message';
  readonly message: Message;
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult>;
}

export interface Pending extends Findings {
  readonly outcome: 'pending';
  /** `sequence`: part of a message that was split. `stream`: a chunk, which `session.stream(cid)` gives in its order. */
  readonly part: 'sequence' | 'stream';
  readonly correlationId: string;
  /** The chunk; absent for a part of a message. */
  readonly message?: Message;
}

export interface Rejected {
  readonly outcome: 'rejected';
  readonly error: AccpError;
  /** The error frame to send back; `null` where the refused frame is an error frame itself. */
  readonly reply: string | null;
}

export interface Dropped {
  readonly outcome: 'dropped';
  /** Nothing is sent (section 3.7, item 5). */
  readonly reason: 'expired';
}

export type DecodeOutcome = Accepted | Pending | Rejected | Dropped;

/** Tokens. Beyond `soft` there is a warning; beyond `hard` the message is split. */
export interface Limit {
  readonly soft: number;
  readonly hard: number;
}

export type FrameLimits = Readonly<Record<FramePart, Limit>>;

export type FramePart = 'header' | 'body' | 'metadata' | 'total';

export const FRAME_LIMITS: FrameLimits = {
  header: { soft: 5, hard: 10 },
  body: { soft: 50, hard: 200 },
  metadata: { soft: 10, hard: 30 },
  total: { soft: 65, hard: 240 },
};

const PARTS: readonly FramePart[] = ['header', 'body', 'metadata', 'total'];

function resolveFrameLimits(limits: Partial<FrameLimits> = {}): FrameLimits {
  const resolved = { ...FRAME_LIMITS, ...limits };
  for (const part of PARTS) {
    const { soft, hard } = resolved[part];
    if (!(soft >= 0 && hard >= soft)) {
      throw new TypeError(`limits.${part}: soft is at least 0 and hard at least soft; got ${soft} and ${hard}`);
    }
  }
  return resolved;
}

export function warningOf(code: string, message: string, section: string, help?: string): Diagnostic {
  return { code, severity: 'warning', message, span: null, section, ...(help === undefined ? {} : { help }) };
}

/** In a canonical frame, all other delimiters are escaped. */
export function countFrame(frame: string, counter: TokenCounter): FrameTokens {
  const bodyStart = frame.indexOf(':');
  const close = frame.lastIndexOf('}[');
  const bodyEnd = close < 0 ? frame.length : close + 1;
  return {
    header: counter.count(frame.slice(0, bodyStart)),
    body: counter.count(frame.slice(bodyStart, bodyEnd)),
    metadata: counter.count(frame.slice(bodyEnd)),
    total: counter.count(frame),
    exact: counter.exact,
  };
}

export function addTokens(a: FrameTokens, b: FrameTokens): FrameTokens {
  return {
    header: a.header + b.header,
    body: a.body + b.body,
    metadata: a.metadata + b.metadata,
    total: a.total + b.total,
    exact: a.exact && b.exact,
  };
}

export function isOverHardLimit(tokens: FrameTokens, limits: FrameLimits): boolean {
  return tokens.body > limits.body.hard || tokens.total > limits.total.hard;
}

export function overLimits(tokens: FrameTokens, limits: FrameLimits) {
  return PARTS.filter((part) => tokens[part] > limits[part].soft).map((part) => {
    const count = tokens[part];
    const over: keyof Limit = count > limits[part].hard ? 'hard' : 'soft';
    const name = part === 'total' ? 'frame' : part;
    const message = `The ${name} is ${tokens.exact ? '' : 'about '}${count} tokens; its ${over} limit is ${limits[part][over]}.`;
    return { part, over, warning: warningOf(`over-${over}-limit`, message, '3.4') };
  });
}
