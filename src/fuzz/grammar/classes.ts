import type { ast } from 'peggy';

/** A range of characters from `first` to `last`, both included. */
export type CharacterRange = readonly [first: number, last: number];

const LAST_UNIT = 0xffff;
const LAST_CODE_POINT = 0x10ffff;

/** The last character that a class or `.` can match: a UTF-16 code unit, or a code point if the class has the flag `u`. */
export function lastCharacter(node: ast.CharacterClass | ast.Any): number {
  return node.type === 'class' && node.unicode ? LAST_CODE_POINT : LAST_UNIT;
}

export function characterAt(node: ast.CharacterClass | ast.Any, text: string, at: number): number | undefined {
  if (at >= text.length) return undefined;
  return lastCharacter(node) === LAST_UNIT ? text.charCodeAt(at) : text.codePointAt(at);
}

export function partsOfClass({ parts }: ast.CharacterClass): readonly CharacterRange[] {
  return parts.flatMap((part): CharacterRange[] => {
    if (typeof part === 'string') return [[part.codePointAt(0)!, part.codePointAt(0)!]];
    return Array.isArray(part) ? [[part[0]!.codePointAt(0)!, part[1]!.codePointAt(0)!]] : [];
  });
}

const known = new WeakMap<ast.Expression, readonly CharacterRange[]>();

export function rangesOf(node: ast.CharacterClass | ast.Any): readonly CharacterRange[] {
  const found = known.get(node) ?? collect(node);
  known.set(node, found);
  return found;
}

function collect(node: ast.CharacterClass | ast.Any): readonly CharacterRange[] {
  const last = lastCharacter(node);
  if (node.type === 'any') return [[0, last]];
  const ranges = isListed(node) ? listedRanges(node) : triedRanges(node, last);
  return node.inverted ? complementOf(ranges, last) : ranges;
}

/** Returns `true` if the parts list all characters: no properties such as `\p{L}`, and no case folding beyond ASCII. */
function isListed(node: ast.CharacterClass): boolean {
  const ranges = partsOfClass(node);
  if (ranges.length < node.parts.length) return false;
  return !node.ignoreCase || (!node.unicode && ranges.every(([, last]) => last < 0x80));
}

function listedRanges(node: ast.CharacterClass): readonly CharacterRange[] {
  const ranges = partsOfClass(node);
  return joined(node.ignoreCase ? ranges.flatMap((range) => [range, ...otherCase(range)]) : ranges);
}

/** The other case of the ASCII letters in a range. */
function otherCase([from, to]: CharacterRange): CharacterRange[] {
  const move = (first: number, last: number, by: number): CharacterRange[] => {
    const [start, end] = [Math.max(from, first), Math.min(to, last)];
    return start <= end ? [[start + by, end + by]] : [];
  };
  return [...move(0x41, 0x5a, 0x20), ...move(0x61, 0x7a, -0x20)];
}

const tried = new Map<string, readonly CharacterRange[]>();

/** Finds the ranges of a class by testing each character with the regular expression that Peggy generates for it. */
function triedRanges(node: ast.CharacterClass, last: number): readonly CharacterRange[] {
  const escaped = (text: string): string => {
    const hexadecimal = text.codePointAt(0)!.toString(16);
    return node.unicode ? `\\u{${hexadecimal}}` : `\\u${hexadecimal.padStart(4, '0')}`;
  };
  const source = node.parts.map((part) => {
    if (typeof part === 'string') return escaped(part);
    return Array.isArray(part) ? part.map(escaped).join('-') : `\\${part.value}`;
  });
  const regex = new RegExp(`^[${source.join('')}]`, `${node.ignoreCase ? 'i' : ''}${node.unicode ? 'u' : ''}`);
  const found = tried.get(String(regex)) ?? triedAll(regex, last);
  tried.set(String(regex), found);
  return found;
}

function triedAll(regex: RegExp, last: number): readonly CharacterRange[] {
  const found: [number, number][] = [];
  for (let code = 0; code <= last; code++) {
    if (!regex.test(String.fromCodePoint(code))) continue;
    const before = found.at(-1);
    if (before?.[1] === code - 1) before[1] = code;
    else found.push([code, code]);
  }
  return found;
}

/** Sorts ranges and merges those that touch. */
export function joined(ranges: readonly CharacterRange[]): CharacterRange[] {
  const result: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const before = result.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else result.push([first, last]);
  }
  return result;
}

/** The characters from 0 to `last` that are not in the given ascending ranges. */
export function complementOf(ranges: readonly CharacterRange[], last: number): readonly CharacterRange[] {
  const gaps: CharacterRange[] = [];
  let from = 0;
  for (const range of ranges) {
    if (range[0] > last) break;
    if (range[0] > from) gaps.push([from, range[0] - 1]);
    from = range[1] + 1;
  }
  if (from <= last) gaps.push([from, last]);
  return gaps;
}

export function holds(ranges: readonly CharacterRange[], character: number): boolean {
  return ranges.some(([first, last]) => first <= character && character <= last);
}
