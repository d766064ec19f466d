/** What the codec's operations give (draft-benzing-accp-00, section 7.1). */
import type { Diagnostic } from '../../text/diagnostic.js';
import type { AccpError } from '../errors/accp-error.js';
import type { Loss, Message } from '../message/message.js';
import type { CheckpointResult } from '../state/state.js';

/** Tokens of the parts of a frame (section 3.4, Table 3). */
export interface FrameTokens {
  readonly header: number;
  readonly body: number;
  readonly metadata: number;
  /** Of the whole text, which is not always the sum of the parts. */
  readonly total: number;
  /** `false` for estimates. */
  readonly exact: boolean;
}

export interface EncodeResult {
  /** In the order in which they have to be sent; more than one where the message is over a hard limit (section 3.4). */
  readonly frames: readonly string[];
  /** Of the first frame, unless the envelope named it. Answers have it as their `causation_id`. */
  readonly msgId: string;
  /** What answers to this message are correlated by. */
  readonly correlationId: string;
  readonly losses: readonly Loss[];
  /** `over-soft-limit`, `over-hard-limit`, and what the profiles recommend. */
  readonly warnings: readonly Diagnostic[];
  /** Of all frames together. */
  readonly tokens: FrameTokens;
  /** The checkpoint that this message has triggered (section 5.2). */
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult>;
}

export interface Accepted {
  readonly outcome: 'message';
  readonly message: Message;
  /** Digits that a number does not keep, and the like. */
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
  /** Frames of the protocol to send back, in order: answers to negotiation, what was lost after a gap. Mostly none. */
  readonly replies: readonly string[];
  /** The checkpoint that this message has triggered (section 5.2). */
  readonly checkpoint?: CheckpointResult | Promise<CheckpointResult>;
}

export interface Pending {
  readonly outcome: 'pending';
  /** `sequence`: part of a message that was split. `stream`: a chunk, which `session.stream(cid)` gives in its order. */
  readonly part: 'sequence' | 'stream';
  readonly correlationId: string;
  /** The chunk; absent for a part of a message. */
  readonly message?: Message;
  readonly losses: readonly Loss[];
  readonly warnings: readonly Diagnostic[];
  readonly replies: readonly string[];
}

export interface Rejected {
  readonly outcome: 'rejected';
  readonly error: AccpError;
  /** The error frame to send back; `null` where the refused frame is one itself, which is never answered by another. */
  readonly reply: string | null;
}

export interface Dropped {
  readonly outcome: 'dropped';
  /** Nothing is to be sent, so that nobody learns of it by the answer (section 3.7, item 5). */
  readonly reason: 'expired';
}

/** What became of a frame. */
export type DecodeOutcome = Accepted | Pending | Rejected | Dropped;
