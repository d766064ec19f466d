/** Packets as flat objects, for JSON, forms and tables. */
import type { Field, Packet } from '../ast.js';
import { printPacket } from '../print.js';
import { checkedDomain, checkedKey, checkedTask, fieldText, refusal } from './field-text.js';
import type { FieldsOf, FieldValue } from './packet-input.js';
import { asEncodeError } from './unprintable.js';

/** A packet as a flat object without a prototype: `task`, `domain`, then the fields in their order. */
export type PacketObject = { readonly task: string; readonly domain: string } & Readonly<Record<string, string>>;

/**
 * The packet that an object describes, its fields in the order in which they stand. Values are taken as `packet` takes them,
 * but a text stands as it is, an empty one too; nothing is added. JSON comes and goes without a change:
 * `fromObject(JSON.parse(JSON.stringify(toObject(packet))))` equals the packet.
 *
 * @throws EncodeError naming the key that cannot be written
 * @example
 * fromObject({ task: 'ACK', domain: 'HR', return: 'HR-Agent', aacp: '1.1' }).fields[0] // { key: 'return', value: 'HR-Agent' }
 */
export function fromObject<T extends object>(object: T & FieldsOf<T>): Packet;
/** The same for an object of any keys; being the last, it is what `Parameters<typeof fromObject>` tells of. */
export function fromObject(object: Readonly<Record<string, FieldValue>>): Packet;
export function fromObject(object: object): Packet {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw refusal('bad-input', 'packet', 'is no object of fields');
  }
  const values = object as Readonly<Record<string, unknown>>;
  const own = (name: string): unknown => (Object.hasOwn(values, name) ? values[name] : undefined);
  const task = checkedTask(own('task'));
  const domain = checkedDomain(own('domain'));
  const fields: Field[] = [];
  for (const key of Object.keys(object)) {
    if (key === 'task' || key === 'domain') continue;
    const value = fieldText(values[key], checkedKey(key), (text) => text);
    if (value !== null) fields.push({ key, value });
  }
  return printable({ kind: 'packet', task, domain, fields });
}

/**
 * The packet as a flat object, for `JSON.stringify` above all; it has no prototype, so that every key is data.
 *
 * @throws EncodeError with code `duplicate-key` on a repeated key, `bad-key` on a field named `task` or `domain`, and
 *   `unprintable` on what is no packet, or v1.1 cannot write, such as a field without a colon; as `packetHash` does
 * @example
 * JSON.stringify(toObject(parsePacket('ACK|HR|return:A|aacp:1.1')))
 * // '{"task":"ACK","domain":"HR","return":"A","aacp":"1.1"}'
 */
export function toObject(packet: Packet): PacketObject {
  const { task, domain, fields } = printable(packet);
  const object: Record<string, string> = Object.assign(Object.create(null), { task, domain });
  for (const { key, value } of fields) {
    if (key === 'task' || key === 'domain') {
      throw refusal('bad-key', key, `is a field of that name, which would take the place of the ${key} itself`);
    }
    if (key in object) throw refusal('duplicate-key', key, 'is repeated, and an object has each key once');
    object[key] = value;
  }
  return object as PacketObject;
}

function printable(packet: Packet): Packet {
  asEncodeError(packet, () => printPacket(packet));
  return packet;
}
