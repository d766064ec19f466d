/** Decides which texts a context-free grammar matches: slow and simple, for comparison. */
import type { ContextFreeGrammar, Pattern } from '../../../src/grammar-export/context-free.js';

/** Returns a function that returns `true` if a text is in the language. */
export function languageOf({
  rules,
  startRule,
}: Pick<ContextFreeGrammar, 'rules' | 'startRule'>): (text: string) => boolean {
  return (text) => {
    const characters = Array.from(text, (character) => character.codePointAt(0)!);
    const memo = new Map<string, ReadonlySet<number>>();

    /** All places at which a match that begins at `from` can end. */
    const ends = (pattern: Pattern, from: number): ReadonlySet<number> => {
      switch (pattern.kind) {
        case 'literal': {
          const wanted = [...pattern.text];
          const matches = wanted.every((one, at) => isSame(one, characters[from + at], pattern.ignoreCase));
          return new Set(matches ? [from + wanted.length] : []);
        }
        case 'set': {
          const here = characters[from];
          const matches = here !== undefined && pattern.ranges.some(([first, last]) => first <= here && here <= last);
          return new Set(matches ? [from + 1] : []);
        }
        case 'sequence':
          return pattern.items.reduce<ReadonlySet<number>>((places, item) => after(places, item), new Set([from]));
        case 'choice':
          return new Set(pattern.items.flatMap((item) => [...ends(item, from)]));
        case 'repeat':
          return repeated(pattern, from);
        case 'rule': {
          const key = `${from} ${pattern.name}`;
          let known = memo.get(key);
          if (known === undefined) {
            known = ends(rules.get(pattern.name)!, from);
            memo.set(key, known);
          }
          return known;
        }
      }
    };

    const after = (places: ReadonlySet<number>, item: Pattern): ReadonlySet<number> =>
      new Set([...places].flatMap((place) => [...ends(item, place)]));

    const repeated = ({ item, min, max }: Extract<Pattern, { kind: 'repeat' }>, from: number): ReadonlySet<number> => {
      let places: ReadonlySet<number> = new Set([from]);
      for (let count = 0; count < min; count++) places = after(places, item);
      const found = new Set(places);
      for (let count = min; places.size > 0 && (max === null || count < max); count++) {
        places = new Set([...after(places, item)].filter((place) => !found.has(place)));
        for (const place of places) found.add(place);
      }
      return found;
    };

    return ends({ kind: 'rule', name: startRule }, 0).has(characters.length);
  };
}

function isSame(wanted: string, here: number | undefined, ignoreCase: boolean): boolean {
  if (here === undefined) return false;
  const found = String.fromCodePoint(here);
  return ignoreCase ? found.toLowerCase() === wanted.toLowerCase() : found === wanted;
}

/** All texts over some characters, up to a length. */
export function* textsOver(characters: string, longest: number): Generator<string> {
  const all = [...characters];
  let layer = [''];
  for (let length = 0; length <= longest; length++) {
    yield* layer;
    if (length < longest) layer = layer.flatMap((text) => all.map((one) => text + one));
  }
}
