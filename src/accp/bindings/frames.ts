/** What all bindings share (draft-benzing-accp-00, section 11): they carry frames as texts, and look at little more than the head. */
import { tryParseFrame } from '../parse.js';
import { sourceText } from '../session/envelope.js';

/** The media type of one frame (section 12.1). */
export const FRAME_TYPE = 'application/accp';

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
  readonly cid: string | undefined;
  readonly sid: string | undefined;
}

/** The head of a frame; `null` for a text that is none. Lenient frames are frames: refusing them is the codec's business. */
export function readHead(frame: string): FrameHead | null {
  const parsed = tryParseFrame(frame, { dialect: 'lenient' });
  if (!parsed.ok) return null;
  const { agent, intent, operation, payload, metadata } = parsed.value;
  const schema = payload.find(({ key }) => key === 'schema')?.value;
  const told = (name: string): string | undefined => {
    const value = metadata?.find(({ key }) => key === name)?.value;
    return value === undefined ? undefined : sourceText(value);
  };
  return {
    agent,
    intent,
    operation,
    schema: schema?.kind === 'string' ? schema.value : undefined,
    mid: told('mid'),
    cid: told('cid'),
    sid: told('sid'),
  };
}

/** Whether a frame tells of an error: schema ER, or `fail:error` (section 3.6). */
export function isErrorHead({ intent, operation, schema }: FrameHead): boolean {
  return schema === 'ER' || (intent === 'fail' && operation === 'error');
}
