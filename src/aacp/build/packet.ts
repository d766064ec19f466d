/** Packets from values (draft-mackay-aacp-01, section 4). */
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { Receiver } from '../encoders/result.js';
import { PRIORITIES, VERSION } from '../vocabulary.js';
import { checkedDomain, checkedKey, checkedTask, fieldText, refusal } from './field-text.js';
import type { DraftFields, FieldsOf, PacketInput } from './packet-input.js';
import { resolveReceiver } from './receiver.js';

export interface PacketOptions {
  /** Who reads the packet: decides what is left out. */
  readonly receiver?: Receiver | undefined;
}

/** What a receiver with field lists of its own has no use for (sections 4.2 and 9). */
export const KNOWN_TO_RECEIVER: readonly string[] = ['fields', 'data_ptr'];

/**
 * The text of a packet. What is written reads back as exactly the fields that were given, in their order: nothing in a value
 * can add a field, or change another one. `aacp` is added after `p` or, without one, after `return` when it is not given.
 *
 * Source: draft-mackay-aacp-01, section 4.
 *
 * @param input a {@link PacketInput}, or an object of a type of yours with such members
 * @throws EncodeError naming the input that cannot be written
 * @throws TypeError on options that are none
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

/** Readers refuse what is longer. */
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
