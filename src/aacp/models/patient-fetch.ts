/** The `fetch` that the SDKs are given. */
import { retryAfterOf } from './retry-after.js';

/** Statuses whose replies have no body. */
const NO_BODY = [204, 205, 304];

/**
 * A `fetch` that hands a reply on when it is there as a whole: an SDK's own one ends its time-out, and its retries, with the
 * head of a reply, and waits for ever for a body that never ends. And it lets no retry wait longer than `maxRetryWait`.
 *
 * @param maxRetryWait milliseconds
 */
export function patientFetch(maxRetryWait: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText } = response;
    // Nobody can construct a response with a status that does not exist.
    if (status < 200 || status > 599) return response;
    const headers = new Headers(response.headers);
    const wait = response.ok ? null : retryAfterOf(headers);
    // Both SDKs heed this header, and would otherwise wait for as long as the server says.
    if (wait !== null && wait * 1000 > maxRetryWait) headers.set('x-should-retry', 'false');
    const body = await response.arrayBuffer();
    return new Response(NO_BODY.includes(status) ? null : body, { status, statusText, headers });
  };
}
