import { ModelError } from './model.js';
import { retryAfterOf } from './provider-errors.js';

/** Memoises a promise; a rejected one is made again. */
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

/** `undefined` options come from the environment. */
export function clientOptions({ apiKey, baseURL, maxRetryWait }: ClientSettings) {
  return { apiKey, baseURL, fetch: patientFetch(maxRetryWait), logLevel: 'off' } as const;
}

const NO_BODY = [204, 205, 304];

/**
 * A `fetch` that resolves with the whole reply: the time-out and retries of the SDKs end with its head. Retries do not
 * wait longer than `maxRetryWait` milliseconds.
 */
function patientFetch(maxRetryWait: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const { status, statusText } = response;
    // `Response` cannot be constructed with a nonexistent status.
    if (status < 200 || status > 599) return response;
    const headers = new Headers(response.headers);
    const wait = response.ok ? null : retryAfterOf(headers);
    // Both SDKs heed this header; otherwise they wait as long as the server says.
    if (wait !== null && wait * 1000 > maxRetryWait) headers.set('x-should-retry', 'false');
    const body = await response.arrayBuffer();
    return new Response(NO_BODY.includes(status) ? null : body, { status, statusText, headers });
  };
}
