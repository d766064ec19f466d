/** Loading what may not be installed. */
import { ModelError } from './errors.js';

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
