/** Where the tokens of a packet stand in the text that it was read from. Only fields and the packet carry spans. */
import type { Span } from '../text/span.js';
import type { Field, Packet } from './ast.js';

export function taskSpan({ task, span }: Packet, text: string | null): Span | null {
  if (text === null || span === undefined) return null;
  // An empty TASK leaves the packet to begin at what follows it.
  const start = task === '' ? 0 : span.start;
  return { start, end: start + task.length };
}

export function domainSpan({ domain }: Packet, text: string | null): Span | null {
  if (text === null) return null;
  const separator = text.indexOf('|');
  const start = separator < 0 ? text.length : text.indexOf(domain, separator + 1);
  return { start, end: start + domain.length };
}

/** A field's span runs from its key to the end of its value, so that key and value stand at its ends. */
export function keySpan({ key, span }: Field): Span | null {
  return span === undefined ? null : { start: span.start, end: span.start + key.length };
}

export function valueSpan({ value, span }: Field): Span | null {
  return span === undefined ? null : { start: span.end - value.length, end: span.end };
}

/** The first blank that stands next to a separator, to an end of the text, or to the colon of a field. */
export function firstWhiteSpace({ fields }: Packet, text: string): Span | null {
  const edges = [/(?:^|\|)(?=[ \t\r\n])/.exec(text), /[ \t\r\n](?=\||$)/.exec(text)].flatMap((match) =>
    match === null ? [] : [match.index + (match[0] === '|' ? 1 : 0)],
  );
  const padded = fields.find(
    ({ key, value, span, bare }) =>
      !bare && span !== undefined && span.end - span.start > key.length + 1 + value.length,
  );
  const colon = padded === undefined ? [] : [blankAtColon(padded, text)];
  const all = [...edges, ...colon];
  if (all.length === 0) return null;
  const start = Math.min(...all);
  return { start, end: start + 1 };
}

function blankAtColon({ key, span }: Field, text: string): number {
  const afterKey = span!.start + key.length;
  return text[afterKey] === ':' ? afterKey + 1 : afterKey;
}
