import type { Codec } from '../../codec/codec.js';
import type { EncodeResult } from '../../codec/contract.js';
import { AccpError, type AccpErrorCode } from '../../errors.js';
import { type Json, MAX_NESTING, Reference } from '../../message/json.js';
import type { Envelope, Loss, Message } from '../../message/message.js';
import { createIds } from '../../session/runtime.js';
import type { Session } from '../../session/session.js';
import { DROPPED_META, FRAME_META, framesIn, LOSSES_META } from './content.js';
import { createMcpPeer, MCP_AGENT } from './registry-exchange.js';
import { type Members, members, type ToolClient } from './sdk-shapes.js';

/** A call of a tool. */
export interface ToolCall {
  /** The name of the tool. */
  readonly tool: string;
  /** The arguments, which must be JSON: no big integers and no references to state. @default {} */
  readonly arguments?: { readonly [name: string]: Json } | undefined;
  /** Fields of the request's envelope, such as `correlation_id` or `ttl`. */
  readonly envelope?: Partial<Envelope> | undefined;
}

/** Options of {@link callTool}. */
export interface ToolCallOptions {
  /** The codec that encodes the call and decodes the answer. */
  readonly codec: Codec;
  /** The session of the caller. Calls of one session are made one after the other. */
  readonly session: Session;
}

/** The answer to a call. */
export interface ToolOutcome {
  /** `done:tool` of the schema TC, or `fail:error` of the schema ER: E4001 for an unknown tool, E4003 for invalid arguments, otherwise E4002. */
  readonly message: Message;
  /** All received frames, in order. Answers of servers that do not support ACCP are converted into frames of the agent `mcp`. */
  readonly frames: readonly string[];
  /** Information that the call or its result has lost, such as decimal places after the sixth. */
  readonly losses: readonly Loss[];
}

const LAST_CALL = new WeakMap<Session, Promise<unknown>>();
/** Frames for the next call: MCP has no other way to send them. */
const PENDING_REPLIES = new WeakMap<Session, readonly string[]>();
const freshId = createIds();
const MAX_ROUNDS = 3;

/**
 * Calls a tool. `req:tool` becomes `tools/call`, with the frame beside the arguments, and the answer is decoded in the session. The answer of
 * a server that does not support ACCP becomes a frame whose result is its `structuredContent` or its text.
 *
 * Source: draft-benzing-accp-00, sections 10.2 and 11.3.
 *
 * @throws AccpError if the call cannot be encoded as a frame; E3001 if it expired before it reached the server; the error of a rejected answer
 * @throws StoreError if the session's store fails
 * @throws the error of the client if the server has not answered; over HTTP, `failFastFetch` makes it fail at once
 * @example
 * const { message } = await callTool(client, { tool: 'add', arguments: { a: 1, b: 2 } }, { codec, session });
 * if (message.intent === 'done') use(message.payload.result);
 */
export function callTool(client: ToolClient, call: ToolCall, options: ToolCallOptions): Promise<ToolOutcome> {
  const { session } = options;
  const result = (LAST_CALL.get(session) ?? Promise.resolve()).then(() => makeCall(client, call, options));
  LAST_CALL.set(
    session,
    result.catch(() => undefined),
  );
  return result;
}

async function makeCall(client: ToolClient, call: ToolCall, { codec, session }: ToolCallOptions): Promise<ToolOutcome> {
  const { tool, arguments: args = {} } = call;
  checkPlain(args);
  const payload = { tool_name: tool, arguments: args };
  // Sent again after a gap, the call has another identifier, so it needs a `correlation_id` from the beginning.
  const { msg_id: mid = freshId(), correlation_id: cid = mid } = call.envelope ?? {};
  const envelope = { ...call.envelope, msg_id: mid, correlation_id: cid };
  const request = codec.encode({ intent: 'req', operation: 'tool', schema: 'TC', payload, envelope }, session);
  const all: string[] = [];
  const losses: Loss[] = [...request.losses];
  let sending: readonly string[] = [...(PENDING_REPLIES.get(session) ?? []), ...request.frames];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await requestTool(client, tool, { ...args }, sending);
    const received = 'frames' in answer ? answer : answerAsServer(answer, tool, request, { codec, session });
    all.push(...received.frames);
    const read = readAnswer(received.frames, tool, cid, { codec, session });
    losses.push(...(received.losses ?? []), ...read.losses);
    // They precede the next call unless this call sends them.
    PENDING_REPLIES.set(session, read.replies);
    if (read.message !== undefined) {
      if (received.isError === true && read.message.intent !== 'fail') throw contradictory(tool);
      return { message: read.message, frames: all, losses };
    }
    if (read.rejected !== undefined) throw read.rejected;
    if (!read.isGap) break;
    sending = read.replies;
  }
  // The tool may have run: E4002 would request another run.
  throw new AccpError({ code: 'E4003', message: `The server answered the call of ${tool} without a result.` });
}

