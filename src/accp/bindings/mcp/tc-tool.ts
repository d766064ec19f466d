import { linkSignals } from '../../../async/abort.js';
import { notifyListener } from '../../../async/listeners.js';
import type { Codec } from '../../codec/codec.js';
import { AccpError } from '../../errors.js';
import { isPlainObject, type Json } from '../../message/json.js';
import type { Loss, Message } from '../../message/message.js';
import { createSession, type Session } from '../../session/session.js';
import { StoreError } from '../../store/store.js';
import { ENDING_INTENTS } from '../../vocabulary.js';
import type { Endpoint } from '../endpoint.js';
import type { Notice } from '../endpoint-options.js';
import { DISCONNECTED } from '../endpoint-sessions.js';
import { BINDING_AGENT, bareErrorFrame } from '../error-frame.js';
import { readHead } from '../frames.js';
import { DROPPED_META, FRAME_META, frameContent, LOSSES_META } from './content.js';
import { MCP_AGENT, mcpAgreement, type RegistryExchange, registryInCapabilities } from './registry-exchange.js';
import { type Members, members, type RequestContext, readRequestContext, type ToolResult } from './sdk-shapes.js';

/** The context of a tool call. */
export interface ToolContext {
  /** The session of the call. */
  readonly session: Session;
  /** The request of the frame, with its arguments. */
  readonly message: Message;
  /** Aborted when the client cancels the call, or when a `cancel` frame cancels the chain of requests (section 3.7, item 4). */
  readonly signal: AbortSignal;
  /** The argument `extra` of SDK 1, or `ctx` of SDK 2. */
  readonly request: unknown;
}

interface CommonToolOptions {
  /** The name under which the MCP server lists the tool. */
  readonly name: string;
  /** The registry sync with the client: sessions adopt the registry that the client's capabilities announce. */
  readonly exchange?: RegistryExchange | undefined;
  /**
   * Returns the client's capabilities if they are not sent with each request, as before revision 2026-07-28:
   * `() => server.server.getClientCapabilities()`.
   */
  readonly capabilities?: (() => unknown) | undefined;
  /**
   * Called with the exceptions of `run`, and with the reason why a result cannot be encoded. The client gets the message of an `AccpError`; of
   * other errors, it gets a code only.
   */
  readonly onError?: ((thrown: unknown, message: Message) => void) | undefined;
  /** Called with the losses and warnings of a request or a result, if there are any. */
  readonly onNotice?: ((notice: Notice) => void) | undefined;
  /** If true, results also have `structuredContent`, which tools with an output schema need. @default false */
  readonly structured?: boolean | undefined;
}

/** Options of {@link tcTool}: one session for all calls, for a server with one client; or an endpoint, whose sessions the frames name. */
export type ToolOptions = CommonToolOptions &
  (
    | { readonly codec: Codec; readonly session: Session; readonly endpoint?: undefined }
    | { readonly endpoint: Endpoint; readonly codec?: undefined; readonly session?: undefined }
  );

/** The callback of `registerTool` in SDK 1 and SDK 2. Tools without arguments get the context only. */
export type ToolHandler = (argsOrContext: unknown, context?: unknown) => Promise<ToolResult>;

/**
 * Creates a tool that answers in frames: `done:tool` of the schema TC with the result of `run`, correlated with the request, or `fail:error` of
 * the schema ER with E4002 if `run` throws. Only the message of an `AccpError` is sent.
 *
 * The frame of the request arrives in `_meta['accp/frame']`. The arguments are those of the MCP call, which the server has validated.
 * A client that sends no frame also gets the result as plain text.
 *
 * Source: draft-benzing-accp-00, sections 10.2 and 11.3.
 *
 * @throws TypeError if an option is invalid
 * @example
 * server.registerTool('add', { inputSchema }, tcTool(({ a, b }) => a + b, { name: 'add', endpoint }));
 */
