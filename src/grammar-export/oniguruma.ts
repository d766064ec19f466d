/**
 * JavaScript patterns in the syntax of Oniguruma, which TextMate grammars use. The two differ in `.`, `\s`, `\d`, `\w`,
 * `\b`, `^`, `$`, nested brackets, and halves of surrogate pairs.
 */

import { type CharacterRange, complementOf, joined } from '../fuzz/grammar/classes.js';

type CharacterSet = RegexNode & { readonly kind: 'set' };

const HIGH: CharacterRange = [0xd800, 0xdbff];
const LOW: CharacterRange = [0xdc00, 0xdfff];
const SURROGATES: CharacterRange = [0xd800, 0xdfff];
const ASTRAL: CharacterRange = [0x10000, 0x10ffff];

/** In Oniguruma, brackets open a nested class, and two ampersands are an intersection. */
const SPECIAL_IN_CLASS = /[\\\][^&-]/;

/**
 * Translates a JavaScript pattern with the flag `m`, and `u` if `unicode`.
 *
 * @throws SyntaxError if the pattern is invalid
 * @throws RangeError if it contains captures, properties, or half of a surrogate pair
 */
export function toOniguruma(source: string, unicode: boolean): string {
  const last = unicode ? 0x10ffff : 0xffff;

  function print(node: RegexNode): string {
    switch (node.kind) {
      case 'set':
        return printSet(node);
      case 'choice':
        return node.items.map(print).join('|');
      case 'sequence':
        return withPairs(node.items)
          .map((item) => (item.kind === 'choice' ? `(?:${print(item)})` : print(item)))
          .join('');
      case 'repeat':
        return `${atomic(node.item)}${quantifier(node)}`;
      case 'look':
        return `(?${node.behind ? '<' : ''}${node.negated ? '!' : '='}${print(node.item)})`;
      case 'boundary':
        return boundary(node.negated);
      case 'edge':
        return node.side === 'start' ? `(?<!${NOT_LINE_END})` : `(?!${NOT_LINE_END})`;
    }
  }

  function atomic(item: RegexNode): string {
    return item.kind === 'set' ? printSet(item) : `(?:${print(item)})`;
  }

  function printSet({ ranges, negated }: CharacterSet): string {
    const members = joined(negated ? complementOf(joined(ranges), last) : ranges);
    // Without the flag `u`, a class that matches any half matches whole pairs.
    const takesHalves = members.some((range) => covers(range, SURROGATES));
    const reached = takesHalves && !unicode ? joined([...members, ASTRAL]) : members;
    if (reached.length === 0) return '(?!)';
    if (reached.some(([first, end]) => isSurrogate(first) || isSurrogate(end))) {
      throw new RangeError(`Half of a surrogate pair cannot be translated: ${source}`);
    }
    const [first, end] = reached[0]!;
    if (reached.length === 1 && first === end) return escaped(first, /[\\^$.*+?()[\]{}|]/);
    if (first === 0 && end === ASTRAL[1]) return '[\\s\\S]';
    return negated && takesHalves ? printClass('^', joined(ranges)) : printClass('', reached);
  }

  return print(parseRegex(source, unicode));
}