function contradictory(tool: string): AccpError {
  return new AccpError({ code: 'E4003', message: `The server reports both a failure and a result of ${tool}.` });
}

type Answer = PlainAnswer | FrameAnswer;

interface FrameAnswer {
  readonly frames: readonly string[];
  readonly isError?: boolean | undefined;
  readonly losses?: readonly Loss[] | undefined;
}

async function requestTool(
  client: ToolClient,
  tool: string,
  args: { [name: string]: unknown },
  frames: readonly string[],
): Promise<Answer> {
  const _meta = { [FRAME_META]: frames.length === 1 ? frames[0]! : frames };
  let result: Members | undefined;
  try {
    result = members(await client.callTool({ name: tool, arguments: args, _meta }));
  } catch (thrown) {
    const answer = readCallError(thrown, tool);
    if (answer === null) throw thrown;
    return answer;
  }
  const received = framesIn(result?.['content']);
  if (received.length > 0) {
    return { frames: received, isError: result?.['isError'] === true, losses: readLosses(result) };
  }
  if (members(result?.['_meta'])?.[DROPPED_META] === 'expired') {
    throw new AccpError({ code: 'E3001', message: `The call of ${tool} expired before it reached the server.` });
  }
  return readPlainResult(result, tool);
}

/** The maximum number of reported losses: a frame cannot have more values. */
const MAX_LOSSES = 1000;

function readLosses(result: Members | undefined): readonly Loss[] {
  const losses = members(result?.['_meta'])?.[LOSSES_META];
  return Array.isArray(losses) ? losses.slice(0, MAX_LOSSES).filter(isLoss) : [];
}

function isLoss(value: unknown): value is Loss {
  const { path, kind, from, to } = members(value) ?? {};
  return [path, kind, from, to].every((text) => typeof text === 'string');
}

/** Decodes the received frames. The last answer to the call counts. */
function readAnswer(frames: readonly string[], tool: string, cid: string, { codec, session }: ToolCallOptions) {
  const replies: string[] = [];
  const losses: Loss[] = [];
  let message: Message | undefined;
  let rejected: AccpError | undefined;
  /** If true, frames of either side were lost; the replies request or repeat them. */
  let isGap = false;
  for (const frame of frames) {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'rejected') {
      if (outcome.reply !== null) replies.push(outcome.reply);
      if (outcome.error.code === 'E3003') isGap = true;
      else rejected = outcome.error;
      continue;
    }
    if (outcome.outcome !== 'message') continue;
    replies.push(...outcome.replies);
    losses.push(...outcome.losses);
    const { intent, payload } = outcome.message;
    if (intent === 'fail' && payload['code'] === 'E3003') isGap = true;
    else if (isAnswer(outcome.message, cid)) {
      if (isFromTool(outcome.message, tool)) message = outcome.message;
      else rejected = new AccpError({ code: 'E4003', message: `The answer is not from the tool ${tool}.` });
    }
  }
  return { message, rejected, replies, isGap, losses };
}

/** Tests whether a message answers the call. An error without a chain is about the last call, which could not be read. */
function isAnswer({ intent, envelope }: Message, cid: string): boolean {
  const { correlation_id: answered } = envelope;
  return (
    (intent === 'fail' && answered === undefined) || (answered === cid && (intent === 'done' || intent === 'fail'))
  );
}

/** Tests whether a result comes from the tool: it must be `done:tool` of the schema TC and name the tool (section 11.3). */
function isFromTool({ intent, operation, schema, payload }: Message, tool: string): boolean {
  return intent === 'fail' || (operation === 'tool' && schema === 'TC' && payload['tool_name'] === tool);
}

/** Encodes the frames that the server would have sent if it supported ACCP. */
function answerAsServer(
  answer: PlainAnswer,
  tool: string,
  { msgId: mid, correlationId: cid }: EncodeResult,
  { codec, session }: ToolCallOptions,
): FrameAnswer {
  const peer = createMcpPeer(MCP_AGENT, session, codec);
  const envelope = { correlation_id: cid, causation_id: mid };
  const fail = (code: AccpErrorCode, message: string): FrameAnswer => {
    const request = { agent: session.agent, intent: 'req', operation: 'tool', payload: {} };
    const error = new AccpError({ code, message });
    const envelope = { msg_id: mid, sequence: 0, correlation_id: cid };
    return { frames: [codec.fail({ ...request, envelope }, error, peer)] };
  };
  if ('code' in answer) return fail(answer.code, answer.message);
  try {
    const payload = { tool_name: tool, result: answer.result };
    const { frames, losses } = codec.encode(
      { intent: 'done', operation: 'tool', schema: 'TC', payload, envelope },
      peer,
    );
    return { frames, losses: [...answer.losses, ...losses] };
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    return fail('E4003', `The tool has run, but its result cannot be encoded as a frame: ${thrown.message}`);
  }
}

