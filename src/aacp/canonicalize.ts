import { roundDigits } from '../text/decimal.js';
import { byCodeUnit } from '../text/order.js';
import type { Field, Packet } from './ast.js';
import { unprintable } from './errors.js';
import { CORE_KEYS } from './vocabulary.js';

/**
 * Puts a packet into canonical form, in which equality and hashes are taken: the core fields first, in the order return, p,
 * aacp, res, period, filter, fields, fmt; then all others ascending by code unit, repeated keys in their order; a numeric
 * `amt` rounded to six places, half to even, without redundant zeros. No spans.
 *
 * Source: draft-mackay-aacp-01, sections 4.2 and 4.3; the draft names no order of its own.
 *
 * @throws PrintError with code `unprintable` on what is no packet; other faults are left for `printPacket` to find
 * @example
 * printPacket(canonicalizePacket(parsePacket('PROC|FIN|amt:4200.50|p:2|return:A'))) // 'PROC|FIN|return:A|p:2|amt:4200.5'
 */
export function canonicalizePacket(packet: Packet): Packet {
  if (!Array.isArray(packet?.fields)) throw unprintable('fields', 'is no list of fields');
  // Not map: it would skip the holes of a sparse list.
  const fields = Array.from(packet.fields as readonly Field[], canonicalField);
  fields.sort((a, b) => rank(a.key) - rank(b.key) || byCodeUnit(a.key, b.key));
  return { kind: 'packet', task: packet.task, domain: packet.domain, fields };
}

function canonicalField(field: Field, index: number): Field {
  if (typeof field !== 'object' || field === null) throw unprintable(`fields[${index}]`, 'is no field');
  const value = field.key === 'amt' ? canonicalAmount(field.value) : field.value;
  return field.bare ? { key: field.key, value, bare: true } : { key: field.key, value };
}

/** An amount in plain digits, rounded; anything else as it is. */
function canonicalAmount(amount: string): string {
  if (!/^-?[0-9]+(?:\.[0-9]+)?$/.test(amount)) return amount;
  const { integer, fraction } = roundDigits(amount);
  return fraction === '' ? integer : `${integer}.${fraction}`;
}

function rank(key: string): number {
  const index = CORE_KEYS.indexOf(key);
  return index < 0 ? CORE_KEYS.length : index;
}
