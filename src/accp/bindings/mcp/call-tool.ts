import type { Codec } from '../../codec/codec.js';
import type { EncodeResult } from '../../codec/contract.js';
import { AccpError, type AccpErrorCode } from '../../errors.js';
import { type Json, MOST_NESTING, Reference } from '../../message/json.js';
import type { Envelope, Loss, Message } from '../../message/message.js';
import { createIds } from '../../session/runtime.js';
import type { Session } from '../../session/session.js';
import { DROPPED_META, FRAME_META, framesIn, LOSSES_META } from './content.js';
import { MCP_AGENT, standInFor } from './registry-exchange.js';
import { type Members, members, type ToolClient } from './sdk-shapes.js';

export interface ToolCall {
  readonly tool: string;
  readonly arguments?: { readonly [name: string]: Json } | undefined;
  /** Of the request: a `correlation_id` of your own, a `ttl`. */
  readonly envelope?: Partial<Envelope> | undefined;
}

export interface ToolCallOptions {
  readonly codec: Codec;
  /** The caller. Calls of one session are made one after the other. */
  readonly session: Session;
}

export interface ToolOutcome {
  /** `done:tool` of the schema TC; or `fail:error` of the schema ER: E4001 unknown tool, E4003 bad arguments, else E4002. */
  readonly message: Message;
  /** All received frames, in order; the answers of servers that send none are turned into frames of the agent `mcp`. */
  readonly frames: readonly string[];
  /** Losses of the call or of its result, such as decimal places after the sixth. */
  readonly losses: readonly Loss[];
}

const LAST_CALL = new WeakMap<Session, Promise<unknown>>();
/** Frames for the next call: MCP has no other way for them. */
const OWED = new WeakMap<Session, readonly string[]>();
const freshId = createIds();
const MAX_ROUNDS = 3;

/**
 * Calls a tool: `req:tool` becomes `tools/call`, with the frame beside the arguments, and the answer is decoded in the session. A plain
 * server's answer becomes a frame: its `structuredContent`, or its text, is the result.
 *
 * Source: draft-benzing-accp-00, sections 10.2 and 11.3.
 *
 * @throws AccpError if the call does not fit in a frame; E3001 if it came too late; the reason for which an answer was refused
 * @throws StoreError when the session's store fails
 * @throws what the client throws if the server has not answered; over HTTP, `failFastFetch` makes it do so at once
 * @example
 * const { message } = await callTool(client, { tool: 'add', arguments: { a: 1, b: 2 } }, { codec, session });
 * if (message.intent === 'done') use(message.payload.result);
 */
export function callTool(client: ToolClient, call: ToolCall, options: ToolCallOptions): Promise<ToolOutcome> {
  const { session } = options;
  const made = (LAST_CALL.get(session) ?? Promise.resolve()).then(() => makeCall(client, call, options));
  LAST_CALL.set(
    session,
    made.catch(() => undefined),
  );
  return made;
}

async function makeCall(client: ToolClient, call: ToolCall, { codec, session }: ToolCallOptions): Promise<ToolOutcome> {
  const { tool, arguments: args = {} } = call;
  checkPlain(args);
  const payload = { tool_name: tool, arguments: args };
  // Sent again after a gap, it has another identifier: the one that answers name has to stand in it from the beginning.
  const { msg_id: mid = freshId(), correlation_id: cid = mid } = call.envelope ?? {};
  const envelope = { ...call.envelope, msg_id: mid, correlation_id: cid };
  const request = codec.encode({ intent: 'req', operation: 'tool', schema: 'TC', payload, envelope }, session);
  const all: string[] = [];
  const losses: Loss[] = [...request.losses];
  let sending: readonly string[] = [...(OWED.get(session) ?? []), ...request.frames];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const answer = await ask(client, tool, { ...args }, sending);
    const received = 'frames' in answer ? answer : standIn(answer, tool, request, { codec, session });
    all.push(...received.frames);
    const read = readAnswer(received.frames, tool, cid, { codec, session });
    losses.push(...(received.losses ?? []), ...read.losses);
    // They precede the next call, if this call does not send them.
    OWED.set(session, read.replies);
    if (read.message !== undefined) {
      if (received.isError === true && read.message.intent !== 'fail') throw contradictory(tool);
      return { message: read.message, frames: all, losses };
    }
    if (read.refused !== undefined) throw read.refused;
    if (!read.isGap) break;
    sending = read.replies;
  }
  // The tool may have run: E4002 would ask for another run.
  throw new AccpError({ code: 'E4003', message: `The server has answered the call of ${tool} with no result.` });
}

