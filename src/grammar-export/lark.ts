/**
 * Lark grammars, for the Lark parser in Python and for llguidance, which implements constrained decoding in several
 * servers for language models and reads a similar language of its own.
 *
 * The output is restricted to what both accept:
 * - Rules have lower-case names, terminals upper-case ones; the start rule is `start`. Comments begin with `//`. A rule
 * continues on the next line only if that begins with `|`.
 * - No priorities, templates, imports, `%ignore`, lookaround or lazy repetition. Patterns must be valid in Rust and in
 * Python: an escape is either of punctuation, or has the form `\x00`, `\u0000` or `\U00000000`. Python's Lark decodes
 * these before it parses the pattern, so punctuation must not be written as a code.
 * - `a~2 .. 5` needs the spaces: without them, llguidance reads the number `2.`. It has no `a~2 ..`.
 * - Terminals never match the empty text, which Lark rejects.
 * - Lexers take the longest match of each terminal that the parser can use next, llguidance the longest of all, and
 * neither backtracks to a shorter one. `terminals.ts` ensures that this is the intended match. Python matches by
 * backtracking, so terminals are deterministic.
 */
import { spelledOut } from './characters.js';
import { type ContextFreeGrammar, type Pattern, rebuilt, referencesOf } from './context-free.js';
import {
  commented,
  type Notation,
  notesOf,
  regexNotation,
  renamed,
  suffix,
  withoutSurrogates,
  wordsOf,
  written,
} from './notation.js';
import { lexicalGrammar } from './terminals.js';
import { reachedRules, tidy } from './tidy.js';

const WIDTH = 118;

const REMARK =
  "In Python: Lark(grammar, parser='earley', lexer='dynamic'). llguidance reads the grammar without options.";

export function fitToLark(grammar: ContextFreeGrammar): ContextFreeGrammar {
  return tidy(withoutSurrogates(grammar));
}

export function writeLark(grammar: ContextFreeGrammar): string {
  const fitted = fitToLark(grammar);
  const { startRule } = fitted;
  const { rules, start, isTerminal } = lexicalGrammar(fitted);
  const isTerminalRule = (name: string): boolean => isTerminal({ kind: 'rule', name });

  // A terminal cannot refer to rules, so rules within it are inlined.
  const inlined = (part: Pattern): Pattern =>
    part.kind === 'rule' && !isTerminalRule(part.name) ? rebuilt(rules.get(part.name)!, inlined) : part;
  const bodies = reachedRules(
    new Map([...rules].map(([name, pattern]) => [name, isTerminalRule(name) ? rebuilt(pattern, inlined) : pattern])),
    startRule,
  );
  // A start rule that is a terminal, or optional, needs a rule above it.
  const isStart = start.kind === 'rule' && !isTerminalRule(startRule);
  const names = namesOf(bodies.keys(), isStart ? startRule : null, isTerminalRule);
  const lines = [...bodies].map(([name, pattern]) => {
    const isWhole = isTerminalRule(name) && referencesOf(pattern).length === 0;
    return definition(names.get(name)!, pattern, notationOf(names, isWhole ? () => true : isTerminal));
  });
  if (!isStart) lines.unshift(definition('start', start, notationOf(names, isTerminal)));
  return `${commented(notesOf(fitted, 'Lark', [REMARK]), '//')}\n${lines.join('')}`;
}

function namesOf(
  rules: Iterable<string>,
  startRule: string | null,
  isTerminalRule: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const all = [...rules];
  const start = new Map(startRule === null ? [] : [[startRule, 'start']]);
  const small = renamed(
    all.filter((name) => !isTerminalRule(name)),
    start,
    (name) => spelled(name),
    '_',
    ['start'],
  );
  const capital = renamed(all.filter(isTerminalRule), new Map(), (name) => spelled(name).toUpperCase(), '_');
  return new Map([...small, ...capital]);
}

function spelled(name: string): string {
  const spelling = wordsOf(name).join('_');
  return /^[0-9]/.test(spelling) ? `rule_${spelling}` : spelling;
}

function definition(name: string, pattern: Pattern, notation: Notation): string {
  const line = `${name}: ${written(pattern, notation)}`;
  if (line.length <= WIDTH || pattern.kind !== 'choice') return `${line.trimEnd()}\n`;
  const indent = ' '.repeat(name.length);
  const alternatives = pattern.items.map((item) => written(item, notation, 'sequence'));
  return `${name}: ${alternatives.join(`\n${indent}| `)}\n`;
}

/** @param isOne returns `true` for patterns that are read as one terminal, and so are written between slashes */
function notationOf(names: ReadonlyMap<string, string>, isOne: (pattern: Pattern) => boolean): Notation {
  return {
    whole: (pattern) => {
      if (pattern.kind === 'rule' || !isOne(pattern)) return null;
      const isString = pattern.kind === 'literal' && !pattern.ignoreCase && isQuotable(pattern.text);
      return isString ? quoted(pattern.text) : `/${written(rebuilt(pattern, inAnyCase), REGEX)}/`;
    },
    literal: (text) => (isQuotable(text) ? quoted(text) : `/${REGEX.literal(text)}/`),
    set: (ranges) => `/${REGEX.set(ranges)}/`,
    rule: (name) => names.get(name)!,
    repeat: (item, min, max) => {
      const plain = suffix(min, max);
      if (!plain.startsWith('{')) return item + plain;
      return max === null ? `${item}~${min} ${item}*` : `${item}~${min} .. ${max}`;
    },
    or: ' | ',
    join: ' ',
    open: '(',
    empty: '',
    repeatsLiterals: true,
  };
}

/** Case-insensitivity differs between the engines. */
function inAnyCase(part: Pattern): Pattern {
  return part.kind === 'literal' && part.ignoreCase ? spelledOut(part.text) : part;
}

function isQuotable(text: string): boolean {
  return /^[ -~]+$/.test(text);
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

const REGEX = regexNotation((digits) => `\\U${digits.padStart(8, '0')}`);
