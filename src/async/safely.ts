/**
 * Calls a listener of the host's: whoever listens must not be able to take a connection down, nor the process by a promise that is
 * rejected. What it throws is its own failure, and nobody here could do anything about it.
 */
export function safely(tell: () => unknown): void {
  try {
    const told = tell();
    if (isThenable(told)) told.then(undefined, () => undefined);
  } catch {
    // Told to nobody.
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
