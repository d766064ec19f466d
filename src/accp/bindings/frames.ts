/** Helpers of all bindings (draft-benzing-accp-00, section 11), which carry frames as text and read little more than the head. */

import type { Param } from '../ast.js';
import type { Message, MessageInput } from '../message/message.js';
import { sourceText } from '../message/read-value.js';
import { tryParseFrame, tryParseFrameEnvelope } from '../parse.js';

/** The media type of one frame (section 12.1). */
export const FRAME_TYPE = 'application/accp';

/** Default limit of a frame in bytes: the one of the parser. */
export const MAX_FRAME_BYTES = 1_048_576;

/** The context of a frame that a handler gets. */
export interface FrameContext {
  /** Aborted when the sender has disconnected, or no longer wants the answer. */
  readonly signal: AbortSignal;
}

/**
 * A function that answers a frame with one frame, with several in order as they are made (a stream), or with none. The bindings accept any
 * such function; `createEndpoint` creates one from a codec.
 */
export type FrameHandler = (frame: string, context: FrameContext) => FrameAnswer | Promise<FrameAnswer>;
/** The answer of a {@link FrameHandler}: one frame, a stream of frames, or `null` for none. */
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

/** Reads the head of a frame; `null` if the text is not a frame. Lenient frames are accepted here; the codec rejects them. */
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
  /** The index of the frame among the frames of one message (section 3.4). */
  readonly part: number | undefined;
}

/** Reads the head of a frame like {@link readHead}, but without building a tree of the payload. */
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

/** Tests whether a chunk is the last one of its stream. */
export function isFinalChunk(payload: readonly Param[] | null): boolean {
  return textOf(payload, 'done') === 'true' || textOf(payload, 'is_final') === 'true';
}

/** Returns the payload of a frame; `null` if the text is not a frame. */
export function payloadOf(frame: string): readonly Param[] | null {
  const parsed = tryParseFrame(frame, LENIENT);
  return parsed.ok ? parsed.value.payload : null;
}

/** Tests whether a frame reports an error: schema ER, or `fail:error` (section 3.6). */
export function isErrorHead({ intent, operation, schema }: FrameHead): boolean {
  return schema === 'ER' || (intent === 'fail' && operation === 'error');
}

/** Tests whether a frame has the schema ER. Nearly all frames are not parsed for this. */
export function hasErrorSchema(frame: string): boolean {
  return frame.includes('schema:ER') && readHead(frame)?.schema === 'ER';
}

/** A gap report, as codecs write it (draft-benzing-accp-00, sections 3.6 and 3.7). */
const GAP = /^@[^>]*>fail:error\{[^}]*\bcode:E3003\b/;

export function isGapReport(frame: string): boolean {
  return GAP.test(frame);
}

const INTENTS: ReadonlySet<string> = new Set(['ping', 'pong', 'ack']);
const SYNC_OPERATIONS: ReadonlySet<string> = new Set(['registry', 'state', 'resync']);

/** Tests for messages that the codec answers. It answers a gap report (E3003) by sending the lost frames again. */
export function isUpkeep({ intent, operation, payload }: Message): boolean {
  if (intent === 'sync') return SYNC_OPERATIONS.has(operation);
  return INTENTS.has(intent) || (intent === 'fail' && operation === 'error' && payload['code'] === 'E3003');
}

/** Returns the answer to a ping. */
export function pongTo({ operation, envelope }: Message): MessageInput {
  const { msg_id: mid } = envelope;
  return { intent: 'pong', operation, envelope: { correlation_id: mid, causation_id: mid } };
}

/** The maximum number of frames that are sent in one turn of the event loop. */
const FRAMES_PER_TURN = 128;

export class EventLoopYield {
  #count = 0;

  /** Counts a frame. @returns after every 128 frames, a promise for the next turn of the event loop */
  next(): Promise<void> | undefined {
    return ++this.#count % FRAMES_PER_TURN === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : undefined;
  }
}
