/** A Peggy grammar and a text: the tree, sentences, coverage, exports and speed. It executes the code of the grammar. */
import peggy from 'peggy';
import {
  compileGrammar,
  coverageReport,
  createTracker,
  type Derivation,
  exportGrammar,
  type Grammar,
  type GrammarFormat,
  generateSentences,
  railroadDiagrams,
  textMateGrammar,
} from '../../engine-portable.js';
import fast from '../../peggy-fast/peggy-plugin.js';
import { type Fix, type Problem, type Row, Rows, shown } from '../analysis/result.js';
import { editorLanguage } from './tokens.js';

export interface GrammarInput {
  readonly grammar: string;
  readonly text: string;
  readonly seed: number;
  /** The format of an export. */
  readonly format: string;
}

/** The coverage of a rule: the goals that the sentences have reached, in percent. */
export interface RuleCoverage {
  readonly name: string;
  readonly hits: number;
  readonly covered: number;
  readonly total: number;
}

export interface GrammarResult {
  readonly grammarProblems: readonly Problem[];
  readonly textProblems: readonly Problem[];
  readonly rows: readonly Row[];
  readonly more: number;
  /** The result of the actions of the grammar, as JSON. */
  readonly value: string | null;
  readonly sentences: readonly string[];
  /** The reason why there are no sentences. */
  readonly noSentences: string | null;
  readonly coverage: readonly RuleCoverage[];
}

const SENTENCES = 30;

export function describeGrammar({ grammar: source, text, seed }: GrammarInput): GrammarResult {
  const empty: GrammarResult = {
    ...{ grammarProblems: [], textProblems: [], rows: [], more: 0, value: null },
    ...{ sentences: [], noSentences: null, coverage: [] },
  };
  let grammar: Grammar;
  try {
    grammar = compileGrammar(source, { name: 'the grammar' });
  } catch (thrown) {
    return { ...empty, grammarProblems: problemsOfGrammar(thrown, source) };
  }
  return { ...empty, ...read(grammar, text), ...generate(grammar, seed) };
}

const COMMENT = /\/\*.*?\*\/|\/\/[^\n]*/gs;

/** Errors that Peggy reports by their cause inside the parser, as messages with help. */
const REWORDED: readonly (readonly [form: RegExp, message: string, help: string])[] = [
  [
    /^Possible infinite loop .*\(left recursion: (\S+)(.*)\)$/,
    'The rule "$1" calls itself before it has read any text (left recursion: $1$2), so it would never end',
    'begin the rule with what reads text, and repeat the rest: sum = number ("+" number)*',
  ],
  [
    /^Possible infinite loop .*repetition.*$/,
    'The repeated part can match the empty text, so the repetition would never end',
    'let the repeated part match at least one character',
  ],
];

type Location = NonNullable<SyntaxProblem['location']>;

/** Peggy's errors of grammars: syntax errors have a place, others a list of problems. */
interface GrammarFault {
  readonly message: string;
  readonly location?: Location;
  readonly problems?: readonly (readonly [
    severity: string,
    message: string,
    location?: Location | undefined,
    notes?: readonly { readonly location: Location }[],
  ])[];
}

const MAX_GRAMMAR_PROBLEMS = 10;

function problemsOfGrammar(thrown: unknown, source: string): readonly Problem[] {
  const { cause, message } = thrown as Error;
  const fault = (cause ?? thrown) as GrammarFault;
  const found = fault.problems?.filter(([severity]) => severity === 'error') ?? [];
  // An error without a place has a message of its own, such as that of code that cannot be executed.
  if (found.length === 0) found.push(['error', fault.location === undefined ? message : fault.message, fault.location]);
  return found.slice(0, MAX_GRAMMAR_PROBLEMS).map(([, text, location, notes = []]) => {
    // The last note of left recursion has the call that closes the circle.
    const { start, end } = notes.at(-1)?.location ?? location ?? { start: { offset: 0 }, end: { offset: 1 } };
    const problem = { from: start.offset, to: end.offset, severity: 'error', code: 'grammar', fixes: [] } as const;
    if (source.replace(COMMENT, '').trim() === '')
      return { ...problem, message: 'The grammar has no rules', help: 'write one, such as greeting = "hello"' };
    const [form, reworded, help] = REWORDED.find(([one]) => one.test(text)) ?? [];
    return { ...problem, message: shown(form ? text.replace(form, reworded!) : text, 600), help };
  });
}

function read(grammar: Grammar, text: string): Pick<GrammarResult, 'textProblems' | 'rows' | 'more' | 'value'> {
  const parsed = grammar.parse(text);
  if (!parsed.ok) return { textProblems: [problemOfText(parsed.error, grammar, text)], rows: [], more: 0, value: null };
  const rows = new Rows();
  const derivation = text.length <= 20_000 ? grammar.derive(text) : null;
  if (derivation !== null) addRows(derivation, grammar, text, 0, rows);
  return { textProblems: [], rows: rows.rows, more: rows.more, value: shown(jsonOf(parsed.value), 4_000) };
}

/** The members of Peggy's errors; errors of the grammar's code have none of them. */
interface SyntaxProblem extends Error {
  readonly location?: { readonly start: { readonly offset: number }; readonly end: { readonly offset: number } };
  readonly expected?: readonly { readonly type: string; readonly text?: string }[] | null;
}

