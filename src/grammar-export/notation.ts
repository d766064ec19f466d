import { complementOf, joined } from '../fuzz/grammar/classes.js';
import { spelledOut } from './characters.js';
import {
  type CodePointRange,
  type ContextFreeGrammar,
  mapRules,
  NOTHING,
  type Pattern,
  rebuilt,
} from './context-free.js';

export interface Notation {
  /** Writes a pattern that has a notation of its own and can be repeated as it is; null for others. */
  readonly whole?: (pattern: Pattern) => string | null;
  readonly literal: (text: string) => string;
  readonly set: (ranges: readonly CodePointRange[]) => string;
  readonly rule: (name: string) => string;
  readonly repeat: (item: string, min: number, max: number | null) => string;
  /** The separator of alternatives, and that of the items of a sequence. */
  readonly or: string;
  readonly join: string;
  readonly open: string;
  readonly empty: string;
  /** If true, a literal of several characters can be repeated without parentheses. */
  readonly repeatsLiterals: boolean;
}

type Level = 'choice' | 'sequence' | 'repeat' | 'atom';

const LEVELS: readonly Level[] = ['choice', 'sequence', 'repeat', 'atom'];

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

/** The suffix of a repetition in most languages: `*`, `+`, `?`, `{3}`, `{3,}`, `{3,5}`. */
export function suffix(min: number, max: number | null): string {
  if (max === null) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

const LAST = 0x10ffff;

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
  // A hyphen at the end is literal.
  const hyphen = ranges.some(([first, last]) => first === 0x2d && last === 0x2d);
  const rest = hyphen ? ranges.filter(([first]) => first !== 0x2d) : ranges;
  const texts = rest.map(([first, last]) => {
    if (first === last) return escaped(first);
    return `${escaped(first)}${last === first + 1 ? '' : '-'}${escaped(last)}`;
  });
  return texts.join('') + (hyphen ? '-' : '');
}

export function unicodeEscape(codePoint: number, beyond: (hexadecimal: string) => string): string {
  const hexadecimal = codePoint.toString(16).toUpperCase();
  return codePoint > 0xffff ? beyond(hexadecimal) : `\\u${hexadecimal.padStart(4, '0')}`;
}

export function isPrintable(codePoint: number): boolean {
  return codePoint >= 0x20 && codePoint <= 0x7e;
}

const WIDTH = 118;

/** The lines of the comment about an export, without comment marks. */
export function notesOf(
  grammar: ContextFreeGrammar,
  format: string,
  remarks: readonly string[] = [],
  width = WIDTH,
): string[] {
  const { name, startRule, approximations } = grammar;
  const folded = (text: string, bullet = ''): string[] => foldedTo(width, text, bullet);
  const lines = folded(
    `${oneLine(name)} in ${format}, generated from its Peggy grammar; the start rule is ${startRule}.`,
  );
  for (const remark of remarks) lines.push(...folded(remark));
  if (approximations.length === 0) return [...lines, 'It matches the same texts as the grammar.'];
  lines.push('It matches all texts of the grammar, and some others:');
  for (const { code, rule, message } of approximations) lines.push(...folded(`${rule}: ${message} (${code})`, '- '));
  return lines;
}

export function commented(lines: readonly string[], mark: string): string {
  return lines.map((line) => `${mark} ${line}\n`).join('');
}

/** Keeps any name within its comment. */
function oneLine(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ');
}

function foldedTo(width: number, text: string, bullet: string): string[] {
  const lines: string[] = [];
  let line = bullet;
  for (const word of oneLine(text).split(' ')) {
    if (line.length > bullet.length && line.length + word.length >= width) {
      lines.push(line);
      line = ' '.repeat(bullet.length);
    }
    line += line.length > bullet.length ? ` ${word}` : word;
  }
  return [...lines, line];
}

/**
 * Assigns a unique new name to each old one. `fixed` names are given; `spell` converts a name to the language, or
 * returns '' if nothing remains; `reserved` names have another meaning there.
 */
