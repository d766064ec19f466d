/** A store in a SQLite file that another thread has opened. */
import { Worker } from 'node:worker_threads';
import { deferred } from '../../async/listeners.js';
import type { SqliteOptions } from '../../storage/open.js';
import { StoreError, type StoreReason } from '../../text/store-error.js';
import { type Opening, openingOf } from './sqlite-clock.js';
import type { ArcpStore, StoreChange } from './store.js';

/** The settings of the thread. */
export interface ThreadSetup {
  readonly file: string;
  readonly options: Omit<SqliteOptions, 'driver'> & {
    readonly busyTimeoutMs: number;
    readonly allowReadOnly?: boolean | undefined;
  };
  readonly opening: Opening;
}

export type ThreadMethod = Exclude<keyof ArcpStore, 'now' | 'durable' | 'watch'>;

/** A call of a method. The thread is sent those of one turn of the event loop at once. */
export interface ThreadCall {
  readonly id: number;
  readonly method: ThreadMethod | 'watch';
  readonly args: readonly unknown[];
  /** The time of the store, in milliseconds since 1970. */
  readonly at: number;
}

/** A message of the thread: the result of a call, or a change by another process. */
export type ThreadAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: ThreadError }
  | { readonly change: StoreChange };

/** An error. Those of other classes are sent as they are. */
export type ThreadError =
  | {
      readonly reason: StoreReason;
      readonly message: string;
      readonly help?: string | undefined;
      readonly cause: unknown;
    }
  | { readonly thrown: unknown };

/** The id of the answer that the store is open, whose value is the number of milliseconds by which its clock is ahead. */
export const OPENED = 0;

/** The calls that change the data. */
const CHANGING: readonly string[] = ['commit', 'claimJobs', 'renewLeases', 'trim'] satisfies ThreadMethod[];

interface PendingCall {
  readonly method: ThreadCall['method'] | 'open';
  readonly resolve: (value: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Opens a file in a new thread. @param file an absolute path @param local the clock of this process, in milliseconds since 1970 */
export async function openInThread(
  file: string,
  options: ThreadSetup['options'],
  local: () => number,
): Promise<ArcpStore> {
  const store = new ThreadStore(file, options, local);
  await store.opened;
  return store;
}

class ThreadStore implements ArcpStore {
  readonly durable = true;
  readonly now: () => number;
  readonly opened: Promise<void>;
  readonly #file: string;
  readonly #worker: Worker;
  readonly #ended = deferred();
  readonly #pending = new Map<number, PendingCall>();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  #unsent: ThreadCall[] = [];
  #lastId = OPENED;
  #isWatching = false;
  /** The error of all later calls, after the end of the thread or the call of `close`. */
  #end: StoreError | undefined;

  constructor(file: string, options: ThreadSetup['options'], local: () => number) {
    this.#file = file;
    let ahead = 0;
    this.now = () => local() + ahead;
    const workerData: ThreadSetup = { file, options, opening: openingOf(local) };
    // Options such as --input-type are for the main program.
    this.#worker = new Worker(new URL('./sqlite-thread.js', import.meta.url), { workerData, execArgv: [] });
    let cause: unknown;
    this.#worker.on('message', (answers: readonly ThreadAnswer[]) => answers.forEach(this.#onAnswer));
    this.#worker.on('error', (error) => {
      cause = error;
    });
    this.#worker.on('exit', () => this.#onExit(cause));
    this.opened = new Promise<number>((resolve, reject) => {
      this.#pending.set(OPENED, { method: 'open', resolve, reject });
    }).then((value) => {
      ahead = value;
    });
  }

