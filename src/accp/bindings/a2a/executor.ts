import { within } from '../../../async/abort.js';
import { deferred, notifyListener } from '../../../async/listeners.js';
import { AccpError } from '../../errors.js';
import { checkAgentName } from '../../session/envelope.js';
import type { Endpoint } from '../endpoint.js';
import { BINDING_AGENT, bareErrorFrame } from '../error-frame.js';
import {
  type FrameAnswer,
  type FrameHandler,
  type FrameHead,
  hasErrorSchema,
  isErrorHead,
  isFinalChunk,
  payloadOf,
  readHead,
  textOf,
} from '../frames.js';
import { framePart, framesIn, inOrder, messageOf, type PartOptions } from './message.js';
import { type EventBus, type ExecutionContext, type FrameExecutor, ROLE, TASK_STATE, type Task } from './sdk-shapes.js';

/** Options of {@link accpExecutor}. */
export interface ExecutorOptions {
  /** The agent of error frames for messages that do not reach the handler. @default 'accp' */
  readonly agent?: string | undefined;
  /** Called with the exceptions of the handler; the client gets an error frame with E9999. */
  readonly onError?: ((thrown: unknown, frame: string) => void) | undefined;
}

/** Milliseconds for cancelled work to end. Later results are dropped, since the task has ended. */
const CANCEL_GRACE_MS = 1000;

class RunningTask {
  readonly #answer: TaskAnswer;
  readonly #controllers = new Set<AbortController>();
  /** Frames of cancelled work. They already have numbers, so each of them has to be sent. */
  readonly #lateFrames: string[] = [];
  #wake: () => void = () => undefined;
  #end: () => void = () => undefined;
  #ended: Promise<void> | undefined;

  constructor(answer: TaskAnswer) {
    this.#answer = answer;
  }

  get isIdle(): boolean {
    return this.#controllers.size === 0;
  }

  begin(): AbortController {
    const controller = new AbortController();
    this.#controllers.add(controller);
    return controller;
  }

  end(controller: AbortController): void {
    this.#controllers.delete(controller);
  }

