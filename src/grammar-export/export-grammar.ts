import type { Grammar } from '../fuzz/grammar/grammar.js';
import { resolveChoice } from '../text/limits.js';
import { fitToAbnf, writeAbnf } from './abnf.js';
import type { Approximation, ContextFreeGrammar } from './context-free.js';
import { fitToGbnf, writeGbnf } from './gbnf.js';
import { fitToLark, writeLark } from './lark.js';
import { contextFree, type DepthLimit } from './lower.js';
import { fitToRegex, writeRegex } from './regex.js';

/** What a grammar can be exported to. */
export const GRAMMAR_FORMATS = ['abnf', 'gbnf', 'lark', 'regex'] as const;

export type GrammarFormat = (typeof GRAMMAR_FORMATS)[number];

export interface GrammarExportOptions {
  readonly to: GrammarFormat;
  /** Rules that nest only so deep, where the grammar leaves that to code; a regular expression needs it. @default none */
  readonly depth?: DepthLimit | undefined;
  /** Rules with conditions that `depth` makes needless: they are not told as approximations. @default none */
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
 * A grammar as text in another language, with a comment that says where it comes from and what it does not say. It matches all
 * texts of the grammar, and no others but for what that comment tells.
 *
 * @throws ExportError where the format cannot say it: `not-regular`, `too-large` and `ambiguous` for a regular expression,
 *   `empty-language` where the grammar matches no text
 * @throws TypeError on a format that is none, RangeError on a depth that makes no sense
 * @example
 * exportGrammar(compileGrammar('bits = [01]+'), { to: 'regex' }).split('\n').at(-2) // '/^[01]+$/u'
 */
export function exportGrammar(grammar: Grammar, options: GrammarExportOptions): string {
  return formatOf(options).write(lowered(grammar, options));
}

/**
 * What an export does not say, so that its language is larger than that of the grammar; empty where the two are the same. Throws
 * as `exportGrammar` does.
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
