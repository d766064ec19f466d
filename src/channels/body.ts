import { asciiLowerCase, withoutBlanks } from '../text/ascii.js';

const FIRST_BYTES = 1024;

/** Bytes that arrive in pieces, in one buffer: many small pieces would take far more memory than their bytes. */
export class GrowingBytes {
  #buffer = new Uint8Array(0);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** The bytes so far. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  push(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(FIRST_BYTES, 2 * this.#buffer.length, length));
      grown.set(this.bytes);
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }
}

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
  const body = new GrowingBytes();
  for (;;) {
    const { value } = await reader.read();
    if (value === undefined) return body.bytes;
    if (body.length + value.length > maxBytes) {
      cancelBody(reader);
      return null;
    }
    body.push(value);
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