  /** Aborts all executions but one. Resolves when they have ended, or after the grace period. */
  async cancel(except?: AbortController): Promise<void> {
    this.#ended ??= new Promise((resolve) => (this.#end = resolve));
    const reason = new AccpError({ code: 'E5001', message: 'The task was cancelled.' });
    for (const controller of this.#controllers) if (controller !== except) controller.abort(reason);
    const haveEnded = (): boolean => [...this.#controllers].every((controller) => controller === except);
    if (haveEnded()) return;
    const { promise, resolve } = deferred();
    this.#wake = () => {
      if (haveEnded()) resolve();
    };
    await within(CANCEL_GRACE_MS, promise);
  }

  /** Ends a cancelled execution, whose remaining frames are sent at the end of the task. */
  async endCancelled(controller: AbortController, frames: readonly string[]): Promise<void> {
    this.#lateFrames.push(...frames);
    this.#controllers.delete(controller);
    this.#wake();
    // The events of a task end with the first execution that ends.
    await this.#ended;
  }

  finish(frames: readonly string[]): void {
    this.#answer.status(TASK_STATE.canceled, inOrder([...this.#lateFrames, ...frames]));
    this.#end();
  }
}

/**
 * Creates an agent executor for the A2A SDK that passes frames to an endpoint or another handler of frames. A `req` creates a task; `done`
 * completes it; `fail` fails it, or rejects it (E5001, E5002). Each frame of the schema ST is one artifact update; `ack` is "working",
 * and a final `wait` is "input required". A `cancel` frame and `cancelTask` abort the handler's signal and end the task as "canceled", with the
 * frames that the handler returns within a second.
 *
 * Clients that send frames as files (A2A 0.3) get files as answers.
 *
 * Source: draft-benzing-accp-00, section 11.4.
 *
 * @throws TypeError if an option is invalid
 * @example
 * new DefaultRequestHandler(card, new InMemoryTaskStore(), accpExecutor(endpoint));
 */
export function accpExecutor(handle: FrameHandler | Endpoint, options: ExecutorOptions = {}): FrameExecutor {
  const handler = typeof handle === 'function' ? handle : handle?.handler;
  if (typeof handler !== 'function') throw new TypeError('The handler must be an endpoint or a function');
  const { onError } = options;
  const agent = checkAgentName(options.agent ?? BINDING_AGENT);
  const tasks = new Map<string, RunningTask>();
  /** Tasks by chain: a client that waits for an answer does not know the task yet. */
  const chains = new Map<string, RunningTask>();

  const execute = async (context: ExecutionContext, bus: EventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = context;
    const legacy = userMessage.parts.some(({ content }) => content?.$case === 'raw');
    const artifacts = task?.artifacts.map(({ artifactId }) => artifactId);
    const answer = new TaskAnswer({ taskId, contextId }, bus, { legacy }, artifacts);
    const running = tasks.get(taskId) ?? new RunningTask(answer);
    tasks.set(taskId, running);
    // A subscriber of a running task already has the task, and accepts no other.
    if (running.isIdle) bus.publish({ kind: 'task', data: task ?? newTask(context) });
    const controller = running.begin();
    const { signal } = controller;
    const own: string[] = [];
    let frame = '';
    let target: RunningTask | undefined;
    let cancelled: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      cancelled ??= target?.cancel(controller);
      await cancelled;
      target?.finish(answer.takeHeld());
    };
    try {
      const frames = framesIn(userMessage.parts);
      if (frames.length === 0) throw new NoFrameError();
      for (frame of frames) {
        const head = readHead(frame);
        const chain = `${contextId} ${head?.cid ?? head?.mid}`;
        const isCancel = head?.intent === 'cancel';
        if (isCancel) target = task === undefined ? chains.get(chain) : running;
        else if (!chains.has(chain)) {
          chains.set(chain, running);
          own.push(chain);
        }
        const result = handler(frame, { signal });
        // The handler gets the frame first: its error names the chain.
        if (isCancel) cancelled = target?.cancel(controller);
        await answer.publish(await result);
        // The frame may have overtaken the request that it cancels.
        if (isCancel) target ??= chains.get(chain);
      }
      await end();
      if (signal.aborted || target === running) return;
      // The frames of both answers are sent in the same status, so that they keep their order.
      if (target !== undefined) answer.status(TASK_STATE.completed, []);
      else answer.finish();
    } catch (thrown) {
      const isCancelled = signal.aborted || target === running;
      if (signal.aborted) notifyListener(() => onError?.(thrown, frame));
      else if (isCancelled) answer.hold(failureOf(thrown, frame));
      await end();
      if (!isCancelled) answer.status(TASK_STATE.failed, failureOf(thrown, frame));
    } finally {
      for (const chain of own) chains.delete(chain);
      if (signal.aborted) await running.endCancelled(controller, answer.takeHeld());
      running.end(controller);
      if (running.isIdle && tasks.get(taskId) === running) tasks.delete(taskId);
    }
  };

  const failureOf = (thrown: unknown, frame: string): readonly string[] => {
    if (thrown instanceof NoFrameError)
      return [bareErrorFrame('E1001', 'The message does not contain an ACCP frame.', null, agent)];
    notifyListener(() => onError?.(thrown, frame));
    // An error frame is never answered with an error frame.
    if (hasErrorSchema(frame)) return [];
    return [bareErrorFrame('E9999', 'The frame could not be processed.', readHead(frame), agent)];
  };

  const cancelTask = async (taskId: string, bus: EventBus): Promise<void> => {
    const running = tasks.get(taskId) ?? new RunningTask(new TaskAnswer({ taskId, contextId: '' }, bus, {}));
    await running.cancel();
    running.finish([]);
  };

  return { execute, cancelTask };
}

function newTask({ taskId, contextId, userMessage }: ExecutionContext): Task {
  const status = { state: TASK_STATE.submitted, message: undefined, timestamp: new Date().toISOString() };
  return { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined };
}

class NoFrameError extends Error {}

type TaskIds = Pick<ExecutionContext, 'taskId' | 'contextId'>;

/** Publishes frames as they are made. Frames that end the task are held back until the answer ends, since nothing is delivered after them. */
class TaskAnswer {
  readonly #ids: TaskIds;
  readonly #bus: EventBus;
  readonly #options: PartOptions;
  readonly #artifacts: Set<string>;
  #held: string[] = [];
  #state: number | undefined;
  /** If true, the held frames only end a stream. */
  #isStreamEnd = false;
  #last: { readonly role: string; readonly frame: string } | undefined;

