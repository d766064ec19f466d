/**
 * GBNF, the grammar format of llama.cpp, in the subset that XGrammar reads, too: the start rule is `root`; names
 * consist of lower-case letters, digits and hyphens; code points have four or eight digits; a rule continues on the
 * next line only after `|` or within parentheses.
 */

import { differenceOf, intersectionOf } from './characters.js';
import {
  type Approximation,
  type CodePointRange,
  type ContextFreeGrammar,
  type Pattern,
  partsOf,
  rebuilt,
  repeat,
} from './context-free.js';
import {
  bracketed,
  commented,
  inSequence,
  isPrintable,
  type Notation,
  notesOf,
  renamed,
  suffix,
  unicodeEscape,
  withoutCase,
  withoutSurrogates,
  wordsOf,
  written,
} from './notation.js';
import { tidy } from './tidy.js';

const WIDTH = 118;

/** llama.cpp expands repetitions into rules, fewer than this for each. */
const MAX_RULES = 2000;

const ASCII: readonly CodePointRange[] = [[0, 0x7f]];
const ALL_BEYOND_ASCII = '[^\\u0000-\\u007F]';

const WIDE_SETS =
  'Some sets contain characters beyond ASCII, but not all of them. XGrammar up to 0.1.27 misreads these sets: it ' +
  'rejects texts with such characters, and may accept others in their place.';

/** XGrammar reads these names as values. */
const RESERVED = ['true', 'false'];

/**
 * Fits a grammar to GBNF. Parts that GBNF cannot express match more texts, with an approximation.
 *
 * @throws ExportError `empty-language`
 */
export function fitToGbnf(grammar: ContextFreeGrammar): ContextFreeGrammar {
  const { rules, ...rest } = tidy(withoutCase(withoutSurrogates(grammar)));
  const approximations: Approximation[] = [...grammar.approximations];
  const fitted = [...rules].map(([rule, pattern]): [string, Pattern] => {
    const changed = rebuilt(pattern, (part) => {
      const fits = part.kind === 'repeat' ? loosened(part) : part;
      if (fits !== part) {
        const message = 'llama.cpp limits repetitions to 2,000 rules, so this repetition has wider bounds here.';
        approximations.push({ code: 'engine', rule, message });
      }
      return fits;
    });
    return [rule, changed];
  });
  return { ...rest, rules: new Map(fitted), approximations };
}

export function writeGbnf(grammar: ContextFreeGrammar): string {
  const { rules, startRule, ...rest } = fitToGbnf(grammar);
  const names = renamed(rules.keys(), new Map([[startRule, 'root']]), spelled, '-', RESERVED);
  const notation: Notation = {
    literal: (text) => `"${escapedText(text)}"`,
    set: setText,
    rule: (name) => names.get(name)!,
    repeat: (item, min, max) => item + suffix(min, max),
    or: ' | ',
    join: ' ',
    open: '(',
    empty: '""',
    repeatsLiterals: true,
  };
  const lines = [...rules].map(([name, pattern]) => `${names.get(name)} ::= ${folded(pattern, notation)}\n`);
  const remarks = [...rules.values()].some(hasWideSets) ? [WIDE_SETS] : [];
  return `${commented(notesOf({ ...rest, rules, startRule }, 'GBNF', remarks), '#')}\n${lines.join('')}`;
}

/** The maximum number of characters beyond ASCII that are written individually. */
const FEW = 16;

/**
 * Writes a set in a form that all versions of XGrammar read like llama.cpp: up to 0.1.27, a set without `^` contains no
 * character beyond ASCII, and a set with `^` contains all of them.
 */