export function tcTool<Args extends object = { readonly [name: string]: Json }>(
  run: (args: Args, context: ToolContext) => unknown,
  options: ToolOptions,
): ToolHandler {
  const { name, session, endpoint } = options;
  if (typeof name !== 'string' || name === '') throw new TypeError('name must be the name of the tool');
  if ((session === undefined) === (endpoint === undefined)) throw new TypeError('Pass either session or endpoint');
  const codec = options.codec ?? endpoint?.codec;
  if (codec === undefined) throw new TypeError('codec is required with session: pass the codec of the session');
  const tool: Tool = { ...options, codec, run: run as unknown as Tool['run'] };
  return async (argsOrContext, context) => {
    const request = context ?? argsOrContext;
    const args = context === undefined ? {} : (members(argsOrContext) ?? {});
    const call: Call = { ...readRequestContext(request), args, request };
    const frames = framesOf(call.meta);
    if (frames === null)
      return rejection(bareErrorFrame('E1001', `_meta["${FRAME_META}"] must be a frame or a list of frames.`));
    return frames.length === 0 ? answerPlainRequest(call, tool) : answerInFrames(frames, call, tool);
  };
}

interface Tool extends CommonToolOptions {
  readonly codec: Codec;
  readonly session?: Session | undefined;
  readonly endpoint?: Endpoint | undefined;
  readonly run: (args: Members, context: ToolContext) => unknown;
}

interface Call extends RequestContext {
  readonly args: Members;
  readonly request: unknown;
}

/** Returns the frames of the request: none if the client does not support ACCP, `null` if the value is invalid. */
function framesOf(meta: Members | undefined): readonly string[] | null {
  const value = meta?.[FRAME_META] ?? [];
  const frames: readonly unknown[] = Array.isArray(value) ? value : [value];
  return frames.every((frame) => typeof frame === 'string') ? frames : null;
}

async function answerInFrames(frames: readonly string[], call: Call, tool: Tool): Promise<ToolResult> {
  const { endpoint } = tool;
  const session = tool.session ?? sessionOf(frames, endpoint!);
  if (typeof session === 'string') return rejection(session);
  const end = endpoint?.retain(session);
  try {
    const registryError = applyRegistry(session, call, tool);
    if (registryError !== null) {
      const { code, message } = registryError;
      return rejection(bareErrorFrame(code, message, readHead(frames[0]!)));
    }
    const received = receiveCall(frames, session, tool);
    if (received.call === undefined) return withoutCall(received);
    const answer = await runTool(received.call, session, call, tool);
    return resultOf([...received.replies, ...answer.frames], answer, tool.structured);
  } finally {
    end?.();
  }
}

/** Adopts the registry that the client announces. @returns `null` if it is valid */
function applyRegistry(session: Session, call: Call, { exchange, capabilities }: Tool): AccpError | null {
  if (exchange === undefined) return null;
  const announced = registryInCapabilities(call.capabilities ?? capabilities?.());
  if (announced.length === 0) return null;
  try {
    exchange.agree(announced).apply(session);
    return null;
  } catch (thrown) {
    if (thrown instanceof AccpError) return thrown;
    throw thrown;
  }
}

const MAX_ID = 256;

/** Returns the session that the frames name, or an error frame. */
function sessionOf(frames: readonly string[], endpoint: Endpoint): Session | string {
  const heads = frames.map(readHead);
  if (heads.includes(null)) return bareErrorFrame('E1001', 'The text is not a frame.');
  const sid = heads.find((head) => head!.sid !== undefined)?.sid;
  if (sid !== undefined && endpoint.disconnectReason(sid) !== undefined)
    return bareErrorFrame('E5001', DISCONNECTED, heads.at(-1));
  if (sid === undefined || sid.length <= MAX_ID) return endpoint.open(sid);
  return bareErrorFrame('E1004', `metadata.sid: longer than ${MAX_ID} characters`, heads[0]);
}

