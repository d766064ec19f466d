/** What comes back for one message (draft-benzing-accp-00, section 11.4). */

import { readHead } from '../frames.js';
import { A2aBindingError } from './errors.js';
import { inOrder } from './in-order.js';
import { framesIn } from './parts.js';
import {
  type A2aMessage,
  type AnyPart,
  type FrameClient,
  type StreamResponse,
  TASK_STATE,
  type Task,
  TERMINAL,
} from './sdk-shapes.js';
import { KnownTask, noteTask } from './task-map.js';

/** States in which a task waits for the client. */
const INTERRUPTED: ReadonlySet<number> = new Set([TASK_STATE.inputRequired, TASK_STATE.authRequired]);

/** Reads what comes back for one message. */
export class Reading {
  readonly #client: FrameClient;
  readonly #cid: string | undefined;
  /** The identifier of what was sent. */
  readonly #asked: string;
  #known: KnownTask | undefined;
  #isBegun = false;
  #hasEnded = false;
  #count = 0;
  /** What the agent said that is no frame. */
  #said: string | undefined;

  /** The task that the message was about. */
  readonly #first: string | undefined;

  constructor(client: FrameClient, asked: string, cid: string | undefined, known: KnownTask | undefined) {
    this.#client = client;
    this.#asked = asked;
    this.#cid = cid;
    this.#known = known;
    this.#first = known?.taskId;
  }

  /** Whether anything has come. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Whether no more events are due behind the last one. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Whether the answer is of another task than the one that the message was about. */
  get isAnew(): boolean {
    return this.#known?.taskId !== this.#first;
  }

  event({ payload }: StreamResponse): readonly string[] {
    this.#isBegun = true;
    const frames = this.#framesOf({ payload });
    this.#hasEnded = this.#isEnd(payload, frames);
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

  /** A task that is taken up again comes first with the state that it had, and with nothing new. What ends with `ack` goes on later. */
  #isEnd(payload: StreamResponse['payload'], frames: readonly string[]): boolean {
    if (payload?.$case === 'message' || TERMINAL.has(this.#known?.state ?? 0)) return true;
    if (payload?.$case !== 'statusUpdate' && (payload?.$case !== 'task' || frames.length === 0)) return false;
    const { state = 0, message } = payload.value.status ?? {};
    const last = framesIn(message?.parts ?? []).at(-1);
    return INTERRUPTED.has(state) || (last !== undefined && readHead(last)?.intent === 'ack');
  }

  /** @throws A2aBindingError where the events have ended, and the task has not */
  checkEnded(): void {
    if (!this.#hasEnded) throw new A2aBindingError('truncated', 'The answer ends before its task.');
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
