/** Elements of ABNF as words: what stands between the blanks, and where a line may be folded. */
import { PrintError } from '../../text/errors.js';
import type { AbnfBase, AbnfElement, AbnfRepetition } from './ast.js';

/** The code of every error about a tree that ABNF cannot say. */
export const BAD_ABNF_TREE = 'bad-abnf-tree';

/** The deepest nesting of brackets that `parseAbnf` reads. */
const MAX_DEPTH = 200;

/** Where in the tree something stands. */
interface Place {
  readonly path: string;
  /** Brackets around it. */
  readonly depth: number;
}

/**
 * An element that stands alone or between slashes.
 *
 * @param path where it stands in the tree, for errors
 * @throws PrintError with code `bad-abnf-tree`
 */
export function wordsOf(element: AbnfElement, path: string): string[] {
  return itemOfAlternation(element, { path, depth: 0 });
}

/** @throws PrintError when a tree holds what cannot be written so that it reads back as itself */
export function demand(holds: boolean, path: string, message: string): void {
  if (!holds) throw new PrintError({ code: BAD_ABNF_TREE, path, message });
}

/** @throws PrintError on what is no rule name */
export function demandName(name: string, path: string): void {
  demand(/^[A-Za-z][A-Za-z0-9-]*$/.test(name), path, 'a rule name is a letter and further letters, digits or "-"');
}

function itemOfAlternation(element: AbnfElement, place: Place): string[] {
  return element.kind === 'concatenation' ? concatenation(element.items, place) : item(element, place);
}

/** An element that stands beside others. */
function item(element: AbnfElement, place: Place): string[] {
  const { path } = place;
  switch (element.kind) {
    case 'alternation':
    case 'concatenation':
      return bracketed('(', element, ')', place);
    case 'option':
      return bracketed('[', element.item, ']', { ...place, path: `${path}.item` });
    case 'repetition':
      return repetition(element, place);
    case 'reference':
      demandName(element.name, path);
      return [element.name];
    case 'string':
      demand(/^[ !#-~]*$/.test(element.text), path, 'a string is ASCII without double quotes and control characters');
      return [`${element.caseSensitive ? '%s' : ''}"${element.text}"`];
    case 'range':
      return [number(element.base, [element.first, element.last], '-', path)];
    case 'codes':
      demand(element.codes.length > 0, path, 'there are no codes');
      return [number(element.base, element.codes, '.', path)];
    case 'prose':
      demand(/^[ -=?-~]*$/.test(element.text), path, 'prose is ASCII without ">" and control characters');
      return [`<${element.text}>`];
  }
}

function repetition({ min, max, item: repeated }: AbnfRepetition, { path, depth }: Place): string[] {
  const bounds = max === null ? [min] : [min, max];
  demand(bounds.every(isCount), path, 'a number of repetitions is a whole number from 0 to 2^53 - 1');
  const repeat = min === max ? `${min}` : `${min === 0 ? '' : min}*${max ?? ''}`;
  const place = { path: `${path}.item`, depth };
  const [first, ...rest] =
    repeated.kind === 'repetition' ? bracketed('(', repeated, ')', place) : item(repeated, place);
  return [`${repeat}${first}`, ...rest];
}

/** A single word stands close to its brackets. */
function bracketed(open: string, element: AbnfElement, close: string, { path, depth }: Place): string[] {
  demand(depth < MAX_DEPTH, path, `brackets are nested deeper than ${MAX_DEPTH}`);
  const inside = { path, depth: depth + 1 };
  const words =
    element.kind === 'alternation' ? alternation(element.items, inside) : itemOfAlternation(element, inside);
  return words.length === 1 ? [`${open}${words[0]}${close}`] : [open, ...words, close];
}

function alternation(items: readonly AbnfElement[], { path, depth }: Place): string[] {
  demand(items.length > 1, path, 'an alternation has two items at least');
  return items.flatMap((one, index) => {
    const words = itemOfAlternation(one, { path: `${path}.items[${index}]`, depth });
    return index === 0 ? words : ['/', ...words];
  });
}

function concatenation(items: readonly AbnfElement[], { path, depth }: Place): string[] {
  demand(items.length > 1, path, 'a concatenation has two items at least');
  return items.flatMap((one, index) => item(one, { path: `${path}.items[${index}]`, depth }));
}

/** Hexadecimal numbers have two digits at least. */
const DIGITS: Readonly<Record<AbnfBase, (code: number) => string>> = {
  2: (code) => code.toString(2),
  10: String,
  16: (code) => code.toString(16).toUpperCase().padStart(2, '0'),
};
const BASE_LETTERS: Readonly<Record<AbnfBase, string>> = { 2: 'b', 10: 'd', 16: 'x' };

function number(base: AbnfBase, codes: readonly number[], separator: string, path: string): string {
  demand(Object.hasOwn(BASE_LETTERS, base), path, 'a base is 2, 10 or 16');
  demand(codes.every(isCount), path, 'a code is a whole number from 0 to 2^53 - 1');
  return `%${BASE_LETTERS[base]}${codes.map(DIGITS[base]).join(separator)}`;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
