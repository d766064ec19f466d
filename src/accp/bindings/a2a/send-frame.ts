/** The client's side of ACCP over A2A (draft-benzing-accp-00, section 11.4). */
import { readHead } from '../frames.js';
import { frameMessage, type MessageOptions } from './message.js';
import { Reading } from './reading.js';
import { type A2aMessage, type FrameClient, type MessageRequest, type Task, TERMINAL } from './sdk-shapes.js';
import { KnownTask, taskOf } from './task-map.js';

export interface SendOptions extends Omit<MessageOptions, 'mimeType'> {
  /** Ends the exchange. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a frame, and gives the frames that come back, in order; none where there is nothing to say. A `req` makes a task;
 * what has the same `cid` goes to that task as long as it is not over; `cancel` cancels it.
 *
 * Source: draft-benzing-accp-00, section 11.4.
 *
 * @param frames one frame; or, in order, those that make up one message
 * @throws A2aBindingError `not-accp` where the agent has answered, but not in frames
 * @throws whatever the client throws
 * @example
 * const [answer] = await sendFrame(client, frame);
 */
export async function sendFrame(
  client: FrameClient,
  frames: string | readonly string[],
  options: SendOptions = {},
): Promise<readonly string[]> {
  const sending = prepare(client, frames, options);
  if (sending.isCancel) return cancelTask(client, sending);
  const given = await send(client, sending);
  sending.reading.checkAnswered();
  return given;
}

/**
 * Sends a frame, and gives the frames that come back as they come: those of streams in order, then the one that ends the task.
 * Servers that do not stream answer all at once.
 *
 * Source: draft-benzing-accp-00, sections 10.4 and 11.4.
 *
 * @throws A2aBindingError `not-accp` where the agent has answered, but not in frames; `truncated` where the events end before the
 *   task does: a proxy, and the SDK's client, end them properly also where the connection to the agent broke
 * @throws whatever the client throws
 * @example
 * for await (const frame of streamFrame(client, request)) codec.decode(frame, session);
 */
export async function* streamFrame(
  client: FrameClient,
  frames: string | readonly string[],
  options: SendOptions = {},
): AsyncGenerator<string, void, undefined> {
  const sending = prepare(client, frames, options);
  if (sending.isCancel) {
    yield* await cancelTask(client, sending);
    return;
  }
  const { reading, request, callOptions } = sending;
  const events = async function* (asked: MessageRequest): AsyncGenerator<string, void, undefined> {
    for await (const event of client.sendMessageStream(asked, callOptions)) yield* reading.event(event);
  };
  try {
    try {
      yield* events(request);
    } catch (thrown) {
      if (reading.isBegun || !isTaskOver(thrown, sending)) throw thrown;
      yield* events(anew(request));
    }
  } catch (thrown) {
    // A connection that breaks behind the end of the task takes nothing away.
    if (!reading.hasEnded || options.signal?.aborted === true) throw thrown;
  }
  reading.checkAnswered();
  reading.checkEnded();
}

interface Sending {
  readonly request: MessageRequest;
  readonly callOptions: { signal?: AbortSignal };
  readonly known: KnownTask | undefined;
  readonly reading: Reading;
  readonly isCancel: boolean;
}

function prepare(client: FrameClient, frames: string | readonly string[], options: SendOptions): Sending {
  const { signal, ...rest } = options;
  const head = readHead(typeof frames === 'string' ? frames : (frames[0] ?? ''));
  const cid = head?.cid ?? head?.mid;
  const isCancel = head?.intent === 'cancel';
  const found = cid === undefined ? undefined : taskOf(client, cid);
  const mapped = found !== undefined && !TERMINAL.has(found.state) ? found : undefined;
  const { taskId = mapped?.taskId, contextId = mapped?.contextId } = rest;
  const request = frameMessage(frames, { ...rest, taskId, contextId });
  const known = mapped ?? (taskId === undefined ? undefined : new KnownTask(taskId, contextId ?? ''));
  // A task that is made by a "cancel" frame alone is none of the chain that it cancels.
  const noted = isCancel && known === undefined ? undefined : cid;
  return {
    request,
    callOptions: signal === undefined ? {} : { signal },
    known,
    reading: new Reading(client, request.message.messageId, noted, known),
    isCancel,
  };
}

async function send(client: FrameClient, sending: Sending): Promise<readonly string[]> {
  const { request, callOptions, reading } = sending;
  const ask = async (asked: MessageRequest): Promise<readonly string[]> => {
    const result = await client.sendMessage(asked, callOptions);
    return isTask(result) ? reading.task(result) : reading.message(result);
  };
  try {
    return await ask(request);
  } catch (thrown) {
    if (!isTaskOver(thrown, sending)) throw thrown;
    return ask(anew(request));
  }
}

/** Reasons of A2A for which a task takes no message (A2A 1.0, section 9.5). */
const TAKES_NONE: ReadonlySet<unknown> = new Set(['UNSUPPORTED_OPERATION', 'TASK_NOT_FOUND', 'INVALID_PARAMS']);

/** Whether the task has ended meanwhile: the frame has a number, and has to be sent nevertheless. */
function isTaskOver(thrown: unknown, { request, known }: Sending): boolean {
  const { reason } = (thrown ?? {}) as { readonly reason?: unknown };
  return known !== undefined && request.message.taskId !== '' && TAKES_NONE.has(reason);
}

/** The same in a task of its own. */
function anew(request: MessageRequest): MessageRequest {
  return { ...request, message: { ...request.message, taskId: '' } };
}

/**
 * The agent is told by the frame, so that its session knows of it, too; agents that go on are stopped as A2A has it. Who waits for the answer
 * to a request does not know its task: there, the agent finds it by the chain.
 */
async function cancelTask(client: FrameClient, sending: Sending): Promise<readonly string[]> {
  const { known, request, callOptions, reading } = sending;
  let given: readonly string[] = [];
  try {
    given = await send(client, sending);
  } catch (thrown) {
    // An agent may take no messages for a task that is at work.
    if (known === undefined || callOptions.signal?.aborted === true) throw thrown;
  }
  if (known === undefined || TERMINAL.has(known.state) || reading.isAnew) return given;
  const task = await client.cancelTask({ tenant: request.tenant, id: known.taskId, metadata: undefined }, callOptions);
  return [...given, ...reading.task(task)];
}

function isTask(result: A2aMessage | Task): result is Task {
  return 'status' in result;
}