function contradictory(tool: string): AccpError {
  return new AccpError({ code: 'E4003', message: `The server says that ${tool} has failed, and that it is done.` });
}

type Answer = PlainAnswer | Told;

interface Told {
  readonly frames: readonly string[];
  readonly isError?: boolean | undefined;
  readonly losses?: readonly Loss[] | undefined;
}

async function ask(
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
  const told = framesIn(result?.['content']);
  if (told.length > 0) {
    return { frames: told, isError: result?.['isError'] === true, losses: toldLosses(result) };
  }
  if (members(result?.['_meta'])?.[DROPPED_META] === 'expired') {
    throw new AccpError({ code: 'E3001', message: `The call of ${tool} had expired when it came to the server.` });
  }
  return readPlainResult(result, tool);
}

/** A frame can have no more values. */
const MAX_LOSSES = 1000;

function toldLosses(result: Members | undefined): readonly Loss[] {
  const told = members(result?.['_meta'])?.[LOSSES_META];
  return Array.isArray(told) ? told.slice(0, MAX_LOSSES).filter(isLoss) : [];
}

function isLoss(told: unknown): told is Loss {
  const { path, kind, from, to } = members(told) ?? {};
  return [path, kind, from, to].every((text) => typeof text === 'string');
}

/** Decodes the frames that came back: the last answer to the call counts. */
function readAnswer(frames: readonly string[], tool: string, cid: string, { codec, session }: ToolCallOptions) {
  const replies: string[] = [];
  const losses: Loss[] = [];
  let message: Message | undefined;
  let refused: AccpError | undefined;
  /** Frames of either side were lost; the replies request or repeat them. */
  let isGap = false;
  for (const frame of frames) {
    const outcome = codec.decode(frame, session);
    if (outcome.outcome === 'rejected') {
      if (outcome.reply !== null) replies.push(outcome.reply);
      if (outcome.error.code === 'E3003') isGap = true;
      else refused = outcome.error;
      continue;
    }
    if (outcome.outcome !== 'message') continue;
    replies.push(...outcome.replies);
    losses.push(...outcome.losses);
    const { intent, payload } = outcome.message;
    if (intent === 'fail' && payload['code'] === 'E3003') isGap = true;
    else if (isAnswer(outcome.message, cid)) {
      if (isOf(outcome.message, tool)) message = outcome.message;
      else refused = new AccpError({ code: 'E4003', message: `The answer is not one of the tool ${tool}.` });
    }
  }
  return { message, refused, replies, isGap, losses };
}

/** An error without a chain is about the last call: it could not be read. */
function isAnswer({ intent, envelope }: Message, cid: string): boolean {
  const { correlation_id: answered } = envelope;
  return (
    (intent === 'fail' && answered === undefined) || (answered === cid && (intent === 'done' || intent === 'fail'))
  );
}

/** Results are `done:tool` of the schema TC, and name their tool (section 11.3). */
function isOf({ intent, operation, schema, payload }: Message, tool: string): boolean {
  return intent === 'fail' || (operation === 'tool' && schema === 'TC' && payload['tool_name'] === tool);
}

/** Makes the frames that the server would have sent if it spoke ACCP. */
function standIn(
  answer: PlainAnswer,
  tool: string,
  { msgId: mid, correlationId: cid }: EncodeResult,
  { codec, session }: ToolCallOptions,
): Told {
  const end = standInFor(MCP_AGENT, session, codec);
  const envelope = { correlation_id: cid, causation_id: mid };
  const fail = (code: AccpErrorCode, message: string): Told => {
    const request = { agent: session.agent, intent: 'req', operation: 'tool', payload: {} };
    const error = new AccpError({ code, message });
    const envelope = { msg_id: mid, sequence: 0, correlation_id: cid };
    return { frames: [codec.fail({ ...request, envelope }, error, end)] };
  };
  if ('code' in answer) return fail(answer.code, answer.message);
  try {
    const payload = { tool_name: tool, result: answer.result };
    const { frames, losses } = codec.encode(
      { intent: 'done', operation: 'tool', schema: 'TC', payload, envelope },
      end,
    );
    return { frames, losses: [...answer.losses, ...losses] };
  } catch (thrown) {
    if (!(thrown instanceof AccpError)) throw thrown;
    return fail('E4003', `The tool has run, and its result cannot be written in a frame: ${thrown.message}`);
  }
}

