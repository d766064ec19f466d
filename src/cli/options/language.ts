/** The language of a command: a protocol, narrowed by options, or a grammar file. */
import path from 'node:path';
import { grammarLanguage, type Language } from '../../fuzz/differential/language.js';
import { compileGrammar, GrammarError } from '../../fuzz/grammar/compile.js';
import type { Grammar } from '../../fuzz/grammar/grammar.js';
import { UsageError } from '../io/errors.js';
import { readText } from '../io/files.js';
import { givenNarrowing, languageFor, NARROWING_OPTIONS, type Narrowed } from './narrowing.js';
import { text, type Values } from './option.js';

export const LANGUAGE_OPTIONS = {
  start: text('RULE', 'Grammar file: start with this rule (default: the first one)'),
  ...NARROWING_OPTIONS,
};

/** Returns the language that the arguments select. @throws UsageError if the grammar file is invalid or an option does not apply */
export function languageOf(
  invocation: Narrowed & { readonly grammar: string | undefined; readonly options: Values<typeof LANGUAGE_OPTIONS> },
): Language {
  const { grammar: file } = invocation;
  if (file === undefined) return languageFor(invocation);
  const narrowing = givenNarrowing(invocation);
  if (narrowing !== undefined) throw new UsageError(`--${narrowing} applies to accp and aacp, not to grammar files`);
  return grammarLanguage(grammarIn(file, invocation.options.start));
}

/** Compiles the grammar of a file. @throws UsageError if it cannot be read or is invalid */
export function grammarIn(file: string, start: string | undefined): Grammar {
  const name = path.basename(file).replace(/\.[^.]+$/, '');
  try {
    return compileGrammar(readText(file), { name, ...(start === undefined ? {} : { startRule: start }) });
  } catch (thrown) {
    if (!(thrown instanceof GrammarError)) throw thrown;
    // Peggy names the grammar, not its file.
    const below = thrown.message.replaceAll(`--> ${name}:`, `--> ${file}:`).replace(/^error: /, '');
    throw new UsageError(`Invalid grammar ${file}:`, thrown.code, { below });
  }
}
