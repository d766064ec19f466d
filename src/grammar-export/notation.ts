/** Patterns as text, for all languages that write them in the usual way: alternatives, sequences, suffixes. */
import type { CodePointRange, Pattern } from './context-free.js';
import { complementOf } from './ranges.js';

/** How a language writes patterns. */
export interface Notation {
  /** A pattern that is written in a way of its own, to be repeated as it stands; null for others. */
  readonly whole?: (pattern: Pattern) => string | null;
  readonly literal: (text: string) => string;
  readonly set: (ranges: readonly CodePointRange[]) => string;
  readonly rule: (name: string) => string;
  /** A pattern again and again; `item` is written already, in parentheses where it needs them. */
  readonly repeat: (item: string, min: number, max: number | null) => string;
  /** Stands between alternatives, and between the items of a sequence. */
  readonly or: string;
  readonly join: string;
  /** Opens a group; `)` closes it. */
  readonly open: string;
  /** The empty text. */
  readonly empty: string;
  /** Whether a literal of several characters is one thing to repeat. */
  readonly repeatsLiterals: boolean;
}

/** How tightly the outermost parts of a text hold together. */
type Level = 'choice' | 'sequence' | 'repeat' | 'atom';

const LEVELS: readonly Level[] = ['choice', 'sequence', 'repeat', 'atom'];

/** @param within how tightly the text has to hold together where it is put */
export function written(pattern: Pattern, notation: Notation, within: Level = 'choice'): string {
  const whole = notation.whole?.(pattern) ?? null;
  if (whole !== null) return whole;
  const text = writtenPlainly(pattern, notation);
  const needed = LEVELS.indexOf(levelOf(pattern, notation)) < LEVELS.indexOf(within);
  return needed ? `${notation.open}${text})` : text;
}

function writtenPlainly(pattern: Pattern, notation: Notation): string {
  switch (pattern.kind) {
    case 'literal':
      return notation.literal(pattern.text);
    case 'set':
      return notation.set(pattern.ranges);
    case 'rule':
      return notation.rule(pattern.name);
    case 'repeat':
      return notation.repeat(written(pattern.item, notation, 'atom'), pattern.min, pattern.max);
    case 'sequence':
      if (pattern.items.length === 0) return notation.empty;
      return pattern.items.map((item) => inSequence(item, notation)).join(notation.join);
    case 'choice':
      return pattern.items.map((item) => written(item, notation, 'sequence')).join(notation.or);
  }
}

/** An item of a sequence. The characters of a literal are a sequence themselves, where they are not one thing. */
export function inSequence(item: Pattern, notation: Notation): string {
  return written(item, notation, item.kind === 'literal' ? 'sequence' : 'repeat');
}

function levelOf(pattern: Pattern, { repeatsLiterals }: Notation): Level {
  switch (pattern.kind) {
    case 'literal':
      return repeatsLiterals || [...pattern.text].length === 1 ? 'atom' : 'sequence';
    case 'set':
    case 'rule':
      return 'atom';
    default:
      return pattern.kind;
  }
}

/** `*`, `+`, `?`, `{3}`, `{3,}`, `{3,5}`, as most languages have them. */
export function suffix(min: number, max: number | null): string {
  if (max === null) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

const LAST = 0x10ffff;

/** A set in square brackets; one that goes up to the last code point says what it is without. */
export function bracketed(
  ranges: readonly CodePointRange[],
  escaped: (codePoint: number) => string,
  mayNegate = true,
): string {
  if (!mayNegate || ranges.at(-1)?.[1] !== LAST) return `[${members(ranges, escaped)}]`;
  const others = complementOf(ranges, LAST);
  if (others.length === 0) return `[${escaped(0)}-${escaped(LAST)}]`;
  return `[^${members(others, escaped)}]`;
}

function members(ranges: readonly CodePointRange[], escaped: (codePoint: number) => string): string {
  // A hyphen means itself at the end.
  const hyphen = ranges.some(([first, last]) => first === 0x2d && last === 0x2d);
  const rest = hyphen ? ranges.filter(([first]) => first !== 0x2d) : ranges;
  const texts = rest.map(([first, last]) => {
    if (first === last) return escaped(first);
    return `${escaped(first)}${last === first + 1 ? '' : '-'}${escaped(last)}`;
  });
  return texts.join('') + (hyphen ? '-' : '');
}

/** A code point as `\u` and four hexadecimal digits, or in another way beyond them. */
export function unicodeEscape(codePoint: number, beyond: (hexadecimal: string) => string): string {
  const hexadecimal = codePoint.toString(16).toUpperCase();
  return codePoint > 0xffff ? beyond(hexadecimal) : `\\u${hexadecimal.padStart(4, '0')}`;
}

export function isPrintable(codePoint: number): boolean {
  return codePoint >= 0x20 && codePoint <= 0x7e;
}
