/** Where a client stands, kept from time to time. */
import type { Cursor, CursorStore } from './types.js';

const SAVE_EVERY = 100;

export class CursorWriter {
  readonly #store: CursorStore | undefined;
  readonly #onError: (error: unknown) => void;
  #cursor: Partial<Cursor>;
  #save: ReturnType<typeof setTimeout> | undefined;

  constructor(store: CursorStore | undefined, cursor: Cursor | undefined, onError: (error: unknown) => void) {
    this.#store = store;
    this.#cursor = cursor ?? {};
    this.#onError = onError;
  }

  get position(): Partial<Cursor> {
    return this.#cursor;
  }

  update(to: Partial<Cursor>): void {
    this.#cursor = { ...this.#cursor, ...to };
    if (this.#store !== undefined) this.#save ??= setTimeout(() => void this.saveNow(), SAVE_EVERY);
  }

  async saveNow(): Promise<void> {
    clearTimeout(this.#save);
    this.#save = undefined;
    const { sessionId, resumeToken, lastMessageId } = this.#cursor;
    if (sessionId === undefined) return;
    try {
      await this.#store?.save({ sessionId, resumeToken, lastMessageId });
    } catch (error) {
      this.#onError(error);
    }
  }
}
