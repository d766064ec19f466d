/** Bounds how much garbage is answered. */

/** So many within so long end a connection. */
const MOST = 20;
const WINDOW_MS = 10_000;

export class FaultWindow {
  #times: number[] = [];

  /** @returns whether it was one too many */
  add(now: number): boolean {
    this.#times = this.#times.filter((time) => now - time < WINDOW_MS);
    this.#times.push(now);
    return this.#times.length >= MOST;
  }
}