/** Checks that the arguments are JSON, before anything is sent. */
function checkPlain(args: Json): void {
  try {
    JSON.stringify(args, function (this: Members, key, value: unknown) {
      const original = this[key];
      if (typeof original !== 'bigint' && !(original instanceof Reference)) return value;
      throw new TypeError('MCP supports neither big integers nor references to state');
    });
  } catch (thrown) {
    // For cyclic or too deep values, JSON has its own message.
    const message = thrown instanceof Error ? thrown.message : 'the arguments are not JSON';
    throw new AccpError({ code: 'E1004', path: 'payload.arguments', message });
  }
}

/** The result of a tool, or an error. */
type PlainAnswer =
  | { readonly result: Json; readonly losses: readonly Loss[] }
  | { readonly code: AccpErrorCode; readonly message: string };

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
/** Codes with which the SDK's client reports a closed connection and a timeout: the server has not answered. */
const CLIENT_SIDE: ReadonlySet<number> = new Set([-32000, -32001]);

/** Reads the result of a server that does not support ACCP: `structuredContent`, else its text, else all of its content. */
function readPlainResult(result: Members | undefined, tool: string): PlainAnswer {
  const content: readonly unknown[] = Array.isArray(result?.['content']) ? result['content'] : [];
  const text = textOf(content);
  if (result?.['isError'] === true) return { code: codeOf(text ?? '', tool), message: text ?? 'The tool failed.' };
  const structured = result?.['structuredContent'];
  if (structured !== undefined) return exactly(structured);
  if (!Array.isArray(result?.['content'])) {
    // The tool may have run: the code is not retryable.
    return { code: 'E4003', message: 'The answer of the server is not the result of a tool.' };
  }
  return text === undefined ? exactly(content) : { result: text, losses: [] };
}

/** Reads a JSON value. Integers beyond 2^53 - 1 may have lost digits in JSON.parse: they become big integers and are reported as losses. */
function exactly(value: unknown): PlainAnswer {
  const losses: Loss[] = [];
  const read = (part: unknown, path: string, depth: number): Json => {
    if (typeof part === 'number' && Number.isInteger(part) && !Number.isSafeInteger(part)) {
      losses.push({ path, kind: 'precision', from: String(part), to: String(BigInt(part)) });
      return BigInt(part);
    }
    // The codec rejects values that are too deep.
    if (typeof part !== 'object' || part === null || depth > MAX_NESTING) return part as Json;
    if (Array.isArray(part)) return part.map((item, index) => read(item, `${path}[${index}]`, depth + 1));
    const object: Record<string, Json> = Object.create(null);
    for (const [key, member] of Object.entries(part))
      object[key] = read(member, `${path}.${key.slice(0, 40)}`, depth + 1);
    return object;
  };
  return { result: read(value, 'payload.result', 0), losses };
}

/** Returns the text of content that consists of text only. */
function textOf(content: readonly unknown[]): string | undefined {
  const texts = content.map((block) => {
    const { type, text } = members(block) ?? {};
    return type === 'text' && typeof text === 'string' ? text : undefined;
  });
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join('\n');
}

/** Returns the code for the text of an error. SDKs also answer calls that never reached the tool with a text. */
function codeOf(text: string, tool: string): AccpErrorCode {
  const reason = text.replace(/^MCP error -?[0-9]+: /, '');
  if (reason === `Tool ${tool} not found` || reason === `Tool ${tool} disabled` || reason === `Unknown tool: ${tool}`)
    return 'E4001';
  // If a result does not match its schema, the tool has run: E4002 would request another run.
  return /^(?:(?:Input|Output) validation error|Invalid arguments for tool)|output schema/.test(reason)
    ? 'E4003'
    : 'E4002';
}

/** Reads the JSON-RPC error of a server. @returns `null` if the server has not answered */
function readCallError(thrown: unknown, tool: string): PlainAnswer | null {
  if (!(thrown instanceof Error)) return null;
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code !== 'number' || CLIENT_SIDE.has(code)) return null;
  const { message } = thrown;
  if (code === METHOD_NOT_FOUND) return { code: 'E4001', message };
  const accpCode = codeOf(message, tool);
  return { code: code === INVALID_PARAMS && accpCode === 'E4002' ? 'E4003' : accpCode, message };
}
