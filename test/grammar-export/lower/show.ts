/** Patterns in a short notation for tables of tests, close to that of Peggy. */
import type { CodePointRange, ContextFreeGrammar, Pattern } from '../../../src/grammar-export/context-free.js';

/** The rules of a grammar, one each. */
export function shown({ rules }: Pick<ContextFreeGrammar, 'rules'>): string[] {
  return [...rules].map(([name, pattern]) => `${name} = ${show(pattern)}`);
}

export function show(pattern: Pattern): string {
  if (pattern.kind === 'sequence' && pattern.items.length > 0) return pattern.items.map(parenthesized).join(' ');
  if (pattern.kind !== 'choice' || pattern.items.length === 0) return parenthesized(pattern);
  return pattern.items.map((item) => (item.kind === 'sequence' ? show(item) : parenthesized(item))).join(' / ');
}

function parenthesized(pattern: Pattern): string {
  switch (pattern.kind) {
    case 'literal':
      return JSON.stringify(pattern.text) + (pattern.ignoreCase ? 'i' : '');
    case 'set':
      return `[${pattern.ranges.map(showRange).join('')}]`;
    case 'rule':
      return pattern.name;
    case 'sequence':
      return pattern.items.length === 0 ? 'EMPTY' : `(${show(pattern)})`;
    case 'choice':
      return pattern.items.length === 0 ? 'NOTHING' : `(${show(pattern)})`;
    case 'repeat':
      return parenthesized(pattern.item) + times(pattern.min, pattern.max);
  }
}

function times(min: number, max: number | null): string {
  if (max === null && min < 2) return min === 0 ? '*' : '+';
  return min === 0 && max === 1 ? '?' : `|${min}..${max ?? ''}|`;
}

function showRange([first, last]: CodePointRange): string {
  return first === last ? character(first) : `${character(first)}-${character(last)}`;
}

function character(codePoint: number): string {
  const text = String.fromCodePoint(codePoint);
  if ('\\]^-'.includes(text)) return `\\${text}`;
  return codePoint > 0x20 && codePoint < 0x7f ? text : `\\u{${codePoint.toString(16)}}`;
}
