import { abortableBody } from '../../async/abort.js';
import { ConnectionError } from '../errors.js';
import { Cookies } from './cookies.js';

/** A function like `fetch`. */
export type FetchLike = (
  url: string,
  request: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: AbortSignal;
    readonly credentials: 'include' | 'same-origin' | 'omit';
  },
) => Promise<Response>;

/** The requests of a client. */
export interface RequestSettings {
  readonly url: string;
  readonly fetch: FetchLike;
  /** The headers of all requests. Those of the transport replace them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: 'include' | 'same-origin' | 'omit';
}

/** A response with a status other than those of success. */
export class RefusedError extends ConnectionError {
  readonly status: number;
  /** The beginning of the body. */
  readonly body: string;

  constructor(what: string, status: number, body: string) {
    super('closed', `The server refused ${what} with ${status}${body === '' ? '.' : `: ${body}`}`);
    this.status = status;
    this.body = body;
  }
}

/** The length of the body of a refusal that is kept. */
const MAX_BODY = 1000;

/** Sends the requests of one connection, with its cookies. */
export class Requests {
  readonly #settings: RequestSettings;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #cookies: Cookies;
  readonly #aborter = new AbortController();

  /** @throws TypeError if a header is invalid */
  constructor(settings: RequestSettings) {
    this.#settings = settings;
    // Names are converted to lower case, so that none is sent twice.
    const { cookie, ...headers } = Object.fromEntries(new Headers(settings.headers));
    this.#headers = headers;
    this.#cookies = new Cookies(new URL(settings.url).pathname, cookie);
  }

  /** Aborts all requests, and those that follow. */
  abort(): void {
    this.#aborter.abort();
  }

  /** Is aborted with all requests. */
  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /**
   * Sends a request.
   *
   * @param signal aborts it instead of {@link abort}
   * @throws RefusedError if the status is not one of success
   */
  async send(
    method: string,
    headers: Record<string, string>,
    body?: string,
    signal: AbortSignal = this.#aborter.signal,
  ): Promise<Response> {
    const { url, fetch, credentials } = this.#settings;
    const cookie = this.#cookies.header();
    const response = await fetch(url, {
      method,
      headers: { ...this.#headers, ...(cookie === undefined ? {} : { cookie }), ...headers },
      ...(body === undefined ? {} : { body }),
      ...{ signal, credentials },
    });
    this.#cookies.store(response.headers);
    const abortable = new Response(abortableBody(response.body, signal), response);
    if (response.ok) return abortable;
    const text = await beginningOf(abortable).catch(() => '');
    throw new RefusedError(method, response.status, text);
  }
}

/**
 * Reads the beginning of a body, and cancels the rest. A body is read to its end if possible, since a server may close an HTTP/2 connection
 * on which many requests were cancelled.
 */
export async function beginningOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (text.length < MAX_BODY) {
    const { done, value } = await reader.read();
    if (done) return text.trim();
    text += decoder.decode(value, { stream: true });
  }
  void reader.cancel().catch(() => undefined);
  return text.slice(0, MAX_BODY).trim();
}
