import { asciiLowerCase, withoutBlanks } from '../../../text/ascii.js';
import { FramingError, withoutLineEnd } from '../frame-splitter.js';

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
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(frame);
  } catch {
    throw new FramingError('not-utf8', 'The body is no UTF-8.');
  }
}

/** @returns `null` if the body is longer than `most`, and is not read to its end */
async function readBytes(body: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array | null> {
  const reader = body.getReader();
  // One buffer: many small chunks would each take far more memory than they hold.
  let held = new Uint8Array(0);
  let length = 0;
  for (;;) {
    let result: { readonly done: boolean; readonly value?: Uint8Array | undefined };
    try {
      result = await reader.read();
    } catch (thrown) {
      const error = new FramingError('truncated', 'The body broke off.');
      error.cause = thrown;
      throw error;
    }
    if (result.done || result.value === undefined) break;
    const { value } = result;
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
  return held.subarray(0, length);
}

/** Cancels a body. Its failure changes nothing any more. */
export function leave(source: { cancel(): Promise<void> }): void {
  source.cancel().catch(() => undefined);
}

function tooLarge(maxBytes: number): FramingError {
  return new FramingError('too-large', `A frame has at most ${maxBytes} bytes here.`);
}

/** In lower case, but for the values of parameters. */
interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TYPE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)/;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?/y;

/** Reads a `Content-Type`; `null` if it breaks the grammar, or names a parameter twice. */
function readMediaType(header: string | null): MediaType | null {
  if (header === null) return null;
  const text = withoutBlanks(header);
  const [whole, type] = TYPE.exec(text) ?? [];
  if (whole === undefined) return null;
  const parameters = new Map<string, string>();
  let at = whole.length;
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
  return { type: asciiLowerCase(type!), parameters };
}

/** Whether a `Content-Type` is that of frames, in their one encoding (section 12.1). */
export function isFrameType(header: string | null): boolean {
  const media = readMediaType(header);
  if (media === null || media.type !== 'application/accp') return false;
  const charset = media.parameters.get('charset');
  return charset === undefined || asciiLowerCase(charset) === 'utf-8';
}

/** Whether a `Content-Type` is that of frames, in any encoding. */
export function namesFrames(header: string | null): boolean {
  return readMediaType(header)?.type === 'application/accp';
}
