import { textOfBytes } from '../../../channels/media-type.js';
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';
import { FramingError, withoutLineEnd } from '../frame-splitter.js';
import { FRAME_TYPE } from '../frames.js';

/** Bytes of the line end that may follow the frame. */
const LINE_END_BYTES = 2;
const FIRST_BYTES = 1024;

/**
 * Reads the one frame of a body. It never buffers more than the limit: the rest of a longer body is not read.
 *
 * @param declared the `Content-Length`, if there is one
 * @throws FramingError `too-large`, `not-utf8`, or `truncated` if the connection closes in the middle of the body
 */
export async function readFrameBody(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  declared: string | null,
): Promise<string> {
  if (body === null) return '';
  if (declared !== null && Number(declared) > maxBytes + LINE_END_BYTES) {
    cancelBody(body);
    throw tooLarge(maxBytes);
  }
  const bytes = await readBytes(body, maxBytes + LINE_END_BYTES);
  if (bytes === null) throw tooLarge(maxBytes);
  const frame = withoutLineEnd(bytes);
  if (frame.length > maxBytes) throw tooLarge(maxBytes);
  const text = textOfBytes(frame);
  if (text === null) throw new FramingError('not-utf8', 'The body is not UTF-8.');
  return text;
}

/** @returns the bytes; `null` if the body is longer than `maxBytes`: the rest is not read */
async function readBytes(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | null> {
  const reader = body.getReader();
  // One buffer: many small chunks would take far more memory than their bytes.
  let buffer = new Uint8Array(0);
  let length = 0;
  for (;;) {
    const { value } = await reader.read().catch((cause: unknown) => {
      throw Object.assign(new FramingError('truncated', 'The connection closed in the middle of the body.'), { cause });
    });
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

function tooLarge(maxBytes: number): FramingError {
  return new FramingError('too-large', `A frame must not exceed ${maxBytes} bytes.`);
}

const TYPE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+/;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?/y;

/** Reads the parameters of a `Content-Type` of frames; `null` for another type, or if the header is malformed or repeats a parameter. */
function frameParameters(header: string | null): ReadonlyMap<string, string> | null {
  const text = withoutBlanks(header ?? '');
  const [type = ''] = TYPE.exec(text) ?? [];
  if (asciiLowerCase(type) !== FRAME_TYPE) return null;
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

/** Tests whether a `Content-Type` is the one of frames, in their only encoding (section 12.1). */
export function isFrameType(header: string | null): boolean {
  const parameters = frameParameters(header);
  return parameters !== null && asciiLowerCase(parameters.get('charset') ?? 'utf-8') === 'utf-8';
}

/** Tests whether a `Content-Type` is the one of frames, in any encoding. */
export function hasFrameMediaType(header: string | null): boolean {
  return frameParameters(header) !== null;
}
