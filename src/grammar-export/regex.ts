/**
 * Regular expressions in the subset of JavaScript's notation that Python, Java, .NET, PCRE, RE2 and Rust share:
 * non-capturing groups, sets, greedy repetitions, `\u` and `\x` escapes. Characters beyond U+FFFF are written
 * literally.
 */

import { patternOf } from './automata/algebra.js';
import { alphabetOf, type Budget } from './automata/alphabet.js';
import { dfaOf, minimized, statesOf } from './automata/dfa.js';
import { automatonOf, isUnambiguous, maxAmbiguity } from './automaton.js';
import { type ContextFreeGrammar, ExportError, type Pattern, partsOf, rebuilt, recursiveRule } from './context-free.js';
import { commented, notesOf, regexNotation, withoutCase, withoutSurrogates, written } from './notation.js';
import { longestFirst } from './order.js';
import { tidied } from './simplify.js';
import { tidy } from './tidy.js';

interface RegularExpression {
  /** Anchored at both ends. */
  readonly source: string;
  readonly flags: string;
}

/** The maximum length of a pattern. A rule that is used twice is expanded twice, and so are the rules within it. */
const MAX_LENGTH = 100_000;
/** The maximum number of ways in which a pattern may match a part of a text: a factor of the time that an engine takes. */
const MAX_AMBIGUITY = 100;

const REMARK =
  'If $ also matches before a line end at the end of a text (Python, PCRE, Java), match the whole text without the anchors.';

/** The escapes of these characters differ between engines. */
const NOTATION = regexNotation((digits) => String.fromCodePoint(Number.parseInt(digits, 16)));

/** @throws ExportError `not-regular` or `empty-language` */
export function fitToRegex(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const fitted = longestFirst(tidy(withoutCase(withoutSurrogates(grammar))));
  const recursive = recursiveRule(fitted.rules);
  if (recursive !== null) {
    const message = `The rule ${recursive} is recursive, which a regular expression cannot express; limit its depth`;
    throw new ExportError('not-regular', message, recursive);
  }
  return fitted;
}

/**
 * Writes a grammar as a regular expression that a backtracking engine matches in time linear in the length of a text.
 * Parts of the grammar that match a text in several ways are rewritten to match it in one.
 *
 * @throws ExportError `not-regular` if a rule is recursive, `too-large` beyond 100,000 characters, `ambiguous` if the
 * grammar matches texts in more than 100 ways and an unambiguous pattern would be too large, `empty-language` if the
 * grammar matches no text
 */
export function regexOf(grammar: ContextFreeGrammar): RegularExpression {
  const { source, flags } = linearRegexOf(grammar);
  return { source, flags };
}

export function writeRegex(grammar: ContextFreeGrammar): string {
  const { source, flags, ways } = linearRegexOf(grammar);
  const remark =
    `It is ambiguous: it matches some texts in up to ${ways} ways, which backtracking engines (all of these but RE2 and Rust) ` +
    'try one after the other.';
  const notes = notesOf(
    fitToRegex(grammar),
    'the notation of regular expressions',
    ways > 1 ? [REMARK, remark] : [REMARK],
  );
  return `${commented(notes, '//')}/${source}/${flags}\n`;
}

/** Also returns the most ways in which the pattern matches a part of a text. */
function linearRegexOf(grammar: ContextFreeGrammar): RegularExpression & { readonly ways: number } {
  const { rules, startRule } = fitToRegex(grammar);
  checkLength(rules, startRule);
  const known = new Map<string, Pattern>();
  const effort: Budget = { left: MAX_EFFORT };
  const inlined = (part: Pattern): Pattern => {
    if (part.kind !== 'rule') return part;
    const pattern = known.get(part.name) ?? madeUnambiguous(rebuilt(rules.get(part.name)!, inlined), effort);
    known.set(part.name, pattern);
    return pattern;
  };
  const pattern = inlined({ kind: 'rule', name: startRule });
  const source = `^${written(pattern, NOTATION, 'sequence')}$`;
  if (source.length > MAX_LENGTH) throw tooLarge(startRule);
  const ways = isUnambiguousPattern(pattern, effort) ? 1 : ambiguityOf(pattern, MAX_AMBIGUITY);
  if (ways === null) throw ambiguous(startRule);
  return { source, flags: 'u', ways };
}

