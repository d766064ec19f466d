/** What answers a batch: one array, when all of it has been processed (ACP, transports, "JSON-RPC Batch Messages"). */

/**
 * Collects the responses to the entries of one batch. An entry that gets no response, such as a notification, counts as well: the
 * array waits for it. Where there is nothing to say, nothing is sent, and never an empty array.
 */
export class BatchReply {
  readonly #responses: string[] = [];
  readonly #send: (text: string) => void;
  #open: number;

  /** @param entries how many will be {@link done} */
  constructor(entries: number, send: (text: string) => void) {
    this.#open = entries;
    this.#send = send;
  }

  /** One entry has been processed; `response` is its JSON, or `null` for none. */
  readonly done = (response: string | null): void => {
    if (response !== null) this.#responses.push(response);
    if (--this.#open === 0 && this.#responses.length > 0) this.#send(`[${this.#responses.join(',')}]`);
  };
}
