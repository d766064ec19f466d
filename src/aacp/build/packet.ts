import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Field, Packet } from '../ast.js';
import { printPacket } from '../print.js';
import { PRIORITIES, VERSION } from '../vocabulary.js';
import { asEncodeError } from './hash.js';
import { checkedDomain, checkedKey, checkedTask, encodeError, fieldText } from './values.js';

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

/** Properties of the receiver, which decide what a packet for it contains. */
export interface Receiver {
  /** If true, leaves out `fields` and `data_ptr`, which the receiver already knows (sections 4.2 and 9). @default false */
  readonly knowsFields?: boolean | undefined;
}

/** Options of `packet`. */
export interface PacketOptions {
  /** The agent that reads the packet, which decides what can be left out. @default an agent that knows nothing in advance */
  readonly receiver?: Receiver | undefined;
}

/** Keys that a receiver with field lists of its own does not need (sections 4.2 and 9). */
export const KNOWN_TO_RECEIVER: readonly string[] = ['fields', 'data_ptr'];

/**
 * Builds the text of a packet (draft-mackay-aacp-01, section 4). It parses to exactly the given fields: nothing in a value can add or
 * change a field. If `aacp` is missing, it is added after `p` or, without `p`, after `return`.
 *
 * @throws EncodeError if an input cannot be written; `path` names it
 * @throws TypeError if an option is invalid
 * @example
 * packet({ task: 'FETCH', domain: 'HR', return: 'HR-Agent', p: 1, res: 'emp_salary', fields: ['id', 'name'] })
 * // 'FETCH|HR|return:HR-Agent|p:1|aacp:1.1|res:emp_salary|fields:id,name'
 */
export function packet<T extends object>(input: T & DraftFields & FieldsOf<T>, options?: PacketOptions): string;
/** Builds the text of a packet from a {@link PacketInput}. This overload is the last one, which `Parameters<typeof packet>` uses. */
export function packet(input: PacketInput, options?: PacketOptions): string;
export function packet(input: object, options: PacketOptions = {}): string {
  const { knowsFields } = resolveReceiver(options);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw encodeError('bad-input', 'packet', 'is not an object of fields');
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
  if (returnAt === 0)
    throw encodeError('missing-input', 'return', 'is missing', 'name the agent that receives the result');
  if (!hasVersion) parts.splice(priorityAt || returnAt, 0, `aacp:${VERSION}`);
  return withinLimits(parts.join('|'), parts.length - 2);
}

function checkPriority(text: string): void {
  if (Object.hasOwn(PRIORITIES, text)) return;
  throw encodeError('bad-input', 'p', 'is not 1, 2 or 3', 'p is 1 (critical), 2 (medium) or 3 (low)');
}

/** Rejects packets that exceed the default limits of the parser. */
function withinLimits(text: string, fields: number): string {
  const { maxLength, maxItems } = DEFAULT_LIMITS;
  if (text.length > maxLength) {
    throw encodeError(
      'bad-input',
      'packet',
      `would have ${text.length} characters; the parser accepts at most ${maxLength}`,
    );
  }
  if (fields > maxItems) {
    throw encodeError('bad-input', 'packet', `would have ${fields} fields; the parser accepts at most ${maxItems}`);
  }
  return text;
}

/** A TASK: the verbs of section 5.1. Other words are allowed; validators warn about them. */
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

/** A DOM: the domains of section 5.2. Implementations may define others. */
export type Domain = 'HR' | 'FIN' | 'SALES' | 'LEGAL' | 'IT' | 'CS' | 'MKT' | (string & {});

/** A value of a field. Numbers become plain digits, lists are joined with commas; `null`, `undefined` and `[]` omit the field. */
export type FieldValue = string | number | bigint | readonly string[] | null | undefined;

