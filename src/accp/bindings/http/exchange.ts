/** One request, from the side that answers: whether whoever sent it is still there. */

export class Exchange {
  // Held on to: Node 20 may collect a request of which only the signal is held, and the signal is never aborted then.
  readonly #request: Request;
  readonly #controller = new AbortController();
  readonly #gone = (): void => this.abort();

  constructor(request: Request) {
    this.#request = request;
    if (request.signal.aborted) this.abort();
    else request.signal.addEventListener('abort', this.#gone);
  }

  /** Aborted when the request is, or when the response is left before its end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(): void {
    this.release();
    this.#controller.abort(new DOMException('The client has gone.', 'AbortError'));
  }

  /** The answer has been given. */
  release(): void {
    this.#request.signal.removeEventListener('abort', this.#gone);
  }
}
