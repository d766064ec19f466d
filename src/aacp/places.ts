/** Where the tokens of a packet stand in the text that it was read from. Only fields and the packet carry spans. */
import type { Span } from '../text/span.js';
import type { Packet } from './ast.js';

/** A part of a packet; `end` is the place behind it. */
export type Part = 'TASK' | 'DOM' | 'field' | 'key' | 'value' | 'end';

/**
 * Where a part stands; `null` where that is not known.
 *
 * @param text what the packet was read from, if it was
 * @param number which field, for the parts of fields
 */
export function spanOf(part: Part, packet: Packet, text: string | null, number = 0): Span | null {
  if (text === null) return null;
  if (part === 'end') return { start: text.length, end: text.length };
  const { task, domain, fields } = packet;
  if (part === 'TASK') {
    // An empty TASK leaves the packet to begin at what follows it.
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
  // A field's span runs from its key to the end of its value, so that key and value stand at its ends.
  const { start, end } = span;
  return part === 'key' ? { start, end: start + key.length } : { start: end - value.length, end };
}

const EDGE = /(?<=^|\|)[ \t\r\n]|[ \t\r\n](?=\||$)/;

/** The first blank that stands next to a separator, to an end of the text, or to the colon of a field. */
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
