/** TypeScript types and zod schemas of the messages in a sample. */
import { isLabel, isSecretKey } from '../../../accp/compact/occurrences.js';
import { Reference } from '../../../accp/message/json.js';
import type { MessageInput } from '../../../accp/message/message.js';
import { array, type Code, call, object, print, quoted } from './code.js';

/** The values at one place of the messages. */
interface Seen {
  count: number;
  nulls: number;
  booleans: number;
  integers: number;
  numbers: number;
  bigints: number;
  strings: number;
  /** The number of times of each string; `null` if there are too many, or if they may be secret. */
  labels: Map<string, number> | null;
  /** Values of which nothing is known: references, and those that nest too deep. */
  others: number;
  arrays: number;
  items: Seen | null;
  objects: number;
  members: Map<string, Seen>;
}

/** The maximum number of values of an enumeration. */
const MAX_LABELS = 8;
const MAX_LABEL = 64;
/** The depth of values below which nothing is described. */
const MAX_DEPTH = 8;
/** Objects with more members, or with longer names of members, are maps with any keys. */
const MAX_MEMBERS = 64;
const MAX_KEY = 60;
/** The maximum length of a generated name, before its number: the declaration of its type then fits in a line. */
const MAX_NAME = 36;

const PREAMBLE = `/** Message types, generated from a sample by \`pegwire registry learn\`. */
import * as z from 'zod';
`;

/**
 * Returns the text of a TypeScript module with a type and a zod schema for each intent, operation and schema, and for any of these messages. The
 * schemas accept all messages of the sample.
 */
export function typesOf(messages: readonly MessageInput[]): string {
  const types = new Map<string, MessageInput[]>();
  for (const message of messages) {
    const key = `${message.intent}:${message.operation}:${message.schema ?? ''}`;
    const same = types.get(key);
    if (same === undefined) types.set(key, [message]);
    else same.push(message);
  }
  const names = new Set<string>();
  const declared = [...types.values()].map((some) => {
    const { intent, operation, schema } = some[0]!;
    return { intent, operation, schema, name: unusedName([intent, operation, schema ?? ''], names), some };
  });
  const texts = declared.map(({ name, some }) => declaration(name, messageCode(some)));
  const all = unionBy(declared, 'operation', (same) => unionBy(same, 'intent', (few) => unionBy(few, 'schema', first)));
  return [PREAMBLE, ...texts, declaration('Message', all)].join('\n');
}

interface Declared {
  readonly intent: string;
  readonly operation: string;
  readonly schema: string | undefined;
  readonly name: string;
}

function first([one]: readonly Declared[]): Code {
  return schemaName(one!.name);
}

/** Returns the union of types that differ in a member; the code of a single one alone. */
function unionBy(
  all: readonly Declared[],
  member: 'intent' | 'operation' | 'schema',
  codeOf: (same: readonly Declared[]) => Code,
): Code {
  const groups = new Map<string | undefined, Declared[]>();
  for (const one of all) groups.set(one[member], [...(groups.get(one[member]) ?? []), one]);
  const codes = [...groups.values()].map(codeOf);
  return codes.length === 1 ? codes[0]! : call('z.discriminatedUnion', [quoted(member), array(codes)]);
}

function declaration(name: string, code: Code): string {
  const schema = `export const ${schemaName(name)} = `;
  return `${schema}${print(code, 0, schema.length, 1)};\n\nexport type ${name} = z.infer<typeof ${schemaName(name)}>;\n`;
}

function schemaName(name: string): string {
  return `${name[0]!.toLowerCase()}${name.slice(1)}Schema`;
}

/** Joins words in Pascal case. An intent has only letters, so that the name begins with one. */
function unusedName(words: readonly string[], used: Set<string>): string {
  const parts = words.flatMap((word) => word.split(/[^A-Za-z0-9]+/));
  const name = parts
    .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1))
    .join('')
    .slice(0, MAX_NAME);
  let unused = name;
  // Names of values differ from those of types in the case of the first letter.
  for (let number = 2; used.has(unused.toLowerCase()) || unused === 'Message'; number++) unused = `${name}_${number}`;
  used.add(unused.toLowerCase());
  return unused;
}

