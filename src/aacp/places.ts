/** Places of tokens in the source text. Only the packet and its fields carry spans. */
import type { Span } from '../text/span.js';
import type { Packet } from './ast.js';

/** `end` is the place after the packet. */
export type Part = 'TASK' | 'DOM' | 'field' | 'key' | 'value' | 'end';

/** Returns where a part stands; `null` if unknown. `number` selects the field. */
export function spanOf(part: Part, packet: Packet, text: string | null, number = 0): Span | null {
  if (text === null) return null;
  if (part === 'end') return { start: text.length, end: text.length };
  const { task, domain, fields } = packet;
  if (part === 'TASK') {
    // With an empty TASK, the span of the packet begins at what follows.
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

/** Finds the first blank next to a separator, an end of the text, or the colon of a field. */
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