  readonly commit: ArcpStore['commit'] = (commit) => this.#call('commit', commit);
  readonly readEvents: ArcpStore['readEvents'] = (query) => this.#call('readEvents', query);
  readonly findEvent: ArcpStore['findEvent'] = (id) => this.#call('findEvent', id);
  readonly lastSequences: ArcpStore['lastSequences'] = (ids) => this.#call('lastSequences', ids);
  readonly readJob: ArcpStore['readJob'] = (id) => this.#call('readJob', id);
  readonly listJobs: ArcpStore['listJobs'] = (query) => this.#call('listJobs', query);
  readonly countQueued: ArcpStore['countQueued'] = (queue, max) => this.#call('countQueued', queue, max);
  readonly claimJobs: ArcpStore['claimJobs'] = (claim) => this.#call('claimJobs', claim);
  readonly msUntilDue: ArcpStore['msUntilDue'] = (queues) => this.#call('msUntilDue', queues);
  readonly renewLeases: ArcpStore['renewLeases'] = (renewal) => this.#call('renewLeases', renewal);
  readonly readRecord: ArcpStore['readRecord'] = (scope, key) => this.#call('readRecord', scope, key);
  readonly listRecords: ArcpStore['listRecords'] = (scope, options) => this.#call('listRecords', scope, options);
  readonly readStats: ArcpStore['readStats'] = () => this.#call('readStats');
  readonly trim: ArcpStore['trim'] = (policy) => this.#call('trim', policy);

  readonly watch: ArcpStore['watch'] = (onChange) => {
    if (!this.#isWatching) void this.#call('watch').catch(() => {});
    this.#isWatching = true;
    this.#listeners.add(onChange);
    return () => void this.#listeners.delete(onChange);
  };

  readonly close = async (): Promise<void> => {
    if (this.#end === undefined) {
      void this.#call('close').catch(() => {});
      this.#end = new StoreError('closed', 'The store is closed');
    }
    await this.#ended.promise;
  };

  #call<T>(method: ThreadCall['method'], ...args: readonly unknown[]): Promise<T> {
    if (this.#end !== undefined) return Promise.reject(this.#end);
    return new Promise<T>((resolve, reject) => {
      const id = ++this.#lastId;
      // The process must not end before the answer. The store itself does not keep it running.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { method, resolve, reject });
      if (this.#unsent.push({ id, method, args, at: this.now() }) === 1) setImmediate(() => this.#send());
    });
  }

  #send(): void {
    const calls = this.#unsent;
    this.#unsent = [];
    try {
      this.#worker.postMessage(calls);
    } catch {
      // Nothing was sent. The cause is an argument of one call, which must not fail the others.
      for (const call of calls) this.#sendAlone(call);
    }
  }

  #sendAlone(call: ThreadCall): void {
    try {
      this.#worker.postMessage([call]);
    } catch (cause) {
      const file = this.#file;
      const message = `${file}: an argument of ${call.method} cannot be sent to the thread of the store`;
      this.#take(call.id).reject(new StoreError('failed', message, { file, help: 'pass plain data only', cause }));
    }
  }

  /** Removes a pending call. */
  #take(id: number): PendingCall {
    const call = this.#pending.get(id)!;
    this.#pending.delete(id);
    // `close` waits for the end of the thread.
    if (this.#pending.size === 0 && this.#end === undefined) this.#worker.unref();
    return call;
  }

  readonly #onAnswer = (answer: ThreadAnswer): void => {
    if ('change' in answer) {
      for (const onChange of [...this.#listeners]) onChange(answer.change);
      return;
    }
    const call = this.#take(answer.id);
    if ('value' in answer) call.resolve(answer.value as never);
    else call.reject(errorOf(answer.error, this.#file));
  };

  #onExit(cause: unknown): void {
    const file = this.#file;
    const message = `${file}: the thread of the store has ended; open the file again`;
    const error = (reason: StoreReason): StoreError => new StoreError(reason, message, { file, cause });
    const errorOfPending = this.#end ?? error('unavailable');
    // The store does not recover: callers must not repeat their calls, as they do after `unavailable`.
    this.#end ??= error('closed');
    const unsent = new Set(this.#unsent.map(({ id }) => id));
    this.#unsent = [];
    for (const [id, { method, reject }] of this.#pending)
      reject(CHANGING.includes(method) && !unsent.has(id) ? error('outcome-unknown') : errorOfPending);
    this.#pending.clear();
    this.#ended.resolve();
  }
}

function errorOf(error: ThreadError, file: string): unknown {
  if ('thrown' in error) return error.thrown;
  const { reason, message, help, cause } = error;
  return new StoreError(reason, message, { file, help, cause });
}
