import { readHead } from '../frames.js';
import { A2aBindingError, frameMessage, framesIn, inOrder, type MessageOptions } from './message.js';
import {
  type A2aMessage,
  type AnyPart,
  type Artifact,
  type ArtifactUpdate,
  type FrameClient,
  type MessageRequest,
  ROLE,
  type StreamResponse,
  TASK_STATE,
  type Task,
  TERMINAL,
} from './sdk-shapes.js';

/** Options of {@link sendFrame} and {@link streamFrame}. */
export interface SendOptions extends Omit<MessageOptions, 'mimeType'> {
  /** Aborts the exchange; its reason is thrown. The task continues: send `cancel` to end it. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a frame and returns the frames of the answer, in order. A `req` creates a task; frames with the same `cid` are sent to that task until
 * it ends; `cancel` cancels it.
 *
 * Source: draft-benzing-accp-00, section 11.4.
 *
 * @param frames one frame; or the frames of one message, in order
 * @throws A2aBindingError `not-accp` if the agent does not answer in frames
 * @throws the error of the client
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
  const answer = await send(client, sending);
  sending.reading.checkAnswered();
  return answer;
}

/**
 * Sends a frame and yields the frames of the answer as they arrive: those of streams in order, then the one that ends the task.
 * Servers that do not stream send all frames together.
 *
 * Source: draft-benzing-accp-00, sections 10.4 and 11.4.
 *
 * @throws A2aBindingError `not-accp` if the agent does not answer in frames; `truncated` if the events end before the task
 * @throws the error of the client
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
  const events = async function* (message: MessageRequest): AsyncGenerator<string, void, undefined> {
    for await (const event of client.sendMessageStream(message, callOptions)) yield* reading.event(event);
  };
  try {
    try {
      yield* events(request);
    } catch (thrown) {
      if (reading.hasEvents || !isTaskOver(thrown, sending)) throw thrown;
      yield* events(inNewTask(request));
    }
  } catch (thrown) {
    // A connection that closes after the end of the task loses no frames.
    if (!reading.hasEnded || options.signal?.aborted === true) throw thrown;
  }
  reading.checkAnswered();
  reading.checkEnded();
}

type Sending = ReturnType<typeof prepare>;

function prepare(client: FrameClient, frames: string | readonly string[], options: SendOptions) {
  const { signal, ...rest } = options;
  const head = readHead(typeof frames === 'string' ? frames : (frames[0] ?? ''));
  const cid = head?.cid ?? head?.mid;
  const isCancel = head?.intent === 'cancel';
  const found = cid === undefined ? undefined : TASKS.get(client)?.get(cid);
  const mapped = found !== undefined && !TERMINAL.has(found.state) ? found : undefined;
  const { taskId = mapped?.taskId, contextId = mapped?.contextId } = rest;
  const request = frameMessage(frames, { ...rest, taskId, contextId });
  const known = mapped ?? (taskId === undefined ? undefined : new KnownTask(taskId, contextId ?? ''));
  // A task that a "cancel" frame creates does not belong to the cancelled chain.
  const chain = isCancel && known === undefined ? undefined : cid;
  return {
    request,
    callOptions: signal === undefined ? {} : { signal },
    known,
    reading: new AnswerReader(client, request.message.messageId, chain, known),
    isCancel,
  };
}

async function send(client: FrameClient, sending: Sending): Promise<readonly string[]> {
  const { request, callOptions, reading } = sending;
  const attempt = async (message: MessageRequest): Promise<readonly string[]> => {
    const result = await client.sendMessage(message, callOptions);
    return isTask(result) ? reading.task(result) : reading.message(result);
  };
  try {
    return await attempt(request);
  } catch (thrown) {
    if (!isTaskOver(thrown, sending)) throw thrown;
    return attempt(inNewTask(request));
  }
}

/** Reasons for which a task rejects a message (A2A 1.0, section 9.5). */
const TASK_OVER_REASONS: ReadonlySet<unknown> = new Set(['UNSUPPORTED_OPERATION', 'TASK_NOT_FOUND', 'INVALID_PARAMS']);

/** Tests whether the task of a message has ended meanwhile. The frame has a number, so it has to be sent in a new task. */
function isTaskOver(thrown: unknown, { request, known }: Sending): boolean {
  const { reason } = (thrown ?? {}) as { readonly reason?: unknown };
  return known !== undefined && request.message.taskId !== '' && TASK_OVER_REASONS.has(reason);
}

function inNewTask(request: MessageRequest): MessageRequest {
  return { ...request, message: { ...request.message, taskId: '' } };
}

/**
 * Sends the frame, so that the agent's session also receives it, and then cancels the task with `cancelTask`. A client that waits for the
 * answer to a request does not know its task yet: there, the agent finds it by the chain.
 */
async function cancelTask(client: FrameClient, sending: Sending): Promise<readonly string[]> {
  const { known, request, callOptions, reading } = sending;
  let frames: readonly string[] = [];
  try {
    frames = await send(client, sending);
  } catch (thrown) {
    // An agent may reject messages to a running task.
    if (known === undefined || callOptions.signal?.aborted === true) throw thrown;
  }
  if (known === undefined || TERMINAL.has(known.state) || reading.isNewTask) return frames;
  const task = await client.cancelTask({ tenant: request.tenant, id: known.taskId, metadata: undefined }, callOptions);
  return [...frames, ...reading.task(task)];
}

function isTask(result: A2aMessage | Task): result is Task {
  return 'status' in result;
}

const INTERRUPTED: ReadonlySet<number> = new Set([TASK_STATE.inputRequired, TASK_STATE.authRequired]);

class AnswerReader {
  readonly #client: FrameClient;
  readonly #cid: string | undefined;
  readonly #requestId: string;
  #known: KnownTask | undefined;
  hasEvents = false;
  /** `true` if no event has to follow the last one. */
  hasEnded = false;
  #frameCount = 0;
  #plainAnswer: string | undefined;

