/** Characters that hide in a value, or that change how the text around them reads. */
import { codePointName, visibleCodePoint } from '../../text/visible.js';

/** A part of a value, with UTF-16 offsets in it. */
export interface Hidden {
  /** `U+202E` */
  readonly name: string;
  readonly turns: boolean;
  readonly start: number;
  readonly end: number;
}

const ASCII = /^[ -~]*$/;
/** Embeddings, overrides, isolates and marks of the bidirectional algorithm (UAX #9). */
const BIDIRECTIONAL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** What makes one picture of several characters (UTS #51): selectors behind one, joiners between two, the tags of a flag. */
const PICTURES =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])\ufe0f|(?<=[0-9#*])\ufe0f(?=\u20e3)|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=\u{1f3f4})[\u{e0061}-\u{e007a}]{5}\u{e007f}/gu;
/** Joiners between letters of scripts that are not written without them (RFC 5892, appendix A). */
const JOINED =
  /(?<=[\p{L}\p{M}])(?<![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])[\u200c\u200d](?=\p{L})(?![\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}])/gu;

/** In their order; neighbours of one kind are one. Blanks are visible; those that look like one and are another are not. */
export function findInvisible(value: string): readonly Hidden[] {
  if (ASCII.test(value)) return [];
  const found: Hidden[] = [];
  const usual = usualIn(value);
  let at = 0;
  for (const character of value) {
    const start = at;
    at += character.length;
    const code = character.codePointAt(0)!;
    if (usual.has(start) || visibleCodePoint(code) === character) continue;
    const hidden = { name: codePointName(code), turns: BIDIRECTIONAL.test(character), start, end: at };
    const last = found.at(-1);
    if (last !== undefined && last.end === start && last.turns === hidden.turns)
      found[found.length - 1] = { ...last, end: at };
    else found.push(hidden);
  }
  return found;
}

/** Offsets of characters that are invisible by themselves, and belong where they stand. */
function usualIn(value: string): ReadonlySet<number> {
  const usual = new Set<number>();
  for (const pattern of [PICTURES, JOINED]) {
    for (const { 0: text, index } of value.matchAll(pattern)) {
      for (let at = index; at < index + text.length; at++) usual.add(at);
    }
  }
  return usual;
}
