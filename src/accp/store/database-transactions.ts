/**
 * Group commit: the changes of many sessions in one transaction. A transaction costs more than the changes of a frame, and may wait for
 * the disk.
 */

import { ignoreRejection } from '../../async/listeners.js';
import { nextTurn } from '../../async/timers.js';
import type { Database } from '../../storage/database.js';
import { isThenable } from '../../text/guards.js';
import { StoreError } from '../../text/store-error.js';

/** The maximum number of functions per transaction, which blocks this and other processes. */
const MAX_GROUP = 256;

/** Runs a step, and converts errors to StoreErrors. */
type Attempt = <T>(step: () => T) => T;

/** A function that ends an endpoint whose changes were rolled back after their calls had returned. */
type Lost = (error: StoreError) => void;

/** A group whose transaction is open. */
interface OpenGroup {
  /** The endpoints with changes in the transaction. */
  readonly changed: Set<Lost>;
  /** The steps that follow the transaction. */
  readonly afterwards: (() => void)[];
  /** The error of a statement, after which the database may have rolled the transaction back. */
  failure: unknown;
}

interface Task {
  /** Runs the function; returns a function that settles its promise. */
  readonly run: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** The transactions of one database connection. */
export class Transactions {
  readonly #database: Database;
  readonly #attempt: Attempt;
  #open: OpenGroup | null = null;
  #tasks: Task[] = [];

  constructor(database: Database, attempt: Attempt) {
    this.#database = database;
    this.#attempt = attempt;
  }

  /** Runs a step in a transaction: in that of the group, if one is open. Throws StoreError if the step fails. */
  run<T>(step: () => T, lost: Lost): T {
    const group = this.#open;
    return this.#attempt(() => {
      if (group === null) return this.#database.transaction(step);
      group.changed.add(lost);
      try {
        return step();
      } catch (thrown) {
        // A StoreError of a step, such as `taken`, precedes its changes.
        if (!(thrown instanceof StoreError)) group.failure ??= thrown;
        throw thrown;
      }
    });
  }

  /** Runs a step that cannot be part of a transaction: after that of the group, if one is open. */
  afterGroup(step: () => void): void {
    if (this.#open === null) step();
    else this.#open.afterwards.push(step);
  }

  /** Runs a function with those of other callers in one transaction, in the next turn of the event loop. */
  group<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = (): (() => void) => {
        try {
          const value = work();
          if (isThenable(value)) {
            // The caller gets the TypeError, and has no access to this promise.
            void ignoreRejection(Promise.resolve(value));
            throw new TypeError('the function of a group commit must be synchronous');
          }
          return () => resolve(value);
        } catch (thrown) {
          return () => reject(thrown);
        }
      };
      if (this.#tasks.push({ run, reject }) === 1) this.#schedule();
    });
  }

  #schedule(): void {
    nextTurn(() => {
      const tasks = this.#tasks.splice(0, MAX_GROUP);
      if (this.#tasks.length > 0) this.#schedule();
      const group: OpenGroup = { changed: new Set(), afterwards: [], failure: undefined };
      this.#runGroup(tasks, group);
      for (const step of group.afterwards) step();
    });
  }

  #runGroup(tasks: readonly Task[], group: OpenGroup): void {
    let settle: (() => void)[];
    try {
      settle = this.#attempt(() => this.#database.transaction(() => this.#runTasks(tasks, group)));
    } catch (thrown) {
      for (const lost of group.changed) lost(thrown as StoreError);
      for (const { reject } of tasks) reject(thrown);
      return;
    }
    for (const one of settle) one();
  }

  #runTasks(tasks: readonly Task[], group: OpenGroup): (() => void)[] {
    const settle: (() => void)[] = [];
    this.#open = group;
    try {
      for (const { run } of tasks) {
        settle.push(run());
        if (group.failure !== undefined) throw group.failure;
      }
    } finally {
      this.#open = null;
    }
    return settle;
  }
}
