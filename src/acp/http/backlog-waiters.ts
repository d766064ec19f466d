/** Those who wait until a backlog is small enough. */
export class BacklogWaiters {
  #waiting: { readonly upTo: number; readonly resolve: () => void }[] = [];

  /** The number of those who wait. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Resolves when the backlog is not larger than `upTo`. */
  wait(upTo: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ upTo, resolve }));
  }

  /** Resolves for those who wait for a backlog as small as this one. */
  release(backlog: number): void {
    const released = this.#waiting.filter(({ upTo }) => backlog <= upTo);
    this.#waiting = this.#waiting.filter(({ upTo }) => backlog > upTo);
    for (const { resolve } of released) resolve();
  }
}
