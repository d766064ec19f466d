import { type Link, LinkError, type LinkOptions } from '../link/contract.js';
import { type ExchangeOptions, openExchanges } from '../link/exchanges.js';
import { HttpBindingError, type PostOptions, streamFrames } from './client.js';

/** Options of {@link connectHttp}. */
export interface HttpConnectOptions
  extends LinkOptions,
    ExchangeOptions,
    Pick<PostOptions, 'fetch' | 'headers' | 'maxFrameBytes'> {}

/**
 * Connects a session to a server of frames. Each frame is a request of its own; the frames of its response are its answers, and the server
 * sends frames in responses only. If a request fails, the link reconnects (`reconnect`, 8 attempts by default) and sends lost frames again;
 * no message is processed twice. Other responses continue.
 *
 * Source: draft-benzing-accp-00, section 11.1.
 *
 * @throws LinkError `unreachable` without an answer, `refused` if the server responds with a status that carries no frames, or with another media type
 * @throws TypeError if an option is invalid
 * @example
 * const session = createSession({ agent: 'planner', sequence: 'sender' });
 * const link = await connectHttp('http://127.0.0.1:8080/accp/v1/frames', { codec, session });
 * const { payload } = await link.request({ intent: 'req', operation: 'add', payload: { a: 2, b: 3 } });
 */
export function connectHttp(url: string | URL, options: HttpConnectOptions): Promise<Link> {
  const { fetch, headers, maxFrameBytes } = options;
  return openExchanges(options, {
    exchange: (frame, signal) => streamFrames(url, frame, { fetch, headers, maxFrameBytes, signal }),
    failureOf,
  });
}

const TRANSIENT_CODES: ReadonlySet<string> = new Set(['unreachable', 'timeout', 'truncated']);

function failureOf(thrown: unknown): LinkError {
  if (!(thrown instanceof HttpBindingError)) return new LinkError('refused', String(thrown), { cause: thrown });
  const { code, status = 0, message } = thrown;
  // An overloaded or starting server may answer later.
  const isPassing =
    TRANSIENT_CODES.has(code) || (code === 'http-status' && (status >= 500 || status === 408 || status === 429));
  return new LinkError(isPassing ? 'unreachable' : 'refused', message, { cause: thrown });
}
