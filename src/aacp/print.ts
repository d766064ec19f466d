/** From tree to text (draft-mackay-aacp-01, section 4). */
import { nameOf } from '../text/expectations.js';
import type { Field, Packet } from './ast.js';
import { unprintable } from './errors.js';

const WORD = /^[A-Z][A-Z0-9_-]*$/;
const KEY = /^[a-z][a-z0-9_]*$/;
/** The separator and the control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NOT_IN_A_VALUE = /[|\x00-\x1F\x7F]/;

/**
 * Writes a packet with its fields as they stand. What is written reads back as the same packet, so nothing in a value can
 * add or override a field.
 *
 * @throws PrintError with code `unprintable` and the path, on a TASK, DOM, key or value that v1.1 cannot write
 * @example
 * printPacket({ kind: 'packet', task: 'ACK', domain: 'HR', fields: [{ key: 'return', value: 'HR-Agent' }] })
 * // 'ACK|HR|return:HR-Agent'
 */
export function printPacket(packet: Packet): string {
  if (packet?.kind !== 'packet') throw unprintable('packet', 'is no packet');
  const { task, domain, fields } = packet;
  if (!matches(task, WORD)) throw unprintable('task', 'is not made of capital letters, digits, "_" and "-"');
  if (!matches(domain, WORD)) throw unprintable('domain', 'is not made of capital letters, digits, "_" and "-"');
  if (!Array.isArray(fields)) throw unprintable('fields', 'is no list of fields');
  return [task, domain, ...fields.map(printField)].join('|');
}

function printField(field: Field, index: number): string {
  const path = `fields[${index}]`;
  if (field?.bare) throw unprintable(path, 'a field without a colon cannot be written');
  if (!matches(field?.key, KEY)) {
    throw unprintable(`${path}.key`, 'is not made of lower-case letters, digits and "_"');
  }
  return `${field.key}:${printValue(field.value, `${path}.value`)}`;
}

function printValue(value: string, path: string): string {
  if (typeof value !== 'string') throw unprintable(path, 'is no string');
  const bad = NOT_IN_A_VALUE.exec(value);
  if (bad !== null) {
    const help = bad[0] === '|' ? 'AACP has no escapes: "|" would begin another field' : undefined;
    throw unprintable(path, `${nameOf(bad[0])} cannot stand in a value`, help);
  }
  if (value.startsWith(' ') || value.endsWith(' ')) throw unprintable(path, 'a value cannot begin or end with a space');
  return value;
}

function matches(text: unknown, pattern: RegExp): boolean {
  return typeof text === 'string' && pattern.test(text);
}
