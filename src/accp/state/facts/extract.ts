/** Step 2 of a checkpoint: the key facts of its messages (draft-benzing-accp-00, section 5.3). */

import { isJsonObject, type Json, type JsonObject, Reference } from '../../message/json.js';
import { PROFILES } from '../../profiles/profiles.js';
import {
  CONTAINERS,
  type Fact,
  type FactSource,
  type FactValue,
  INCIDENTAL,
  NO_SUBJECT,
  textFacts,
  type WeighedFact,
} from './text-facts.js';

/** The maximum number of facts: more than any summary contains. */
const MAX_FACTS = 1000;
/** The weight of the last message above that of the first. */
const RECENCY = 1;

/** Extracts facts deterministically, the most important first. A later value of a relation replaces an earlier one; list items stay. */
export function extractFacts(
  messages: readonly FactSource[],
  resolve: (reference: Reference) => Json = (reference) => reference,
): Fact[] {
  const facts = new Map<string, WeighedFact>();
  messages.forEach((message, index) => {
    const later = (RECENCY * (index + 1)) / messages.length;
    for (const fact of factsOf({ ...message, payload: resolved(message.payload, resolve) })) {
      if (facts.size >= MAX_FACTS) return;
      const own = fact.among ? `${typeof fact.value}:${fact.value}` : '';
      const key = JSON.stringify([fact.entity, fact.relation, own]);
      const known = facts.get(key);
      const weight = fact.weight + later;
      // Values filled in by a schema replace no others.
      if (known !== undefined && fact.weight <= 0) continue;
      facts.set(key, { ...fact, weight: Math.max(weight, known?.weight ?? 0) });
    }
  });
  return [...facts.values()]
    .sort((a, b) => b.weight - a.weight)
    .map(({ entity, relation, value }) => ({ entity, relation, value }));
}

/** Resolves the references among the top-level parameters only. */
function resolved(payload: JsonObject, resolve: (reference: Reference) => Json): JsonObject {
  if (!Object.values(payload).some((value) => value instanceof Reference)) return payload;
  const copy: Record<string, Json> = Object.create(null);
  for (const [key, value] of Object.entries(payload)) copy[key] = value instanceof Reference ? resolve(value) : value;
  return copy;
}

/** The weights of intents (Table 7): results and problems first, receipts last. */
const WEIGHTS: Readonly<Record<string, number>> = {
  fail: 8,
  esc: 8,
  sync: 7,
  done: 6,
  wait: 5,
  req: 5,
  ack: 4,
  stream: 3,
  end: 3,
  qry: 3,
};

/** Defaults by schema (section 10), which carry no information. */
const DEFAULTS: ReadonlyMap<string, JsonObject> = new Map(
  PROFILES.map(({ code, schema }) => [code, schema.defaults ?? {}]),
);

/** Members of an error frame that its first fact covers (section 3.6). */
const ERROR_KEYS: ReadonlySet<string> = new Set(['code', 'message', 'msg', 'retryable', 'retry']);

/** Errors of delivery, not of the work (Table 6). */
const DELIVERY_CODES: ReadonlySet<string> = new Set(['E3002', 'E3003']);

const SPOKEN = 6.5;

const DECISION_OPERATIONS: ReadonlySet<string> = new Set(['approve', 'reject', 'cancel', 'merge']);

/** Later items of a list have lower weight. */
const SALIENT_ITEMS = 3;
const MAX_ITEMS = 100;
const MAX_DEPTH = 8;
/** Longer strings, and those of several sentences, are read as text. */
const MAX_PLAIN = 60;
const SENTENCES = /[.;!?][\s_]/;

