/** Which messages have been seen (spec 003: "receivers MUST deduplicate by id"). */

/** So many ids are remembered: many more than a runtime sends again. */
const MOST = 20_000;

export class Seen {
  readonly #ids = new Set<string>();

  /** @returns whether it is new */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    if (this.#ids.size > MOST) {
      const [oldest] = this.#ids;
      this.#ids.delete(oldest!);
    }
    return true;
  }
}