function setText(ranges: readonly CodePointRange[]): string {
  const ascii = intersectionOf(ranges, ASCII);
  const others = differenceOf(ranges, ASCII);
  if (others.length === 0) return isSingle(ascii) ? quoted(ascii[0]![0]) : bracketed(ascii, escapedInSet);
  const texts = ascii.length === 0 ? [] : [setText(ascii)];
  if (isAllBeyondAscii(others)) {
    const without = differenceOf(ASCII, ascii);
    return without.length === 0 ? `(${texts[0]} | ${ALL_BEYOND_ASCII})` : bracketed(ranges, escapedInSet);
  }
  if (sizeOf(others) > FEW) texts.push(bracketed(others, escapedInSet, false));
  else for (const [first, last] of others) for (let code = first; code <= last; code++) texts.push(quoted(code));
  return texts.length === 1 ? texts[0]! : `(${texts.join(' | ')})`;
}

function hasWideSets(pattern: Pattern): boolean {
  if (pattern.kind !== 'set') return partsOf(pattern).some(hasWideSets);
  const others = differenceOf(pattern.ranges, ASCII);
  return sizeOf(others) > FEW && !isAllBeyondAscii(others);
}

function isSingle(ranges: readonly CodePointRange[]): boolean {
  return ranges.length === 1 && sizeOf(ranges) === 1;
}

function isAllBeyondAscii(ranges: readonly CodePointRange[]): boolean {
  return ranges.length === 1 && ranges[0]![0] === 0x80 && ranges[0]![1] === 0x10ffff;
}

function sizeOf(ranges: readonly CodePointRange[]): number {
  return ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
}

function quoted(codePoint: number): string {
  return `"${escapedText(String.fromCodePoint(codePoint))}"`;
}

function spelled(name: string): string {
  const spelling = wordsOf(name).join('-');
  return /^[0-9]/.test(spelling) ? `rule-${spelling}` : spelling;
}

function escapedText(text: string): string {
  return [...text].map((character) => (character === '"' ? '\\"' : escaped(character.codePointAt(0)!))).join('');
}

function escapedInSet(codePoint: number): string {
  const character = String.fromCodePoint(codePoint);
  if (character === '[' || character === ']') return `\\${character}`;
  return character === '-' || character === '^' ? hexadecimal(codePoint) : escaped(codePoint);
}

function escaped(codePoint: number): string {
  if (codePoint === 0x5c) return '\\\\';
  return isPrintable(codePoint) ? String.fromCodePoint(codePoint) : hexadecimal(codePoint);
}

function hexadecimal(codePoint: number): string {
  return unicodeEscape(codePoint, (digits) => `\\U${digits.padStart(8, '0')}`);
}

function folded(pattern: Pattern, notation: Notation): string {
  const line = written(pattern, notation);
  if (line.length < WIDTH - 20) return line;
  if (pattern.kind === 'choice') {
    const lines = pattern.items.map((item) => foldedSequence(item, notation, '  '));
    return `\n  ${lines.join(' |\n  ')}`;
  }
  return foldedSequence(pattern, notation, '');
}

function foldedSequence(pattern: Pattern, notation: Notation, indent: string): string {
  const line = written(pattern, notation, 'sequence');
  if (line.length < WIDTH - 20 || pattern.kind !== 'sequence') return line;
  const lines: string[] = [];
  for (const item of pattern.items) {
    const text = inSequence(item, notation);
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length < WIDTH - 4) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return `(\n${lines.map((text) => `${indent}  ${text}\n`).join('')}${indent})`;
}

function loosened(pattern: Extract<Pattern, { kind: 'repeat' }>): Pattern {
  const { item, min, max } = pattern;
  const most = Math.floor((MAX_RULES - 1) / Math.max(1, rulesOf(item)));
  if ((max ?? min) <= most) return pattern;
  return repeat(item, Math.min(min, most), null);
}

function rulesOf(pattern: Pattern): number {
  const within = partsOf(pattern).reduce((sum, part) => sum + rulesOf(part), 0);
  if (pattern.kind === 'repeat') return within + (pattern.max === null ? 1 : pattern.max - pattern.min);
  return pattern.kind === 'choice' || pattern.kind === 'sequence' ? within + 1 : 0;
}
