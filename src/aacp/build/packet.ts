import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Field, Packet } from '../ast.js';
import { printPacket } from '../print.js';
import { PRIORITIES, VERSION } from '../vocabulary.js';
import { asEncodeError } from './hash.js';
import { checkedDomain, checkedKey, checkedTask, fieldText, refusal } from './values.js';

export function resolveReceiver(options: { readonly receiver?: Receiver | undefined }): {
  readonly knowsFields: boolean;
} {
  if (typeof options !== 'object' || options === null) throw new TypeError('options must be an object');
  const { receiver } = options;
  if (receiver === undefined) return { knowsFields: false };
  if (typeof receiver !== 'object' || receiver === null) throw new TypeError('receiver must be an object');
  const { knowsFields = false } = receiver;
  if (typeof knowsFields !== 'boolean') throw new TypeError('receiver.knowsFields must be true or false');
  return { knowsFields };
}

/** Properties of the receiver that decide which fields a packet has. */
export interface Receiver {
  /** Leaves out `fields` and `data_ptr`, which the receiver has (sections 4.2 and 9). @default false */
  readonly knowsFields?: boolean | undefined;
}

export interface PacketOptions {
  /** Who reads the packet: decides what is left out. */
  readonly receiver?: Receiver | undefined;
}

/** Fields that a receiver with its own field lists does not need (sections 4.2 and 9). */
export const KNOWN_TO_RECEIVER: readonly string[] = ['fields', 'data_ptr'];

/**
 * Returns the text of a packet (draft-mackay-aacp-01, section 4), which reads back as exactly the given fields: nothing in
 * a value can add or change a field. If `aacp` is not given, it is added after `p` or, without one, after `return`.
 *
 * @throws EncodeError naming the input that cannot be written
 * @throws TypeError if an option is invalid
 * @example
 * packet({ task: 'FETCH', domain: 'HR', return: 'HR-Agent', p: 1, res: 'emp_salary', fields: ['id', 'name'] })
 * // 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fields:id,name'
 */
export function packet<T extends object>(input: T & DraftFields & FieldsOf<T>, options?: PacketOptions): string;
/** The same for what is a {@link PacketInput} by its type; being the last, it is what `Parameters<typeof packet>` tells of. */
export function packet(input: PacketInput, options?: PacketOptions): string;
export function packet(input: object, options: PacketOptions = {}): string {
  const { knowsFields } = resolveReceiver(options);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw refusal('bad-input', 'packet', 'is no object of fields');
  }
  const values = input as Readonly<Record<string, unknown>>;
  const task = checkedTask(values['task']);
  const domain = checkedDomain(values['domain']);
  const parts = [task, domain];
  let returnAt = 0;
  let priorityAt = 0;
  let hasVersion = false;
  for (const key of Object.keys(input)) {
    if (key === 'task' || key === 'domain') continue;
    checkedKey(key);
    if (knowsFields && KNOWN_TO_RECEIVER.includes(key)) continue;
    const text = fieldText(values[key], key);
    if (text === null) continue;
    parts.push(`${key}:${text}`);
    if (key === 'return') returnAt = parts.length;
    else if (key === 'aacp') hasVersion = true;
    else if (key === 'p') {
      checkPriority(text);
      priorityAt = parts.length;
    }
  }
  if (returnAt === 0) throw refusal('missing-input', 'return', 'is missing', 'name the agent that gets the result');
  if (!hasVersion) parts.splice(priorityAt || returnAt, 0, `aacp:${VERSION}`);
  return withinLimits(parts.join('|'), parts.length - 2);
}

function checkPriority(text: string): void {
  if (Object.hasOwn(PRIORITIES, text)) return;
  throw refusal('bad-input', 'p', 'is not 1, 2 or 3', 'p is 1 (critical), 2 (medium) or 3 (low)');
}

/** Readers reject longer packets. */
function withinLimits(text: string, fields: number): string {
  const { maxLength, maxItems } = DEFAULT_LIMITS;
  if (text.length > maxLength) {
    throw refusal('bad-input', 'packet', `would have ${text.length} characters; at most ${maxLength} are read`);
  }
  if (fields > maxItems) {
    throw refusal('bad-input', 'packet', `would have ${fields} fields; at most ${maxItems} are read`);
  }
  return text;
}

/** The verbs of section 5.1; others are allowed, and warned of by validators. */
export type Task =
  | 'FETCH'
  | 'PROC'
  | 'FLAG'
  | 'RESOLVE'
  | 'LOG'
  | 'SEND'
  | 'BUILD'
  | 'MERGE'
  | 'CALC'
  | 'REPORT'
  | 'ACK'
  | 'SYNC'
  | (string & {});

