import { byCodeUnit } from '../text/ascii.js';

/** Metadata keys of the standard envelope, in the order of Table 4 (draft-benzing-accp-00, section 3.5). */
export const ENVELOPE_KEYS: readonly string[] = ['mid', 'seq', 'ts', 'cid', 'aid', 'sid', 'ttl'];

/** The envelope's identifiers: text whatever their digits look like, so that `mid:007` keeps its zeros. */
export const IDENTIFIER_KEYS: ReadonlySet<string> = new Set(['mid', 'cid', 'aid', 'sid']);

const RANKS: ReadonlyMap<string, number> = new Map(ENVELOPE_KEYS.map((key, rank) => [key, rank]));

/** Orders metadata keys: those of the envelope as in Table 4, then the rest by code unit. */
export function byEnvelope(a: string, b: string): number {
  const rankA = RANKS.get(a) ?? RANKS.size;
  const rankB = RANKS.get(b) ?? RANKS.size;
  return rankA - rankB || byCodeUnit(a, b);
}
