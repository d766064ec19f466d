import { byCodeUnit, setsByUnit } from '../text/ascii.js';
import { roundDigits } from '../text/decimal.js';
import { characterName } from '../text/parser-errors.js';
import type { Field, Packet } from './ast.js';
import { unprintable } from './errors.js';
import { CONTROL, CORE_KEYS, EXTENDED_KEYS, KEY, WORD } from './vocabulary.js';

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
  if (!isName(task, WORD_START, WORD)) throw unprintable('task', NOT_A_WORD);
  if (!isName(domain, WORD_START, WORD)) throw unprintable('domain', NOT_A_WORD);
  if (!Array.isArray(fields)) throw unprintable('fields', 'is not a list of fields');
  let text = `${task}|${domain}`;
  // Not for-of or map: the one is slower, the other skips the holes of a sparse list.
  for (let index = 0; index < fields.length; index++) {
    const field: Field | undefined = fields[index];
    if (typeof field !== 'object' || field === null) throw unprintable(`fields[${index}]`, 'is not a field');
    // Read once: a getter may return another value the next time.
    const { key, value, bare } = field;
    if (bare) throw unprintable(`fields[${index}]`, 'has no colon, which v1.1 does not allow');
    const start = STARTS.get(key) ?? startOf(key);
    if (start === null) throw unprintable(`fields[${index}].key`, NOT_A_KEY);
    if (!isValue(value)) throw badValue(value, `fields[${index}].value`);
    // Not in one expression, which would copy short texts once more.
    text += start;
    text += value;
  }
  return text;
}

/** The starts of fields by their keys, for those of the draft: one look-up takes less time than a check and two concatenations. */
const STARTS: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  [...CORE_KEYS, ...EXTENDED_KEYS].map((key) => [key, `|${key}:`]),
);
const SPACE = 0x20;
/** Control characters, and the separator. */
const NOT_IN_VALUE = /* @__PURE__ */ new RegExp(`\\||${CONTROL.source}`);
/** A single range, which takes half the time: what it does not match is valid, the rest is tested again. */
const MAY_BE_INVALID = /[^ -{]/;
/** The length of a text above which patterns are faster than a loop, which reads single characters of a slice slowly. */
const LONG = 12;
/** The places in which a character may occur, as bits: the start and the rest of a word, those of a key; or that values cannot contain it. */
const USES = /* @__PURE__ */ setsByUnit([/[A-Z]/, /[A-Z0-9_-]/, /[a-z]/, /[a-z0-9_]/, NOT_IN_VALUE]);
const WORD_START = 1;
const KEY_START = 4;
const NOT_IN_VALUES = 16;

function startOf(key: unknown): string | null {
  return isName(key, KEY_START, KEY) ? `|${key}:` : null;
}

/** `start` is the bit of the first character; that of the others is the next one. */
function isName(text: unknown, start: number, pattern: RegExp): boolean {
  if (typeof text !== 'string') return false;
  const { length } = text;
  if (length > LONG) return pattern.test(text);
  if ((USES[text.charCodeAt(0)]! & start) === 0) return false;
  let uses = 2 * start;
  for (let at = 1; at < length; at++) uses &= USES[text.charCodeAt(at)]!;
  return uses !== 0;
}

function isValue(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const { length } = value;
  if (length === 0) return true;
  const first = value.charCodeAt(0);
  const last = value.charCodeAt(length - 1);
  if (first === SPACE || last === SPACE) return false;
  if (length > LONG) return !(MAY_BE_INVALID.test(value) && NOT_IN_VALUE.test(value));
  // Without a branch for each character.
  let uses = USES[first]! | USES[last]!;
  for (let at = 1; at < length - 1; at++) uses |= USES[value.charCodeAt(at)]!;
  return (uses & NOT_IN_VALUES) === 0;
}

function badValue(value: unknown, path: string): Error {
  if (typeof value !== 'string') return unprintable(path, 'is not a string');
  if (value.includes('|')) {
    return unprintable(path, 'contains a "|"', 'AACP has no escapes: "|" would begin another field');
  }
  const control = CONTROL.exec(value);
  if (control !== null) return unprintable(path, `contains a control character (${characterName(control[0])})`);
  return unprintable(path, 'begins or ends with a space');
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
