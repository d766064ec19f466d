/** From tree to ABNF text. */
import type { AbnfAlternative, AbnfGrammar, AbnfItem, AbnfRule } from './ast.js';
import { demand, demandName, wordsOf } from './words.js';

/** Columns of a line, as in an RFC. Single words and comments may be longer. */
const WIDTH = 72;

/** Below names that are longer, lines are indented less than to the sign. */
const MAX_INDENT = 24;

export interface PrintAbnfOptions {
  /** RFC 5234 asks for CRLF. @default '\n' */
  readonly lineEnd?: '\n' | '\r\n' | undefined;
}

/**
 * The canonical text of an ABNF grammar: `parseAbnf` reads the same tree from it. A rule that is too long for a line of 72
 * columns, or has comments before its last alternative, has a line for each alternative, unless all are single words; what is
 * longer still is folded between words.
 *
 * @throws PrintError with code `bad-abnf-tree` when the tree holds what ABNF cannot say; its `path` is `items[2].name`
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

/** Whether a blank line parts two items: with comments, it tells what they belong to. */
function isApart(before: AbnfItem, item: AbnfItem): boolean {
  return before.kind === 'comment' || item.kind === 'comment' || item.comments.length > 0;
}

function linesOf(item: AbnfItem, path: string): string[] {
  if (item.kind === 'comment') {
    demand(item.lines.length > 0, path, 'a comment has one line at least');
    return item.lines.map((line) => comment(line, path));
  }
  demandName(item.name, `${path}.name`);
  demand(item.sign === '=' || item.sign === '=/', `${path}.sign`, 'the sign is "=" or "=/"');
  demand(item.alternatives.length > 0, path, 'a rule has one alternative at least');
  return [...item.comments.map((line) => comment(line, path)), ...definition(item, path)];
}

function comment(text: string, path: string): string {
  demand(/^(?:[\t -~]*[!-~])?$/.test(text), path, 'a comment is one line of ASCII without blanks at its end');
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

/** As many words on each line as there is room for. */
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

/** Comments beside the last line, below each other, where there is room for them; otherwise on lines of their own. */
function withComments(lines: readonly string[], comments: readonly string[], indent: number): string[] {
  const last = lines.at(-1)!;
  const beside = `${last}  `;
  const fits = comments.every((text) => beside.length + text.length <= WIDTH);
  const pad = ' '.repeat(fits ? beside.length : indent);
  if (comments.length === 0 || !fits) return [...lines, ...comments.map((text) => pad + text)];
  const [first, ...rest] = comments;
  return [...lines.slice(0, -1), `${beside}${first}`, ...rest.map((text) => pad + text)];
}
