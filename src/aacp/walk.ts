import type { Field, Packet } from './ast.js';

/** What to call on the parts of a packet; both are optional. */
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
