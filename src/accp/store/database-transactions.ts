/**
 * Group commit: the changes of many sessions in one transaction. A transaction costs more than the changes of a frame, and may wait for
 * the disk.
 */

import { nextTurn } from '../../async/timers.js';
import type { Database } from '../../storage/database.js';
import { isThenable } from '../../text/guards.js';
import { StoreError } from '../../text/store-error.js';

/** Runs a step, and converts errors to StoreErrors. */
type Attempt = <T>(step: () => T) => T;

/** A function that ends an endpoint whose changes were rolled back after their calls had returned. */
type Lost = (error: StoreError) => void;

/** A group whose transaction is open. */
interface OpenGroup {
  /** The endpoints with changes in the transaction. */
  readonly changed: Set<Lost>;
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

  /** Runs a function with those of other callers in one transaction, in the next turn of the event loop. */
  group<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const run = (): (() => void) => {
        try {
          const value = work();
          if (isThenable(value)) throw new TypeError('the function of a group commit must be synchronous');
          return () => resolve(value);
        } catch (thrown) {
          return () => reject(thrown);
        }
      };
      if (this.#tasks.push({ run, reject }) === 1) nextTurn(() => this.#runGroup());
    });
  }

  #runGroup(): void {
    const tasks = this.#tasks;
    this.#tasks = [];
    const group: OpenGroup = { changed: new Set(), failure: undefined };
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
