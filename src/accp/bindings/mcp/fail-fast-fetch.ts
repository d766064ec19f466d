/** Requests of MCP's Streamable HTTP (MCP 2025-11-25, transports, "Sending Messages to the Server"). */
import { isMediaType } from '../../../channels/media-type.js';
import { members } from './sdk-shapes.js';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** The SDK's JSON-RPC code of a closed connection. */
const CONNECTION_CLOSED = -32000;
const UTF8 = new TextEncoder();

/**
 * Creates a `fetch` for the SDK's `StreamableHTTPClientTransport`. The SDK ignores the end of a stream of events: a request whose answer is
 * cut off waits until its timeout, 60 seconds. With this `fetch`, it fails at once, with the code -32000. Streams whose events have identifiers
 * are left to the SDK, which resumes them.
 *
 * Source: draft-benzing-accp-00, section 11.3.
 *
 * @param send the `fetch` that sends the requests; by default the platform's
 * @example
 * const transport = new StreamableHTTPClientTransport(url, { fetch: failFastFetch() });
 */
export function failFastFetch(send: Fetch = fetch): Fetch {
  return async (url, init) => {
    const response = await send(url, init);
    const { body, status, statusText, headers } = response;
    const unanswered = requestsIn(init?.body);
    if (body === null || unanswered.size === 0 || !isMediaType(headers.get('content-type'), 'text/event-stream'))
      return response;
    return new Response(withErrors(body, new EventStream(unanswered)), { status, statusText, headers });
  };
}

function withErrors(body: ReadableStream<Uint8Array>, events: EventStream): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const read = await reader.read().catch((cause: unknown) => {
          if (events.isResumable) throw cause;
          return { done: true, value: undefined } as const;
        });
        if (read.value !== undefined) {
          events.push(read.value);
          controller.enqueue(read.value);
        } else {
          const rest = events.end();
          if (rest !== '') controller.enqueue(UTF8.encode(rest));
          controller.close();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reads server-sent events (HTML, section 9.2.6), to find out which requests are answered. */
class EventStream {
  readonly #unanswered: Set<unknown>;
  readonly #utf8 = new TextDecoder();
  /** The beginning of the current line. */
  #line: string[] = [];
  /** A carriage return whose line feed may follow. */
  #return = '';
  #data = '';
  isResumable = false;

  /** @param unanswered the identifiers of the requests */
  constructor(unanswered: Set<unknown>) {
    this.#unanswered = unanswered;
  }

  push(bytes: Uint8Array): void {
    const text = this.#return + this.#utf8.decode(bytes, { stream: true });
    this.#return = text.endsWith('\r') ? '\r' : '';
    const lines = (this.#return === '' ? text : text.slice(0, -1)).split(/\r\n|\n|\r/);
    const rest = lines.pop()!;
    for (const line of lines) {
      this.#readLine(this.#line.join('') + line);
      this.#line = [];
    }
    this.#line.push(rest);
  }

  /** Ends the stream. Returns the events that answer the remaining requests with an error. */
  end(): string {
    if (this.isResumable) return '';
    this.#readLine(this.#line.join(''));
    this.#readLine('');
    const message = 'The connection was closed before the answer arrived';
    const errors = [...this.#unanswered].map((id) =>
      JSON.stringify({ jsonrpc: '2.0', id, error: { code: CONNECTION_CLOSED, message } }),
    );
    // The blank line ends an event that was cut off.
    return errors.length === 0 ? '' : `\n\n${errors.map((error) => `event: message\ndata: ${error}\n\n`).join('')}`;
  }

  #readLine(line: string): void {
    if (line.startsWith('id:')) this.isResumable = true;
    else if (line.startsWith('data:')) this.#data += line.slice(5);
    else if (line === '') {
      if (this.#data !== '') for (const id of answersIn(this.#data)) this.#unanswered.delete(id);
      this.#data = '';
    }
  }
}

function requestsIn(body: unknown): Set<unknown> {
  return new Set(messagesIn(body).flatMap(({ method, id }) => (method === undefined || id === undefined ? [] : [id])));
}

function answersIn(text: string): unknown[] {
  return messagesIn(text).flatMap(({ method, id }) => (method === undefined ? [id] : []));
}

function messagesIn(text: unknown): { readonly method?: unknown; readonly id?: unknown }[] {
  if (typeof text !== 'string') return [];
  try {
    const value: unknown = JSON.parse(text);
    const all: readonly unknown[] = Array.isArray(value) ? value : [value];
    return all.flatMap((message): { readonly method?: unknown; readonly id?: unknown }[] => [members(message) ?? {}]);
  } catch {
    return [];
  }
}
