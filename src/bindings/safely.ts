/**
 * Calls a listener of the host's: whoever listens must not be able to take a connection down. What it throws is its own failure, and
 * nobody here could do anything about it.
 */
export function safely(tell: () => void): void {
  try {
    tell();
  } catch {
    // Told to nobody.
  }
}