function factsOf(source: FactSource): WeighedFact[] {
  const { agent, intent, operation, schema, payload } = source;
  const facts: WeighedFact[] = [];
  const weight = WEIGHTS[intent] ?? 3;
  const { code } = payload;
  const isError = operation === 'error' && typeof code === 'string';
  if (isError && DELIVERY_CODES.has(code)) return [];
  const why = payload['message'] ?? payload['msg'];
  const subject = subjectOf(payload);
  const entity = subject?.name ?? (isError ? agent : operation);
  const target = payload['target'] ?? payload['esc'];
  if (isError) {
    // The code is the relation between the failure and its reason.
    facts.push({
      entity,
      relation: code,
      value: typeof why === 'string' && why !== '' ? why : code,
      weight: 8,
      among: true,
    });
  } else if (intent === 'esc' && typeof target === 'string') {
    facts.push({ entity, relation: 'esc', value: target, weight: weight + 1, among: false });
  } else if (DECISION_OPERATIONS.has(operation) && intent !== 'req' && intent !== 'qry') {
    facts.push({ entity, relation: operation, value: agent, weight: 9, among: false });
  } else if (intent === 'done' && subject !== null && operation !== 'tool') {
    facts.push({ entity, relation: operation, value: agent, weight: 3, among: false });
  }

  const collect = collector(source, facts);
  for (const [key, value] of Object.entries(payload)) {
    if (key === subject?.key || key === 'schema' || (intent === 'esc' && value === target)) continue;
    if ((intent === 'sync' && key === 'version') || (isError && ERROR_KEYS.has(key))) continue;
    if (key === 'content' && typeof value === 'string') {
      facts.push(...textFacts(value, { entity: agent, relation: 'says', weight: SPOKEN, plain: 3 }));
    } else if (schema === 'CH' && INCIDENTAL.has(key)) {
      // Role and language are no facts.
    } else {
      // The contents of a delta belong to the state, which has no name.
      collect(key === 'delta' ? 'state' : entity, key, value, isError ? 5 : weight, CONTAINERS.has(key), 0);
    }
  }
  // The subject is a fact by itself only if there is no other.
  if (facts.length === 0 && subject !== null) {
    facts.push({ entity: operation, relation: subject.key, value: subject.name, weight, among: false });
  }
  return facts;
}

type Collect = (entity: string, key: string, value: Json, weight: number, isOpen: boolean, depth: number) => void;

function collector({ schema, intent, operation }: FactSource, facts: WeighedFact[]): Collect {
  const defaults = DEFAULTS.get(schema ?? '') ?? {};
  const verdict = DECISION_OPERATIONS.has(operation) ? 1 : 0;

  function add(entity: string, relation: string, value: FactValue, weight: number, among: boolean): void {
    if (value === '' || value === entity) return;
    facts.push({ entity, relation, value, weight: weight + verdict + interestOf(relation, value), among });
  }

  /** `isOpen`: `key` is a mere container, so that maps in it are entities of their own. */
  function collect(entity: string, key: string, value: Json, weight: number, isOpen: boolean, depth: number): void {
    if (depth > MAX_DEPTH || value instanceof Reference) return;
    if (value === null) return;
    if (Array.isArray(value)) {
      collectItems(entity, key, value, weight, depth);
    } else if (isJsonObject(value)) {
      collectMap(entity, key, value, weight, isOpen, depth);
    } else if (depth === 0 && defaults[key] === value) {
      facts.push({ entity, relation: key, value: value as FactValue, weight: 0, among: false });
    } else if (typeof value === 'string' && isText(value)) {
      facts.push(...textFacts(value, { entity, relation: key, weight: weight + 1, plain: 1 }));
    } else {
      add(entity, key, value as FactValue, weight, false);
    }
  }

  function collectMap(
    entity: string,
    key: string,
    map: JsonObject,
    weight: number,
    isOpen: boolean,
    depth: number,
  ): void {
    // A map with an identifier is an entity of its own.
    const name = map['id'] ?? (isOpen && intent !== 'req' ? map['name'] : undefined);
    const owner = typeof name === 'string' && name !== '' && intent !== 'req' ? name : entity;
    for (const [member, value] of Object.entries(map)) {
      if (value === name && owner === name) continue;
      // In a delta, null removes the key (section 5.4).
      if (value === null && key === 'delta' && depth === 0) add(entity, 'removed', member, weight, true);
      if (isOpen && isJsonObject(value)) collect(member, member, value, weight, true, depth + 1);
      else collect(owner, isOpen ? member : nameIn(key, member), value, weight, false, depth + 1);
    }
  }

  function collectItems(entity: string, key: string, items: readonly Json[], weight: number, depth: number): void {
    const some = items.slice(0, MAX_ITEMS);
    const naming = some.every(isJsonObject) ? namingKey(key, some) : null;
    some.forEach((item, index) => {
      const lighter = weight - 0.5 - Math.max(0, index - SALIENT_ITEMS + 1) * 0.5;
      if (naming !== null && isJsonObject(item)) {
        const { [naming]: name, ...rest } = item;
        for (const [member, value] of Object.entries(rest)) {
          collect(String(name), member, value!, lighter, false, depth + 1);
        }
      } else if (isJsonObject(item) || Array.isArray(item)) {
        collect(entity, key, item, lighter, true, depth + 1);
      } else if (item !== null && !(item instanceof Reference)) {
        add(entity, key, item as FactValue, lighter, true);
      }
    });
  }

  return collect;
}

