/** The state of the page in the fragment of its address, which browsers do not send: JSON, compressed, in base64url. */

export interface Shared {
  readonly tab: string;
  /** The state of the tab. */
  readonly state: Readonly<Record<string, unknown>>;
}

/** The maximum length of a fragment, and of the JSON in it. */
export const MAX_FRAGMENT = 32_000;
const MAX_JSON = 2_000_000;

/** @returns the fragment, or null if the state is too long for an address */
export async function toFragment(shared: Shared): Promise<string | null> {
  const json = new TextEncoder().encode(JSON.stringify(shared));
  if (json.length > MAX_JSON) return null;
  const bytes = await collected(new Blob([json]).stream().pipeThrough(new CompressionStream('deflate-raw')), MAX_JSON);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const fragment = `#${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
  return fragment.length > MAX_FRAGMENT ? null : fragment;
}

/** @returns the state, or null if the fragment is none of ours */
export async function fromFragment(fragment: string): Promise<Shared | null> {
  if (fragment.length < 2 || fragment.length > MAX_FRAGMENT) return null;
  try {
    const binary = atob(fragment.slice(1).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    const shared = JSON.parse(new TextDecoder().decode(await collected(stream, MAX_JSON))) as Shared;
    return typeof shared?.tab === 'string' && typeof shared.state === 'object' && shared.state !== null ? shared : null;
  } catch {
    return null;
  }
}

/** Reads a stream up to a limit: a short fragment can stand for a very long text. */
async function collected(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const reader = stream.getReader();
  for (let next = await reader.read(); next.value !== undefined; next = await reader.read()) {
    length += next.value.length;
    if (length > most) throw new RangeError('the state is too long');
    chunks.push(next.value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}
