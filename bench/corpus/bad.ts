/** Frames with one fault each, and JSON with a fault at the same place: what it costs to refuse a message. */
import type { Sample } from '../../src/bench/candidate.js';

export interface BadSample extends Sample {
  readonly fault: 'character' | 'cut off' | 'repeated key' | 'too deep';
  readonly place: 'start' | 'middle' | 'end';
}

/** Nowhere allowed: neither in a frame, nor in JSON, nor in a packet. */
const STRAY = '\u0001';

/** Some faults in each of the given frames, which have to have a payload. */
export function badFrames(samples: readonly Sample[]): BadSample[] {
  return samples.flatMap((sample): BadSample[] => {
    const middle = { text: insert(sample.text, 0.5, STRAY), json: insert(sample.json, 0.5, STRAY) };
    const atEnd = { json: insert(sample.json, 1, STRAY) };
    return [
      { fault: 'character', place: 'start', text: insert(sample.text, 0, STRAY), json: insert(sample.json, 0, STRAY) },
      { fault: 'character', place: 'middle', ...middle },
      { fault: 'character', place: 'end', text: insert(sample.text, 1, STRAY), ...atEnd },
      { fault: 'cut off', place: 'end', text: sample.text.slice(0, -1), json: sample.json.slice(0, -1) },
      {
        fault: 'repeated key',
        place: 'middle',
        text: withParam(sample.text, repeated(sample.text)),
        json: middle.json,
      },
      { fault: 'too deep', place: 'middle', text: withParam(sample.text, 'deep:[[[[[[1]]]]]]'), json: middle.json },
    ];
  });
}

/** A character right behind the first one, before the last one, or in between. */
function insert(text: string, share: number, character: string): string {
  const at = Math.round(1 + share * (text.length - 2));
  return text.slice(0, at) + character + text.slice(at);
}

/** A frame with one parameter more at the end of its payload. */
function withParam(text: string, param: string): string {
  const end = payloadEnd(text);
  return `${text.slice(0, end)}${text[end - 1] === '{' ? '' : '|'}${param}${text.slice(end)}`;
}

/** The first parameter's key once more; in an empty payload, a key twice. */
function repeated(text: string): string {
  const [, key] = /\{(\w+):/.exec(text) ?? [];
  return key === undefined ? 'k:1|k:2' : `${key}:1`;
}

/** Where the brace that closes the payload stands: outside of all others. */
function payloadEnd(text: string): number {
  let depth = 0;
  for (let at = text.indexOf('{'); at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '{' || text[at] === '[') depth++;
    else if ((text[at] === '}' || text[at] === ']') && --depth === 0) return at;
  }
  throw new RangeError('the payload never ends');
}
