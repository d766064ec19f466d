/** What `pegwire export` does. */
import { aacpEditor } from '../aacp/language/language.js';
import { accpEditor } from '../accp/language/language.js';
import type { Language } from '../fuzz/differential/language.js';
import { codeMirrorMode } from '../grammar-export/codemirror.js';
import { type Approximation, ExportError } from '../grammar-export/context-free.js';
import {
  approximationsOf,
  exportGrammar,
  GRAMMAR_FORMATS,
  type GrammarExportOptions,
  type GrammarFormat,
} from '../grammar-export/export-grammar.js';
import { railroadDiagrams } from '../grammar-export/railroad.js';
import { textMateGrammar } from '../grammar-export/textmate.js';
import { EXPORT_FORMATS, type ExportFormat } from './export-formats.js';
import { toJson } from './json.js';
import { languageOf } from './languages.js';
import { givenNarrowing } from './narrowing.js';
import { choice, type Invocation, UsageError } from './usage.js';
import { tryFile, writeText } from './write-text.js';

/** What they are called, where they are no grammars. */
const NOUNS: Readonly<Partial<Record<ExportFormat, string>>> = {
  railroad: 'drawing',
  codemirror: 'mode',
  'json-schema': 'schema',
};

/** @returns the exit code */
export async function runExport(invocation: Invocation): Promise<number> {
  const { options, output, json } = invocation;
  if (options['to'] === undefined) throw new UsageError(`export needs --to: ${EXPORT_FORMATS.join(', ')}`);
  const to = choice(invocation, 'to', EXPORT_FORMATS);
  const language = languageOf(invocation);
  const file = options['output'];
  // Some grammars take long, and a mistyped name shows at once.
  if (typeof file === 'string') tryFile(file);
  const { text, approximations } = isGrammarFormat(to)
    ? asGrammar(language, { to, ...nesting(language, to, invocation) })
    : { text: await asPicture(to, language, invocation), approximations: [] };
  if (typeof file === 'string') {
    try {
      writeText(file, text);
    } catch (thrown) {
      await output.result(text.trimEnd());
      throw thrown;
    }
  }
  if (json) {
    const where = typeof file === 'string' ? { file } : { text };
    await output.result(toJson({ format: to, grammar: language.name, ...where, approximations }));
  } else if (typeof file === 'string') await output.note(`The ${NOUNS[to] ?? 'grammar'} is written to ${file}.`);
  else await output.result(text.trimEnd());
  return 0;
}

function isGrammarFormat(to: ExportFormat): to is GrammarFormat {
  return (GRAMMAR_FORMATS as readonly string[]).includes(to);
}

function asGrammar(
  { exportable }: Language,
  how: GrammarExportOptions,
): { readonly text: string; readonly approximations: readonly Approximation[] } {
  try {
    return { text: exportGrammar(exportable, how), approximations: approximationsOf(exportable, how) };
  } catch (thrown) {
    throw thrown instanceof ExportError ? new UsageError(thrown.message) : thrown;
  }
}

/** What is made from more than the grammar, or for people. */
async function asPicture(
  to: Exclude<ExportFormat, GrammarFormat>,
  language: Language,
  invocation: Invocation,
): Promise<string> {
  if (to === 'railroad') {
    return railroadDiagrams(language.exportable.ast, { title: `${language.name}, ${language.exportable.startRule}` });
  }
  if (invocation.grammar !== undefined) {
    throw new UsageError(`--to ${to} is for accp and aacp: it takes more than a grammar`);
  }
  const given = givenNarrowing(invocation);
  if (given !== undefined) throw new UsageError(`--${given} does not go with --to ${to}, which is for all messages`);
  const isFrames = language.name === 'accp';
  if (to === 'json-schema') {
    const schema = isFrames
      ? (await import('../accp/language/schema.js')).frameJsonSchema()
      : (await import('../aacp/language/schema.js')).packetJsonSchema();
    return JSON.stringify(schema, null, 2);
  }
  const editor = isFrames ? accpEditor : aacpEditor;
  return to === 'textmate' ? JSON.stringify(textMateGrammar(editor), null, 2) : codeMirrorMode(editor);
}

/**
 * Nesting is counted out, so that no engine accepts more of it than the protocol. Only ABNF, which people read, stays as short as
 * the grammar, unless a depth is asked for.
 */
function nesting(
  language: Language,
  to: GrammarFormat,
  { options }: Invocation,
): Pick<GrammarExportOptions, 'depth' | 'settled'> {
  const { exportable, depth } = language;
  const isWanted = to !== 'abnf' || options['max-depth'] !== undefined;
  // A narrowed grammar may have lost them.
  const rules = depth?.rules.filter((rule) => exportable.ast.rules.some((one) => one.name === rule)) ?? [];
  if (depth === null || rules.length === 0 || !isWanted) return {};
  return { depth: { ...depth, rules }, settled: depth.checks };
}
