/** The facts of one message, by the shape of its payload. */
import type { Json, JsonObject } from '../../message/json.js';
import { Reference } from '../../message/reference.js';
import { isJsonObject } from '../../message/values.js';
import { PROFILES } from '../../profiles/profiles.js';
import type { FactSource, FactValue, WeighedFact } from './fact.js';
import { namingKey, subjectOf } from './subject.js';
import { textFacts } from './text-facts.js';
import { CONTAINERS, INCIDENTAL } from './words.js';

/** How much a message matters by its intent (Table 7): results and trouble first, receipts last. */
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

/** What a decoder fills in, by schema (section 10): nobody has said it. */
const DEFAULTS: ReadonlyMap<string, JsonObject> = new Map(
  PROFILES.map(({ code, schema }) => [code, schema.defaults ?? {}]),
);

/** The members of an error frame that its first fact tells (section 3.6), under either name. */
const ERROR_KEYS: ReadonlySet<string> = new Set(['code', 'message', 'msg', 'retryable', 'retry']);

/** Errors of a frame and not of the work: it came twice, or out of its turn (Table 6). */
const DELIVERY_CODES: ReadonlySet<string> = new Set(['E3002', 'E3003']);

/** What is said in plain words, be it asked or answered. */
const SPOKEN = 6.5;

/** Operations that settle something (section 4.3). */
const VERDICTS: ReadonlySet<string> = new Set(['approve', 'reject', 'cancel', 'merge']);

/** Where facts begin to be the details of a long list. */
const SALIENT_ITEMS = 3;
const MAX_ITEMS = 100;
const MAX_DEPTH = 8;
/** A string that is longer, or has several sentences, is read as text. */
const MAX_PLAIN = 60;
const SENTENCES = /[.;!?][\s_]/;

/** The facts of a message in the order of its payload. Every value is one that the message holds. */
export function factsOf(source: FactSource): WeighedFact[] {
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
    // The code is the relation between what failed and why.
    facts.push({
      entity,
      relation: code,
      value: typeof why === 'string' && why !== '' ? why : code,
      weight: 8,
      among: true,
    });
  } else if (intent === 'esc' && typeof target === 'string') {
    facts.push({ entity, relation: 'esc', value: target, weight: weight + 1, among: false });
  } else if (VERDICTS.has(operation) && intent !== 'req' && intent !== 'qry') {
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
      // Who speaks, and in which language, is no fact.
    } else {
      // What a delta holds belongs to the state, which has no name.
      collect(key === 'delta' ? 'state' : entity, key, value, isError ? 5 : weight, CONTAINERS.has(key), 0);
    }
  }
  // What a message is about is told with the rest; where there is no rest, it is all that was said.
  if (facts.length === 0 && subject !== null) {
    facts.push({ entity: operation, relation: subject.key, value: subject.name, weight, among: false });
  }
  return facts;
}

type Collect = (entity: string, key: string, value: Json, weight: number, isOpen: boolean, depth: number) => void;

function collector({ schema, intent, operation }: FactSource, facts: WeighedFact[]): Collect {
  const defaults = DEFAULTS.get(schema ?? '') ?? {};
  const verdict = VERDICTS.has(operation) ? 1 : 0;

  function add(entity: string, relation: string, value: FactValue, weight: number, among: boolean): void {
    if (value === '' || value === entity) return;
    facts.push({ entity, relation, value, weight: weight + verdict + interestOf(relation, value), among });
  }

  /** `isOpen`: whether `key` is a mere container, so that maps in it are about something of their own. */
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
    // A map with an identifier of its own is about that, as the result of a look-up is.
    const name = map['id'] ?? (isOpen && intent !== 'req' ? map['name'] : undefined);
    const owner = typeof name === 'string' && name !== '' && intent !== 'req' ? name : entity;
    for (const [member, value] of Object.entries(map)) {
      if (value === name && owner === name) continue;
      // In a delta, null means that the key is gone (section 5.4).
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

/** The relation of a member of a map; a long name is not repeated for each of them. */
function nameIn(key: string, member: string): string {
  return key.length > MAX_PLAIN ? member : `${key}_${member}`;
}

function isText(value: string): boolean {
  return value.length > MAX_PLAIN || SENTENCES.test(value);
}

/** Definite values and outcomes matter most; flags and what only says how to answer, least. */
function interestOf(relation: string, value: FactValue): number {
  if (INCIDENTAL.has(relation)) return -3;
  if (relation === 'status') return 2;
  if (relation === 'retry' || relation === 'retryable') return -4;
  if (relation === 'priority') return -1;
  if (typeof value === 'boolean') return -1;
  return typeof value !== 'string' || /[0-9]/.test(value) ? 1 : 0.5;
}
