/** The syntax tree of an AACP packet (draft-mackay-aacp-01, section 4): plain objects. `span` is present only if requested. */
import type { Span } from '../text/span.js';

/** One packet: `TASK|DOM|key:value|...`. */
export interface Packet {
  readonly kind: 'packet';
  /** Field 0, the action verb. Empty only if the tolerant dialect found no TASK. */
  readonly task: string;
  /** Field 1, the business domain. Empty only if the tolerant dialect found no DOM. */
  readonly domain: string;
  /** The named fields in source order, including repeated keys. */
  readonly fields: readonly Field[];
  /** The range of the packet in the text. Present if `ParseOptions.spans` is true. */
  readonly span?: Span;
}

/** A named field, `key:value`, split at the first colon. */
export interface Field {
  /** The text before the first colon; in strictly parsed packets, lower case. */
  readonly key: string;
  /** The text after the first colon, as written. */
  readonly value: string;
  /** `true` on a slot without a colon, which only the tolerant dialect accepts: `key` is empty, `value` is the whole slot. */
  readonly bare?: true;
  /** The range from the key to the end of the value. Present if `ParseOptions.spans` is true. */
  readonly span?: Span;
}

/** Callbacks for the parts of a packet. Both are optional. */
export interface PacketVisitor {
  /** Called with the packet, before its fields. Returns `false` to skip the fields. */
  readonly packet?: (packet: Packet) => unknown;
  /** Called with each field and its index. */
  readonly field?: (field: Field, index: number) => unknown;
}

/**
 * Visits a packet and then its fields, in source order. If the `packet` callback returns `false`, the fields are skipped.
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