  constructor(ids: TaskIds, bus: EventBus, options: PartOptions, artifacts: Iterable<string> = []) {
    this.#ids = ids;
    this.#bus = bus;
    this.#options = options;
    this.#artifacts = new Set(artifacts);
  }

  async publish(answer: FrameAnswer): Promise<void> {
    if (typeof answer === 'string') this.#add(answer);
    else if (answer !== null) for await (const frame of answer) this.#add(frame);
  }

  takeHeld(): readonly string[] {
    return this.#held.splice(0);
  }

  hold(frames: readonly string[]): void {
    this.#held.push(...frames);
  }

  #add(frame: string): void {
    if (typeof frame !== 'string' || frame === '') throw new TypeError('The handler must return frames');
    const head = readHead(frame);
    const role = roleOf(head);
    if (role === 'final' || role === 'end') {
      const isEnd = role === 'end';
      if (!isEnd && this.#isStreamEnd) this.#release();
      if (this.#state === undefined) this.#isStreamEnd = isEnd;
      if (!isEnd || this.#state === undefined) this.#state = isEnd ? TASK_STATE.completed : stateAfter(frame, head!);
      this.#held.push(frame);
      return;
    }
    if (this.#isStreamEnd) this.#release();
    if (this.#state !== undefined) {
      this.#held.push(frame);
      return;
    }
    this.#last = { role, frame };
    if (role === 'chunk') this.#publishChunk(frame, head?.cid ?? this.#ids.taskId);
    else this.status(TASK_STATE.working, [frame]);
  }

  /** Publishes the held frames: the end of a stream was not the end of the answer. */
  #release(): void {
    this.status(TASK_STATE.working, this.#held);
    this.#held = [];
    this.#state = undefined;
    this.#isStreamEnd = false;
  }

  #publishChunk(frame: string, artifactId: string): void {
    const append = this.#artifacts.has(artifactId);
    this.#artifacts.add(artifactId);
    const parts = [framePart(frame, this.#options)];
    this.#bus.publish({
      kind: 'artifactUpdate',
      data: {
        ...this.#ids,
        artifact: { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] },
        append,
        lastChunk: isFinalChunk(payloadOf(frame)),
        metadata: undefined,
      },
    });
  }

  /** Ends the task, unless it waits for input or continues. */
  finish(): void {
    if (this.#state !== undefined) this.status(this.#state, this.#held);
    else if (this.#last?.role === 'wait') this.status(TASK_STATE.inputRequired, [this.#last.frame]);
    else if (this.#last?.role !== 'ack') this.status(TASK_STATE.completed, []);
  }

  status(state: number, frames: readonly string[]): void {
    const { taskId, contextId } = this.#ids;
    const [first] = frames;
    const message =
      first === undefined
        ? undefined
        : messageOf(frames, readHead(first), { role: ROLE.agent, taskId, contextId }, this.#options);
    const status = { state, message, timestamp: new Date().toISOString() };
    this.#bus.publish({ kind: 'statusUpdate', data: { taskId, contextId, status, metadata: undefined } });
  }
}

/**
 * The effect of a frame on its task.
 *
 * - `chunk`: a part of an artifact
 * - `wait`: the task needs input, if nothing follows
 * - `ack`: the task continues, and the answer ends for now
 * - `note`: a message of the working task
 * - `end`: ends a stream, and the task if nothing follows
 * - `final`: ends the task
 */
type FrameRole = 'chunk' | 'wait' | 'ack' | 'note' | 'end' | 'final';

/** Returns the role of a frame. A text that is not a frame does not end a task. */
function roleOf(head: FrameHead | null): FrameRole {
  if (head === null) return 'note';
  const { intent, schema } = head;
  if (intent === 'done' || intent === 'fail' || isErrorHead(head)) return 'final';
  if (intent === 'end') return schema === 'ST' ? 'chunk' : 'end';
  if (intent === 'stream' || schema === 'ST') return 'chunk';
  return intent === 'wait' || intent === 'ack' ? intent : 'note';
}

/** Errors with which an agent rejects a task (section 3.6, Table 6). */
const REFUSALS: ReadonlySet<string | undefined> = new Set(['E5001', 'E5002']);

function stateAfter(frame: string, head: FrameHead): number {
  if (head.intent !== 'fail' && !isErrorHead(head)) return TASK_STATE.completed;
  return REFUSALS.has(textOf(payloadOf(frame), 'code')) ? TASK_STATE.rejected : TASK_STATE.failed;
}
