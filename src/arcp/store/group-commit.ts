/** Group commit: many small commits in one transaction, whose costs are mostly fixed. */

interface PendingCommit<C, R> {
  readonly commit: C;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export interface GroupCommitOptions<C, R> {
  readonly transaction: (work: () => R[]) => R[];
  readonly apply: (commit: C) => R;
  /** Returns whether an error comes from one commit, so that the others can be committed. */
  readonly isSingleCommitError: (error: unknown) => boolean;
}

/** The maximum number of commits per transaction, which blocks this and other processes. */
const MAX_GROUP = 256;

/** Commits all commits of one turn of the event loop in one transaction. If one of them fails, each gets its own transaction. */
export class GroupCommit<C, R> {
  readonly #options: GroupCommitOptions<C, R>;
  #pending: PendingCommit<C, R>[] = [];
  #isScheduled = false;

  constructor(options: GroupCommitOptions<C, R>) {
    this.#options = options;
  }

  add(commit: C): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ commit, resolve, reject });
      this.#schedule();
    });
  }

  flush(): void {
    while (this.#pending.length > 0) this.#flushGroup();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flushGroup();
      if (this.#pending.length > 0) this.#schedule();
    });
  }

  #flushGroup(): void {
    const group = this.#pending.splice(0, MAX_GROUP);
    if (group.length === 0) return;
    let results: R[];
    try {
      results = this.#options.transaction(() => group.map(({ commit }) => this.#options.apply(commit)));
    } catch (error) {
      if (group.length > 1 && this.#options.isSingleCommitError(error)) for (const one of group) this.#commitAlone(one);
      else for (const { reject } of group) reject(error);
      return;
    }
    for (const [index, { resolve }] of group.entries()) resolve(results[index]!);
  }

  #commitAlone({ commit, resolve, reject }: PendingCommit<C, R>): void {
    try {
      resolve(this.#options.transaction(() => [this.#options.apply(commit)])[0]!);
    } catch (error) {
      reject(error);
    }
  }
}
