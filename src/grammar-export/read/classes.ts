/** Classes of characters in a Peggy grammar: the code units they match, or the code points where they are Unicode classes. */
import type { ast } from 'peggy';
import { joined } from '../case-variants.js';
import type { CodePointRange } from '../context-free.js';
import {
  complementOf,
  HIGH_HALVES,
  intersectionOf,
  LAST_CODE_POINT,
  LAST_UNIT,
  LOW_HALVES,
  type Ranges,
} from '../ranges.js';
import type { Peg } from './peg.js';

/** What a class takes: a code unit, or a whole character where it is a Unicode class. */
export function pegOfClass(node: ast.CharacterClass): Peg {
  const listed = isListed(node) ? listedRanges(node) : triedRanges(node);
  if (!node.unicode) return setOf(node.inverted ? complementOf(listed, LAST_UNIT) : listed);
  const ranges = node.inverted ? complementOf(listed, LAST_CODE_POINT) : listed;
  // A first half alone is in no text, so that a class never takes just that.
  const units = intersectionOf(ranges, [
    [0, HIGH_HALVES[0] - 1],
    [HIGH_HALVES[1] + 1, LAST_UNIT],
  ]);
  const astral = intersectionOf(ranges, [[LAST_UNIT + 1, LAST_CODE_POINT]]);
  return { kind: 'choice', items: [setOf(units), ...pairsOf(astral)] };
}

function setOf(ranges: Ranges): Peg {
  return { kind: 'set', ranges };
}

/** Characters beyond U+FFFF by their halves. First halves that go with the same second ones stand together. */
function pairsOf(ranges: Ranges): Peg[] {
  const highByLow = new Map<string, { low: CodePointRange; high: CodePointRange[] }>();
  const add = (high: CodePointRange, low: CodePointRange): void => {
    if (high[0] > high[1]) return;
    const key = low.join();
    const known = highByLow.get(key);
    if (known === undefined) highByLow.set(key, { low, high: [high] });
    else known.high.push(high);
  };
  for (const [first, last] of ranges) {
    const [from, to] = [halvesOf(first), halvesOf(last)];
    if (from.high === to.high) {
      add([from.high, from.high], [from.low, to.low]);
      continue;
    }
    const startsWhole = from.low === LOW_HALVES[0];
    const endsWhole = to.low === LOW_HALVES[1];
    if (!startsWhole) add([from.high, from.high], [from.low, LOW_HALVES[1]]);
    add([from.high + (startsWhole ? 0 : 1), to.high - (endsWhole ? 0 : 1)], LOW_HALVES);
    if (!endsWhole) add([to.high, to.high], [LOW_HALVES[0], to.low]);
  }
  return [...highByLow.values()].map(({ low, high }) => ({
    kind: 'sequence',
    items: [setOf(joined(high)), setOf([low])],
  }));
}

function halvesOf(codePoint: number): { readonly high: number; readonly low: number } {
  const text = String.fromCodePoint(codePoint);
  return { high: text.charCodeAt(0), low: text.charCodeAt(1) };
}

type Part = ast.CharacterClass['parts'][number];

/** Whether the parts say all: no properties such as `\p{L}`, and no case beyond ASCII. */
function isListed(node: ast.CharacterClass): boolean {
  return node.parts.every((part) => {
    const range = rangeOfPart(part);
    return range !== null && (!node.ignoreCase || (range[1] < 0x80 && !node.unicode));
  });
}

function rangeOfPart(part: Part): CodePointRange | null {
  if (typeof part === 'string') return [part.codePointAt(0)!, part.codePointAt(0)!];
  return Array.isArray(part) ? [part[0]!.codePointAt(0)!, part[1]!.codePointAt(0)!] : null;
}

function listedRanges(node: ast.CharacterClass): Ranges {
  const ranges = node.parts.map((part) => rangeOfPart(part)!);
  return joined(node.ignoreCase ? ranges.flatMap((range) => [range, ...otherCase(range)]) : ranges);
}

/** The ASCII letters of a range, in their other case. */
function otherCase(range: CodePointRange): CodePointRange[] {
  const move = (first: number, last: number, by: number): Ranges =>
    intersectionOf([range], [[first, last]]).map(([from, to]): CodePointRange => [from + by, to + by]);
  return [...move(0x41, 0x5a, 0x20), ...move(0x61, 0x7a, -0x20)];
}

const tried = new Map<string, Ranges>();

/** The ranges of a class that is written like a regular expression, found by asking one: the one that Peggy would write. */
function triedRanges(node: ast.CharacterClass): Ranges {
  const escaped = (codePoint: number): string =>
    node.unicode ? `\\u{${codePoint.toString(16)}}` : `\\u${codePoint.toString(16).padStart(4, '0')}`;
  const source = node.parts.map((part) => {
    const range = rangeOfPart(part);
    return range === null ? `\\${(part as ast.ClassEscape).value}` : `${escaped(range[0])}-${escaped(range[1])}`;
  });
  const flags = (node.ignoreCase ? 'i' : '') + (node.unicode ? 'u' : '');
  const key = `${flags}/${source.join('')}`;
  let ranges = tried.get(key);
  if (ranges === undefined) {
    ranges = triedAll(new RegExp(`^[${source.join('')}]`, flags), node.unicode ? LAST_CODE_POINT : LAST_UNIT);
    tried.set(key, ranges);
  }
  return ranges;
}

function triedAll(regex: RegExp, last: number): Ranges {
  const found: CodePointRange[] = [];
  let from = -1;
  for (let codePoint = 0; codePoint <= last + 1; codePoint++) {
    const matches = codePoint <= last && regex.test(String.fromCodePoint(codePoint));
    if (matches && from < 0) from = codePoint;
    else if (!matches && from >= 0) {
      found.push([from, codePoint - 1]);
      from = -1;
    }
  }
  return found;
}
