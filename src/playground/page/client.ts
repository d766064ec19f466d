/** Calls of tasks in the worker. A task that takes too long ends with its worker, and the next one starts another. */
import type { TaskName, TaskReply, Tasks } from '../analysis/tasks.js';

/** Milliseconds after which a task is stopped, and those after which it is if newer input waits. */
const TIMEOUT_MS = 4_000;
const PATIENCE_MS = 1_000;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: number;
}

/** Anything that takes requests and posts replies: a worker, or a frame that has one. */
interface Port {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** Opens a port, with functions for its replies and for its failure. */
type Open = (receive: (reply: TaskReply) => void, fail: (message: string) => void) => Port;

/** A queue of requests to a port that is opened on demand. */
export class Client {
  readonly #open: Open;
  readonly #subject: string;
  readonly #onRestart: () => void;
  readonly #waiting = new Map<number, Waiting>();
  /** When the running tasks began, in milliseconds of the page. */
  readonly #busy = new Map<string, number>();
  readonly #next = new Map<string, () => Promise<void>>();
  #port: Port | null = null;
  #ids = 0;

  /** @param subject what takes too long if a task is stopped: `the text` */
  constructor(open: Open, subject: string, onRestart: () => void = () => {}) {
    this.#open = open;
    this.#subject = subject;
    this.#onRestart = onRestart;
  }

  /** Runs a task. @throws Error if the task fails or takes too long */
  call(task: string, input: unknown, timeoutMs = TIMEOUT_MS): Promise<unknown> {
    this.#port ??= this.#open(
      (reply) => this.#receive(reply),
      (message) => this.#restart(message),
    );
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#restart(`Stopped after ${timeoutMs / 1000} s: ${this.#subject} takes too long.`);
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#port!.post({ id, task, input });
    });
  }

  /** Runs a task with the latest input: while one runs, only the newest of the others waits. */
  latest(key: string, call: () => Promise<void>): void {
    const since = this.#busy.get(key);
    if (since !== undefined) {
      if (!this.#next.has(key)) setTimeout(() => this.#hurry(key, since), since + PATIENCE_MS - performance.now());
      this.#next.set(key, call);
      return;
    }
    this.#busy.set(key, performance.now());
    void call().finally(() => {
      this.#busy.delete(key);
      const next = this.#next.get(key);
      this.#next.delete(key);
      if (next !== undefined) this.latest(key, next);
    });
  }

  /** Stops a task that began then, if it still runs and newer input waits. */
  #hurry(key: string, since: number): void {
    if (this.#busy.get(key) === since && this.#next.has(key)) this.#restart(`Stopped: ${this.#subject} has changed.`);
  }

  #receive({ id, result, error }: TaskReply): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error));
  }

  #restart(message: string): void {
    this.#port?.close();
    this.#port = null;
    const stopped = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { timer, reject } of stopped) {
      clearTimeout(timer);
      reject(new Error(message));
    }
    this.#onRestart();
  }
}

/** A client of the worker, with typed tasks. */
export class TaskClient extends Client {
  constructor(onRestart: () => void) {
    super(
      (receive, fail) => {
        const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
        worker.onmessage = ({ data }: MessageEvent<TaskReply>) => receive(data);
        worker.onerror = () => fail('The worker could not be started.');
        return { post: (message) => worker.postMessage(message), close: () => worker.terminate() };
      },
      'the text',
      onRestart,
    );
  }

  run<Name extends TaskName>(
    task: Name,
    input: Tasks[Name]['input'],
    timeoutMs?: number,
  ): Promise<Tasks[Name]['result']> {
    return this.call(task, input, timeoutMs) as Promise<Tasks[Name]['result']>;
  }
}
