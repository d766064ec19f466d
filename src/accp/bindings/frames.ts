/** What all bindings share (draft-benzing-accp-00, section 11): they carry frames as texts, and look at little more than the head. */

import type { Param } from '../ast.js';
import type { Message } from '../message/message.js';
import { tryParseFrame, tryParseFrameEnvelope } from '../parse.js';
import { sourceText } from '../session/envelope.js';

/** The media type of one frame (section 12.1). */
export const FRAME_TYPE = 'application/accp';

/** Longest frame that the bindings take unless they are told otherwise, in bytes: what the parser takes by default. */
export const MAX_FRAME_BYTES = 1_048_576;

/** Where a frame came from. */
export interface FrameContext {
  /** Aborted when whoever sent the frame has gone, or does not want the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Answers a frame with a frame, with several in order as they come (a stream), or with nothing. The bindings take any such
 * function; `createEndpoint` makes one of a codec.
 */
export type FrameHandler = (frame: string, context: FrameContext) => FrameAnswer | Promise<FrameAnswer>;
export type FrameAnswer = string | null | AsyncIterable<string>;

/** What bindings go by. */
export interface FrameHead {
  readonly agent: string;
  readonly intent: string;
  readonly operation: string;
  /** The code of its schema: `TC`, `ST`, `ER`, ... */
  readonly schema: string | undefined;
  readonly mid: string | undefined;
  /** Its number, where it has a usable one. */
  readonly seq: number | undefined;
  readonly cid: string | undefined;
  readonly sid: string | undefined;
}

/** The head of a frame; `null` for a text that is none. Lenient frames are frames: refusing them is the codec's business. */
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

/** Where a frame belongs. */
export interface FrameAddress extends Pick<FrameHead, 'agent' | 'intent' | 'operation' | 'mid' | 'seq' | 'sid'> {
  /** Its place among several that make up a message (section 3.4). */
  readonly part: number | undefined;
}

/** For those who ask for nothing else of a frame: no tree is built of its payload. `null` for a text that is no frame. */
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

/** A value as it is written; `undefined` for none, and for an array, a map or a reference. */
export function textOf(params: readonly Param[] | null, name: string): string | undefined {
  const value = params?.find(({ key }) => key === name)?.value;
  return value === undefined ? undefined : sourceText(value);
}

/** An integer that a double holds. */
export function numberOf(params: readonly Param[] | null, name: string): number | undefined {
  const value = params?.find(({ key }) => key === name)?.value;
  return value?.kind === 'integer' && typeof value.value === 'number' ? value.value : undefined;
}

/** Whether a frame tells of an error: schema ER, or `fail:error` (section 3.6). */
export function isErrorHead({ intent, operation, schema }: FrameHead): boolean {
  return schema === 'ER' || (intent === 'fail' && operation === 'error');
}

/**
 * Whether a frame has the schema ER. In a frame that has been read, these characters stand for nothing else, or for a value
 * that ends in them; so nearly all frames are told apart without being parsed.
 */
export function hasErrorSchema(frame: string): boolean {
  return frame.includes('schema:ER') && readHead(frame)?.schema === 'ER';
}

/** A report of a gap, as codecs write it (draft-benzing-accp-00, sections 3.6 and 3.7). */
const GAP = /^@[^>]*>fail:error\{[^}]*\bcode:E3003\b/;

/** Whether a frame tells that one before it is missed. */
export function isGapReport(frame: string): boolean {
  return GAP.test(frame);
}

const INTENTS: ReadonlySet<string> = new Set(['ping', 'pong', 'ack']);
/** Operations of `sync` that the codec answers. */
const SYNC_OPERATIONS: ReadonlySet<string> = new Set(['registry', 'state', 'resync']);

/** Reports of a gap (E3003) among it, which are answered by sending again what was lost. */
export function isUpkeep({ intent, operation, payload }: Message): boolean {
  if (intent === 'sync') return SYNC_OPERATIONS.has(operation);
  return INTENTS.has(intent) || (intent === 'fail' && operation === 'error' && payload['code'] === 'E3003');
}

/** Frames that are sent at a stretch. */
const LENGTH = 128;

export class Stretch {
  #given = 0;

  /** One more frame is given. @returns at the end of a stretch, what to wait for: meanwhile everything else gets its turn */
  next(): Promise<void> | undefined {
    return ++this.#given % LENGTH === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : undefined;
  }
}
