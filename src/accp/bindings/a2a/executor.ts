/** The server's side of ACCP over A2A (draft-benzing-accp-00, section 11.4). */

import { safely } from '../../../bindings/safely.js';
import { checkAgentName } from '../../session/names.js';
import type { Endpoint } from '../endpoint.js';
import { BINDING_AGENT, bareErrorFrame } from '../error-frame.js';
import { type FrameHandler, hasErrorSchema, readHead } from '../frames.js';
import { framesIn } from './parts.js';
import { type EventBus, type ExecutionContext, type FrameExecutor, TASK_STATE, type Task } from './sdk-shapes.js';
import { TaskAnswer } from './task-answer.js';

export interface ExecutorOptions {
  /** The agent of error frames about what never came to the handler. @default 'accp' */
  readonly agent?: string | undefined;
  /** Told what the handler threw; the client is told of it by an error frame with E9999. */
  readonly failed?: ((thrown: unknown, frame: string) => void) | undefined;
}

/** What is under way for one task. */
class Running {
  readonly contextId: string;
  readonly #controllers = new Set<AbortController>();
  #cancelled: Promise<void> | undefined;

  constructor(contextId: string) {
    this.contextId = contextId;
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

  /** Aborts all but one; what they wait for then, before they are over, is that the task has been told to be cancelled. */
  cancel(told: Promise<void>, but?: AbortController): void {
    this.#cancelled = told;
    for (const controller of this.#controllers) if (controller !== but) controller.abort();
  }

  /** The task's events end with the first execution that is over. */
  cancelled(): Promise<void> | undefined {
    return this.#cancelled;
  }
}

/**
 * An agent executor of the A2A SDK whose work is done by an endpoint, or by any handler of frames. A `req` makes a task; `done`
 * completes it; `fail` fails it, or rejects it (E5001, E5002); each frame of the schema ST is one artifact update; `ack` is "working",
 * `wait` at the end "input required". A `cancel` frame and `cancelTask` abort the handler's signal.
 *
 * Clients that send frames as files (A2A 0.3) are answered in files.
 *
 * Source: draft-benzing-accp-00, section 11.4.
 *
 * @throws TypeError on options that are none
 * @example
 * new DefaultRequestHandler(card, new InMemoryTaskStore(), accpExecutor(endpoint));
 */
export function accpExecutor(handle: FrameHandler | Endpoint, options: ExecutorOptions = {}): FrameExecutor {
  const handler = typeof handle === 'function' ? handle : handle?.handler;
  if (typeof handler !== 'function') throw new TypeError('An executor is made of an endpoint, or of a function');
  const { failed } = options;
  const agent = checkAgentName(options.agent ?? BINDING_AGENT);
  const running = new Map<string, Running>();

  const execute = async (context: ExecutionContext, bus: EventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = context;
    const legacy = userMessage.parts.some(({ content }) => content?.$case === 'raw');
    const artifacts = task?.artifacts.map(({ artifactId }) => artifactId);
    const answer = new TaskAnswer({ taskId, contextId }, bus, { legacy }, artifacts);
    const begun = running.get(taskId) ?? new Running(contextId);
    running.set(taskId, begun);
    // Whoever listens to what is under way has the task already, and takes no other.
    if (begun.isIdle) bus.publish({ kind: 'task', data: task ?? newTask(context) });
    const controller = begun.begin();
    const { signal } = controller;
    let frame = '';
    let told: (() => void) | undefined;
    try {
      const frames = framesIn(userMessage.parts);
      if (frames.length === 0) throw new NoFrame();
      for (frame of frames) {
        // A task that is there, and not only the one that the frame has just made.
        if (task !== undefined && readHead(frame)?.intent === 'cancel') {
          begun.cancel(new Promise((resolve) => (told = resolve)), controller);
        }
        await answer.take(await handler(frame, { signal }), signal);
        if (signal.aborted) break;
      }
      if (!signal.aborted) answer.finish(told === undefined ? undefined : TASK_STATE.canceled);
    } catch (thrown) {
      // Whoever has aborted it tells the client.
      if (!signal.aborted) answer.status(TASK_STATE.failed, failureOf(thrown, frame));
      else safely(() => failed?.(thrown, frame));
    } finally {
      told?.();
      if (signal.aborted) await begun.cancelled();
      begun.end(controller);
      if (begun.isIdle && running.get(taskId) === begun) running.delete(taskId);
    }
  };

  const failureOf = (thrown: unknown, frame: string): readonly string[] => {
    if (thrown instanceof NoFrame) return [bareErrorFrame('E1001', 'The message has no ACCP frame.', null, agent)];
    safely(() => failed?.(thrown, frame));
    // An error frame is never answered by another.
    if (hasErrorSchema(frame)) return [];
    return [bareErrorFrame('E9999', 'The frame could not be processed.', readHead(frame), agent)];
  };

  const cancelTask = async (taskId: string, bus: EventBus): Promise<void> => {
    const begun = running.get(taskId);
    begun?.cancel(Promise.resolve());
    const place = { taskId, contextId: begun?.contextId ?? '' };
    new TaskAnswer(place, bus, {}).status(TASK_STATE.canceled, []);
  };

  return { execute, cancelTask };
}

function newTask({ taskId, contextId, userMessage }: ExecutionContext): Task {
  const status = { state: TASK_STATE.submitted, message: undefined, timestamp: new Date().toISOString() };
  return { id: taskId, contextId, status, artifacts: [], history: [userMessage], metadata: undefined };
}

/** What was sent holds nothing that a handler could be told. */
class NoFrame extends Error {}
