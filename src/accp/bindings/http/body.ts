import { textOfBytes } from '../../../channels/media-type.js';
import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';
import { FramingError, withoutLineEnd } from '../frame-splitter.js';
import { FRAME_TYPE } from '../frames.js';

/** A line end may follow the frame. */
const LINE_END_BYTES = 2;
const FIRST_BYTES = 1024;

/**
 * Reads the one frame of a body. Never holds more than the limit: the rest of a longer body is not read.
 *
 * @param declared the `Content-Length`, if there is one
 * @throws FramingError `too-large`, `not-utf8`, or `truncated` when the body breaks off
 */
export async function readFrameBody(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  declared: string | null,
): Promise<string> {
  if (body === null) return '';
  if (declared !== null && Number(declared) > maxBytes + LINE_END_BYTES) {
    leave(body);
    throw tooLarge(maxBytes);
  }
  const bytes = await readBytes(body, maxBytes + LINE_END_BYTES);
  if (bytes === null) throw tooLarge(maxBytes);
  const frame = withoutLineEnd(bytes);
  if (frame.length > maxBytes) throw tooLarge(maxBytes);
  const text = textOfBytes(frame);
  if (text === null) throw new FramingError('not-utf8', 'The body is no UTF-8.');
  return text;
}

/** @returns `null` if the body is longer than `most`, and is not read to its end */
async function readBytes(body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array | null> {
  const reader = body.getReader();
  // One buffer: many small chunks would each take far more memory than they hold.
  let held = new Uint8Array(0);
  let length = 0;
  for (;;) {
    const { value } = await reader.read().catch((cause: unknown) => {
      throw Object.assign(new FramingError('truncated', 'The body broke off.'), { cause });
    });
    if (value === undefined) return held.subarray(0, length);
    if (length + value.length > most) {
      leave(reader);
      return null;
    }
    if (length + value.length > held.length) {
      const grown = new Uint8Array(Math.min(most, Math.max(FIRST_BYTES, 2 * held.length, length + value.length)));
      grown.set(held.subarray(0, length));
      held = grown;
    }
    held.set(value, length);
    length += value.length;
  }
}

/** Cancels a body. Its failure changes nothing any more. */
export function leave(source: { cancel(): Promise<void> }): void {
  source.cancel().catch(() => undefined);
}

function tooLarge(maxBytes: number): FramingError {
  return new FramingError('too-large', `A frame has at most ${maxBytes} bytes here.`);
}

const TYPE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+/;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?/y;

/** Reads the parameters of a `Content-Type` of frames; `null` for another one, or if it breaks the grammar or names a parameter twice. */
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

/** Whether a `Content-Type` is that of frames, in their one encoding (section 12.1). */
export function isFrameType(header: string | null): boolean {
  const parameters = frameParameters(header);
  return parameters !== null && asciiLowerCase(parameters.get('charset') ?? 'utf-8') === 'utf-8';
}

/** Whether a `Content-Type` is that of frames, in any encoding. */
export function namesFrames(header: string | null): boolean {
  return frameParameters(header) !== null;
}
