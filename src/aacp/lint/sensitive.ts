/** What must not be in a packet, by its looks (draft-mackay-aacp-01, section 15). */
import { findAddresses } from './addresses.js';
import type { Detector, Sensitive } from './detector.js';
import { findNumbers } from './numbers.js';
import { findPasswords } from './passwords.js';
import { findTokens } from './tokens.js';

/** Those that know best what a part is come first. */
const DETECTORS: readonly Detector[] = [findTokens, findPasswords, findAddresses, findNumbers];

/**
 * The parts of a value that look like personal data, financial records or credentials, in their order; no two overlap.
 * Takes time in proportion to the value.
 */
export function findSensitive(value: string, key: string): readonly Sensitive[] {
  const found = DETECTORS.flatMap((detector, rank) => detector(value, key).map((part) => ({ ...part, rank })));
  found.sort((a, b) => a.start - b.start || a.rank - b.rank);
  const parts: Sensitive[] = [];
  for (const { kind, start, end } of found) {
    const last = parts.at(-1);
    if (last === undefined || start >= last.end) parts.push({ kind, start, end });
  }
  return parts;
}
