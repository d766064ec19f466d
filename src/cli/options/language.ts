/** The language of a command: a protocol's, narrowed by options, or a grammar file's. */
import path from 'node:path';
import { grammarLanguage, type Language } from '../../fuzz/differential/language.js';
import { compileGrammar, GrammarError } from '../../fuzz/grammar/compile.js';
import { UsageError } from '../io/errors.js';
import { readText } from '../io/files.js';
import { givenNarrowing, languageFor, NARROWING_OPTIONS, type Narrowed } from './narrowing.js';
import { text, type Values } from './option.js';

export const LANGUAGE_OPTIONS = {
  start: text('RULE', 'of a grammar file: the rule to start with (default the first)'),
  ...NARROWING_OPTIONS,
};

export function languageOf(
  invocation: Narrowed & { readonly grammar: string | undefined; readonly options: Values<typeof LANGUAGE_OPTIONS> },
): Language {
  const { grammar: file } = invocation;
  if (file === undefined) return languageFor(invocation);
  const narrowing = givenNarrowing(invocation);
  if (narrowing !== undefined) throw new UsageError(`--${narrowing} is for protocols, not for a grammar of your own`);
  const { start } = invocation.options;
  const name = path.basename(file).replace(/\.[^.]+$/, '');
  try {
    return grammarLanguage(
      compileGrammar(readText(file), { name, ...(start === undefined ? {} : { startRule: start }) }),
    );
  } catch (thrown) {
    if (!(thrown instanceof GrammarError)) throw thrown;
    // Peggy names the grammar, not its file.
    const below = thrown.message.replaceAll(`--> ${name}:`, `--> ${file}:`).replace(/^error: /, '');
    throw new UsageError(`${file} is not a usable grammar:`, 'unreadable', below);
  }
}
