/**
 * The syntax tree of an AACP packet (draft-mackay-aacp-01, section 4).
 *
 * Nodes are plain objects and may be written by hand; `span` is present only when spans were asked for.
 */
import type { Span } from '../text/span.js';

/** One packet: `TASK|DOM|key:value|...`. */
export interface Packet {
  readonly kind: 'packet';
  /** Field 0, the action verb. Empty only where the tolerant dialect found none. */
  readonly task: string;
  /** Field 1, the business domain. Empty only where the tolerant dialect found none. */
  readonly domain: string;
  /** The named fields as they stand: in source order, repeated keys included. */
  readonly fields: readonly Field[];
  readonly span?: Span;
}

/** `key:value`, split at the first colon. */
export interface Field {
  readonly key: string;
  readonly value: string;
  /** Present on a slot without a colon (tolerant dialect only): `key` is then empty and `value` the whole slot. */
  readonly bare?: true;
  readonly span?: Span;
}
