import { createRequire } from 'node:module';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { StoreError } from '../../text/store-error.js';
import { answerRequests, type SyncAnswer, type SyncRequest, type WorkerSetup } from './sync-worker.js';

/** The setup of a thread, without what each thread gets anew. */
export type CallerSetup = Omit<WorkerSetup, 'port' | 'signal'>;

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly signal: Int32Array;
}

/**
 * Blocks this thread until another one, which has the connection, has answered. Libraries such as synckit do the same, but for a file of their
 * own per program, and without an end of the thread.
 */
export class SyncCaller {
  readonly #setup: CallerSetup;
  #thread: Thread | undefined;

  constructor(setup: CallerSetup) {
    this.#setup = setup;
  }

  /**
   * Runs statements. Returns `undefined` if there is no answer before the deadline: the thread and its connection are then replaced.
   *
   * @param deadline a time of the monotonic clock in milliseconds
   */
  call(request: SyncRequest, deadline: number): SyncAnswer | undefined {
    const isNew = this.#thread === undefined;
    // The thread of the transaction ended, and with it the connection.
    if (isNew && request.continues) return lost();
    this.#thread ??= this.#start();
    const { port, signal } = this.#thread;
    const seen = Atomics.load(signal, 0);
    port.postMessage(request);
    for (;;) {
      const received = receiveMessageOnPort(port) as { readonly message: SyncAnswer } | undefined;
      if (received !== undefined) return received.message;
      const left = deadline - performance.now();
      if (left <= 0) break;
      Atomics.wait(signal, 0, seen, Math.min(left, 2 ** 31 - 1));
    }
    this.close();
    return undefined;
  }

  /** Ends the thread and its connection. A later call starts a new one. */
  close(): void {
    const thread = this.#thread;
    this.#thread = undefined;
    thread?.port.close();
    void thread?.worker.terminate();
  }

  #start(): Thread {
    const { port1: port, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(4));
    // Some compilers name functions by a helper of this name.
    const program = `const __name = (value) => value; (${answerRequests.toString()})(require);`;
    const worker = new Worker(program, {
      eval: true,
      // Options such as --input-type are for the main program.
      execArgv: [],
      workerData: { ...this.#setup, port: port2, signal },
      transferList: [port2],
    });
    worker.on('error', () => undefined);
    // A store that is not closed does not keep the process running.
    worker.unref();
    port.unref();
    return { worker, port, signal };
  }
}

function lost(): SyncAnswer {
  return { error: { message: 'The connection was lost', code: undefined }, step: 'statements', isLost: true };
}

/** Returns the first installed driver and its file. @throws StoreError `no-driver` if none is installed */
export function findDriver(wanted: 'postgres' | 'pg' | undefined): Pick<CallerSetup, 'driver' | 'file'> {
  const require = createRequire(import.meta.url);
  for (const driver of ['postgres', 'pg'] as const) {
    if (wanted !== undefined && driver !== wanted) continue;
    try {
      return { driver, file: require.resolve(driver) };
    } catch {
      // The next one may be installed.
    }
  }
  throw new StoreError('no-driver', 'No PostgreSQL driver is installed', {
    help: `Run npm install ${wanted ?? 'postgres'}.`,
  });
}

/** Blocks this thread for some milliseconds. */
export function sleep(delayMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
}

/** Returns options for TLS that can be passed to the thread. @throws TypeError if they have functions */
export function cloneable(tls: boolean | object | undefined): boolean | object | undefined {
  try {
    return structuredClone(tls);
  } catch (cause) {
    throw new TypeError('tls must not contain functions, since another thread uses it', { cause });
  }
}