/** The fields that the draft defines. */
export interface DraftFields {
  /** Field 0: the action verb. */
  readonly task: Task;
  /** Field 1: the business domain. */
  readonly domain: Domain;
  /** The agent that receives the result. */
  readonly return: string | readonly string[];
  /** The priority: 1 is critical, 2 medium, 3 low. */
  readonly p?: 1 | 2 | 3 | '1' | '2' | '3' | null | undefined;
  /** The version of the protocol. @default '1.1' */
  readonly aacp?: string | null | undefined;
  /** The resource that the action applies to. */
  readonly res?: FieldValue;
  /** A time period: `2024-08`. */
  readonly period?: FieldValue;
  /** A filter expression on the resource: `status=active`. */
  readonly filter?: FieldValue;
  /** The fields to return. Omitted for receivers that have field lists of their own. */
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
  /** A pointer to data that must not be in the packet. Omitted for receivers that know it. */
  readonly data_ptr?: FieldValue;
  /** An amount of money; `ccy` names the currency. */
  readonly amt?: FieldValue;
  /** The currency of `amt` or `ltv`. */
  readonly ccy?: FieldValue;
  /** The supplier. */
  readonly sup?: FieldValue;
  /** The document to match against, such as a purchase order. */
  readonly match?: FieldValue;
  /** The terms of payment: `net30`. */
  readonly terms?: FieldValue;
  /** The type of a document. */
  readonly type?: FieldValue;
  /** The counterparty. */
  readonly party?: FieldValue;
  /** The clause of a document that the packet refers to. */
  readonly clause?: FieldValue;
  /** The problem that was found. */
  readonly issue?: FieldValue;
  /** The level of risk: `low`, `medium`, `high`, `critical`. */
  readonly risk?: FieldValue;
  /** The action that stays blocked until the packet is handled. */
  readonly block?: FieldValue;
  /** Conditions to flag. */
  readonly flags?: FieldValue;
  /** Actions that are required. */
  readonly req?: FieldValue;
  /** The content to highlight. */
  readonly highlight?: FieldValue;
  /** The outcome: `ok`, `review_required`, `error`, `blocked`. */
  readonly status?: FieldValue;
  /** The recipients. */
  readonly to?: FieldValue;
  /** The subject of a message. */
  readonly subj?: FieldValue;
  /** The attachments. */
  readonly att?: FieldValue;
  /** The message of a flag. */
  readonly flag_msg?: FieldValue;
  /** The tone for human readers: `empathetic`, `formal`, `terse`. */
  readonly tone?: FieldValue;
  /** The mood of the counterparty. Requires `tone`. */
  readonly sentiment?: FieldValue;
  /** The agent or person that acted. */
  readonly actor?: FieldValue;
  /** The agents that were involved, in order. */
  readonly chain?: FieldValue;
  /** Progress, from 0 to 1. */
  readonly prog?: FieldValue;
  /** The lifetime value of a customer. Requires `ccy`. */
  readonly ltv?: FieldValue;
  /** The loyalty level of a customer. */
  readonly loyalty?: FieldValue;
  /** The urgency of the request. */
  readonly urgency?: FieldValue;
}

/** A packet as a flat object, its fields in order. Private keys should have a prefix such as `org_` (section 13). */
export interface PacketInput extends DraftFields {
  readonly [key: string]: FieldValue;
}

/** The members of `T`, if each can be a field. Also accepts interfaces, which have no index signature. */
export type FieldsOf<T> = T extends readonly unknown[] ? never : { readonly [K in keyof T]: FieldValue };

/** A packet as a flat object without a prototype: the TASK, the DOM, then the fields in their order. */
export type PacketObject = {
  /** Field 0, the action verb. */
  readonly task: string;
  /** Field 1, the business domain. */
  readonly domain: string;
} & Readonly<Record<string, string>>;

/**
 * Converts a flat object to a packet, its fields in order. Values are treated as by `packet`, but strings stay unchanged, even if empty,
 * and nothing is added. `fromObject(JSON.parse(JSON.stringify(toObject(packet))))` equals the packet.
 *
 * @throws EncodeError if a key or value cannot be written; `path` names it
 * @example
 * fromObject({ task: 'ACK', domain: 'HR', return: 'HR-Agent', aacp: '1.1' }).fields[0] // { key: 'return', value: 'HR-Agent' }
 */
export function fromObject<T extends object>(object: T & FieldsOf<T>): Packet;
/** Converts an object with any keys. This overload is the last one, which `Parameters<typeof fromObject>` uses. */
export function fromObject(object: Readonly<Record<string, FieldValue>>): Packet;
export function fromObject(object: object): Packet {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw encodeError('bad-input', 'packet', 'is not an object of fields');
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
 * Converts a packet to a flat object for `JSON.stringify`. The object has no prototype, so every key is data.
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
      throw encodeError('bad-key', key, `is the name of a field, which would replace the ${key} of the packet`);
    }
    if (key in object) throw encodeError('duplicate-key', key, 'is repeated; an object can have each key only once');
    object[key] = value;
  }
  return object as PacketObject;
}

function printable(packet: Packet): Packet {
  asEncodeError(packet, () => printPacket(packet));
  return packet;
}
