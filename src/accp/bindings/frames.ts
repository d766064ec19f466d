/** What all bindings share (draft-benzing-accp-00, section 11): they carry frames as texts, and look at little more than the head. */

import type { Param } from '../ast.js';
import type { Message, MessageInput } from '../message/message.js';
import { sourceText } from '../message/read-value.js';
import { tryParseFrame, tryParseFrameEnvelope } from '../parse.js';

/** The media type of one frame (section 12.1). */
export const FRAME_TYPE = 'application/accp';

/** Default limit of a frame in bytes: that of the parser. */
export const MAX_FRAME_BYTES = 1_048_576;

/** The context of a frame that a handler gets. */
export interface FrameContext {
  /** Aborted when the sender has gone, or does not want the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Answers a frame with a frame, with several in order as they come (a stream), or with nothing. The bindings take any such
 * function; `createEndpoint` makes one of a codec.
 */
export type FrameHandler = (frame: string, context: FrameContext) => FrameAnswer | Promise<FrameAnswer>;
export type FrameAnswer = string | null | AsyncIterable<string>;

export interface FrameHead {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  readonly schema: string | undefined;
  readonly mid: string | undefined;
  readonly seq: number | undefined;
  readonly cid: string | undefined;
  readonly sid: string | undefined;
}

/** Reads the head of a frame; `null` if the text is not a frame. Lenient frames pass: the codec refuses them. */
export function readHead(frame: string): FrameHead | null {
  const parsed = tryParseFrame(frame, LENIENT);
  if (!parsed.ok) return null;
  const { agent, intent, operation, payload, metadata } = parsed.value;
  const schema = payload.find(({ key }) => key === 'schema')?.value;
  return {
    agent,
    intent,
    operation,
    schema: schema?.kind === 'string' ? schema.value : undefined,
    mid: textOf(metadata, 'mid'),
    seq: numberOf(metadata, 'seq'),
    cid: textOf(metadata, 'cid'),
    sid: textOf(metadata, 'sid'),
  };
}

export interface FrameAddress extends Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'mid' | 'seq' | 'sid'> {
  /** Its index among the frames of one message (section 3.4). */
  readonly part: number | undefined;
}

/** As {@link readHead}, but builds no tree of the payload. */
export function readAddress(frame: string): FrameAddress | null {
  const parsed = tryParseFrameEnvelope(frame, LENIENT);
  if (!parsed.ok) return null;
  const { agent, intent, operation, metadata } = parsed.value;
  return {
    agent,
    intent,
    operation,
    mid: textOf(metadata, 'mid'),
    seq: numberOf(metadata, 'seq'),
    sid: textOf(metadata, 'sid'),
    part: metadata?.some(({ key }) => key === 'tot') === true ? (numberOf(metadata, 'idx') ?? 0) : undefined,
  };
}

const LENIENT = { dialect: 'lenient' } as const;

/** Returns a value as it is written; `undefined` for an array, a map or a reference. */
export function textOf(params: readonly Param[] | null, name: string): string | undefined {
  const value = params?.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : sourceText(value);
}

export function numberOf(params: readonly Param[] | null, name: string): number | undefined {
  const value = params?.find(({ key }) => key === name)?.value;
  return value?.kind === 'integer' && typeof value.value === 'number' ? value.value : undefined;
}

/** Reports whether a chunk is the last one of its stream. */
export function isFinalChunk(payload: readonly Param[] | null): boolean {
  return textOf(payload, 'done') === 'true' || textOf(payload, 'is_final') === 'true';
}

/** Returns the payload of a frame; `null` if the text is not a frame. */
export function payloadOf(frame: string): readonly Param[] | null {
  const parsed = tryParseFrame(frame, LENIENT);
  return parsed.ok ? parsed.value.payload : null;
}

/** Whether a frame reports an error: schema ER, or `fail:error` (section 3.6). */
export function isErrorHead({ intent, operation, schema }: FrameHead): boolean {
  return schema === 'ER' || (intent === 'fail' && operation === 'error');
}

/** Nearly all frames are decided without parsing them. */
export function hasErrorSchema(frame: string): boolean {
  return frame.includes('schema:ER') && readHead(frame)?.schema === 'ER';
}

/** A report of a gap, as codecs write it (draft-benzing-accp-00, sections 3.6 and 3.7). */
const GAP = /^@[^>]*>fail:error\{[^}]*\bcode:E3003\b/;

export function isGapReport(frame: string): boolean {
  return GAP.test(frame);
}

const INTENTS: ReadonlySet<string> = new Set(['ping', 'pong', 'ack']);
const SYNC_OPERATIONS: ReadonlySet<string> = new Set(['registry', 'state', 'resync']);

/** Messages that the codec answers; a report of a gap (E3003) is answered by sending again what was lost. */
export function isUpkeep({ intent, operation, payload }: Message): boolean {
  if (intent === 'sync') return SYNC_OPERATIONS.has(operation);
  return INTENTS.has(intent) || (intent === 'fail' && operation === 'error' && payload['code'] === 'E3003');
}

/** Makes the answer to a ping. */
export function pongTo({ operation, envelope }: Message): MessageInput {
  const { msg_id: mid } = envelope;
  return { intent: 'pong', operation, envelope: { correlation_id: mid, causation_id: mid } };
}

/** Frames that are sent in one turn of the event loop. */
const LENGTH = 128;

export class Stretch {
  #given = 0;

  /** Counts a frame. @returns after each run of frames, a promise for the next turn */
  next(): Promise<void> | undefined {
    return ++this.#given % LENGTH === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : undefined;
  }
}
