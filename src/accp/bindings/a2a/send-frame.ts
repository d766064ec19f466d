/** The client's side of ACCP over A2A (draft-benzing-accp-00, section 11.4). */
import { tryParseFrame } from '../../parse.js';
import { readHead } from '../frames.js';
import { A2aBindingError } from './errors.js';
import { frameMessage, type MessageOptions } from './message.js';
import { framesIn } from './parts.js';
import {
  type A2aMessage,
  type AnyPart,
  type FrameClient,
  type MessageRequest,
  type StreamResponse,
  TASK_STATE,
  type Task,
} from './sdk-shapes.js';
import { KnownTask, noteTask, taskOf } from './task-map.js';

export interface SendOptions extends Omit<MessageOptions, 'mimeType'> {
  /** Ends the exchange. */
  readonly signal?: AbortSignal | undefined;
}

/** States that a task does not leave. */
const TERMINAL: ReadonlySet<number> = new Set([
  TASK_STATE.completed,
  TASK_STATE.failed,
  TASK_STATE.canceled,
  TASK_STATE.rejected,
]);

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
  const result = await client.sendMessage(sending.request, sending.callOptions);
  const reading = new Reading(client, sending);
  const given = isTask(result) ? reading.task(result) : reading.message(result);
  reading.checkAnswered();
  return given;
}

/**
 * Sends a frame, and gives the frames that come back as they come: those of streams in order, then the one that ends the task.
 * Servers that do not stream answer all at once.
 *
 * Source: draft-benzing-accp-00, sections 10.4 and 11.4.
 *
 * @throws A2aBindingError `not-accp` where the agent has answered, but not in frames
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
  const reading = new Reading(client, sending);
  for await (const event of client.sendMessageStream(sending.request, sending.callOptions)) yield* reading.event(event);
  reading.checkAnswered();
}

interface Sending {
  readonly request: MessageRequest;
  readonly callOptions: { signal?: AbortSignal };
  readonly cid: string | undefined;
  readonly known: KnownTask | undefined;
  readonly isCancel: boolean;
}

function prepare(client: FrameClient, frames: string | readonly string[], options: SendOptions): Sending {
  const { signal, ...rest } = options;
  const head = readHead(typeof frames === 'string' ? frames : (frames[0] ?? ''));
  const cid = head?.cid ?? head?.mid;
  const found = cid === undefined ? undefined : taskOf(client, cid);
  const known = found !== undefined && !TERMINAL.has(found.state) ? found : undefined;
  const { taskId = known?.taskId, contextId = known?.contextId } = rest;
  return {
    request: frameMessage(frames, { ...rest, taskId, contextId }),
    callOptions: signal === undefined ? {} : { signal },
    cid,
    known: known ?? (taskId === undefined ? undefined : new KnownTask(taskId, contextId ?? '')),
    isCancel: head?.intent === 'cancel',
  };
}

/** The agent is told by the frame, so that its session knows of it, too; agents that go on are stopped as A2A has it. */
async function cancelTask(client: FrameClient, sending: Sending): Promise<readonly string[]> {
  const { known, request, callOptions } = sending;
  if (known === undefined) {
    throw new A2aBindingError('unknown-task', 'The "cancel" frame names no chain of requests that has a task.');
  }
  const reading = new Reading(client, sending);
  let given: readonly string[] = [];
  try {
    const result = await client.sendMessage(request, callOptions);
    given = isTask(result) ? reading.task(result) : reading.message(result);
  } catch (thrown) {
    // An agent may take no messages for a task that is at work.
    if (callOptions.signal?.aborted === true) throw thrown;
  }
  if (TERMINAL.has(known.state)) return given;
  const task = await client.cancelTask({ tenant: request.tenant, id: known.taskId, metadata: undefined }, callOptions);
  return [...given, ...reading.task(task)];
}

/** Reads what comes back for one message. */
class Reading {
  readonly #client: FrameClient;
  readonly #cid: string | undefined;
  /** The identifier of what was sent. */
  readonly #asked: string;
  #known: KnownTask | undefined;
  #count = 0;
  /** What the agent said that is no frame. */
  #said: string | undefined;

  constructor(client: FrameClient, { cid, known, request }: Sending) {
    this.#client = client;
    this.#asked = request.message.messageId;
    this.#cid = cid;
    this.#known = known;
  }

  event({ payload }: StreamResponse): readonly string[] {
    switch (payload?.$case) {
      case 'task':
        return this.task(payload.value);
      case 'message':
        return this.message(payload.value);
      case 'statusUpdate': {
        const { taskId, contextId, status } = payload.value;
        const known = this.#note(taskId, contextId);
        known.state = status?.state ?? known.state;
        return this.#given(known.take(status?.message), status?.message?.parts);
      }
      case 'artifactUpdate': {
        const { taskId, contextId, artifact } = payload.value;
        return this.#given(this.#note(taskId, contextId).takeUpdate(payload.value), artifact?.parts);
      }
      default:
        return [];
    }
  }

  task(task: Task): readonly string[] {
    const parts = [
      ...(task.artifacts ?? []).flatMap((artifact) => artifact.parts),
      ...(task.status?.message?.parts ?? []),
    ];
    return this.#given(inOrder(this.#note(task.id, task.contextId).takeTask(task, this.#asked)), parts);
  }

  message({ parts }: A2aMessage): readonly string[] {
    return this.#given(framesIn(parts), parts);
  }

  /** @throws A2aBindingError where there was an answer, but no frame in it */
  checkAnswered(): void {
    if (this.#count > 0) return;
    const { state } = this.#known ?? {};
    if (this.#said === undefined && state !== TASK_STATE.failed && state !== TASK_STATE.rejected) return;
    throw new A2aBindingError(
      'not-accp',
      `The agent has answered, but not in frames: ${this.#said ?? 'the task failed'}`,
    );
  }

  #note(taskId: string, contextId: string): KnownTask {
    if (this.#known === undefined || this.#known.taskId !== taskId) this.#known = new KnownTask(taskId, contextId);
    if (this.#cid !== undefined) noteTask(this.#client, this.#cid, this.#known);
    return this.#known;
  }

  /** Frames may have been given to another reader of the same task: then they are not given here, but the agent speaks ACCP. */
  #given(frames: readonly string[], parts: readonly AnyPart[] = []): readonly string[] {
    this.#count += Math.max(frames.length, framesIn(parts).length);
    if (this.#count === 0 && parts.length > 0) this.#said ??= told(parts);
    return frames;
  }
}

function told(parts: readonly AnyPart[]): string {
  const texts = parts.map(({ content }) => (content?.$case === 'text' ? String(content.value) : `(${content?.$case})`));
  return texts.join(' ');
}

/** A whole task has its messages apart from its artifacts: the numbers of one agent's frames say how they were sent. */
function inOrder(frames: readonly string[]): readonly string[] {
  if (frames.length < 2) return frames;
  const numbered = frames.map((frame) => {
    const parsed = tryParseFrame(frame, { dialect: 'lenient' });
    const seq = parsed.ok ? parsed.value.metadata?.find(({ key }) => key === 'seq')?.value : undefined;
    return { frame, agent: parsed.ok ? parsed.value.agent : null, seq: seq?.kind === 'integer' ? seq.value : null };
  });
  const agent = numbered[0]!.agent;
  if (numbered.some((one) => one.seq === null || one.agent !== agent)) return frames;
  return numbered.sort((a, b) => (a.seq! < b.seq! ? -1 : a.seq! > b.seq! ? 1 : 0)).map(({ frame }) => frame);
}

function isTask(result: A2aMessage | Task): result is Task {
  return 'status' in result;
}
