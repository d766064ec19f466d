/** Pins: the hash that a file has to have. */
import { digestOfBytes } from './canonical.js';
import { RulesError } from './errors.js';

/** @throws TypeError on what is no SHA-256 */
export function checkedPin(sha256: unknown): string {
  if (typeof sha256 === 'string' && /^[0-9a-f]{64}$/i.test(sha256)) return sha256.toLowerCase();
  throw new TypeError('sha256 is the SHA-256 of the file, as 64 hexadecimal digits');
}

/** @throws RulesError with code `hash-mismatch`; TypeError on a pin that is none */
export function checkPin(bytes: Uint8Array, sha256: string): void {
  const wanted = checkedPin(sha256);
  const found = digestOfBytes(bytes);
  if (found === wanted) return;
  throw new RulesError({
    code: 'hash-mismatch',
    message: `These are other rules than the pinned ones: their SHA-256 is ${found}, not ${wanted}.`,
    help: 'look at what changed before you pin the new hash',
  });
}
