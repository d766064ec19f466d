/**
 * Patterns of JavaScript in the syntax of Oniguruma, which TextMate grammars are written in. The two differ in what `.`, `\s`,
 * `\d`, `\w`, `\b`, `^` and `$` mean, in brackets inside of classes, and in that Oniguruma sees code points, never half of a
 * surrogate pair.
 */
import { type CharacterRange, complement, LINE_ENDS, merged, parseRegex, type RegexNode, WORD } from './js-regex.js';

type CharacterSet = RegexNode & { readonly kind: 'set' };

const HIGH: CharacterRange = [0xd800, 0xdbff];
const LOW: CharacterRange = [0xdc00, 0xdfff];
const SURROGATES: CharacterRange = [0xd800, 0xdfff];
const ASTRAL: CharacterRange = [0x10000, 0x10ffff];

/** To Oniguruma, brackets open a class within the class, and two ampersands an intersection. */
const SPECIAL_IN_CLASS = /[\\\][^&-]/;

/**
 * A JavaScript pattern with the flag `m` as one for Oniguruma that matches the same texts. Lone surrogates are characters to
 * both.
 *
 * @param unicode whether the pattern has the flag `u`
 * @throws SyntaxError when it is no pattern
 * @throws RangeError when it cannot be translated: captures, properties, or half of a surrogate pair by itself
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
    const members = merged(negated ? complement(ranges, last) : ranges);
    // Without the flag `u`, a class that takes any half takes whole pairs.
    const takesHalves = members.some((range) => covers(range, SURROGATES));
    const reached = takesHalves && !unicode ? merged([...members, ASTRAL]) : members;
    if (reached.length === 0) return '(?!)';
    if (reached.some(([first, end]) => isSurrogate(first) || isSurrogate(end))) {
      throw new RangeError(`A surrogate that is not part of a pair cannot be translated: ${source}`);
    }
    const [first, end] = reached[0]!;
    if (reached.length === 1 && first === end) return escaped(first, /[\\^$.*+?()[\]{}|]/);
    if (first === 0 && end === ASTRAL[1]) return '[\\s\\S]';
    return negated && takesHalves ? printClass('^', merged(ranges)) : printClass('', reached);
  }

  return print(parseRegex(source, unicode));
}

const NOT_LINE_END = printClass('^', LINE_ENDS);

function boundary(negated: boolean): string {
  const word = printClass('', WORD);
  return negated
    ? `(?:(?<=${word})(?=${word})|(?<!${word})(?!${word}))`
    : `(?:(?<=${word})(?!${word})|(?<!${word})(?=${word}))`;
}

function quantifier({ min, max, lazy }: RegexNode & { kind: 'repeat' }): string {
  // To Oniguruma, a question mark after an exact number makes the whole optional.
  if (min === max) return `{${min}}`;
  const mark = lazy ? '?' : '';
  if (max === null && min <= 1) return `${min === 0 ? '*' : '+'}${mark}`;
  if (min === 0 && max === 1) return `?${mark}`;
  return `{${min},${max ?? ''}}${mark}`;
}

/** Items with each first half of a pair and the second half behind it joined. */
function withPairs(items: readonly RegexNode[]): readonly RegexNode[] {
  const joined: RegexNode[] = [];
  for (const item of items) {
    const before = joined.at(-1);
    if (before !== undefined && isWithin(before, HIGH) && isWithin(item, LOW)) joined.splice(-1, 1, pair(before, item));
    else joined.push(item);
  }
  return joined;
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
  return { kind: 'set', ranges: merged(ranges), negated: false };
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