function problemOfText(thrown: unknown, grammar: Grammar, text: string): Problem {
  // Code of a grammar can throw anything.
  const { message, location, expected } = (thrown ?? {}) as Partial<SyntaxProblem>;
  const from = location?.start.offset ?? 0;
  const literals = (expected ?? []).flatMap(({ type, text: literal }) => (type === 'literal' ? (literal ?? []) : []));
  return {
    ...{ from, to: location?.end.offset ?? from + 1, severity: 'error', code: 'syntax' },
    message: shown(String(message ?? thrown), 600),
    fixes: text.length > MAX_FIXED ? [] : textFixes(grammar, text, from, literals.slice(0, MAX_LITERALS)),
  };
}

/** The longest text that is parsed again for each fix, and the literals that are tried. */
const MAX_FIXED = 2_000;
const MAX_LITERALS = 12;

/** Returns the edits of one place after which the grammar accepts the text. */
function textFixes(grammar: Grammar, text: string, from: number, literals: readonly string[]): readonly Fix[] {
  const found = text.slice(from, from + 1);
  const candidates: Fix[] = [
    ...(found === '' ? [] : [{ label: `Remove "${found}"`, edit: { from, to: from + 1, insert: '' } }]),
    ...literals.map((insert) => ({ label: `Insert "${insert}"`, edit: { from, to: from, insert } })),
    ...literals.map((insert) => ({ label: `Replace "${found}" by "${insert}"`, edit: { from, to: from + 1, insert } })),
  ];
  return candidates
    .filter(
      ({ edit }) => edit !== undefined && grammar.accepts(text.slice(0, edit.from) + edit.insert + text.slice(edit.to)),
    )
    .slice(0, 3);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value, null, 1) ?? String(value);
  } catch (thrown) {
    return String(thrown);
  }
}

/** Adds the rules of a derivation; choices, items and characters are left out. */
function addRows(
  { point, start, end, children }: Derivation,
  grammar: Grammar,
  text: string,
  depth: number,
  rows: Rows,
): void {
  const { kind, rule } = grammar.points.list[point]!;
  const isRule = kind === 'rule';
  if (isRule && (end > start || depth === 0))
    rows.add({
      depth,
      label: rule,
      kind: 'string',
      value: JSON.stringify(text.slice(start, Math.min(end, start + 60))),
      note: '',
      from: start,
      to: end,
    });
  if (kind === 'lookahead' || (isRule && end === start && depth > 0)) return;
  for (const child of children) addRows(child, grammar, text, isRule ? depth + 1 : depth, rows);
}

function generate(grammar: Grammar, seed: number): Pick<GrammarResult, 'sentences' | 'noSentences' | 'coverage'> {
  const tracker = createTracker(grammar);
  try {
    const sentences = [...generateSentences(grammar, { seed, count: SENTENCES, maxLength: 80, tracker })];
    const coverage = coverageReport(tracker).rules.map(({ name, hits, ...kinds }) => {
      const counts = [kinds.rule, kinds.alternative, kinds.character, kinds.repetition];
      const sum = (part: 'covered' | 'total'): number => counts.reduce((total, count) => total + count[part], 0);
      return { name, hits, covered: sum('covered'), total: sum('total') };
    });
    return { sentences, noSentences: null, coverage };
  } catch (thrown) {
    return { sentences: [], noSentences: (thrown as Error).message, coverage: [] };
  }
}

/** Compiles a grammar. @throws Error with the message of its first problem */
function compiled(source: string): Grammar {
  try {
    return compileGrammar(source, { name: 'the grammar' });
  } catch (cause) {
    throw new Error(problemsOfGrammar(cause, source)[0]!.message, { cause });
  }
}

export interface ExportResult {
  readonly text: string;
  /** `true` if the text is a picture in SVG. */
  readonly isPicture: boolean;
}

export function grammarExport({ grammar: source, format }: GrammarInput): ExportResult {
  const grammar = compiled(source);
  if (format === 'railroad') return { text: railroadDiagrams(grammar.ast), isPicture: true };
  if (format === 'textmate')
    return { text: JSON.stringify(textMateGrammar(editorLanguage(grammar, source)), null, 2), isPicture: false };
  return { text: shown(exportGrammar(grammar, { to: format as GrammarFormat })), isPicture: false };
}

export interface SpeedResult {
  /** Kilobytes per second, with Peggy's parser and with that of the plugin. */
  readonly plain: number;
  readonly fast: number;
  /** The reason why the plugin leaves the grammar to Peggy. */
  readonly notice: string | null;
}

const MEASURED_MS = 250;

export function measureSpeed({ grammar, text }: GrammarInput): SpeedResult {
  compiled(grammar);
  let notice: string | null = null;
  const plain = peggy.generate(grammar);
  const options = { plugins: [fast], fast: { onNotice: (reason: string) => (notice ??= reason) } };
  const faster = peggy.generate(grammar, options as peggy.ParserBuildOptions);
  // Alternating, so that both meet the same load of the machine.
  const totals = [0, 0];
  for (let round = 0; round < 4; round++) {
    for (const [index, parser] of [plain, faster].entries()) totals[index]! += rate(parser, text) / 4;
  }
  return { plain: totals[0]!, fast: totals[1]!, notice };
}

function rate(parser: peggy.Parser, text: string): number {
  const start = performance.now();
  let runs = 0;
  let elapsed = 0;
  while (elapsed < MEASURED_MS / 4) {
    for (let index = 0; index < 20; index++) parser.parse(text);
    runs += 20;
    elapsed = performance.now() - start;
  }
  return (runs * text.length) / elapsed;
}