  readonly #initialTaskId: string | undefined;

  constructor(client: FrameClient, requestId: string, cid: string | undefined, known: KnownTask | undefined) {
    this.#client = client;
    this.#requestId = requestId;
    this.#cid = cid;
    this.#known = known;
    this.#initialTaskId = known?.taskId;
  }

  get isNewTask(): boolean {
    return this.#known?.taskId !== this.#initialTaskId;
  }

  event({ payload }: StreamResponse): readonly string[] {
    this.hasEvents = true;
    const frames = this.#framesOf({ payload });
    this.hasEnded = this.#isEnd(payload, frames);
    return frames;
  }

  #framesOf({ payload }: StreamResponse): readonly string[] {
    switch (payload?.$case) {
      case 'task':
        return this.task(payload.value);
      case 'message':
        return this.message(payload.value);
      case 'statusUpdate': {
        const { taskId, contextId, status } = payload.value;
        const known = this.#remember(taskId, contextId);
        known.state = status?.state ?? known.state;
        return this.#count(known.framesOfMessage(status?.message), status?.message?.parts);
      }
      case 'artifactUpdate': {
        const { taskId, contextId, artifact } = payload.value;
        return this.#count(this.#remember(taskId, contextId).framesOfUpdate(payload.value), artifact?.parts);
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
    return this.#count(inOrder(this.#remember(task.id, task.contextId).framesOfTask(task, this.#requestId)), parts);
  }

  message({ parts }: A2aMessage): readonly string[] {
    return this.#count(framesIn(parts), parts);
  }

  /**
   * Tests whether an event is the last one. A resubscribed task first arrives in its old state, without new frames. A task whose answer ends
   * with `ack` continues later.
   */
  #isEnd(payload: StreamResponse['payload'], frames: readonly string[]): boolean {
    if (payload?.$case === 'message' || TERMINAL.has(this.#known?.state ?? 0)) return true;
    if (payload?.$case !== 'statusUpdate' && (payload?.$case !== 'task' || frames.length === 0)) return false;
    const { state = 0, message } = payload.value.status ?? {};
    const last = framesIn(message?.parts ?? []).at(-1);
    return INTERRUPTED.has(state) || (last !== undefined && readHead(last)?.intent === 'ack');
  }

  /** @throws A2aBindingError if the events ended before the task */
  checkEnded(): void {
    if (!this.hasEnded) throw new A2aBindingError('truncated', 'The answer ended before the task did.');
  }

  /** @throws A2aBindingError if there was an answer without a frame */
  checkAnswered(): void {
    if (this.#frameCount > 0) return;
    const { state } = this.#known ?? {};
    if (this.#plainAnswer === undefined && state !== TASK_STATE.failed && state !== TASK_STATE.rejected) return;
    throw new A2aBindingError(
      'not-accp',
      `The agent did not answer in frames: ${this.#plainAnswer ?? 'the task failed'}`,
    );
  }

  #remember(taskId: string, contextId: string): KnownTask {
    if (this.#known === undefined || this.#known.taskId !== taskId) this.#known = new KnownTask(taskId, contextId);
    if (this.#cid !== undefined) rememberTask(this.#client, this.#cid, this.#known);
    return this.#known;
  }

  /** Counts frames. Those that another reader of the task has returned are not returned again, but show that the agent supports ACCP. */
  #count(frames: readonly string[], parts: readonly AnyPart[] = []): readonly string[] {
    this.#frameCount += Math.max(frames.length, framesIn(parts).length);
    if (this.#frameCount === 0 && parts.length > 0) this.#plainAnswer ??= plainText(parts);
    return frames;
  }
}

function plainText(parts: readonly AnyPart[]): string {
  const texts = parts.map(({ content }) => (content?.$case === 'text' ? String(content.value) : `(${content?.$case})`));
  return texts.join(' ');
}

class KnownTask {
  readonly taskId: string;
  readonly contextId: string;
  state = 0;
  /** Number of returned parts, by artifact. */
  readonly #parts = new Map<string, number>();
  /** Identifiers of the returned messages. */
  readonly #messages = new Set<string>();

  constructor(taskId: string, contextId: string) {
    this.taskId = taskId;
    this.contextId = contextId;
  }

  framesOfMessage(message: A2aMessage | undefined): readonly string[] {
    if (message === undefined || message.role === ROLE.user || this.#messages.has(message.messageId)) return [];
    this.#messages.add(message.messageId);
    return framesIn(message.parts);
  }

  framesOfUpdate({ artifact, append }: ArtifactUpdate): readonly string[] {
    if (artifact === undefined) return [];
    const before = append ? (this.#parts.get(artifact.artifactId) ?? 0) : 0;
    this.#parts.set(artifact.artifactId, before + artifact.parts.length);
    return framesIn(artifact.parts);
  }

  /**
   * Returns the new frames of a whole task: those of artifacts, then those of messages.
   *
   * @param requestId the message that is answered: earlier messages answer others
   */
  framesOfTask({ artifacts, history, status }: Task, requestId: string): readonly string[] {
    this.state = status?.state ?? this.state;
    const frames: string[] = [];
    for (const artifact of artifacts ?? []) frames.push(...this.#takeArtifact(artifact));
    const messages = history ?? [];
    const requestIndex = messages.findIndex(({ messageId }) => messageId === requestId);
    messages.forEach((message, index) => {
      if (index > requestIndex) frames.push(...this.framesOfMessage(message));
      else this.#messages.add(message.messageId);
    });
    frames.push(...this.framesOfMessage(status?.message));
    return frames;
  }

  #takeArtifact({ artifactId, parts }: Artifact): readonly string[] {
    const before = this.#parts.get(artifactId) ?? 0;
    this.#parts.set(artifactId, parts.length);
    return framesIn(parts.slice(before));
  }
}

/** The maximum number of chains that are remembered for each client; the least recently used one is forgotten. */
const MAX_TASKS = 1024;

const TASKS = new WeakMap<object, Map<string, KnownTask>>();

function rememberTask(client: object, cid: string, task: KnownTask): void {
  const tasks = TASKS.get(client) ?? new Map<string, KnownTask>();
  TASKS.set(client, tasks);
  tasks.delete(cid);
  tasks.set(cid, task);
  if (tasks.size > MAX_TASKS) tasks.delete(tasks.keys().next().value!);
}
