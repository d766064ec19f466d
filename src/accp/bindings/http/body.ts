import { cancelBody, isUtf8Type, mediaTypeParameters, readBytes } from '../../../channels/body.js';
import { textOfBytes } from '../../../channels/media-type.js';
import { FramingError, withoutLineEnd } from '../frame-splitter.js';
import { FRAME_TYPE } from '../frames.js';

/** Bytes of the line end that may follow the frame. */
const LINE_END_BYTES = 2;

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
  const bytes = await readBytes(body.getReader(), maxBytes + LINE_END_BYTES).catch((cause: unknown) => {
    throw Object.assign(new FramingError('truncated', 'The connection closed in the middle of the body.'), { cause });
  });
  if (bytes === null) throw tooLarge(maxBytes);
  const frame = withoutLineEnd(bytes);
  if (frame.length > maxBytes) throw tooLarge(maxBytes);
  const text = textOfBytes(frame);
  if (text === null) throw new FramingError('not-utf8', 'The body is not UTF-8.');
  return text;
}

function tooLarge(maxBytes: number): FramingError {
  return new FramingError('too-large', `A frame must not exceed ${maxBytes} bytes.`);
}

/** Tests whether a `Content-Type` is the one of frames, in their only encoding (section 12.1). */
export function isFrameType(header: string | null): boolean {
  return isUtf8Type(header, FRAME_TYPE);
}

/** Tests whether a `Content-Type` is the one of frames, in any encoding. */
export function hasFrameMediaType(header: string | null): boolean {
  return mediaTypeParameters(header, FRAME_TYPE) !== null;
}
