/** Which chain of requests is which task, and what of it was given already (draft-benzing-accp-00, section 11.4). */

import { framesIn } from './parts.js';
import { type A2aMessage, type Artifact, type ArtifactUpdate, ROLE, type Task } from './sdk-shapes.js';

/** What a client knows of one task. */
export class KnownTask {
  readonly taskId: string;
  readonly contextId: string;
  state = 0;
  /** Parts of artifacts that were given. */
  readonly #parts = new Map<string, number>();
  /** Identifiers of messages that were given. */
  readonly #messages = new Set<string>();

  constructor(taskId: string, contextId: string) {
    this.taskId = taskId;
    this.contextId = contextId;
  }

  /** The frames of a message that was not given before. */
  take(message: A2aMessage | undefined): readonly string[] {
    if (message === undefined || message.role === ROLE.user || this.#messages.has(message.messageId)) return [];
    this.#messages.add(message.messageId);
    return framesIn(message.parts);
  }

  /** The frames of an update. */
  takeUpdate({ artifact, append }: ArtifactUpdate): readonly string[] {
    if (artifact === undefined) return [];
    const before = append ? (this.#parts.get(artifact.artifactId) ?? 0) : 0;
    this.#parts.set(artifact.artifactId, before + artifact.parts.length);
    return framesIn(artifact.parts);
  }

  /**
   * The frames of a whole task that were not given before: of artifacts, then of messages.
   *
   * @param since the identifier of the message that is answered: what was said before answers others
   */
  takeTask({ artifacts, history, status }: Task, since: string): readonly string[] {
    this.state = status?.state ?? this.state;
    const frames: string[] = [];
    for (const artifact of artifacts ?? []) frames.push(...this.#takeArtifact(artifact));
    const messages = history ?? [];
    const asked = messages.findIndex(({ messageId }) => messageId === since);
    messages.forEach((message, index) => {
      if (index > asked) frames.push(...this.take(message));
      else this.#messages.add(message.messageId);
    });
    frames.push(...this.take(status?.message));
    return frames;
  }

  #takeArtifact({ artifactId, parts }: Artifact): readonly string[] {
    const before = this.#parts.get(artifactId) ?? 0;
    this.#parts.set(artifactId, parts.length);
    return framesIn(parts.slice(before));
  }
}

/** So many chains are known to each client; those that were used least recently are forgotten. */
const MAX_TASKS = 1024;

const TASKS = new WeakMap<object, Map<string, KnownTask>>();

/** The task that a client has for a chain. */
export function taskOf(client: object, cid: string): KnownTask | undefined {
  return TASKS.get(client)?.get(cid);
}

export function noteTask(client: object, cid: string, task: KnownTask): void {
  let tasks = TASKS.get(client);
  if (tasks === undefined) {
    tasks = new Map();
    TASKS.set(client, tasks);
  }
  tasks.delete(cid);
  tasks.set(cid, task);
  if (tasks.size > MAX_TASKS) tasks.delete(tasks.keys().next().value!);
}
