/** The syntax tree of an AACP packet (draft-mackay-aacp-01, section 4): plain objects, with `span` only if asked for. */
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

/** Functions to call for the parts of a packet; both are optional. */
export interface PacketVisitor {
  readonly packet?: (packet: Packet) => unknown;
  readonly field?: (field: Field, index: number) => unknown;
}

/**
 * Visits a packet and then its fields, in source order. A `packet` visitor that returns `false` leaves the fields out.
 *
 * @example
 * walkPacket(packet, { field: ({ key, value }) => console.log(key, value) });
 */
export function walkPacket(packet: Packet, visitor: PacketVisitor): void {
  if (visitor.packet?.(packet) === false) return;
  packet.fields.forEach((field, index) => {
    visitor.field?.(field, index);
  });
}
