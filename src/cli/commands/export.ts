import { aacpEditor } from '../../aacp/language/language.js';
import { packetJsonSchema } from '../../aacp/language/schema.js';
import { accpEditor } from '../../accp/language/language.js';
import { frameJsonSchema } from '../../accp/language/schema.js';
import type { Language } from '../../fuzz/differential/language.js';
import { codeMirrorMode } from '../../grammar-export/codemirror.js';
import type { Approximation } from '../../grammar-export/context-free.js';
import { ExportError } from '../../grammar-export/context-free.js';
import {
  approximationsOf,
  exportGrammar,
  GRAMMAR_FORMATS,
  type GrammarExportOptions,
  type GrammarFormat,
} from '../../grammar-export/export-grammar.js';
import { railroadDiagrams } from '../../grammar-export/railroad.js';
import { textMateGrammar } from '../../grammar-export/textmate.js';
import { libraryFault, UsageError } from '../io/errors.js';
import { tryFile, writeText } from '../io/files.js';
import { toJson } from '../io/json.js';
import { defineCommand, type Invocation } from '../options/command.js';
import { LANGUAGE_OPTIONS, languageOf } from '../options/language.js';
import { givenNarrowing } from '../options/narrowing.js';
import { alternatives, oneOf, text, value } from '../options/option.js';

const FORMATS = [...GRAMMAR_FORMATS, 'railroad', 'textmate', 'codemirror', 'json-schema'] as const;

type ExportFormat = (typeof FORMATS)[number];

const OPTIONS = {
  to: value('FORMAT', `Output format (required): ${alternatives(FORMATS)}`, oneOf(FORMATS)),
  output: text('FILE', 'Write to this file instead of stdout'),
  ...LANGUAGE_OPTIONS,
};

type Run = Invocation<typeof OPTIONS>;

export const command = defineCommand({
  takes: 'grammar',
  details:
    'A comment in the output lists the parts of the grammar that the format cannot express. For a grammar file, --to must be abnf, gbnf, ' +
    'lark, regex or railroad. Code in a grammar file may run; use only files that you trust.',
  options: OPTIONS,
  example: 'pegwire export accp --to gbnf --intents req,done --max-depth 2',
  run: async (invocation) => {
    const { options, output, json } = invocation;
    const { to, output: file } = options;
    if (to === undefined) throw new UsageError(`export requires --to: ${alternatives(FORMATS)}`);
    const language = languageOf(invocation);
    // Fails before a slow export.
    if (file !== undefined) tryFile(file);
    const { text: exported, approximations } = isGrammarFormat(to)
      ? asGrammar(language, { to, ...nesting(language, to, invocation) })
      : { text: asDocument(to, language, invocation), approximations: [] };
    if (file !== undefined) {
      try {
        writeText(file, exported);
      } catch (thrown) {
        await output.result(exported.trimEnd());
        throw thrown;
      }
    }
    if (json) {
      const where = file === undefined ? { text: exported } : { file };
      await output.result(toJson({ format: to, grammar: language.name, ...where, approximations }));
    } else if (file === undefined) await output.result(exported.trimEnd());
    else await output.note(`${NOUNS[to] ?? 'Grammar'} written to ${file}`);
    return 0;
  },
});

/** The names of outputs that are not grammars. */
const NOUNS: Readonly<Partial<Record<ExportFormat, string>>> = {
  railroad: 'Diagram',
  codemirror: 'Mode',
  'json-schema': 'Schema',
};

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
    throw thrown instanceof ExportError ? libraryFault(thrown) : thrown;
  }
}

function asDocument(to: Exclude<ExportFormat, GrammarFormat>, language: Language, invocation: Run): string {
  if (to === 'railroad') {
    return railroadDiagrams(language.exportable.ast, { title: `${language.name}, ${language.exportable.startRule}` });
  }
  if (invocation.grammar !== undefined) {
    throw new UsageError(`--to ${to} applies to accp and aacp, not to grammar files`);
  }
  const given = givenNarrowing(invocation);
  if (given !== undefined)
    throw new UsageError(`--${given} cannot be combined with --to ${to}, which describes all messages`);
  const isFrames = language.name === 'accp';
  if (to === 'json-schema') {
    return JSON.stringify(isFrames ? frameJsonSchema() : packetJsonSchema(), null, 2);
  }
  const editor = isFrames ? accpEditor : aacpEditor;
  return to === 'textmate' ? JSON.stringify(textMateGrammar(editor), null, 2) : codeMirrorMode(editor);
}

/** Unrolls nesting, so that no engine accepts more than the protocol does. ABNF stays short, for people, unless a depth is given. */
function nesting(
  language: Language,
  to: GrammarFormat,
  { options }: Run,
): Pick<GrammarExportOptions, 'depth' | 'depthChecks'> {
  const { exportable, depth } = language;
  const isWanted = to !== 'abnf' || options['max-depth'] !== undefined;
  // A narrowed grammar may lack some of them.
  const rules = depth?.rules.filter((rule) => exportable.ast.rules.some((one) => one.name === rule)) ?? [];
  if (depth === null || rules.length === 0 || !isWanted) return {};
  return { depth: { ...depth, rules }, depthChecks: depth.checks };
}
