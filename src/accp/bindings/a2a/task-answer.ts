/** One answer of a handler as the events of a task (draft-benzing-accp-00, section 11.4). */
import { type FrameAnswer, readHead } from '../frames.js';
import { messageOf } from './message.js';
import { framePart, type PartOptions } from './parts.js';
import { type EventBus, ROLE, TASK_STATE } from './sdk-shapes.js';
import { isFinalChunk, roleOf, stateAfter } from './task-events.js';

export interface TaskPlace {
  readonly taskId: string;
  readonly contextId: string;
}

/**
 * Publishes frames as they come. What ends the task is held back until the answer is over: it may have several frames, and nothing
 * is delivered after it.
 */
export class TaskAnswer {
  readonly #place: TaskPlace;
  readonly #bus: EventBus;
  readonly #options: PartOptions;
  readonly #artifacts: Set<string>;
  #held: string[] = [];
  #state: number | undefined;
  /** Whether what is held is no more than the end of a stream. */
  #isStreamEnd = false;
  #last: { readonly role: string; readonly frame: string } | undefined;

  /** @param artifacts those that the task has already */
  constructor(place: TaskPlace, bus: EventBus, options: PartOptions, artifacts: Iterable<string> = []) {
    this.#place = place;
    this.#bus = bus;
    this.#options = options;
    this.#artifacts = new Set(artifacts);
  }

  /** Takes frames until there are no more. */
  async take(answer: FrameAnswer): Promise<void> {
    if (answer === null) return;
    if (typeof answer === 'string') {
      this.#add(answer);
      return;
    }
    for await (const frame of answer) this.#add(frame);
  }

  /** What is held back, for somebody else to publish. */
  takeHeld(): readonly string[] {
    return this.#held.splice(0);
  }

  hold(frames: readonly string[]): void {
    this.#held.push(...frames);
  }

  #add(frame: string): void {
    if (typeof frame !== 'string' || frame === '') throw new TypeError('A handler answers with frames');
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
    if (role === 'chunk') this.#publishChunk(frame, head?.cid ?? this.#place.taskId);
    else this.status(TASK_STATE.working, [frame]);
  }

  /** The end of one stream was not the end of the answer. */
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
        ...this.#place,
        artifact: { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] },
        append,
        lastChunk: isFinalChunk(frame),
        metadata: undefined,
      },
    });
  }

  /** The answer is over: the task ends, waits for others, or goes on. */
  finish(): void {
    if (this.#state !== undefined) this.status(this.#state, this.#held);
    else if (this.#last?.role === 'wait') this.status(TASK_STATE.inputRequired, [this.#last.frame]);
    else if (this.#last?.role !== 'ack') this.status(TASK_STATE.completed, []);
  }

  /** @param frames the message of the status; none for a status without one */
  status(state: number, frames: readonly string[]): void {
    const { taskId, contextId } = this.#place;
    const [first] = frames;
    const message =
      first === undefined
        ? undefined
        : messageOf(frames, readHead(first), { role: ROLE.agent, taskId, contextId }, this.#options);
    const status = { state, message, timestamp: new Date().toISOString() };
    this.#bus.publish({ kind: 'statusUpdate', data: { taskId, contextId, status, metadata: undefined } });
  }
}
