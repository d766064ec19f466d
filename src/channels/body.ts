import { asciiLowerCase, withoutBlanks } from '../text/ascii.js';

const FIRST_BYTES = 1024;

/**
 * Reads a body of at most `maxBytes` bytes.
 *
 * @returns the bytes; `null` if the body is longer: the rest is not read
 * @throws the error of the stream if the connection closes in the middle of the body
 */
export async function readBytes(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array | null> {
  // One buffer: many small chunks would take far more memory than their bytes.
  let buffer = new Uint8Array(0);
  let length = 0;
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return buffer.subarray(0, length);
    if (length + value.length > maxBytes) {
      cancelBody(reader);
      return null;
    }
    if (length + value.length > buffer.length) {
      const grown = new Uint8Array(Math.min(maxBytes, Math.max(FIRST_BYTES, 2 * buffer.length, length + value.length)));
      grown.set(buffer.subarray(0, length));
      buffer = grown;
    }
    buffer.set(value, length);
    length += value.length;
  }
}

/** Cancels a body. A failure of this does not matter. */
export function cancelBody(source: { cancel(): Promise<void> }): void {
  source.cancel().catch(() => undefined);
}

const TYPE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+/;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?/y;

/** Reads the parameters of a `Content-Type`; `null` for another type than `expected`, or if the header is malformed or repeats a parameter. */
export function mediaTypeParameters(header: string | null, expected: string): ReadonlyMap<string, string> | null {
  const text = withoutBlanks(header ?? '');
  const [type = ''] = TYPE.exec(text) ?? [];
  if (asciiLowerCase(type) !== expected) return null;
  const parameters = new Map<string, string>();
  let at = type.length;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(text);
    if (match === null) return null;
    at = PARAMETER.lastIndex;
    const [, name, token, quoted] = match;
    if (name === undefined) continue;
    const key = asciiLowerCase(name);
    if (parameters.has(key)) return null;
    parameters.set(key, token ?? quoted!.replace(/\\(.)/g, '$1'));
  }
  return parameters;
}

/** Tests whether a `Content-Type` is the expected one in UTF-8, which is also the default. */
export function isUtf8Type(header: string | null, expected: string): boolean {
  const parameters = mediaTypeParameters(header, expected);
  return parameters !== null && asciiLowerCase(parameters.get('charset') ?? 'utf-8') === 'utf-8';
}
