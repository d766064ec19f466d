import { PrintError } from '../../text/errors.js';
import type { AbnfAlternative, AbnfBase, AbnfElement, AbnfGrammar, AbnfItem, AbnfRepetition, AbnfRule } from './ast.js';

/** The maximum width of a line, as in an RFC. Single words and comments may be longer. */
const WIDTH = 72;

/** For longer names, lines are indented less than to the sign. */
const MAX_INDENT = 24;

interface PrintAbnfOptions {
  /** The line end. RFC 5234 requires CRLF. @default '\n' */
  readonly lineEnd?: '\n' | '\r\n' | undefined;
}

/**
 * Prints the canonical text of an ABNF grammar; `parseAbnf` reads the same tree from it. A rule that exceeds a line of
 * 72 columns, or has comments before its last alternative, has one line for each alternative, unless all alternatives
 * are single words. Longer alternatives are wrapped between words.
 *
 * @throws PrintError with the code `bad-abnf-tree` if the tree contains something that ABNF cannot express; its `path`
 * is of the form `items[2].name`
 * @example
 * printAbnf(parseAbnf('bit="0"/"1"')) // 'bit = "0" / "1"\n'
 */
export function printAbnf(grammar: AbnfGrammar, { lineEnd = '\n' }: PrintAbnfOptions = {}): string {
  const { items } = grammar;
  const lines = items.flatMap((item, index) => {
    const own = linesOf(item, `items[${index}]`);
    return index > 0 && isApart(items[index - 1]!, item) ? ['', ...own] : own;
  });
  return lines.map((line) => line + lineEnd).join('');
}

function isApart(before: AbnfItem, item: AbnfItem): boolean {
  return before.kind === 'comment' || item.kind === 'comment' || item.comments.length > 0;
}

function linesOf(item: AbnfItem, path: string): string[] {
  if (item.kind === 'comment') {
    demand(item.lines.length > 0, path, 'a comment must have at least one line');
    return item.lines.map((line) => comment(line, path));
  }
  demandName(item.name, `${path}.name`);
  demand(item.sign === '=' || item.sign === '=/', `${path}.sign`, 'the sign must be "=" or "=/"');
  demand(item.alternatives.length > 0, path, 'a rule must have at least one alternative');
  return [...item.comments.map((line) => comment(line, path)), ...definition(item, path)];
}

function comment(text: string, path: string): string {
  demand(/^(?:[\t -~]*[!-~])?$/.test(text), path, 'a comment must be one line of ASCII without trailing spaces');
  return text === '' ? ';' : `; ${text}`;
}

function definition({ name, sign, alternatives }: AbnfRule, path: string): string[] {
  const alternative = (one: AbnfAlternative, index: number): string[] =>
    wordsOf(one.element, `${path}.alternatives[${index}].element`);
  const choices = alternatives.map(alternative);
  const comments = alternatives.map((one) => one.comments.map((line) => comment(line, path)));

  const whole = `${name} ${sign} ${choices.map((words) => words.join(' ')).join(' / ')}`;
  const isPlain = comments.slice(0, -1).every((lines) => lines.length === 0);
  const indent = Math.min(name.length + 1, MAX_INDENT);
  if (isPlain && whole.length <= WIDTH) return withComments([whole], comments.at(-1)!, indent + 2);
  if (isPlain && choices.every((words) => words.length === 1)) {
    const words = choices.map(([word], index) => (index === 0 ? word! : `/ ${word}`));
    return withComments(filled(`${name} ${sign}`, words, indent), comments.at(-1)!, indent + 2);
  }
  return choices.flatMap((words, index) => {
    const head = index === 0 ? `${name} ${sign}` : `${' '.repeat(indent)}/`;
    return withComments(filled(head, words, indent + 2), comments[index]!, indent + 2);
  });
}

function filled(head: string, words: readonly string[], indent: number): string[] {
  const lines: string[] = [];
  let line = head;
  for (const [index, word] of words.entries()) {
    if (index > 0 && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = `${' '.repeat(indent)}${word}`;
    } else line += ` ${word}`;
  }
  return [...lines, line];
}

function withComments(lines: readonly string[], comments: readonly string[], indent: number): string[] {
  const last = lines.at(-1)!;
  const beside = `${last}  `;
  const fits = comments.every((text) => beside.length + text.length <= WIDTH);
  const pad = ' '.repeat(fits ? beside.length : indent);
  if (comments.length === 0 || !fits) return [...lines, ...comments.map((text) => pad + text)];
  const [first, ...rest] = comments;
  return [...lines.slice(0, -1), `${beside}${first}`, ...rest.map((text) => pad + text)];
}