/** MCP carries JSON: other values are refused before anything has happened. */
function checkPlain(args: Json): void {
  try {
    JSON.stringify(args, function (this: Members, key, value: unknown) {
      const given = this[key];
      if (typeof given !== 'bigint' && !(given instanceof Reference)) return value;
      throw new TypeError('MCP has no big integers and no references to state');
    });
  } catch (thrown) {
    // For cyclic or too deep values, JSON has its own message.
    const message = thrown instanceof Error ? thrown.message : 'the arguments are no JSON';
    throw new AccpError({ code: 'E1004', path: 'payload.arguments', message });
  }
}

/** A tool's result, or why there is none. */
type PlainAnswer =
  | { readonly result: Json; readonly losses: readonly Loss[] }
  | { readonly code: AccpErrorCode; readonly message: string };

const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
/** Codes of the SDK's own client for a closed connection and a late answer: the server has not answered. */
const CLIENT_SIDE: ReadonlySet<number> = new Set([-32000, -32001]);

/** Reads a server's plain result: `structuredContent`, else its text, else all of its content. */
function readPlainResult(result: Members | undefined, tool: string): PlainAnswer {
  const content: readonly unknown[] = Array.isArray(result?.['content']) ? result['content'] : [];
  const text = textOf(content);
  if (result?.['isError'] === true) return { code: codeOf(text ?? '', tool), message: text ?? 'The tool failed.' };
  const structured = result?.['structuredContent'];
  if (structured !== undefined) return exactly(structured);
  if (!Array.isArray(result?.['content'])) {
    // It may have run: the code is not retryable.
    return { code: 'E4003', message: 'The server has answered with something else than the result of a tool.' };
  }
  return text === undefined ? exactly(content) : { result: text, losses: [] };
}

/** Integers beyond 2^53 - 1, which JSON.parse has read as doubles, may have lost digits. They become big integers, and losses. */
function exactly(value: unknown): PlainAnswer {
  const losses: Loss[] = [];
  const read = (part: unknown, path: string, depth: number): Json => {
    if (typeof part === 'number' && Number.isInteger(part) && !Number.isSafeInteger(part)) {
      losses.push({ path, kind: 'precision', from: String(part), to: String(BigInt(part)) });
      return BigInt(part);
    }
    // The codec refuses what is too deep.
    if (typeof part !== 'object' || part === null || depth > MOST_NESTING) return part as Json;
    if (Array.isArray(part)) return part.map((item, index) => read(item, `${path}[${index}]`, depth + 1));
    const made: Record<string, Json> = Object.create(null);
    for (const [key, member] of Object.entries(part))
      made[key] = read(member, `${path}.${key.slice(0, 40)}`, depth + 1);
    return made;
  };
  return { result: read(value, 'payload.result', 0), losses };
}

/** Returns the text of content that is nothing but text. */
function textOf(content: readonly unknown[]): string | undefined {
  const texts = content.map((block) => {
    const { type, text } = members(block) ?? {};
    return type === 'text' && typeof text === 'string' ? text : undefined;
  });
  return texts.length === 0 || texts.includes(undefined) ? undefined : texts.join('\n');
}

/** SDKs answer calls that never reached the tool by a text, too. */
function codeOf(text: string, tool: string): AccpErrorCode {
  const said = text.replace(/^MCP error -?[0-9]+: /, '');
  if (said === `Tool ${tool} not found` || said === `Tool ${tool} disabled` || said === `Unknown tool: ${tool}`)
    return 'E4001';
  // After a result that does not match its schema, the tool has run: E4002 would ask for another run.
  return /^(?:(?:Input|Output) validation error|Invalid arguments for tool)|output schema/.test(said)
    ? 'E4003'
    : 'E4002';
}

/** Reads a server's JSON-RPC error. @returns `null` if the server has not answered at all */
function readCallError(thrown: unknown, tool: string): PlainAnswer | null {
  if (!(thrown instanceof Error)) return null;
  const { code } = thrown as { readonly code?: unknown };
  if (typeof code !== 'number' || CLIENT_SIDE.has(code)) return null;
  const { message } = thrown;
  if (code === METHOD_NOT_FOUND) return { code: 'E4001', message };
  const told = codeOf(message, tool);
  return { code: code === INVALID_PARAMS && told === 'E4002' ? 'E4003' : told, message };
}
