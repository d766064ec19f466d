/**
 * ABNF (RFC 5234) with case-sensitive strings (RFC 7405); codes are Unicode code points. Parsers made by APG take the
 * first alternative that matches, so alternatives that are the beginning of others stand behind them.
 */

import { joined } from '../fuzz/grammar/classes.js';
import type { AbnfElement, AbnfItem } from './abnf/ast.js';
import { printAbnf } from './abnf/print.js';
import { caseVariants } from './characters.js';
import type { CodePointRange, ContextFreeGrammar, Pattern } from './context-free.js';
import { isPrintable, notesOf, renamed, wordsOf } from './notation.js';
import { longestFirst } from './order.js';
import { tidy } from './tidy.js';

/** The core rules of RFC 5234, appendix B.1. They are not used here, but readers know them. */
const CORE_RULES = [
  ...['alpha', 'bit', 'char', 'cr', 'crlf', 'ctl', 'digit', 'dquote', 'hexdig', 'htab', 'lf', 'lwsp', 'octet', 'sp'],
  ...['vchar', 'wsp'],
];

const REMARK =
  'Numbers are Unicode code points. A parser that takes the first alternative that matches, and never gives back a ' +
  'repetition, finds fewer texts where the grammar itself looks ahead.';

export function fitToAbnf(grammar: ContextFreeGrammar): ContextFreeGrammar {
  return longestFirst(tidy(grammar));
}

export function writeAbnf(grammar: ContextFreeGrammar): string {
  const { rules, startRule, ...rest } = fitToAbnf(grammar);
  const names = renamed(rules.keys(), new Map(), spelled, '-', CORE_RULES);
  const startFirst = [...rules].sort(([a], [b]) => Number(b === startRule) - Number(a === startRule));
  const items = startFirst.map(([name, pattern]): AbnfItem => {
    const element = elementOf(pattern, names);
    const alternatives = element.kind === 'alternation' ? element.items : [element];
    return {
      kind: 'rule',
      comments: [],
      name: names.get(name)!,
      sign: '=',
      alternatives: alternatives.map((one) => ({ element: one, comments: [] })),
    };
  });
  const notes = notesOf({ ...rest, rules, startRule }, 'ABNF (RFC 5234, RFC 7405)', [REMARK], 70);
  return printAbnf({ kind: 'grammar', items: [{ kind: 'comment', lines: notes }, ...items] });
}

function spelled(name: string): string {
  const spelling = wordsOf(name).join('-');
  return /^[0-9]/.test(spelling) ? `rule-${spelling}` : spelling;
}

function elementOf(pattern: Pattern, names: ReadonlyMap<string, string>): AbnfElement {
  switch (pattern.kind) {
    case 'literal':
      return pattern.ignoreCase ? anyCase(pattern.text) : exact(pattern.text);
    case 'set':
      return alternation(pattern.ranges.map(rangeOf));
    case 'rule':
      return { kind: 'reference', name: names.get(pattern.name)! };
    case 'sequence':
      return concatenation(pattern.items.map((item) => elementOf(item, names)));
    case 'choice':
      return alternation(pattern.items.map((item) => elementOf(item, names)));
    case 'repeat': {
      const item = elementOf(pattern.item, names);
      const { min, max } = pattern;
      return min === 0 && max === 1 ? { kind: 'option', item } : { kind: 'repetition', min, max, item };
    }
  }
}

function exact(text: string): AbnfElement {
  // A string in quotes holds neither quotes nor anything beyond ASCII.
  const pieces = text.match(/[ !#-~]+|[^ !#-~]+/gu) ?? [''];
  return concatenation(
    pieces.map((piece): AbnfElement => {
      if (piece !== '' && !/^[ !#-~]/.test(piece)) return codes([...piece].map((one) => one.codePointAt(0)!));
      return { kind: 'string', text: piece, caseSensitive: /[A-Za-z]/.test(piece) };
    }),
  );
}

/** ABNF's own strings ignore the case of ASCII letters. What has a variant beyond them is spelled out. */
function anyCase(text: string): AbnfElement {
  const elements: AbnfElement[] = [];
  for (const character of text) {
    const variants = caseVariants(character.codePointAt(0)!);
    const last = elements.at(-1);
    if (variants.some((one) => !isPrintable(one) || one === 0x22)) {
      elements.push(alternation(joined(variants.map((one) => [one, one])).map(rangeOf)));
    } else if (last?.kind === 'string') {
      elements[elements.length - 1] = { ...last, text: last.text + character };
    } else elements.push({ kind: 'string', text: character, caseSensitive: false });
  }
  return concatenation(elements);
}

function rangeOf([first, last]: CodePointRange): AbnfElement {
  if (first < last) return { kind: 'range', base: 16, first, last };
  return isPrintable(first) ? exact(String.fromCodePoint(first)) : codes([first]);
}

function codes(list: readonly number[]): AbnfElement {
  return { kind: 'codes', base: 16, codes: list };
}

function concatenation(items: readonly AbnfElement[]): AbnfElement {
  if (items.length === 0) return { kind: 'string', text: '', caseSensitive: false };
  const flat = items.flatMap((item) => (item.kind === 'concatenation' ? item.items : [item]));
  return flat.length === 1 ? flat[0]! : { kind: 'concatenation', items: flat };
}

function alternation(items: readonly AbnfElement[]): AbnfElement {
  const flat = items.flatMap((item) => (item.kind === 'alternation' ? item.items : [item]));
  return flat.length === 1 ? flat[0]! : { kind: 'alternation', items: flat };
}
