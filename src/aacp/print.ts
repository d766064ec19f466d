import { byCodeUnit } from '../text/ascii.js';
import { roundDigits } from '../text/decimal.js';
import { characterName } from '../text/parser-errors.js';
import type { Field, Packet } from './ast.js';
import { unprintable } from './errors.js';
import { CONTROL, CORE_KEYS, KEY, WORD } from './vocabulary.js';

const NOT_A_WORD = 'is no word of capital letters, digits, "_" and "-" that begins with a letter';
const NOT_A_KEY = 'is no word of lower-case letters, digits and "_" that begins with a letter';

/**
 * Prints a packet with its fields in order. It reads back as the same packet: no value can add or override a field.
 *
 * @throws PrintError with code `unprintable` and the path, on a TASK, DOM, key or value that v1.1 cannot write
 * @example
 * printPacket({ kind: 'packet', task: 'ACK', domain: 'HR', fields: [{ key: 'return', value: 'HR-Agent' }] })
 * // 'ACK|HR|return:HR-Agent'
 */
export function printPacket(packet: Packet): string {
  if (packet?.kind !== 'packet') throw unprintable('packet', 'is no packet');
  const { task, domain, fields } = packet;
  if (!matches(task, WORD)) throw unprintable('task', NOT_A_WORD);
  if (!matches(domain, WORD)) throw unprintable('domain', NOT_A_WORD);
  if (!Array.isArray(fields)) throw unprintable('fields', 'is no list of fields');
  // Not map: it would skip the holes of a sparse list.
  return [task, domain, ...Array.from(fields, printField)].join('|');
}

function printField(field: Field | undefined, index: number): string {
  const path = `fields[${index}]`;
  if (typeof field !== 'object' || field === null) throw unprintable(path, 'is no field');
  // Read once: a getter may return something else the next time.
  const { key, value, bare } = field;
  if (bare) throw unprintable(path, 'a field without a colon cannot be written');
  if (!matches(key, KEY)) throw unprintable(`${path}.key`, NOT_A_KEY);
  return `${key}:${printValue(value, `${path}.value`)}`;
}

function printValue(value: string, path: string): string {
  if (typeof value !== 'string') throw unprintable(path, 'is no string');
  if (value.includes('|')) {
    throw unprintable(path, 'holds a "|"', 'AACP has no escapes: "|" would begin another field');
  }
  const control = CONTROL.exec(value);
  if (control !== null) throw unprintable(path, `holds a control character (${characterName(control[0])})`);
  if (value.startsWith(' ') || value.endsWith(' ')) throw unprintable(path, 'begins or ends with a space');
  return value;
}

function matches(text: unknown, pattern: RegExp): boolean {
  return typeof text === 'string' && pattern.test(text);
}

/**
 * Converts a packet to canonical form, for equality and hashes: first return, p, aacp, res, period, filter, fields and fmt;
 * then all others ascending by code unit, repeated keys in order; a numeric `amt` rounded to six places, half to even,
 * without redundant zeros. No spans. Source: draft-mackay-aacp-01, sections 4.2 and 4.3, which name no order.
 *
 * @throws PrintError with code `unprintable` if it is not a packet; `printPacket` finds other faults
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

function canonicalAmount(amount: string): string {
  if (!/^-?[0-9]+(?:\.[0-9]+)?$/.test(amount)) return amount;
  const { integer, fraction } = roundDigits(amount);
  return fraction === '' ? integer : `${integer}.${fraction}`;
}

function rank(key: string): number {
  const index = CORE_KEYS.indexOf(key);
  return index < 0 ? CORE_KEYS.length : index;
}
