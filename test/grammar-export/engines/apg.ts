/** APG, a parser generator for ABNF. It takes the first alternative that matches, and the longest repetition. */
import { createRequire } from 'node:module';

/** The used part of the package, which has no types. */
interface Apg {
  readonly apgApi: new (
    grammar: string,
  ) => { generate(): void; readonly errors: readonly unknown[]; errorsToAscii(): string; toObject(): object };
  readonly apgLib: {
    readonly parser: new () => {
      parse(grammar: object, startRule: string, input: readonly number[]): { readonly success: boolean };
    };
  };
}

const { apgApi: Api, apgLib } = createRequire(import.meta.url)('apg-js') as Apg;

/**
 * Compiles a grammar to a matcher.
 *
 * @param startRule the name of the rule in the ABNF
 * @throws Error with APG's message if the grammar is invalid
 */
export function abnfMatcher(grammar: string, startRule: string): (input: string) => boolean {
  const api = new Api(grammar);
  api.generate();
  if (api.errors.length > 0) throw new Error(`APG refuses the grammar: ${api.errorsToAscii()}`);
  const rules = api.toObject();
  const parser = new apgLib.parser();
  // Codes are code points; from a string, the package would take UTF-16 code units.
  return (input) =>
    parser.parse(
      rules,
      startRule,
      Array.from(input, (character) => character.codePointAt(0)!),
    ).success;
}
