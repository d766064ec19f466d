/** Conversion of JSON to trees: exactly, with reported losses, or not at all (draft-benzing-accp-00, sections 3.1.1 and 3.3). */
import { DEFAULT_LIMITS } from '../../text/limits.js';
import type { MapValue, Param, Value } from '../ast.js';
import { whyNotPlain } from '../plain.js';
import { describeType, type FieldType, hasType, type Json, Reference } from './json.js';
import { checkedMap, containsItself, notJson, plainCopy, toJsonText, tooDeep } from './json-text.js';
import { pathText } from './message.js';
import {
  isMarked,
  isMarkedKey,
  isPlainKey,
  nodeSpelled,
  transliterate,
  transliterateJson,
  transliterateKey,
} from './transliterate.js';
import { countItems, numberNode, unwritable, type Writing } from './writing.js';

export { createWriting, type TextPolicy, type Writing, type WritingOptions } from './writing.js';

const TEXT_HELP =
  'use text: "transliterate" and announce it with codec.announce(session), or keep the value in state and send a reference';
const SPELLING = 'the reader would decode it as a transliterated string';
const KIND_HELP = 'send the value itself instead of its text, or give the field the type "string" in a schema';
const DEPTH_HELP = 'send a flatter value, or keep it in state and send a reference';
const KEY_HELP =
  'use letters, digits and "_", or use text: "transliterate" and announce it with codec.announce(session)';

/**
 * Writes one parameter of a payload.
 *
 * @param key the key on the wire
 * @param type the type in the schema; without one, the kind of the value decides
 * @param name the full key, for paths
 * @throws AccpError E1004 with the path (`payload.args.q`) if the value cannot be written or has another type
 */
export function writeParam(key: string, value: Json, writing: Writing, type?: FieldType, name = key): Param {
  const { path, open } = writing;
  // Longer only after an error. Setting a length takes as long as writing a parameter.
  if (path.length > 1) path.length = 1;
  path[0] = name;
  if (open.length > 0) open.length = 0;
  countItems(writing, 1);
  const written = topKey(key, writing);
  const isTyped = type !== undefined && type !== 'any';
  return { key: written, value: isTyped ? typedNode(value, writing, type) : node(value, writing, 0) };
}

/** Rejects an invalid key unless it can be transliterated: a reference cannot replace a key at this level. */
function topKey(key: string, writing: Writing): string {
  if (writing.text === 'transliterate') return transliterateKey(key, true);
  if (isPlainKey(key, true) && !(writing.peerDecodes && isMarkedKey(key))) return key;
  if (key === 'schema')
    throw unwritable(writing, 'this key is reserved for the schema of the payload', 'rename the key');
  throw badKey(writing);
}

function typedNode(value: Json, writing: Writing, type: FieldType): Value {
  if (!hasType(value, type)) {
    const help = value === null ? 'omit it' : undefined;
    throw unwritable(writing, `the field has the type ${type}; got ${describeType(value)}`, help);
  }
  if (type === 'string' && typeof value === 'string') {
    return nodeSpelled(value) ?? stringNode(value, writing, TEXT_HELP);
  }
  if (type === 'decimal' && (typeof value === 'number' || typeof value === 'bigint')) {
    return numberNode(value, writing, true);
  }
  return node(value, writing, 0);
}

/** @param depth number of enclosing arrays and maps */
function node(value: unknown, writing: Writing, depth: number): Value {
  switch (typeof value) {
    case 'string':
      return stringNode(value, writing);
    case 'number':
    case 'bigint':
      return numberNode(value, writing, false);
    case 'boolean':
      return { kind: 'boolean', value };
    case 'object':
      if (value === null) return { kind: 'null' };
      return value instanceof Reference ? { kind: 'ref', path: value.path } : containerNode(value, writing, depth);
    default:
      throw notJson(value, writing);
  }
}

function stringNode(text: string, writing: Writing, help?: string): Value {
  if (writing.text === 'transliterate') return { kind: 'string', value: transliterate(text) };
  const why = whyNotPlain(text) ?? (writing.peerDecodes && isMarked(text) ? SPELLING : null);
  if (why === null) return { kind: 'string', value: text };
  if (writing.text === 'externalize') return externalNode(text, writing);
  throw unwritable(writing, why, help ?? (why.endsWith('kind') ? KIND_HELP : TEXT_HELP));
}

function containerNode(value: object, writing: Writing, depth: number): Value {
  const { open } = writing;
  if (depth >= DEFAULT_LIMITS.maxDepth) return deepNode(value, writing);
  open.push(value);
  const written = Array.isArray(value)
    ? arrayNode(value, writing, depth + 1)
    : mapNode(checkedMap(value, writing), writing, depth + 1);
  open.pop();
  return written;
}

function deepNode(value: object, writing: Writing): Value {
  if (writing.open.includes(value)) throw containsItself(writing);
  if (!Array.isArray(value)) checkedMap(value, writing);
  if (writing.text === 'externalize') return externalNode(value, writing);
  if (writing.text === 'reject') throw tooDeep(writing, DEFAULT_LIMITS.maxDepth, DEPTH_HELP);
  return { kind: 'string', value: transliterateJson(toJsonText(value, writing)) };
}

function arrayNode(list: readonly unknown[], writing: Writing, depth: number): Value {
  countItems(writing, list.length);
  const { path } = writing;
  const level = path.push(0) - 1;
  const items: Value[] = [];
  for (let index = 0; index < list.length; index++) {
    path[level] = index;
    items.push(node(list[index], writing, depth));
  }
  path.pop();
  return { kind: 'array', items };
}

function mapNode(map: Readonly<Record<string, unknown>>, writing: Writing, depth: number): Value {
  const { path, text, peerDecodes } = writing;
  const keys = Object.keys(map);
  if (text === 'externalize' && keys.some((key) => !isPlainKey(key, false) && map[key] !== undefined)) {
    return externalNode(map, writing);
  }
  const level = path.push('') - 1;
  const entries: Param[] = [];
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    const member = map[key];
    if (member === undefined) continue;
    path[level] = key;
    countItems(writing, 1);
    if (text === 'reject' && (!isPlainKey(key, false) || (peerDecodes && isMarkedKey(key)))) throw badKey(writing);
    const written = text === 'transliterate' ? transliterateKey(key, false) : key;
    entries.push({ key: written, value: node(member, writing, depth) });
  }
  path.pop();
  return { kind: 'map', entries } satisfies MapValue;
}

function externalNode(value: unknown, writing: Writing): Value {
  const copied = plainCopy(value, writing);
  return { kind: 'ref', path: writing.externalize(copied, pathText(writing.path)) };
}

function badKey(writing: Writing): Error {
  return unwritable(writing, 'invalid key', KEY_HELP);
}