/** Returns the result for frames that only maintain the session, or were rejected: the tool does not run. */
function withoutCall({ replies, isRejected, isExpired }: ReturnType<typeof receiveCall>): ToolResult {
  const result: ToolResult = { content: replies.map((frame) => frameContent(frame)) };
  if (isRejected || isExpired) result.isError = true;
  if (isExpired) result._meta = { [DROPPED_META]: 'expired' };
  return result;
}

function rejection(frame: string): ToolResult {
  return { content: [frameContent(frame)], isError: true };
}

/** Answers a client that has sent no frame, in a session of its own. */
async function answerPlainRequest(call: Call, tool: Tool): Promise<ToolResult> {
  const { codec, name } = tool;
  const session = createSession({ agent: tool.session?.agent ?? BINDING_AGENT, sequence: 'sender' });
  mcpAgreement({ codec, sequence: 'sender' }, MCP_AGENT).apply(session);
  const request = { agent: MCP_AGENT, intent: 'req', operation: 'tool', schema: 'TC', payload: { tool_name: name } };
  const { msgId } = codec.encode(request, session);
  const message = { ...request, envelope: { msg_id: msgId, sequence: 1 } };
  const answer = await runTool(message, session, call, tool);
  const result = resultOf(answer.frames, answer, true);
  result.content.push({ type: 'text', text: answer.text });
  return result;
}

function resultOf(frames: readonly string[], answer: ToolAnswer, isStructured: boolean | undefined): ToolResult {
  const result: ToolResult = { content: frames.map((frame) => frameContent(frame)) };
  if (answer.isError) result.isError = true;
  else if (isStructured === true && isMap(answer.result)) result.structuredContent = plainResult(answer.result);
  if (answer.losses.length > 0) result._meta = { [LOSSES_META]: answer.losses };
  return result;
}

function isMap(value: unknown): value is Members {
  return members(value) !== undefined && isPlainObject(value as object);
}

/** Intents that need no answer. */
const UNANSWERED_INTENTS: ReadonlySet<string> = new Set([
  ...ENDING_INTENTS,
  'sync',
  'ack',
  'wait',
  'stream',
  'ping',
  'pong',
]);

/**
 * Decodes the frames of one tool call: frames that maintain the session, and finally the request. Requests before it, which are sent again
 * after a gap, are rejected: MCP carries one call at a time.
 */
function receiveCall(frames: readonly string[], session: Session, { name, codec, onNotice }: Tool) {
  const replies: string[] = [];
  const rejections: { readonly message: Message; readonly reason: AccpError }[] = [];
  let call: Message | undefined;
  let isRejected = false;
  /** Expired frames are not answered (section 3.7, item 5), but MCP needs an answer. */
  let isExpired = false;
  frames.forEach((frame, index) => {
    const outcome = codec.decode(frame, session);
    isExpired = outcome.outcome === 'dropped';
    if (outcome.outcome === 'dropped') return;
    if (outcome.outcome === 'rejected') {
      isRejected = true;
      if (outcome.reply !== null) replies.push(outcome.reply);
      return;
    }
    const { losses, warnings } = outcome;
    if (losses.length + warnings.length > 0)
      notifyListener(() => onNotice?.({ session, direction: 'received', losses, warnings }));
    replies.push(...outcome.replies);
    if (outcome.outcome === 'pending' || UNANSWERED_INTENTS.has(outcome.message.intent)) return;
    const reason = rejectionReason(outcome.message, name, index === frames.length - 1);
    if (reason === null) call = outcome.message;
    else rejections.push({ message: outcome.message, reason });
  });
  // Their numbers follow those of all other replies.
  for (const { message, reason } of rejections) replies.push(codec.fail(message, reason, session));
  return { replies, call, isRejected: isRejected || rejections.length > 0, isExpired };
}