export function renamed(
  names: Iterable<string>,
  fixed: ReadonlyMap<string, string>,
  spell: (name: string) => string,
  separator: string,
  reserved: readonly string[] = [],
): ReadonlyMap<string, string> {
  const taken = new Set([...fixed.values(), ...reserved]);
  const result = new Map(fixed);
  for (const name of names) {
    if (result.has(name)) continue;
    const base = spell(name) || spell('rule');
    let candidate = base;
    for (let number = 2; taken.has(candidate); number++) candidate = `${base}${separator}${number}`;
    taken.add(candidate);
    result.set(name, candidate);
  }
  return result;
}

export function wordsOf(name: string): string[] {
  const apart = name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return apart.split(/[^a-z0-9]+/).filter((word) => word !== '');
}

const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/** A surrogate without its other half: with the flag `u`, two halves are one character. */
const SURROGATE = /\p{Surrogate}/u;

/** Converts case-insensitive literals to sets: case folding differs between engines beyond ASCII, and even for `k` and `s`. */
export function withoutCase(grammar: ContextFreeGrammar): ContextFreeGrammar {
  return changed(grammar, (part) => (part.kind === 'literal' && part.ignoreCase ? spelledOut(part.text) : part));
}

/** Removes surrogates, for engines that read UTF-8. */
export function withoutSurrogates(grammar: ContextFreeGrammar): ContextFreeGrammar {
  return changed(grammar, (part) => {
    if (part.kind === 'literal') return SURROGATE.test(part.text) ? NOTHING : part;
    return part.kind === 'set' ? { ...part, ranges: plainRanges(part.ranges) } : part;
  });
}

function changed(grammar: ContextFreeGrammar, change: (part: Pattern) => Pattern): ContextFreeGrammar {
  return { ...grammar, rules: mapRules(grammar.rules, (pattern) => rebuilt(pattern, change)) };
}

/** A set that contains both neighbors of the surrogates gets them, because one range reads better than two; other sets lose them. */
function plainRanges(ranges: readonly CodePointRange[]): CodePointRange[] {
  const around = ranges.flatMap(([first, last]): CodePointRange[] => {
    if (last < FIRST_SURROGATE || first > LAST_SURROGATE) return [[first, last]];
    const below: CodePointRange = [first, FIRST_SURROGATE - 1];
    const above: CodePointRange = [LAST_SURROGATE + 1, last];
    return [below, above].filter(([from, to]) => from <= to);
  });
  const bridged =
    around.some(([, last]) => last === FIRST_SURROGATE - 1) && around.some(([first]) => first === LAST_SURROGATE + 1);
  return bridged ? joined([...around, [FIRST_SURROGATE, LAST_SURROGATE]]) : around;
}

const SPECIAL = /[\^$\\.*+?()[\]{}|/]/;
const SPECIAL_IN_SETS = /[[\]\\^\-/]/;

/**
 * The notation of regular expressions for patterns without references. Punctuation is escaped with a backslash, never
 * by its code. `beyond` writes a character beyond U+FFFF, given its hexadecimal digits.
 */
export function regexNotation(beyond: (digits: string) => string): Notation {
  const escaped = (codePoint: number, special: RegExp): string => {
    const character = String.fromCodePoint(codePoint);
    if (isPrintable(codePoint)) return special.test(character) ? `\\${character}` : character;
    if (codePoint < 0x80) return `\\x${codePoint.toString(16).toUpperCase().padStart(2, '0')}`;
    return unicodeEscape(codePoint, beyond);
  };
  return {
    literal: (text) => [...text].map((character) => escaped(character.codePointAt(0)!, SPECIAL)).join(''),
    set: (ranges) => {
      const [only] = ranges;
      const single = ranges.length === 1 && only !== undefined && only[0] === only[1];
      return single ? escaped(only[0], SPECIAL) : bracketed(ranges, (codePoint) => escaped(codePoint, SPECIAL_IN_SETS));
    },
    rule: (name) => {
      throw new TypeError(`The rule ${name} is not expanded`);
    },
    repeat: (item, min, max) => item + suffix(min, max),
    or: '|',
    join: '',
    open: '(?:',
    empty: '',
    repeatsLiterals: false,
  };
}
