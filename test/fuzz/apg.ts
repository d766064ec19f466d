/** The ABNF grammars in apg-js: a third reader of the strict dialects, which only accepts or rejects. */
import { type ApgGrammar, compileAbnf } from './apg-grammar.js';
import type { Language } from './languages.js';

type Protocol = Language['protocol'];

const GRAMMARS: Readonly<Record<Protocol, ApgGrammar>> = {
  accp: await compileAbnf('accp'),
  aacp: await compileAbnf('aacp'),
};
const START_RULES: Readonly<Record<Protocol, string>> = { accp: 'frame', aacp: 'packet' };

/**
 * Returns a function that matches a text against `grammar/NAME.abnf`. ABNF does not reject repeated keys, deep nesting,
 * long numbers and too many items. Very deep nesting is a RangeError: apg-js descends recursively.
 */
export function recognizerOf(protocol: Protocol): (text: string) => boolean {
  const { apgLib, grammar } = GRAMMARS[protocol];
  const parser = new apgLib.parser();
  const startRule = START_RULES[protocol];
  // Code points, because apg-js throws on strings with lone surrogates or with characters beyond U+FFFF.
  return (text) =>
    parser.parse(
      grammar,
      startRule,
      Array.from(text, (character) => character.codePointAt(0)!),
    ).success;
}