function messageCode(messages: readonly MessageInput[]): Code {
  const { intent, operation, schema } = messages[0]!;
  const payload = nothing();
  for (const one of messages) if (one.payload !== undefined) see(one.payload, payload, 0, false);
  const has = (member: 'agent' | 'payload') => messages.every((one) => one[member] !== undefined);
  const optionalIf = (isOptional: boolean, code: Code): Code => (isOptional ? call('z.optional', [code]) : code);
  return call('z.object', [
    object([
      ['agent', optionalIf(!has('agent'), 'z.string()')],
      ['intent', call('z.literal', [quoted(intent)])],
      ['operation', call('z.literal', [quoted(operation)])],
      ['schema', schema === undefined ? 'z.optional(z.undefined())' : call('z.literal', [quoted(schema)])],
      ['payload', optionalIf(!has('payload'), payload.count === 0 ? 'z.object({})' : codeOf(payload))],
    ]),
  ]);
}

function nothing(): Seen {
  return {
    count: 0,
    nulls: 0,
    booleans: 0,
    integers: 0,
    numbers: 0,
    bigints: 0,
    strings: 0,
    labels: new Map(),
    others: 0,
    arrays: 0,
    items: null,
    objects: 0,
    members: new Map(),
  };
}

/** Records a value. @param isSecret `true` if its strings may be secret */
function see(value: unknown, seen: Seen, depth: number, isSecret: boolean): void {
  seen.count++;
  if (value === null) seen.nulls++;
  else if (typeof value === 'boolean') seen.booleans++;
  else if (typeof value === 'bigint') seen.bigints++;
  else if (typeof value === 'number') seen[Number.isSafeInteger(value) ? 'integers' : 'numbers']++;
  else if (typeof value === 'string') seeString(value, seen, isSecret);
  else if (depth === MAX_DEPTH || value instanceof Reference) seen.others++;
  else if (Array.isArray(value)) {
    seen.arrays++;
    seen.items ??= nothing();
    for (const item of value) see(item, seen.items, depth + 1, isSecret);
  } else {
    seen.objects++;
    for (const [key, member] of Object.entries(value as object)) {
      if (member === undefined) continue;
      const known = seen.members.get(key) ?? nothing();
      seen.members.set(key, known);
      see(member, known, depth + 1, isSecret || isSecretKey(key));
    }
  }
}

function seeString(text: string, seen: Seen, isSecret: boolean): void {
  seen.strings++;
  if (isSecret || text.length > MAX_LABEL || !isLabel(text)) seen.labels = null;
  seen.labels?.set(text, (seen.labels.get(text) ?? 0) + 1);
  if (seen.labels !== null && seen.labels.size > MAX_LABELS) seen.labels = null;
}

function codeOf(seen: Seen): Code {
  if (seen.others > 0) return 'z.unknown()';
  const kinds: Code[] = [];
  if (seen.strings > 0) kinds.push(stringCode(seen));
  if (seen.numbers + seen.integers > 0) kinds.push(seen.numbers > 0 || seen.bigints > 0 ? 'z.number()' : 'z.int()');
  // JSON.parse reads them as numbers.
  if (seen.bigints > 0) kinds.push(...(seen.numbers + seen.integers > 0 ? [] : ['z.number()']), 'z.bigint()');
  if (seen.booleans > 0) kinds.push('z.boolean()');
  if (seen.arrays > 0) {
    const items = seen.items === null || seen.items.count === 0 ? 'z.unknown()' : codeOf(seen.items);
    kinds.push(call('z.array', [items]));
  }
  if (seen.objects > 0) kinds.push(objectCode(seen));
  if (kinds.length === 0) return 'z.null()';
  const code = kinds.length === 1 ? kinds[0]! : call('z.union', [array(kinds)]);
  return seen.nulls > 0 ? call('z.nullable', [code]) : code;
}

function stringCode({ labels }: Seen): Code {
  const values = [...(labels ?? [])];
  const isEnumeration = values.length > 1 && values.every(([, count]) => count > 1);
  return isEnumeration ? call('z.enum', [array(values.map(([text]) => quoted(text)).sort())]) : 'z.string()';
}

function objectCode({ members, objects }: Seen): Code {
  // zod reads absent members of these names from the prototype.
  const own = [...members].filter(([key]) => !(key in Object.prototype));
  if (own.length > MAX_MEMBERS || own.some(([key]) => key.length > MAX_KEY)) {
    return call('z.record', ['z.string()', 'z.unknown()']);
  }
  return call('z.object', [
    object(
      own.map(([key, seen]) => {
        const code = codeOf(seen);
        return [key, seen.count < objects ? call('z.optional', [code]) : code];
      }),
    ),
  ]);
}