function rejectionReason({ intent, schema, payload }: Message, tool: string, isLast: boolean): AccpError | null {
  const isCall = (intent === 'req' || intent === 'qry') && schema === 'TC';
  if (!isCall)
    return new AccpError({ code: 'E1004', path: 'schema', message: 'the message must be "req:tool" of the schema TC' });
  if (!isLast)
    return new AccpError({ code: 'E4002', message: 'MCP carries one tool call at a time; send the call again.' });
  if (payload['tool_name'] === tool) return null;
  return new AccpError({
    code: 'E4001',
    path: 'payload.tool_name',
    message: 'the name must be that of the called tool',
  });
}

interface ToolAnswer {
  readonly frames: readonly string[];
  readonly isError: boolean;
  readonly result: unknown;
  /** The result as text, for clients that do not read frames; of an error, the same information as in the frame. */
  readonly text: string;
  /** Information that the frames have lost. */
  readonly losses: readonly Loss[];
}

/** Runs a tool and encodes its result. @throws StoreError if the session's store fails */
async function runTool(message: Message, session: Session, call: Call, tool: Tool): Promise<ToolAnswer> {
  const { codec, name } = tool;
  const { msg_id: mid, correlation_id: cid = mid } = message.envelope;
  const cancelled = session.signal(cid);
  const { signal, release } = linkSignals(call.signal ?? cancelled, cancelled);
  let result: unknown;
  try {
    result = await tool.run(call.args, { session, message, signal, request: call.request });
  } catch (thrown) {
    notifyListener(() => tool.onError?.(thrown, message));
    return errorAnswer(toolError(thrown), message, session, codec);
  } finally {
    release();
  }
  const payload = { tool_name: name, result: (result ?? null) as Json };
  const envelope = { correlation_id: cid, causation_id: mid };
  try {
    // Before encoding, since it may throw, and an encoded frame that is not sent would leave a gap.
    const text = textOf(result);
    const input = { intent: 'done', operation: 'tool', schema: 'TC', payload, envelope };
    const { frames, losses, warnings } = codec.encode(input, session);
    if (losses.length + warnings.length > 0)
      notifyListener(() => tool.onNotice?.({ session, direction: 'sent', losses, warnings }));
    return { frames, isError: false, result, text, losses };
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    notifyListener(() => tool.onError?.(thrown, message));
    return errorAnswer(unencodable(thrown), message, session, codec);
  }
}

/**
 * Returns E4003 instead of E4002, which is retryable: the tool would repeat its work. The codec's message names the part of the result that
 * cannot be encoded; the message of a result that throws is not sent.
 */
function unencodable(thrown: unknown): AccpError {
  const why = thrown instanceof AccpError ? `: ${thrown.message}` : '.';
  return new AccpError({
    code: 'E4003',
    message: `The tool has run, but its result cannot be encoded as a frame${why}`,
  });
}

function errorAnswer(error: unknown, message: Message, session: Session, codec: Codec): ToolAnswer {
  const text = error instanceof AccpError ? error.message : 'The tool failed.';
  return { frames: [codec.fail(message, error, session)], isError: true, result: undefined, text, losses: [] };
}

/** Returns the error to send: errors of tools have E4002, and never the code of an internal error (section 10.2). */
function toolError(thrown: unknown): unknown {
  if (!(thrown instanceof AccpError) || thrown.code !== 'E9999') return thrown;
  return new AccpError({ code: 'E4002', message: thrown.message, details: thrown.details });
}

function textOf(result: unknown): string {
  if (typeof result === 'string') return result;
  try {
    // JSON has no representation of functions.
    return JSON.stringify(result ?? null, writable) ?? '';
  } catch (thrown) {
    // The codec reports cyclic and too deep values.
    if (thrown instanceof TypeError || thrown instanceof RangeError) return '';
    throw thrown;
  }
}

/** Converts a result to JSON. Big integers become strings of their digits: JSON readers would round them. */
function plainResult(result: Members): Members {
  return JSON.parse(JSON.stringify(result, writable)) as Members;
}

function writable(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
