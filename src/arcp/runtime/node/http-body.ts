/** The messages in the bodies of requests. */
import type { RequestBody } from '../../../channels/node/request-body.js';

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;

/**
 * Returns the messages of a body, one per line.
 *
 * @param isOne `true` if the body is one message; line ends between its tokens become spaces
 * @returns `undefined` if the body is too long, and the channel cannot refuse the message at its beginning
 */
export function linesOf(
  { bytes, fault }: RequestBody,
  maxMessageBytes: number,
  isOne: boolean,
): Uint8Array | undefined {
  if (isOne) return oneLine(bytes);
  if (fault === undefined) return bytes.at(-1) === LF ? bytes : Buffer.concat([bytes, Buffer.of(LF)]);
  const isFirstTooLong = bytes.subarray(0, maxMessageBytes + 2).indexOf(LF) === -1;
  return isFirstTooLong ? bytes : undefined;
}

/** Ends a message with a line end, its only one. JSON has others only between tokens. */
function oneLine(bytes: Buffer): Uint8Array {
  const line = Buffer.concat([bytes, Buffer.of(LF)]);
  for (let at = 0; at < line.length - 1; at++) if (line[at] === LF || line[at] === CR) line[at] = SPACE;
  return line;
}
