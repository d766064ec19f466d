/** Runs a tool, and says in frames what came of it (draft-benzing-accp-00, section 10.2). */
import { AccpError } from '../../codec/accp-error.js';
import type { Codec } from '../../codec/codec.js';
import type { Json } from '../../message/json.js';
import type { Message } from '../../message/message.js';
import type { Session } from '../../session/session.js';
import type { Members } from './sdk-shapes.js';

export interface ToolContext {
  readonly session: Session;
  /** The request, as it was decoded. */
  readonly message: Message;
  /** Aborted when the client has cancelled the call, or a `cancel` frame the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
  /** `extra` of SDK 1, `ctx` of SDK 2. */
  readonly request: unknown;
}

export interface ToolAnswer {
  readonly frames: readonly string[];
  readonly isError: boolean;
  /** What the tool gave. */
  readonly result: unknown;
  /** The same for those who do not read frames; of errors, no more than the frame tells. */
  readonly text: string;
}

interface Run {
  readonly name: string;
  readonly codec: Codec;
  readonly failed?: ((thrown: unknown, message: Message) => void) | undefined;
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
    tool.failed?.(thrown, message);
    return failed(toolError(thrown), message, session, codec);
  }
  const payload = { tool_name: name, result: (result ?? null) as Json };
  const envelope = { correlation_id: cid, causation_id: mid };
  try {
    const { frames } = codec.encode({ intent: 'done', operation: 'tool', schema: 'TC', payload, envelope }, session);
    return { frames, isError: false, result, text: textOf(result) };
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    const why = `The result cannot be written in a frame: ${thrown.message}`;
    return failed(new AccpError({ code: 'E4002', message: why }), message, session, codec);
  }
}

function failed(error: unknown, message: Message, session: Session, codec: Codec): ToolAnswer {
  const text = error instanceof AccpError ? error.message : 'The tool failed.';
  return { frames: [codec.fail(message, error, session)], isError: true, result: undefined, text };
}

/** Errors of tools have E4002, and never the code of what is internal (section 10.2). */
function toolError(thrown: unknown): unknown {
  if (!(thrown instanceof AccpError) || thrown.code !== 'E9999') return thrown;
  return new AccpError({ code: 'E4002', message: thrown.message, details: thrown.details });
}

function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  return JSON.stringify(result ?? null, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}
