import type { ast } from 'peggy';

/** Characters from `first` to `last`, both included. */
export type CharacterRange = readonly [first: number, last: number];

const LAST_UNIT = 0xffff;
const LAST_CODE_POINT = 0x10ffff;

/** The last character that a class or `.` can match: a UTF-16 code unit, or with the flag `u` a code point. */
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
  const given = partsOfClass(node).flatMap(([first, end]): CharacterRange[] => {
    if (first > last) return [];
    const range: CharacterRange = [first, Math.min(end, last)];
    return node.ignoreCase ? [range, ...otherCase(range)] : [range];
  });
  const escapes = node.parts.flatMap((part) =>
    typeof part === 'object' && !Array.isArray(part) ? escaped(part.value, last) : [],
  );
  const merged = mergeRanges([...given, ...escapes]);
  return node.inverted ? complement(merged, last) : merged;
}

/** What an escape such as `\p{L}` stands for, asked of the regular expressions of the platform. */
function escaped(value: string, last: number): CharacterRange[] {
  const pattern = new RegExp(`^\\${value}$`, 'u');
  const ranges: [number, number][] = [];
  for (let code = 0; code <= last; code++) {
    if (!pattern.test(String.fromCodePoint(code))) continue;
    const before = ranges.at(-1);
    if (before?.[1] === code - 1) before[1] = code;
    else ranges.push([code, code]);
  }
  return ranges;
}

/** Letters whose other case is looked up, of one range. */
const MAX_CASES = 1_000;

function otherCase([first, last]: CharacterRange): CharacterRange[] {
  const found: CharacterRange[] = [];
  for (let code = first; code <= Math.min(last, first + MAX_CASES); code++) {
    const text = String.fromCodePoint(code);
    for (const other of [text.toLowerCase(), text.toUpperCase()]) {
      const [only, ...more] = [...other];
      if (other !== text && more.length === 0) found.push([only!.codePointAt(0)!, only!.codePointAt(0)!]);
    }
  }
  return found;
}

function mergeRanges(ranges: readonly CharacterRange[]): readonly CharacterRange[] {
  const merged: [number, number][] = [];
  for (const [first, last] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}

function complement(ranges: readonly CharacterRange[], end: number): readonly CharacterRange[] {
  const gaps: CharacterRange[] = [];
  let from = 0;
  for (const [first, last] of ranges) {
    if (first > from) gaps.push([from, first - 1]);
    from = last + 1;
  }
  if (from <= end) gaps.push([from, end]);
  return gaps;
}

export function holds(ranges: readonly CharacterRange[], character: number): boolean {
  return ranges.some(([first, last]) => first <= character && character <= last);
}
