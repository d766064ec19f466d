/** Many small commits as one transaction: most of what a transaction costs, it costs once. */

interface Waiting<C, R> {
  readonly commit: C;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export interface Steps<C, R> {
  readonly transaction: (work: () => R[]) => R[];
  readonly apply: (commit: C) => R;
  /** The error comes from one commit and does not concern the others. */
  readonly isOfOne: (error: unknown) => boolean;
}

/** Bounded, since a transaction blocks this and other processes. */
const LARGEST = 256;

/** Commits everything of one turn of the event loop in one transaction. If one commit fails it, each gets its own. */
export class GroupCommit<C, R> {
  readonly #steps: Steps<C, R>;
  #waiting: Waiting<C, R>[] = [];
  #isScheduled = false;

  constructor(steps: Steps<C, R>) {
    this.#steps = steps;
  }

  add(commit: C): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ commit, resolve, reject });
      this.#schedule();
    });
  }

  flush(): void {
    while (this.#waiting.length > 0) this.#flushSome();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#flushSome();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  #flushSome(): void {
    const group = this.#waiting.splice(0, LARGEST);
    if (group.length === 0) return;
    let results: R[];
    try {
      results = this.#steps.transaction(() => group.map(({ commit }) => this.#steps.apply(commit)));
    } catch (error) {
      if (group.length > 1 && this.#steps.isOfOne(error)) for (const one of group) this.#alone(one);
      else for (const { reject } of group) reject(error);
      return;
    }
    for (const [at, { resolve }] of group.entries()) resolve(results[at]!);
  }

  #alone({ commit, resolve, reject }: Waiting<C, R>): void {
    try {
      resolve(this.#steps.transaction(() => [this.#steps.apply(commit)])[0]!);
    } catch (error) {
      reject(error);
    }
  }
}
