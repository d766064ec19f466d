/**
 * Regular expressions in the part of JavaScript's notation that Python, Java, .NET, PCRE, RE2 and Rust share: groups
 * without capture, sets, greedy repetitions, `\u` and `\x` escapes; characters beyond U+FFFF stand for themselves.
 */

import { patternOf } from './automata/algebra.js';
import { alphabetOf } from './automata/alphabet.js';
import { dfaOf, minimized, statesOf } from './automata/dfa.js';
import { automatonOf, isUnambiguous, mostWays } from './automaton.js';
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

/** The most characters of a pattern. Rules that are used twice stand in it twice, and so on within them. */
const MAX_LENGTH = 100_000;
/** The most ways in which a pattern may match a part of a text: a factor on the time that an engine takes. */
const MAX_WAYS = 100;

const REMARK =
  'Where $ also matches before a line end at the end of a text (Python, PCRE, Java), match the whole text without the anchors.';

/** No escape for these is the same in all engines. */
const NOTATION = regexNotation((digits) => String.fromCodePoint(Number.parseInt(digits, 16)));

/** @throws ExportError `not-regular` or `empty-language` */
export function fitToRegex(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const fitted = longestFirst(tidy(withoutCase(withoutSurrogates(grammar))));
  const recursive = recursiveRule(fitted.rules);
  if (recursive !== null) {
    const message = `The rule ${recursive} holds itself, which no regular expression can say; a limit to its depth would help`;
    throw new ExportError('not-regular', message, recursive);
  }
  return fitted;
}

/**
 * Writes a grammar as a regular expression on which an engine that backtracks takes time in proportion to the length of a text,
 * whether the text matches or not. Parts of the grammar that match a text in several ways are written anew, with one way.
 *
 * @throws ExportError `not-regular` naming a rule that holds itself, `too-large` beyond 100,000 characters, `ambiguous` where the
 *   grammar matches texts in more than 100 ways and a pattern with one way would be too large, `empty-language` when the grammar
 *   matches no text
 */
export function regexOf(grammar: ContextFreeGrammar): RegularExpression {
  const { source, flags } = linearRegexOf(grammar);
  return { source, flags };
}

export function writeRegex(grammar: ContextFreeGrammar): string {
  const { source, flags, ways } = linearRegexOf(grammar);
  const remark =
    `It is ambiguous: it matches some texts in up to ${ways} ways, which engines that backtrack (all of these but RE2 and Rust) ` +
    'try one after the other.';
  const notes = notesOf(
    fitToRegex(grammar),
    'the notation of regular expressions',
    ways > 1 ? [REMARK, remark] : [REMARK],
  );
  return `${commented(notes, '//')}/${source}/${flags}\n`;
}

/** @returns also in how many ways at most the pattern matches a part of a text */
function linearRegexOf(grammar: ContextFreeGrammar): RegularExpression & { readonly ways: number } {
  const { rules, startRule } = fitToRegex(grammar);
  checkLength(rules, startRule);
  const known = new Map<string, Pattern>();
  const inlined = (part: Pattern): Pattern => {
    if (part.kind !== 'rule') return part;
    const pattern = known.get(part.name) ?? madeUnambiguous(rebuilt(rules.get(part.name)!, inlined));
    known.set(part.name, pattern);
    return pattern;
  };
  const pattern = inlined({ kind: 'rule', name: startRule });
  const source = `^${written(pattern, NOTATION, 'sequence')}$`;
  if (source.length > MAX_LENGTH) throw tooLarge(startRule);
  const ways = matchesInOneWay(pattern) ? 1 : waysOf(pattern, MAX_WAYS);
  if (ways === null) throw ambiguous(startRule);
  return { source, flags: 'u', ways };
}

/** Throws before a pattern is written that is too long: rules in rules grow by powers. */
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
  const message = `As a regular expression, ${startRule} would take more than ${limit} characters; a smaller depth would help`;
  return new ExportError('too-large', message, startRule);
}

function ambiguous(startRule: string): ExportError {
  const message =
    `As a regular expression, ${startRule} would match some texts in several ways, so that engines that backtrack may take ` +
    'exponential time, and a pattern with one way for each text would be too large. Change the grammar so that no two parts of ' +
    'it compete for the same characters, or use --to gbnf, lark or abnf';
  return new ExportError('ambiguous', message, startRule);
}

/** The most states of an automaton that is compared with itself. */
const MOST_COMPARED = 100_000;
/** The most states of a pattern that is written anew. */
const MOST_REWRITTEN = 2_000;
/** The most states of automata on the way to a smallest one, of a smallest one, and parts of the pattern that is made of it. */
const MOST_STATES = 2_000;
const MOST_MINIMAL = 80;
const MOST_PARTS = 5_000;

const NO_RULES: ReadonlyMap<string, Pattern> = new Map();

/** Tells whether a pattern without rules matches each text in one way only; where it is too large to tell, it is taken not to. */
function matchesInOneWay(pattern: Pattern): boolean {
  const automaton = automatonOf(pattern, NO_RULES, MOST_COMPARED);
  return automaton !== null && isUnambiguous(automaton);
}

/** Rewrites each part that matches some text in two ways, from the inside out; what would be too large stays. */
function madeUnambiguous(pattern: Pattern): Pattern {
  if (matchesInOneWay(pattern)) return pattern;
  return rebuilt(pattern, (part) => (matchesInOneWay(part) ? part : (deterministic(part) ?? part)));
}

/** Returns in how many ways at most a pattern without rules matches a part of a text; null where that may be more than `limit`. */
function waysOf(pattern: Pattern, limit: number): number | null {
  const automaton = automatonOf(pattern, NO_RULES);
  return automaton && mostWays(automaton, limit);
}

/** Returns the pattern of the smallest deterministic automaton, or of the one that reads texts from their ends. */
function deterministic(pattern: Pattern): Pattern | null {
  if (statesOf(pattern) > MOST_REWRITTEN) return null;
  const plain = tidied(pattern);
  const backward = determinizedPattern(reversed(plain));
  const found = [determinizedPattern(plain), backward && reversed(backward)].filter((one) => one !== null);
  return found.filter(matchesInOneWay).sort((a, b) => statesOf(a) - statesOf(b))[0] ?? null;
}

function determinizedPattern(pattern: Pattern): Pattern | null {
  const alphabet = alphabetOf([pattern], 'code-point');
  const dfa = dfaOf(pattern, alphabet, MOST_STATES);
  const made = dfa && patternOf(minimized(dfa), alphabet.rangesOf, MOST_PARTS, MOST_MINIMAL);
  return made && tidied(made);
}

function reversed(pattern: Pattern): Pattern {
  return rebuilt(pattern, (part) => {
    if (part.kind === 'literal') return { ...part, text: [...part.text].reverse().join('') };
    return part.kind === 'sequence' ? { ...part, items: part.items.toReversed() } : part;
  });
}
