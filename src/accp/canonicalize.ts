/** Canonical trees of frames (draft-benzing-accp-00, sections 3.1.1 and 3.5). */

import { byCodeUnit } from '../text/ascii.js';
import type { Frame, Param, Value } from './ast.js';
import { BadNumber, decimalDigits, decimalOf, integerDigits, integerOf } from './numbers.js';
import { unprintable } from './syntax-error.js';
import { byEnvelope, IDENTIFIER_KEYS } from './vocabulary.js';

/**
 * Returns the canonical tree of a frame: map entries and metadata sorted, numbers rounded and without `text` where not needed, no
 * spans. The payload keeps its order. For every frame that can be printed, `parseFrame(printFrame(frame))` equals
 * `canonicalizeFrame(frame)`.
 *
 * Source: draft-benzing-accp-00, sections 3.1.1 and 3.5.
 *
 * @throws PrintError with code `E1004` if the tree is invalid or a number cannot be written; `printFrame` detects the other errors
 */
export function canonicalizeFrame(frame: Frame): Frame {
  try {
    return {
      kind: 'frame',
      agent: frame.agent,
      intent: frame.intent,
      operation: frame.operation,
      payload: each(frame.payload, canonicalParam),
      metadata: frame.metadata === null ? null : sorted(each(frame.metadata, canonicalMetadata), byEnvelope),
    };
  } catch (thrown) {
    if (thrown instanceof BadNumber) throw unprintable('frame', thrown.message);
    if (thrown instanceof RangeError) throw unprintable('frame', 'is nested too deeply or is too long');
    throw thrown;
  }
}

function canonicalParam({ key, value }: Param): Param {
  return { key, value: canonicalValue(value) };
}

function canonicalMetadata({ key, value }: Param): Param {
  const canonical = canonicalValue(value);
  if (!IDENTIFIER_KEYS.has(key)) return { key, value: canonical };
  if (value.kind === 'integer' && value.text !== undefined) return { key, value: integerOf(value.text) };
  if (value.kind === 'decimal' && value.text !== undefined) return { key, value: decimalOf(value.text) };
  return { key, value: canonical };
}

function canonicalValue(node: Value): Value {
  switch (node?.kind) {
    case 'string':
      return { kind: 'string', value: node.value };
    case 'integer':
      return integerOf(integerDigits(node, Number.POSITIVE_INFINITY));
    case 'decimal':
      return decimalOf(decimalDigits(node, Number.POSITIVE_INFINITY));
    case 'boolean':
      return { kind: 'boolean', value: node.value };
    case 'null':
      return { kind: 'null' };
    case 'array':
      return { kind: 'array', items: each(node.items, canonicalValue) };
    case 'map':
      return { kind: 'map', entries: sorted(each(node.entries, canonicalParam), byCodeUnit) };
    case 'ref':
      return { kind: 'ref', path: node.path };
    default:
      node satisfies never;
      throw unprintable('frame', 'contains an object that is not a value node');
  }
}

/** map would skip the holes of a sparse list. */
function each<T>(list: readonly T[], canonical: (one: T) => T): T[] {
  if (!Array.isArray(list)) throw unprintable('frame', 'the payload, metadata, items and entries must be arrays');
  return Array.from(list as readonly T[], (one) => {
    if (typeof one !== 'object' || one === null) throw unprintable('frame', 'contains an item that is not a node');
    return canonical(one);
  });
}

function sorted(list: Param[], order: (a: string, b: string) => number): Param[] {
  return list.sort((a, b) => order(a.key, b.key));
}
