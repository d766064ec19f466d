import { writeFileSync } from 'node:fs';
import { ExportError } from '../../engine/export/export-error.js';
import {
  approximationsOf,
  exportGrammar,
  GRAMMAR_FORMATS,
  type GrammarExportOptions,
} from '../../engine/export/export-grammar.js';
import type { Language } from '../../engine/grammar/language.js';
import { toJson } from '../json.js';
import { languageOf } from '../languages.js';
import { NARROWING_OPTIONS } from '../narrowing.js';
import { type Command, choice, type Invocation, UsageError } from '../usage.js';

/** Rules of a protocol's grammar that count its nesting, and nothing else. */
const COUNTING: Readonly<Record<string, readonly string[]>> = { accp: ['entered', 'left'] };

/** `pegwire export`: the grammar for other engines. */
export const exportCommand: Command = {
  name: 'export',
  summary: 'the grammar for another engine, with what that cannot say in a comment',
  takesInput: false,
  takesGrammar: true,
  options: {
    to: { type: 'string', description: `FORMAT  ${GRAMMAR_FORMATS.join(', ')}` },
    output: { type: 'string', description: 'FILE  write it there, and not to stdout' },
    start: { type: 'string', description: 'RULE  of a grammar file: the rule to start with (default the first)' },
    ...NARROWING_OPTIONS,
  },
  example: 'pegwire export accp --to gbnf --intents req,done --max-depth 2',
  run: async (invocation) => {
    const { options, output, json } = invocation;
    if (options['to'] === undefined) throw new UsageError(`export needs --to: ${GRAMMAR_FORMATS.join(', ')}`);
    const to = choice(invocation, 'to', GRAMMAR_FORMATS);
    const language = languageOf(invocation);
    const how: GrammarExportOptions = { to, ...nesting(language, invocation) };
    const text = asUsage(() => exportGrammar(language.exportable, how));
    const file = options['output'];
    if (typeof file === 'string') write(file, text);
    if (json) {
      const approximations = approximationsOf(language.exportable, how);
      const where = typeof file === 'string' ? { file } : { text };
      await output.result(toJson({ format: to, grammar: language.name, ...where, approximations }));
    } else if (typeof file === 'string') await output.note(`The grammar is written to ${file}.`);
    else await output.result(text.trimEnd());
    return 0;
  },
};

/**
 * Nesting is counted out, so that no engine accepts more of it than the protocol. Only ABNF, which people read, stays as short as
 * the grammar, unless a depth is asked for.
 */
function nesting(language: Language, { options }: Invocation): Pick<GrammarExportOptions, 'depth' | 'settled'> {
  const { name, exportable, depth } = language;
  const isWanted = options['to'] !== 'abnf' || options['max-depth'] !== undefined;
  // A narrowed grammar may have lost them.
  const rules = depth?.rules.filter((rule) => exportable.ast.rules.some((one) => one.name === rule)) ?? [];
  if (depth === null || rules.length === 0 || !isWanted) return {};
  return { depth: { ...depth, rules }, settled: COUNTING[name] };
}

/** What a format cannot say, as an error of usage. */
function asUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw thrown instanceof ExportError ? new UsageError(thrown.message) : thrown;
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (thrown) {
    throw new UsageError(`Cannot write ${file}: ${(thrown as Error).message}`, 'unreadable');
  }
}
