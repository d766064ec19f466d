/** Texts of a media type inside the content of other protocols, which knows no agent protocol in particular. */
import { asciiLowerCase, withoutBlanks } from '../text/ascii.js';

/**
 * Tells whether a declared media type is `type`: parameters and case make no difference (RFC 9110, section 8.3.1).
 *
 * @param type without parameters
 */
export function isMediaType(declared: unknown, type: string): boolean {
  if (typeof declared !== 'string') return false;
  if (declared === type) return true;
  const end = declared.indexOf(';');
  const essence = end < 0 ? declared : declared.slice(0, end);
  return asciiLowerCase(withoutBlanks(essence)) === asciiLowerCase(type);
}

/**
 * The text that bytes are in UTF-8; nothing is repaired.
 *
 * @returns `null` for what is no UTF-8
 */
export function textOfBytes(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/**
 * The bytes that a base64 text stands for.
 *
 * @returns `null` for a text that is none
 */
export function bytesOfBase64(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
  } catch {
    return null;
  }
}
