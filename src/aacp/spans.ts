/** Ranges of tokens in the source text. Only the packet and its fields have spans; these are computed from them. */
import type { Span } from '../text/span.js';
import type { Packet } from './ast.js';

/** A part of a packet. `end` is the position after the packet. */
export type Part = 'TASK' | 'DOM' | 'field' | 'key' | 'value' | 'end';

/** Returns the range of a part, or `null` if it is unknown. `number` is the index of the field. */
export function spanOf(part: Part, packet: Packet, text: string | null, number = 0): Span | null {
  if (text === null) return null;
  if (part === 'end') return { start: text.length, end: text.length };
  const { task, domain, fields } = packet;
  if (part === 'TASK') {
    // If the TASK is empty, the span of the packet begins after it.
    const start = task === '' ? 0 : (packet.span?.start ?? 0);
    return { start, end: start + task.length };
  }
  if (part === 'DOM') {
    const separator = text.indexOf('|');
    const start = separator < 0 ? text.length : text.indexOf(domain, separator + 1);
    return { start, end: start + domain.length };
  }
  const { key, value, span } = fields[number]!;
  if (span === undefined || part === 'field') return span ?? null;
  // The span of a field starts with its key and ends with its value.
  const { start, end } = span;
  return part === 'key' ? { start, end: start + key.length } : { start: end - value.length, end };
}

const EDGE = /(?<=^|\|)[ \t\r\n]|[ \t\r\n](?=\||$)/;

/** Finds the first blank next to a separator, to an end of the text, or to the colon of a field. */
export function firstWhiteSpace({ fields }: Packet, text: string): Span | null {
  let start = EDGE.exec(text)?.index ?? text.length;
  for (const { key, value, span, bare } of fields) {
    if (bare || span === undefined || span.end - span.start === key.length + 1 + value.length) continue;
    const afterKey = span.start + key.length;
    start = Math.min(start, text[afterKey] === ':' ? afterKey + 1 : afterKey);
    break;
  }
  return start === text.length ? null : { start, end: start + 1 };
}
