/** Loading what may not be installed. */
import { ModelError } from './model.js';
import { retryAfterOf } from './provider-errors.js';

/**
 * Makes something once, when it is first asked for. What failed is tried again the next time.
 */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    if (made === null) {
      made = make();
      made.catch(() => {
        made = null;
      });
    }
    return made;
  };
}

/**
 * The SDK of a provider.
 *
 * @throws ModelError with code `model-not-installed`
 */
export async function loadSdk<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const missing = isMissing(cause, name);
    throw new ModelError(
      {
        code: 'model-not-installed',
        message: missing ? `The package ${name} is not installed.` : `The package ${name} cannot be loaded.`,
        help: `npm install ${name}`,
      },
      { cause },
    );
  }
}

function isMissing(thrown: unknown, name: string): boolean {
  const { code, message } = (thrown ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return code === 'ERR_MODULE_NOT_FOUND' && String(message).includes(name);
}

interface ClientSettings {
  readonly apiKey: string | undefined;
  readonly baseURL: string | undefined;
  readonly maxRetryWait: number;
}

/** The options of a client. The SDKs take what is `undefined` from the environment. */
export function clientOptions({ apiKey, baseURL, maxRetryWait }: ClientSettings) {
  return { apiKey, baseURL, fetch: patientFetch(maxRetryWait), logLevel: 'off' } as const;
}

const NO_BODY = [204, 205, 304];

/**
 * A `fetch` that hands a reply on when it is there as a whole: an SDK's own one ends its time-out, and its retries, with the
 * head of a reply, and waits for ever for a body that never ends. And it lets no retry wait longer than `maxRetryWait`.
 *
 * @param maxRetryWait milliseconds
 */
function patientFetch(maxRetryWait: number): typeof fetch {
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