/** A long name is not repeated for each member. */
function nameIn(key: string, member: string): string {
  return key.length > MAX_PLAIN ? member : `${key}_${member}`;
}

function isText(value: string): boolean {
  return value.length > MAX_PLAIN || SENTENCES.test(value);
}

function interestOf(relation: string, value: FactValue): number {
  if (INCIDENTAL.has(relation)) return -3;
  if (relation === 'status') return 2;
  if (relation === 'retry' || relation === 'retryable') return -4;
  if (relation === 'priority') return -1;
  if (typeof value === 'boolean') return -1;
  return typeof value !== 'string' || /[0-9]/.test(value) ? 1 : 0.5;
}

/** Keys that name the entity of their map. */
const NAMING = /^(id|key|name|sku|uuid|code|ref|transaction_id|tool_name|task)$|_(id|key|code)$/;
const MAX_NAME = 60;

interface Subject {
  readonly key: string;
  readonly name: string;
}

/** The parameter that a payload is about: one with a naming key, else the first that can be a name. */
function subjectOf(payload: JsonObject): Subject | null {
  const keys = Object.keys(payload).filter((key) => !NO_SUBJECT.has(key) && !INCIDENTAL.has(key));
  const key =
    keys.find((one) => NAMING.test(one) && isNameLike(payload[one])) ??
    // `data` names a data set; other names matter more.
    keys.find((one) => one !== 'data' && isWord(payload[one])) ??
    keys.find((one) => isWord(payload[one]));
  return key === undefined ? null : { key, name: String(payload[key]) };
}

/** Returns the key whose values distinguish the maps of a list, such as `region` or `sku`; `null` if there is none. */
function namingKey(list: string, maps: readonly JsonObject[]): string | null {
  const keys = Object.keys(maps[0] ?? {});
  const usable = keys.filter((key) => distinguishes(maps, key));
  return (
    usable.find((key) => key === 'id' || isSingular(key, list)) ??
    usable.find((key) => NAMING.test(key)) ??
    usable.find((key) => maps.every((map) => isWord(map[key]))) ??
    usable.find((key) => maps.every((map) => typeof map[key] === 'string')) ??
    null
  );
}

function distinguishes(maps: readonly JsonObject[], key: string): boolean {
  const names = new Set<string>();
  for (const map of maps) {
    const value = map[key];
    if (!isNameLike(value)) return false;
    names.add(String(value));
  }
  return names.size === maps.length;
}

/** `clause` of `clauses`. */
function isSingular(key: string, list: string): boolean {
  return list === `${key}s` || list === `${key}es` || list === `${key.replace(/y$/, '')}ies`;
}

/** Quantities such as `-4.1%` are not names. */
function isWord(value: Json | undefined): boolean {
  return typeof value === 'string' && value.length <= MAX_NAME && /^[A-Za-z@]\S*$/.test(value);
}

function isNameLike(value: Json | undefined): boolean {
  if (typeof value === 'string') return value !== '' && value.length <= MAX_NAME;
  return typeof value === 'number' || typeof value === 'bigint';
}
