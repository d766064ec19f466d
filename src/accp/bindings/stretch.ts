/** A source that never waits, with a reader as fast, would leave nobody else a turn. */

/** Frames that are sent at a stretch. */
const LENGTH = 128;

export class Stretch {
  #given = 0;

  /** One more frame is given. @returns at the end of a stretch, what to wait for: meanwhile everything else gets its turn */
  next(): Promise<void> | undefined {
    return ++this.#given % LENGTH === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : undefined;
  }
}
