/** Calls of tasks in the worker. A task that takes too long ends with its worker, and the next one starts another. */
import type { TaskName, TaskReply, Tasks } from '../analysis/tasks.js';

/** Milliseconds after which a task is stopped. */
const TIMEOUT_MS = 4_000;

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: number;
  /** On the monotonic clock, in milliseconds. */
  readonly startedAt: number;
}

/** A task with the latest input, and what to do if it fails. */
interface Latest {
  readonly run: () => Promise<void>;
  readonly fail: (message: string) => void;
}

/** Anything that takes requests and posts replies: a worker, or a frame that has one. */
interface Port {
  readonly post: (message: unknown) => void;
  readonly close: () => void;
}

/** Opens a port, with functions for its replies and for its failure. */
type Open = (receive: (reply: TaskReply) => void, fail: (message: string) => void) => Port;

export interface ClientOptions {
  /** Called after the port was closed. */
  readonly onRestart?: () => void;
  /** The reason why a task takes too long, and what to do. */
  readonly tooLong: string;
  /** Milliseconds after which a task is stopped for a newer one. @default newer tasks wait */
  readonly patienceMs?: number;
}

/** The error of a task that was stopped for a newer one. */
class Replaced extends Error {}

/** A queue of requests to a port that is opened on demand. */
export class Client {
  readonly #open: Open;
  readonly #options: ClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #busy = new Set<string>();
  readonly #next = new Map<string, Latest>();
  #port: Port | null = null;
  #ids = 0;

  constructor(open: Open, options: ClientOptions) {
    this.#open = open;
    this.#options = options;
  }

  /** Runs a task. @throws Error if the task fails or takes too long */
  call(task: string, input: unknown, timeoutMs = TIMEOUT_MS): Promise<unknown> {
    this.#port ??= this.#open(
      (reply) => this.#receive(reply),
      (message) => this.#restart(new Error(message)),
    );
    const id = ++this.#ids;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#restart(new Error(`Stopped after ${timeoutMs / 1000} s: ${this.#options.tooLong}`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer, startedAt: performance.now() });
      this.#port!.post({ id, task, input });
    });
  }

  /** Runs a task with the latest input: while one runs, only the newest of the others waits. */
  latest(key: string, run: Latest['run'], fail: Latest['fail']): void {
    const latest = { run, fail };
    if (this.#busy.has(key)) {
      this.#next.set(key, latest);
      this.#makeWay();
      return;
    }
    this.#busy.add(key);
    void run()
      .catch((thrown: Error) => {
        if (!(thrown instanceof Replaced)) fail(thrown.message);
        // It waited behind the task that was stopped.
        else if (!this.#next.has(key)) this.#next.set(key, latest);
      })
      .finally(() => {
        this.#busy.delete(key);
        const next = this.#next.get(key);
        this.#next.delete(key);
        if (next !== undefined) this.latest(key, next.run, next.fail);
      });
  }

  /** Stops the task that runs as soon as the patience with it ends, if a newer one still waits then. */
  #makeWay(): void {
    const { patienceMs } = this.#options;
    const [running] = this.#waiting;
    if (patienceMs === undefined || running === undefined) return;
    const [id, { startedAt }] = running;
    const stop = (): void => {
      if (this.#waiting.has(id) && this.#next.size > 0)
        this.#restart(new Replaced('Stopped, since the text has changed.'));
    };
    setTimeout(stop, startedAt + patienceMs - performance.now());
  }

  #receive({ id, result, error }: TaskReply): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(new Error(error));
  }

  #restart(error: Error): void {
    this.#port?.close();
    this.#port = null;
    const stopped = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { timer, reject } of stopped) {
      clearTimeout(timer);
      reject(error);
    }
    this.#options.onRestart?.();
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
      { onRestart, tooLong: 'the text takes too long. Shorten it.' },
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
