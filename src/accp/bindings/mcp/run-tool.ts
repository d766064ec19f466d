import { notifyListener } from '../../../async/listeners.js';
import type { Codec } from '../../codec/codec.js';
import { AccpError } from '../../errors.js';
import type { Json } from '../../message/json.js';
import type { Loss, Message } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import type { Notice } from '../endpoint-options.js';
import type { Members } from './sdk-shapes.js';

export interface ToolContext {
  readonly session: Session;
  /** The decoded request. */
  readonly message: Message;
  /** Aborted when the client has cancelled the call, or a `cancel` frame the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
  /** `extra` of SDK 1, `ctx` of SDK 2. */
  readonly request: unknown;
}

export interface ToolAnswer {
  readonly frames: readonly string[];
  readonly isError: boolean;
  readonly result: unknown;
  /** The same for clients that do not read frames; of errors, no more than in the frame. */
  readonly text: string;
  /** What the frames do not say exactly. */
  readonly losses: readonly Loss[];
}

interface Run {
  readonly name: string;
  readonly codec: Codec;
  readonly failed?: ((thrown: unknown, message: Message) => void) | undefined;
  readonly noticed?: ((notice: Notice) => void) | undefined;
  readonly run: (args: Members, context: ToolContext) => unknown;
}

interface Call {
  readonly args: Members;
  readonly request: unknown;
  readonly signal: AbortSignal | undefined;
}

/** @throws StoreError when the session's store fails */
export async function runTool(message: Message, session: Session, call: Call, tool: Run): Promise<ToolAnswer> {
  const { codec, name } = tool;
  const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
  const cancelled = session.signal(cid);
  const signal = call.signal === undefined ? cancelled : AbortSignal.any([call.signal, cancelled]);
  let result: unknown;
  try {
    result = await tool.run(call.args, { session, message, signal, request: call.request });
  } catch (thrown) {
    notifyListener(() => tool.failed?.(thrown, message));
    return failed(toolError(thrown), message, session, codec);
  }
  const payload = { tool_name: name, result: (result ?? null) as Json };
  const envelope = { correlation_id: cid, causation_id: mid };
  try {
    // First, since it may throw, and an encoded frame that is not sent would leave a gap.
    const text = textOf(result);
    const input = { intent: 'done', operation: 'tool', schema: 'TC', payload, envelope };
    const { frames, losses, warnings } = codec.encode(input, session);
    if (losses.length + warnings.length > 0)
      notifyListener(() => tool.noticed?.({ session, direction: 'sent', losses, warnings }));
    return { frames, isError: false, result, text, losses };
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    notifyListener(() => tool.failed?.(thrown, message));
    return failed(unwritten(thrown), message, session, codec);
  }
}

/**
 * E4003 and not E4002, which is retryable: the tool would do its work once more. The codec's message says where the result cannot be
 * written; that of a result that throws stays on this side.
 */
function unwritten(thrown: unknown): AccpError {
  const why = thrown instanceof AccpError ? `: ${thrown.message}` : '.';
  return new AccpError({
    code: 'E4003',
    message: `The tool has run, and its result cannot be written in a frame${why}`,
  });
}

function failed(error: unknown, message: Message, session: Session, codec: Codec): ToolAnswer {
  const text = error instanceof AccpError ? error.message : 'The tool failed.';
  return { frames: [codec.fail(message, error, session)], isError: true, result: undefined, text, losses: [] };
}

/** Errors of tools have E4002, and never the code of an internal error (section 10.2). */
function toolError(thrown: unknown): unknown {
  if (!(thrown instanceof AccpError) || thrown.code !== 'E9999') return thrown;
  return new AccpError({ code: 'E4002', message: thrown.message, details: thrown.details });
}

function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  try {
    // JSON has no text for a function.
    return JSON.stringify(result ?? null, writable) ?? '';
  } catch (thrown) {
    // The codec reports cyclic and too deep values.
    if (thrown instanceof TypeError || thrown instanceof RangeError) return '';
    throw thrown;
  }
}

/** Big integers become texts of their digits: JSON readers would round them. */
export function plainResult(result: Members): Members {
  return JSON.parse(JSON.stringify(result, writable)) as Members;
}

function writable(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
