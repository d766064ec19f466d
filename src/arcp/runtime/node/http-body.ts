/** Reading of the bodies of requests that carry messages. */
import type { AnyRequest } from '../../../channels/node/http-server.js';

/** The messages of a request. */
export interface Body {
  /** The messages, one per line; `undefined` if the body is too long and has no readable beginning. */
  readonly lines: Uint8Array | undefined;
  /** `true` if `lines` has only the beginning of a message, which is too long. */
  readonly isTooLong: boolean;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/**
 * Reads a body.
 *
 * @param margin the bytes besides the longest message
 * @param isOne `true` if the body is one message; line ends between its tokens become spaces
 * @returns `undefined` if the body is incomplete, because the client has gone
 */
export async function readBody(
  request: AnyRequest,
  maxMessageBytes: number,
  margin: number,
  isOne: boolean,
): Promise<Body | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isWhole = true;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length <= maxMessageBytes + margin) continue;
      isWhole = false;
      break;
    }
  } catch {
    return undefined;
  }
  if (isWhole && !request.complete) return undefined;
  const bytes = Buffer.concat(chunks);
  if (isOne) return { lines: oneLine(bytes), isTooLong: !isWhole };
  if (isWhole) return { lines: bytes.at(-1) === LF ? bytes : Buffer.concat([bytes, Buffer.of(LF)]), isTooLong: false };
  const isFirstTooLong = bytes.subarray(0, maxMessageBytes + 2).indexOf(LF) === -1;
  return { lines: isFirstTooLong ? bytes : undefined, isTooLong: true };
}

/** Ends a message with a line end, its only one. JSON has others only between tokens. */
function oneLine(bytes: Buffer): Uint8Array {
  const line = Buffer.concat([bytes, Buffer.of(LF)]);
  for (let at = 0; at < line.length - 1; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
  return line;
}
