import { asciiLowerCase, withoutBlanks } from '../text/ascii.js';

/** Returns whether a declared media type is `type`, ignoring parameters and case (RFC 9110, section 8.3.1). */
export function isMediaType(declared: unknown, type: string): boolean {
  if (typeof declared !== 'string') return false;
  if (declared === type) return true;
  const end = declared.indexOf(';');
  const essence = end < 0 ? declared : declared.slice(0, end);
  return asciiLowerCase(withoutBlanks(essence)) === asciiLowerCase(type);
}

/** Decodes UTF-8. @returns `null` if the bytes are not UTF-8 */
export function textOfBytes(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Decodes base64. @returns `null` if the text is not base64 */
export function bytesOfBase64(base64: string): Uint8Array | null {
  try {
    return Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));
  } catch {
    return null;
  }
}
