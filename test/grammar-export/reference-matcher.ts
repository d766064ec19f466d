/** Matches a context-free grammar by trying everything: slow and simple. For grammars without left recursion. */
import { caseVariants } from '../../src/grammar-export/characters.js';
import type { ContextFreeGrammar, Pattern } from '../../src/grammar-export/context-free.js';

export function matcherOf({ rules, startRule }: ContextFreeGrammar): (text: string) => boolean {
  return (text) => {
    const characters = [...text].map((character) => character.codePointAt(0)!);
    return endsOf(rules.get(startRule)!, 0).has(characters.length);

    /** The places at which a match that begins at a place may end. */
    function endsOf(pattern: Pattern, at: number): Set<number> {
      switch (pattern.kind) {
        case 'literal': {
          const wanted = [...pattern.text].map((character) => character.codePointAt(0)!);
          const matches = wanted.every((code, index) => {
            const found = characters[at + index];
            return found !== undefined && (pattern.ignoreCase ? caseVariants(code).includes(found) : code === found);
          });
          return new Set(matches ? [at + wanted.length] : []);
        }
        case 'set': {
          const found = characters[at];
          const matches =
            found !== undefined && pattern.ranges.some(([first, last]) => first <= found && found <= last);
          return new Set(matches ? [at + 1] : []);
        }
        case 'rule':
          return endsOf(rules.get(pattern.name)!, at);
        case 'choice':
          return new Set(pattern.items.flatMap((item) => [...endsOf(item, at)]));
        case 'sequence':
          return pattern.items.reduce((ends, item) => from(ends, item), new Set([at]));
        case 'repeat': {
          let ends = new Set([at]);
          for (let count = 0; count < pattern.min; count++) ends = from(ends, pattern.item);
          const all = new Set(ends);
          for (let count = pattern.min; count !== pattern.max && ends.size > 0; count++) {
            ends = new Set([...from(ends, pattern.item)].filter((end) => !all.has(end)));
            for (const end of ends) all.add(end);
          }
          return all;
        }
      }
    }

    function from(starts: ReadonlySet<number>, pattern: Pattern): Set<number> {
      return new Set([...starts].flatMap((start) => [...endsOf(pattern, start)]));
    }
  };
}