/** Throws before an excessively long pattern is written: nested rules grow exponentially. */
function checkLength(rules: ReadonlyMap<string, Pattern>, startRule: string): void {
  const lengths = new Map<string, number>();
  const lengthOf = (pattern: Pattern): number => {
    if (pattern.kind === 'literal') return pattern.text.length;
    if (pattern.kind !== 'rule') {
      const own = pattern.kind === 'set' || pattern.kind === 'repeat' ? 1 : 0;
      return partsOf(pattern).reduce((sum, part) => sum + lengthOf(part), own);
    }
    const length = lengths.get(pattern.name) ?? lengthOf(rules.get(pattern.name)!);
    lengths.set(pattern.name, length);
    return length;
  };
  if (lengthOf(rules.get(startRule)!) > MAX_LENGTH) throw tooLarge(startRule);
}

function tooLarge(startRule: string): ExportError {
  const limit = MAX_LENGTH.toLocaleString('en');
  const message = `As a regular expression, ${startRule} would have more than ${limit} characters; limit its depth further`;
  return new ExportError('too-large', message, startRule);
}

function ambiguous(startRule: string): ExportError {
  const message =
    `As a regular expression, ${startRule} would match some texts in several ways, so backtracking engines may take ` +
    'exponential time, and an unambiguous pattern would be too large. Change the grammar so that no two parts of ' +
    'it compete for the same characters, or export it to gbnf, lark or abnf';
  return new ExportError('ambiguous', message, startRule);
}

/** The maximum number of steps of all comparisons together. Beyond them, parts count as ambiguous, and are not rewritten. */
const MAX_EFFORT = 20_000_000;
/** The maximum number of states of an automaton that is compared with itself. */
const MAX_COMPARED = 100_000;
/** The maximum number of states of a pattern that is rewritten. */
const MAX_REWRITTEN = 2_000;
/** The maximum number of states of an automaton during minimization, of the minimal automaton, and parts of the pattern that is built from it. */
const MAX_STATES = 2_000;
const MAX_MINIMAL = 80;
const MAX_PARTS = 5_000;

const NO_RULES: ReadonlyMap<string, Pattern> = new Map();

/** Returns `true` if a pattern without rules matches each text in one way only; `false` if it is too large to decide. */
function isUnambiguousPattern(pattern: Pattern, effort: Budget): boolean {
  const automaton = effort.left <= 0 ? null : automatonOf(pattern, NO_RULES, MAX_COMPARED);
  return automaton !== null && isUnambiguous(automaton, effort);
}

/** Rewrites each part that matches some text in two ways, from the inside out. Parts whose rewriting would be too large stay. */
function madeUnambiguous(pattern: Pattern, effort: Budget): Pattern {
  if (effort.left <= 0 || isUnambiguousPattern(pattern, effort)) return pattern;
  return rebuilt(pattern, (part) =>
    isUnambiguousPattern(part, effort) ? part : (deterministic(part, effort) ?? part),
  );
}

/** Returns the most ways in which a pattern without rules matches a part of a text; null if that may exceed `limit`. */
function ambiguityOf(pattern: Pattern, limit: number): number | null {
  const automaton = automatonOf(pattern, NO_RULES);
  return automaton && maxAmbiguity(automaton, limit);
}

/** Returns the pattern of the minimal deterministic automaton, or of the one that reads texts backwards. */
function deterministic(pattern: Pattern, effort: Budget): Pattern | null {
  if (effort.left <= 0 || statesOf(pattern) > MAX_REWRITTEN) return null;
  const plain = tidied(pattern);
  const backward = determinizedPattern(reversed(plain));
  const found = [determinizedPattern(plain), backward && reversed(backward)].filter((one) => one !== null);
  return found.filter((one) => isUnambiguousPattern(one, effort)).sort((a, b) => statesOf(a) - statesOf(b))[0] ?? null;
}

function determinizedPattern(pattern: Pattern): Pattern | null {
  const alphabet = alphabetOf([pattern], 'code-point');
  const dfa = dfaOf(pattern, alphabet, MAX_STATES);
  const made = dfa && patternOf(minimized(dfa), alphabet.rangesOf, MAX_PARTS, MAX_MINIMAL);
  return made && tidied(made);
}

function reversed(pattern: Pattern): Pattern {
  return rebuilt(pattern, (part) => {
    if (part.kind === 'literal') return { ...part, text: [...part.text].reverse().join('') };
    return part.kind === 'sequence' ? { ...part, items: part.items.toReversed() } : part;
  });
}
