/** What a message, or a map within one, is about. */
import type { Json, JsonObject } from '../../message/json.js';
import { INCIDENTAL, NO_SUBJECT } from './words.js';

/** Keys that name what their map is about, wherever they stand. */
const NAMING = /^(id|key|name|sku|uuid|code|ref|transaction_id|tool_name|task)$|_(id|key|code)$/;
/** Longer texts are no names. */
const MAX_NAME = 60;

/** A member that names its map: its key and its value as text. */
export interface Subject {
  readonly key: string;
  readonly name: string;
}

/** The parameter that a payload is about: one that is named so, else the first that can be a name. */
export function subjectOf(payload: JsonObject): Subject | null {
  const keys = Object.keys(payload).filter((key) => !NO_SUBJECT.has(key) && !INCIDENTAL.has(key));
  const key =
    keys.find((one) => NAMING.test(one) && isNameLike(payload[one])) ??
    // `data` names a data set, but what else is named matters more.
    keys.find((one) => one !== 'data' && isWord(payload[one])) ??
    keys.find((one) => isWord(payload[one]));
  return key === undefined ? null : { key, name: String(payload[key]) };
}

/** The member that tells apart the maps of a list, such as `region` or `sku`; `null` where none does. */
export function namingKey(list: string, maps: readonly JsonObject[]): string | null {
  const keys = Object.keys(maps[0] ?? {});
  const usable = keys.filter((key) => tellsApart(maps, key));
  return (
    usable.find((key) => key === 'id' || isSingular(key, list)) ??
    usable.find((key) => NAMING.test(key)) ??
    usable.find((key) => maps.every((map) => isWord(map[key]))) ??
    usable.find((key) => maps.every((map) => typeof map[key] === 'string')) ??
    null
  );
}

function tellsApart(maps: readonly JsonObject[], key: string): boolean {
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

/** A word of letters at its beginning; quantities such as `-4.1%` name nothing. */
function isWord(value: Json | undefined): boolean {
  return typeof value === 'string' && value.length <= MAX_NAME && /^[A-Za-z@]\S*$/.test(value);
}

function isNameLike(value: Json | undefined): boolean {
  if (typeof value === 'string') return value !== '' && value.length <= MAX_NAME;
  return typeof value === 'number' || typeof value === 'bigint';
}