/** The domains of section 5.2; implementors may define others. */
export type Domain = 'HR' | 'FIN' | 'SALES' | 'LEGAL' | 'IT' | 'CS' | 'MKT' | (string & {});

/** A value: numbers become plain digits, lists are joined with commas; `null`, `undefined` and `[]` leave the field out. */
export type FieldValue = string | number | bigint | readonly string[] | null | undefined;

/** The fields that the draft names. */
export interface DraftFields {
  /** Field 0: the action verb. */
  readonly task: Task;
  /** Field 1: the business domain. */
  readonly domain: Domain;
  /** The agent that receives the result. */
  readonly return: string | readonly string[];
  /** 1 critical, 2 medium, 3 low. */
  readonly p?: 1 | 2 | 3 | '1' | '2' | '3' | null | undefined;
  /** The version of the protocol. @default '1.1' */
  readonly aacp?: string | null | undefined;
  /** The resource that the action applies to. */
  readonly res?: FieldValue;
  /** A time period: `2024-08`. */
  readonly period?: FieldValue;
  /** A filter expression on the resource: `status=active`. */
  readonly filter?: FieldValue;
  /** The fields to return. Left out for receivers that have field lists of their own. */
  readonly fields?: FieldValue;
  /** The format of the response: `json`. */
  readonly fmt?: FieldValue;
  /** The source of the data. */
  readonly src?: FieldValue;
  /** The source of the data of the previous period. */
  readonly src_prev?: FieldValue;
  /** The rules to apply. */
  readonly rules?: FieldValue;
  /** The rules or data to validate against. */
  readonly validate?: FieldValue;
  /** The template to use. */
  readonly tmpl?: FieldValue;
  /** A pointer to data that must not be in the packet. Left out for receivers that know it. */
  readonly data_ptr?: FieldValue;
  readonly amt?: FieldValue;
  /** The currency of `amt` or `ltv`. */
  readonly ccy?: FieldValue;
  /** The supplier. */
  readonly sup?: FieldValue;
  /** The document to match against, such as a purchase order. */
  readonly match?: FieldValue;
  readonly terms?: FieldValue;
  readonly type?: FieldValue;
  /** The counterparty. */
  readonly party?: FieldValue;
  readonly clause?: FieldValue;
  readonly issue?: FieldValue;
  readonly risk?: FieldValue;
  /** The action that is blocked until then. */
  readonly block?: FieldValue;
  readonly flags?: FieldValue;
  /** Actions that are required. */
  readonly req?: FieldValue;
  /** The content to highlight. */
  readonly highlight?: FieldValue;
  /** A status. */
  readonly status?: FieldValue;
  /** Who it is sent to. */
  readonly to?: FieldValue;
  /** The subject of a message. */
  readonly subj?: FieldValue;
  /** What is attached. */
  readonly att?: FieldValue;
  /** A message that goes with a flag. */
  readonly flag_msg?: FieldValue;
  /** How to talk to people: `empathetic`, `formal`, `terse`. */
  readonly tone?: FieldValue;
  /** How the other side feels; goes with `tone`. */
  readonly sentiment?: FieldValue;
  /** Who acted. */
  readonly actor?: FieldValue;
  /** The agents that took part, in order. */
  readonly chain?: FieldValue;
  /** Progress, from 0 to 1. */
  readonly prog?: FieldValue;
  /** The lifetime value of a customer; goes with `ccy`. */
  readonly ltv?: FieldValue;
  /** The loyalty of a customer. */
  readonly loyalty?: FieldValue;
  /** How urgent it is. */
  readonly urgency?: FieldValue;
}

/** A packet as a flat object, its fields in order. Private keys should have a prefix, such as `org_` (section 13). */
export interface PacketInput extends DraftFields {
  readonly [key: string]: FieldValue;
}

/** The members of `T`, if each can stand in a field. Also accepts interfaces, which have no index signature. */
export type FieldsOf<T> = T extends readonly unknown[] ? never : { readonly [K in keyof T]: FieldValue };

/** A packet as a flat object without a prototype: `task`, `domain`, then the fields in their order. */
export type PacketObject = { readonly task: string; readonly domain: string } & Readonly<Record<string, string>>;

/**
 * Returns the packet that an object describes, its fields in order. Values are as for `packet`, but texts stay as they are,
 * even empty ones, and nothing is added. `fromObject(JSON.parse(JSON.stringify(toObject(packet))))` equals the packet.
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
 * Returns the packet as a flat object, for `JSON.stringify`. It has no prototype, so that every key is data.
 *
 * @throws EncodeError with code `duplicate-key`, `bad-key` (a field named `task` or `domain`) or `unprintable`
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
