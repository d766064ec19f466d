import { byCodeUnit } from '../text/ascii.js';
import { roundDigits } from '../text/decimal.js';
import { characterName } from '../text/parser-errors.js';
import type { Field, Packet } from './ast.js';
import { unprintable } from './errors.js';
import { CONTROL, CORE_KEYS, KEY, WORD } from './vocabulary.js';

const NOT_A_WORD = 'must consist of capital letters, digits, "_" and "-", and begin with a letter';
const NOT_A_KEY = 'must consist of lower-case letters, digits and "_", and begin with a letter';

/**
 * Prints a packet with its fields in order. The text parses to the same packet: no value can add or override a field.
 *
 * @throws PrintError with code `unprintable` and the path of the TASK, DOM, key or value that v1.1 cannot represent
 * @example
 * printPacket({ kind: 'packet', task: 'ACK', domain: 'HR', fields: [{ key: 'return', value: 'HR-Agent' }] })
 * // 'ACK|HR|return:HR-Agent'
 */
export function printPacket(packet: Packet): string {
  if (packet?.kind !== 'packet') throw unprintable('packet', 'is not a packet');
  const { task, domain, fields } = packet;
  if (!matches(task, WORD)) throw unprintable('task', NOT_A_WORD);
  if (!matches(domain, WORD)) throw unprintable('domain', NOT_A_WORD);
  if (!Array.isArray(fields)) throw unprintable('fields', 'is not a list of fields');
  // Not map, which would skip the holes of a sparse list.
  return [task, domain, ...Array.from(fields, printField)].join('|');
}

function printField(field: Field | undefined, index: number): string {
  const path = `fields[${index}]`;
  if (typeof field !== 'object' || field === null) throw unprintable(path, 'is not a field');
  // Read once: a getter may return another value the next time.
  const { key, value, bare } = field;
  if (bare) throw unprintable(path, 'has no colon, which v1.1 does not allow');
  if (!matches(key, KEY)) throw unprintable(`${path}.key`, NOT_A_KEY);
  return `${key}:${printValue(value, `${path}.value`)}`;
}

function printValue(value: string, path: string): string {
  if (typeof value !== 'string') throw unprintable(path, 'is not a string');
  if (value.includes('|')) {
    throw unprintable(path, 'contains a "|"', 'AACP has no escapes: "|" would begin another field');
  }
  const control = CONTROL.exec(value);
  if (control !== null) throw unprintable(path, `contains a control character (${characterName(control[0])})`);
  if (value.startsWith(' ') || value.endsWith(' ')) throw unprintable(path, 'begins or ends with a space');
  return value;
}

function matches(text: unknown, pattern: RegExp): boolean {
  return typeof text === 'string' && pattern.test(text);
}

/**
 * Converts a packet to canonical form, for comparison and hashing: first return, p, aacp, res, period, filter, fields and fmt; then all
 * other fields in ascending order of code units, repeated keys in their order. A numeric `amt` is rounded to six places, half to even,
 * without redundant zeros. The result has no spans. Source: draft-mackay-aacp-01, sections 4.2 and 4.3, which do not define an order.
 *
 * @throws PrintError with code `unprintable` if `packet` is not a packet; `printPacket` checks the rest
 * @example
 * printPacket(canonicalizePacket(parsePacket('PROC|FIN|amt:4200.50|p:2|return:A'))) // 'PROC|FIN|return:A|p:2|amt:4200.5'
 */
export function canonicalizePacket(packet: Packet): Packet {
  if (!Array.isArray(packet?.fields)) throw unprintable('fields', 'is not a list of fields');
  // Not map, which would skip the holes of a sparse list.
  const fields = Array.from(packet.fields as readonly Field[], canonicalField);
  fields.sort((a, b) => rank(a.key) - rank(b.key) || byCodeUnit(a.key, b.key));
  return { kind: 'packet', task: packet.task, domain: packet.domain, fields };
}

function canonicalField(field: Field, index: number): Field {
  if (typeof field !== 'object' || field === null) throw unprintable(`fields[${index}]`, 'is not a field');
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