/** The code of all errors about trees that ABNF cannot express. */
const BAD_ABNF_TREE = 'bad-abnf-tree';

/** The deepest nesting of brackets that `parseAbnf` accepts. */
const MAX_DEPTH = 200;

interface Place {
  readonly path: string;
  readonly depth: number;
}

function wordsOf(element: AbnfElement, path: string): string[] {
  return itemOfAlternation(element, { path, depth: 0 });
}

function demand(holds: boolean, path: string, message: string): void {
  if (!holds) throw new PrintError({ code: BAD_ABNF_TREE, path, message });
}

function demandName(name: string, path: string): void {
  demand(
    /^[A-Za-z][A-Za-z0-9-]*$/.test(name),
    path,
    'a rule name must be a letter, followed by letters, digits or "-"',
  );
}

function itemOfAlternation(element: AbnfElement, place: Place): string[] {
  return element.kind === 'concatenation' ? concatenation(element.items, place) : item(element, place);
}

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
      demand(
        /^[ !#-~]*$/.test(element.text),
        path,
        'a string must be ASCII without double quotes and control characters',
      );
      return [`${element.caseSensitive ? '%s' : ''}"${element.text}"`];
    case 'range':
      return [number(element.base, [element.first, element.last], '-', path)];
    case 'codes':
      demand(element.codes.length > 0, path, 'there must be at least one code');
      return [number(element.base, element.codes, '.', path)];
    case 'prose':
      demand(/^[ -=?-~]*$/.test(element.text), path, 'prose must be ASCII without ">" and control characters');
      return [`<${element.text}>`];
  }
}

function repetition({ min, max, item: repeated }: AbnfRepetition, { path, depth }: Place): string[] {
  const bounds = max === null ? [min] : [min, max];
  demand(bounds.every(isCount), path, 'a number of repetitions must be a non-negative integer up to 2^53 - 1');
  const repeat = min === max ? `${min}` : `${min === 0 ? '' : min}*${max ?? ''}`;
  const place = { path: `${path}.item`, depth };
  const [first, ...rest] =
    repeated.kind === 'repetition' ? bracketed('(', repeated, ')', place) : item(repeated, place);
  return [`${repeat}${first}`, ...rest];
}

function bracketed(open: string, element: AbnfElement, close: string, { path, depth }: Place): string[] {
  demand(depth < MAX_DEPTH, path, `brackets must not be nested deeper than ${MAX_DEPTH}`);
  const inside = { path, depth: depth + 1 };
  const words =
    element.kind === 'alternation' ? alternation(element.items, inside) : itemOfAlternation(element, inside);
  return words.length === 1 ? [`${open}${words[0]}${close}`] : [open, ...words, close];
}

function alternation(items: readonly AbnfElement[], { path, depth }: Place): string[] {
  demand(items.length > 1, path, 'an alternation must have at least two items');
  return items.flatMap((one, index) => {
    const words = itemOfAlternation(one, { path: `${path}.items[${index}]`, depth });
    return index === 0 ? words : ['/', ...words];
  });
}

function concatenation(items: readonly AbnfElement[], { path, depth }: Place): string[] {
  demand(items.length > 1, path, 'a concatenation must have at least two items');
  return items.flatMap((one, index) => item(one, { path: `${path}.items[${index}]`, depth }));
}

/** Hexadecimal numbers have at least two digits. */
const DIGITS: Readonly<Record<AbnfBase, (code: number) => string>> = {
  2: (code) => code.toString(2),
  10: String,
  16: (code) => code.toString(16).toUpperCase().padStart(2, '0'),
};
const BASE_LETTERS: Readonly<Record<AbnfBase, string>> = { 2: 'b', 10: 'd', 16: 'x' };

function number(base: AbnfBase, codes: readonly number[], separator: string, path: string): string {
  demand(Object.hasOwn(BASE_LETTERS, base), path, 'a base must be 2, 10 or 16');
  demand(codes.every(isCount), path, 'a code must be a non-negative integer up to 2^53 - 1');
  return `%${BASE_LETTERS[base]}${codes.map(DIGITS[base]).join(separator)}`;
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
