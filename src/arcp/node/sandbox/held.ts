import { ArcpError } from '../../protocol/errors.js';

/** What a tool holds of something, by name; so many at once. */
export class Held<T> {
  readonly #what: string;
  readonly #most: number;
  readonly #all = new Map<string, T>();

  constructor(what: string, most: number) {
    this.#what = what;
    this.#most = most;
  }

  /** @throws ArcpError `RESOURCE_EXHAUSTED` where there are too many already */
  assertRoom(): void {
    if (this.#all.size < this.#most) return;
    throw new ArcpError('RESOURCE_EXHAUSTED', `A sandboxed tool has at most ${this.#most} of ${this.#what} at once`, {
      retryable: false,
    });
  }

  /** Another of the name is not held any more. */
  add(name: string, held: T): void {
    this.#all.set(name, held);
  }

  /** @throws ArcpError `NOT_FOUND` */
  get(name: string): T {
    const found = this.#all.get(name);
    if (found === undefined) throw new ArcpError('NOT_FOUND', `There is no such ${this.#what}`);
    return found;
  }

  /** Gives it away. @throws ArcpError `NOT_FOUND` */
  take(name: string): T {
    const found = this.get(name);
    this.#all.delete(name);
    return found;
  }
}
