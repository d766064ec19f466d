/** Explanations of frames in plain English: the "debug mode" of draft-benzing-accp-00, section 9, item 1. */

import { meaning, type Words } from '../text/ascii.js';
import { digitsOf } from '../text/decimal.js';
import { anyText, quoted } from '../text/visible.js';
import type { DecimalValue, Frame, IntegerValue, Param, Value } from './ast.js';
import { tryParseFrame } from './parse.js';
import { ABBREVIATIONS, ENVELOPE, INTENTS } from './vocabulary.js';

/**
 * Explains a frame in plain English. Every part of the frame appears. A text is parsed in the lenient dialect. Strings are quoted, and
 * invisible characters in them escaped, so that a value cannot pass for part of the explanation.
 *
 * Source: draft-benzing-accp-00, section 9, item 1; the words are those of sections 3.5, 4.1 and 4.2.
 *
 * @example
 * explainFrame('@planner>req:schedule{pri:high}[mid:m1,seq:1]')
 * // 'Agent planner requests schedule (req). Payload: priority (pri) = "high". Metadata: message id (mid) = "m1"; ...'
 */
export function explainFrame(input: Frame | string): string {
  if (typeof input !== 'string') return explain(input);
  const result = tryParseFrame(input, { dialect: 'lenient' });
  return result.ok ? explain(result.value) : `Not a frame (${result.error.code}): ${result.error.message}`;
}

function explain(frame: Frame): string {
  const { agent, operation, payload, metadata } = frame ?? {};
  const intent = anyText(frame?.intent);
  const verb = meaning(INTENTS, intent);
  const action =
    verb === undefined ? `sends ${name(intent)} for ${name(operation)}` : `${verb} ${name(operation)} (${intent})`;
  const sentences = [
    `Agent ${name(agent)} ${action}.`,
    payload?.length > 0 ? `Payload: ${list(payload, ABBREVIATIONS)}.` : 'No payload.',
    metadata != null && metadata.length > 0 ? `Metadata: ${list(metadata, ENVELOPE)}.` : 'No metadata.',
  ];
  return sentences.join(' ');
}

function list(params: readonly Param[], words: Words): string {
  return Array.from(params, (param) => {
    const { value } = param ?? {};
    const key = anyText(param?.key);
    return `${keyText(key, words)} = ${valueText(value)}${instant(key, value, words)}`;
  }).join('; ');
}

function keyText(key: string, words: Words): string {
  const word = meaning(words, key);
  return word === undefined || word === key ? name(key) : `${word} (${key})`;
}

/** Hand-built trees may hold names that the grammar does not allow: these are quoted. */
function name(value: unknown): string {
  const text = anyText(value);
  return /^[A-Za-z0-9_.-]+$/.test(text) ? text : quoted(text);
}

const MAX_PIECES = 10_000_000;

/** Not recursive: hand-built trees may be deeper than the call stack. */
function valueText(root: Value): string {
  let text = '';
  let pieces = 0;
  const pending: (Value | string)[] = [root];
  while (pending.length > 0) {
    // Ends on a tree that contains itself; no parsed tree is this large.
    if (++pieces > MAX_PIECES) return `${text}...`;
    const next = pending.pop()!;
    if (typeof next === 'string') text += next;
    else if (next?.kind === 'array' && next.items?.length > 0) {
      pending.push(']');
      for (let at = next.items.length - 1; at >= 0; at--) pending.push(next.items[at]!, at === 0 ? '[' : ', ');
    } else if (next?.kind === 'map' && next.entries?.length > 0) {
      pending.push('}');
      for (let at = next.entries.length - 1; at >= 0; at--) {
        const { key, value } = next.entries[at] ?? ({} as Param);
        pending.push(value, `${at === 0 ? '{' : ', '}${name(key)}: `);
      }
    } else text += scalarText(next);
  }
  return text;
}

function scalarText(node: Value): string {
  switch (node?.kind) {
    case 'string':
      return quoted(anyText(node.value));
    case 'integer':
    case 'decimal':
      return numberText(node);
    case 'boolean':
      return node.value ? 'yes (true)' : 'no (false)';
    case 'null':
      return 'nothing (null)';
    case 'ref':
      return `the stored value ${name(node.path) === node.path ? `$${node.path}` : quoted(`$${anyText(node.path)}`)}`;
    case 'array':
      return 'an empty list';
    case 'map':
      return 'an empty map';
    default:
      node satisfies never;
      return quoted(anyText(node));
  }
}

/** Decimals keep a decimal point, which distinguishes them from integers. */
function numberText({ kind, value, text }: IntegerValue | DecimalValue): string {
  if (text !== undefined) return /^-?[0-9.]+$/.test(anyText(text)) ? text : quoted(anyText(text));
  if (kind === 'integer' || !Number.isFinite(value)) return name(value);
  return Number.isInteger(value) ? `${digitsOf(Number(value))}.0` : digitsOf(Number(value));
}

/** Adds the date to timestamps, which are seconds since 1970 (section 3.5). */
function instant(key: string, value: Value, words: Words): string {
  if (
    key !== 'ts' ||
    words !== ENVELOPE ||
    value?.kind !== 'integer' ||
    !/^(?:number|bigint)$/.test(typeof value.value)
  )
    return '';
  const date = new Date(Number(value.value) * 1000);
  return Number.isNaN(date.getTime()) ? '' : ` (${date.toISOString().replace('.000Z', 'Z')})`;
}
