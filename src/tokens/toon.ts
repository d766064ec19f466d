/** TOON, another compact notation for what JSON says, where its package is installed. */

export type ToToon = (value: unknown) => string;

/** `null` where `@toon-format/toon`, an optional peer, is not installed. */
export async function loadToon(): Promise<ToToon | null> {
  try {
    const { encode } = await import('@toon-format/toon');
    return (value) => encode(value);
  } catch (thrown) {
    if ((thrown as { readonly code?: unknown }).code === 'ERR_MODULE_NOT_FOUND') return null;
    throw thrown;
  }
}
