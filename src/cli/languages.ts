/** The language that a command is about: a protocol's, narrowed by options, or that of a grammar file. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { grammarLanguage, type Language } from '../fuzz/differential/language.js';
import { compileGrammar, GrammarError } from '../fuzz/grammar/compile.js';
import { unreadable } from './file-error.js';
import { strictText } from './input.js';
import { givenNarrowing, languageFor } from './narrowing.js';
import { type Invocation, UsageError } from './usage.js';

/** @throws UsageError on options that do not fit, and on a grammar that cannot be read or used */
export function languageOf(invocation: Invocation): Language {
  const { grammar: file } = invocation;
  if (file === undefined) return languageFor(invocation);
  const narrowing = givenNarrowing(invocation);
  if (narrowing !== undefined) throw new UsageError(`--${narrowing} is for protocols, not for a grammar of your own`);
  const start = invocation.options['start'];
  const name = path.basename(file).replace(/\.[^.]+$/, '');
  try {
    const grammar = compileGrammar(readGrammar(file), {
      name,
      ...(typeof start === 'string' ? { startRule: start } : {}),
    });
    return grammarLanguage(grammar);
  } catch (thrown) {
    if (!(thrown instanceof GrammarError)) throw thrown;
    const message = `${file} is not a usable grammar:`;
    // Peggy shows the place under the name of the grammar, which is not the path of its file.
    const below = thrown.message.replaceAll(`--> ${name}:`, `--> ${file}:`).replace(/^error: /, '');
    throw new UsageError(message, 'unreadable', below);
  }
}

function readGrammar(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (thrown) {
    throw unreadable(thrown, file);
  }
  return strictText(bytes, file);
}
