/** Plain English of a frame: the "debug mode" of draft-benzing-accp-00, section 9, item 1. */
import { digitsOf } from '../text/decimal.js';
import { quoted, visible } from '../text/visible.js';
import type { Frame, Param, Value } from './ast.js';
import { tryParseFrame } from './parse.js';
import { ABBREVIATIONS, ENVELOPE, INTENTS } from './vocabulary.js';

/**
 * Says in plain English what a frame says. Total: every part of the frame appears, whatever the frame is, and any text gets
 * an answer (it is read with the lenient dialect). Values stand as data, strings between quotes with invisible characters
 * made visible, so that a value cannot pass for part of the explanation.
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
  return result.ok ? explain(result.value) : `No frame (${result.error.code}): ${result.error.message}`;
}

function explain(frame: Frame): string {
  const agent = visible(String(frame.agent));
  const intent = visible(String(frame.intent));
  const operation = visible(String(frame.operation));
  const verb = meaning(INTENTS, frame.intent);
  const action = verb === undefined ? `sends ${intent} for ${operation}` : `${verb} ${operation} (${intent})`;
  const sentences = [
    `Agent ${agent} ${action}.`,
    frame.payload.length === 0 ? 'No payload.' : `Payload: ${list(frame.payload, ABBREVIATIONS)}.`,
    frame.metadata === null ? 'No metadata.' : `Metadata: ${list(frame.metadata, ENVELOPE)}.`,
  ];
  return sentences.join(' ');
}

function list(params: readonly Param[], words: Readonly<Record<string, string>>): string {
  return params
    .map(({ key, value }) => `${keyText(key, words)} = ${valueText(value) + instant(key, value, words)}`)
    .join('; ');
}

function keyText(key: string, words: Readonly<Record<string, string>>): string {
  const word = meaning(words, key);
  return word === undefined || word === key ? visible(String(key)) : `${word} (${key})`;
}

/** Own properties only: a key such as `constructor` has no meaning here. */
function meaning(words: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(words, key) ? words[key] : undefined;
}

function valueText(node: Value): string {
  switch (node.kind) {
    case 'string':
      return quoted(node.value);
    case 'integer':
      return node.text ?? String(node.value);
    case 'decimal':
      return node.text ?? decimalText(node.value);
    case 'boolean':
      return node.value ? 'yes (true)' : 'no (false)';
    case 'null':
      return 'nothing (null)';
    case 'ref':
      return `the stored value ${visible(`$${node.path}`)}`;
    case 'array': {
      if (node.items.length === 0) return 'an empty list';
      return `[${node.items.map(valueText).join(', ')}]`;
    }
    case 'map': {
      if (node.entries.length === 0) return 'an empty map';
      const entries = node.entries.map((entry) => `${visible(entry.key)}: ${valueText(entry.value)}`);
      return `{${entries.join(', ')}}`;
    }
    default:
      node satisfies never;
      return String(node);
  }
}

/** A decimal shows its point, so that it does not pass for an integer. */
function decimalText(value: number): string {
  const digits = Number.isFinite(value) ? digitsOf(value) : String(value);
  return Number.isInteger(value) ? `${digits}.0` : digits;
}

/** The envelope's timestamp counts seconds since 1970 (section 3.5); show the date with it. */
function instant(key: string, value: Value, words: Readonly<Record<string, string>>): string {
  if (key !== 'ts' || words !== ENVELOPE || value.kind !== 'integer') return '';
  const date = new Date(Number(value.value) * 1000);
  return Number.isNaN(date.getTime()) ? '' : ` (${date.toISOString().replace('.000Z', 'Z')})`;
}
