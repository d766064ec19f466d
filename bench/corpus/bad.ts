/** Frames with one fault each, and JSON with a fault at the same place, to measure the rejection of a message. */
import type { Sample } from '../../src/bench/candidate.js';

export interface BadSample extends Sample {
  readonly fault: 'character' | 'cut off' | 'repeated key' | 'too deep';
  readonly place: 'start' | 'middle' | 'end';
}

/** Invalid everywhere: in a frame, in JSON and in a packet. */
const STRAY = '\u0001';

/** Makes several faults in each of the given frames, which must have a payload. */
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

/** Inserts a character after the first one, before the last one, or in between. */
function insert(text: string, share: number, character: string): string {
  const at = Math.round(1 + share * (text.length - 2));
  return text.slice(0, at) + character + text.slice(at);
}

/** Adds a parameter at the end of the payload. */
function withParam(text: string, param: string): string {
  const end = payloadEnd(text);
  return `${text.slice(0, end)}${text[end - 1] === '{' ? '' : '|'}${param}${text.slice(end)}`;
}

/** Repeats the first parameter's key; in an empty payload, adds a key twice. */
function repeated(text: string): string {
  const [, key] = /\{(\w+):/.exec(text) ?? [];
  return key === undefined ? 'k:1|k:2' : `${key}:1`;
}

/** Finds the brace that closes the payload. */
function payloadEnd(text: string): number {
  let depth = 0;
  for (let at = text.indexOf('{'); at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '{' || text[at] === '[') depth++;
    else if ((text[at] === '}' || text[at] === ']') && --depth === 0) return at;
  }
  throw new RangeError('the payload never ends');
}
