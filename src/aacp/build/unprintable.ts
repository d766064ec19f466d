/** The error for trees that are no packet, the same wherever a packet is built, hashed or turned into an object. */
import { PrintError } from '../../text/errors.js';
import type { Packet } from '../ast.js';
import { EncodeError } from './errors.js';

/**
 * What `read` gives; what the printer throws is an EncodeError with code `unprintable` then, which names the field by its key.
 *
 * @throws EncodeError
 */
export function asEncodeError<T>(packet: Packet | string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof PrintError)) throw cause;
    // The path stands in front of the message of either error.
    const message = cause.message.slice(cause.path.length + 2);
    const error = new EncodeError({ code: 'unprintable', path: keyAt(packet, cause.path), message, help: cause.help });
    error.cause = cause;
    throw error;
  }
}

/** `fields[2].value` by the key of that field, which says more. */
function keyAt(packet: Packet | string, path: string): string {
  const index = /^fields\[(\d+)\]\.value$/.exec(path)?.[1];
  return index === undefined || typeof packet === 'string' ? path : (packet.fields[Number(index)]?.key ?? path);
}
