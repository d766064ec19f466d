import type { Grammar } from '../fuzz/grammar/grammar.js';
import { resolveChoice } from '../text/limits.js';
import { fitToAbnf, writeAbnf } from './abnf.js';
import type { Approximation, ContextFreeGrammar } from './context-free.js';
import { fitToGbnf, writeGbnf } from './gbnf.js';
import { fitToLark, writeLark } from './lark.js';
import { contextFree, type DepthLimit } from './lower.js';
import { fitToRegex, writeRegex } from './regex.js';

/** The formats of {@link exportGrammar}. */
export const GRAMMAR_FORMATS = ['abnf', 'gbnf', 'lark', 'regex'] as const;

/** One of {@link GRAMMAR_FORMATS}. */
export type GrammarFormat = (typeof GRAMMAR_FORMATS)[number];

/** The options of {@link exportGrammar}. */
export interface GrammarExportOptions {
  /** The format: RFC 5234 ABNF, GBNF for llama.cpp and XGrammar, Lark for Lark and llguidance, or a regular expression. */
  readonly to: GrammarFormat;
  /** A nesting limit for rules that the grammar limits by code. A regular expression requires one if rules nest. @default none */
  readonly depth?: DepthLimit | undefined;
  /** Rules whose conditions the `depth` limit replaces. They are not reported as approximations. @default none */
  readonly depthChecks?: readonly string[] | undefined;
}

interface Format {
  readonly fit: (grammar: ContextFreeGrammar) => ContextFreeGrammar;
  readonly write: (grammar: ContextFreeGrammar) => string;
}

const FORMATS: Readonly<Record<GrammarFormat, Format>> = {
  abnf: { fit: fitToAbnf, write: writeAbnf },
  gbnf: { fit: fitToGbnf, write: writeGbnf },
  lark: { fit: fitToLark, write: writeLark },
  regex: { fit: fitToRegex, write: writeRegex },
};

/**
 * Exports a grammar to another notation. The text begins with a comment that states its origin and its approximations.
 * The export matches all texts of the grammar, and no others except by these approximations.
 *
 * @throws ExportError if the format cannot express the grammar
 * @throws TypeError if the format is unknown
 * @throws RangeError if the depth limit is invalid
 * @example
 * exportGrammar(compileGrammar('bits = [01]+'), { to: 'regex' }).split('\n').at(-2) // '/^[01]+$/u'
 */
export function exportGrammar(grammar: Grammar, options: GrammarExportOptions): string {
  return formatOf(options).write(lowered(grammar, options));
}

/**
 * Returns the approximations of an export: the reasons that its language is larger than that of the grammar. The list
 * is empty if both are equal.
 *
 * @throws ExportError if the format cannot express the grammar
 * @throws TypeError if the format is unknown
 * @throws RangeError if the depth limit is invalid
 */
export function approximationsOf(grammar: Grammar, options: GrammarExportOptions): readonly Approximation[] {
  return formatOf(options).fit(lowered(grammar, options)).approximations;
}

function formatOf({ to }: GrammarExportOptions): Format {
  return FORMATS[resolveChoice('to', String(to) as GrammarFormat, GRAMMAR_FORMATS)];
}

function lowered(
  { name, startRule, ast }: Grammar,
  { depth, depthChecks }: Pick<GrammarExportOptions, 'depth' | 'depthChecks'>,
): ContextFreeGrammar {
  return contextFree(ast, { name, startRule, depth: depth === undefined ? undefined : [depth], depthChecks });
}
