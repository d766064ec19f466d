/** The ABNF grammars, run by apg-js: a third reading of the strict dialects, which tells no more than yes or no. */
import { type ApgGrammar, compileAbnf } from './apg-grammar.js';
import type { Language } from './languages.js';

type Protocol = Language['protocol'];

const GRAMMARS: Readonly<Record<Protocol, ApgGrammar>> = {
  accp: await compileAbnf('accp'),
  aacp: await compileAbnf('aacp'),
};
const START_RULES: Readonly<Record<Protocol, string>> = { accp: 'frame', aacp: 'packet' };

/**
 * Whether a text matches `grammar/NAME.abnf`. What ABNF cannot say is not refused: repeated keys, deep nesting, long numbers, too
 * many items. Very deep nesting is a RangeError: apg-js descends with the call stack.
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