const LINE_ENDS: readonly CharacterRange[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

const NOT_LINE_END = printClass('^', LINE_ENDS);

function boundary(negated: boolean): string {
  const word = printClass('', WORD);
  return negated
    ? `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`
    : `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
}

function quantifier({ min, max, lazy }: RegexNode & { kind: 'repeat' }): string {
  // In Oniguruma, a question mark after an exact number makes the whole optional.
  if (min === max) return `{${min}}`;
  const mark = lazy ? '?' : '';
  if (max === null && min <= 1) return `${min === 0 ? '*' : '+'}${mark}`;
  if (min === 0 && max === 1) return `?${mark}`;
  return `{${min},${max ?? ''}}${mark}`;
}

function withPairs(items: readonly RegexNode[]): readonly RegexNode[] {
  const paired: RegexNode[] = [];
  for (const item of items) {
    const before = paired.at(-1);
    if (before !== undefined && isWithin(before, HIGH) && isWithin(item, LOW)) paired.splice(-1, 1, pair(before, item));
    else paired.push(item);
  }
  return paired;
}

function isWithin(node: RegexNode, limits: CharacterRange): node is CharacterSet {
  return node.kind === 'set' && !node.negated && node.ranges.every((range) => covers(limits, range));
}

function pair(high: CharacterSet, low: CharacterSet): CharacterSet {
  const ranges = high.ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index).flatMap((unit) =>
      low.ranges.map(([from, to]): CharacterRange => [codePoint(unit, from), codePoint(unit, to)]),
    ),
  );
  return { kind: 'set', ranges: joined(ranges), negated: false };
}

function codePoint(high: number, low: number): number {
  return String.fromCharCode(high, low).codePointAt(0)!;
}

function covers([first, last]: CharacterRange, [from, to]: CharacterRange): boolean {
  return first <= from && to <= last;
}

function isSurrogate(code: number): boolean {
  return code >= SURROGATES[0] && code <= SURROGATES[1];
}

function printClass(sign: '' | '^', ranges: readonly CharacterRange[]): string {
  const parts = ranges.map(([first, last]) => {
    const end = last === first ? '' : `${last === first + 1 ? '' : '-'}${escaped(last, SPECIAL_IN_CLASS)}`;
    return `${escaped(first, SPECIAL_IN_CLASS)}${end}`;
  });
  return `[${sign}${parts.join('')}]`;
}

function escaped(code: number, special: RegExp): string {
  const character = String.fromCodePoint(code);
  if (code < 0x20 || code > 0x7e) return `\\x{${code.toString(16).toUpperCase()}}`;
  return special.test(character) ? `\\${character}` : character;
}

export type RegexNode =
  /** One character. The ranges are as written; `negated` negates them. */
  | { readonly kind: 'set'; readonly ranges: readonly CharacterRange[]; readonly negated: boolean }
  | { readonly kind: 'sequence'; readonly items: readonly RegexNode[] }
  | { readonly kind: 'choice'; readonly items: readonly RegexNode[] }
  /** `max` is null if there is no upper bound. */
  | {
      readonly kind: 'repeat';
      readonly item: RegexNode;
      readonly min: number;
      readonly max: number | null;
      readonly lazy: boolean;
    }
  | { readonly kind: 'look'; readonly behind: boolean; readonly negated: boolean; readonly item: RegexNode }
  /** `\b`, or `\B` if negated. */
  | { readonly kind: 'boundary'; readonly negated: boolean }
  /** `^` or `$` with the flag `m`. */
  | { readonly kind: 'edge'; readonly side: 'start' | 'end' };

const WORD: readonly CharacterRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];

const DIGIT: readonly CharacterRange[] = [[0x30, 0x39]];
const SPACE: readonly CharacterRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const CLASS_ESCAPES: Readonly<Record<string, readonly CharacterRange[]>> = { d: DIGIT, s: SPACE, w: WORD };
const CONTROL_ESCAPES: Readonly<Record<string, number>> = { f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09, v: 0x0b };
const LOOKS: Readonly<Record<string, { readonly behind: boolean; readonly negated: boolean }>> = {
  '(?=': { behind: false, negated: false },
  '(?!': { behind: false, negated: true },
  '(?<=': { behind: true, negated: false },
  '(?<!': { behind: true, negated: true },
};

/** @throws SyntaxError if the pattern is invalid @throws RangeError if it contains captures or syntax that only JavaScript has */
export function parseRegex(source: string, unicode: boolean): RegexNode {
  // The constructor rejects invalid patterns.
  new RegExp(source, unicode ? 'u' : '');
  const last = unicode ? 0x10ffff : 0xffff;
  let at = 0;

  function choice(): RegexNode {
    const items = [sequence()];
    while (taken('|')) items.push(sequence());
    return items.length === 1 ? items[0]! : { kind: 'choice', items };
  }

  function sequence(): RegexNode {
    const items: RegexNode[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') items.push(quantified(atom()));
    return items.length === 1 ? items[0]! : { kind: 'sequence', items };
  }

  function quantified(item: RegexNode): RegexNode {
    const [text, least, comma, most] = matched(/[*+?]|\{([0-9]+)(,?)([0-9]*)\}/y) ?? [];
    if (text === undefined) return item;
    const lazy = taken('?');
    if (least === undefined)
      return { kind: 'repeat', item, min: text === '+' ? 1 : 0, max: text === '?' ? 1 : null, lazy };
    const max = comma === '' ? Number(least) : most === '' ? null : Number(most);
    return { kind: 'repeat', item, min: Number(least), max, lazy };
  }

  function atom(): RegexNode {
    if (taken('^')) return { kind: 'edge', side: 'start' };
    if (taken('$')) return { kind: 'edge', side: 'end' };
    if (taken('.')) return { kind: 'set', ranges: LINE_ENDS, negated: true };
    if (taken('[')) return characterClass();
    if (source[at] === '(') return group();
    if (taken('\\b')) return { kind: 'boundary', negated: false };
    if (taken('\\B')) return { kind: 'boundary', negated: true };
    return escapedOrPlain(false);
  }

  function group(): RegexNode {
    const open = matched(/\(\?(?:<?[=!]|:)/y)?.[0];
    if (open === undefined) throw new RangeError(`Groups that capture or set flags are not supported: ${source}`);
    const item = choice();
    at += 1;
    return open === '(?:' ? item : { kind: 'look', ...LOOKS[open]!, item };
  }

  function characterClass(): RegexNode {
    const negated = taken('^');
    const ranges: CharacterRange[] = [];
    while (!taken(']')) {
      const from = escapedOrPlain(true);
      const isRange = source[at] === '-' && source[at + 1] !== ']';
      if (!isRange) {
        ranges.push(...written(from));
        continue;
      }
      at += 1;
      const to = escapedOrPlain(true);
      const [first, end] = [single(from), single(to)];
      // Without the flag `u`, a range from or to a class such as \w is three separate items.
      if (first === null || end === null) ranges.push(...written(from), [0x2d, 0x2d], ...written(to));
      else ranges.push([first, end]);
    }
    return { kind: 'set', ranges, negated };
  }

  /** The ranges of a set inside of a class, where `\S` is one of many. */
  function written(set: RegexNode & { kind: 'set' }): readonly CharacterRange[] {
    return set.negated ? complementOf(joined(set.ranges), last) : set.ranges;
  }

  function escapedOrPlain(inClass: boolean): RegexNode & { kind: 'set' } {
    if (!taken('\\')) return oneOf(character());
    const letter = source[at]!;
    const ranges = CLASS_ESCAPES[letter.toLowerCase()];
    if (ranges !== undefined) {
      at += 1;
      return { kind: 'set', ranges, negated: letter !== letter.toLowerCase() };
    }
    if (inClass && taken('b')) return oneOf(0x08);
    const hex = matched(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})/y) ?? (unicode ? matched(/u\{([0-9a-fA-F]+)\}/y) : null);
    if (hex !== null) return oneOf(withLowHalf(Number.parseInt((hex[1] ?? hex[2])!, 16)));
    if (/[1-9ckpPxu]|0[0-9]/y.test(source.slice(at, at + 2))) {
      throw new RangeError(`The escape \\${letter} is not supported: ${source}`);
    }
    if (taken('0')) return oneOf(0);
    const control = Object.hasOwn(CONTROL_ESCAPES, letter) ? CONTROL_ESCAPES[letter] : undefined;
    if (control === undefined) return oneOf(character());
    at += 1;
    return oneOf(control);
  }

  /** With the flag `u`, two escapes for the halves of a pair are one character. */
  function withLowHalf(unit: number): number {
    if (!unicode || unit < 0xd800 || unit > 0xdbff) return unit;
    const low = matched(/\\u([dD][c-fC-F][0-9a-fA-F]{2})/y)?.[1];
    if (low === undefined) return unit;
    return String.fromCharCode(unit, Number.parseInt(low, 16)).codePointAt(0)!;
  }

  function character(): number {
    const code = unicode ? source.codePointAt(at)! : source.charCodeAt(at);
    at += code > 0xffff ? 2 : 1;
    return code;
  }

  function matched(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const match = pattern.exec(source);
    if (match !== null) at = pattern.lastIndex;
    return match;
  }

  function taken(text: string): boolean {
    if (!source.startsWith(text, at)) return false;
    at += text.length;
    return true;
  }

  return choice();
}

function oneOf(code: number): RegexNode & { kind: 'set' } {
  return { kind: 'set', ranges: [[code, code]], negated: false };
}

function single({ ranges, negated }: RegexNode & { kind: 'set' }): number | null {
  const [range] = ranges;
  return ranges.length === 1 && !negated && range![0] === range![1] ? range![0] : null;
}
