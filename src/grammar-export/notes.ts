/** The comment at the top of an exported grammar: where it comes from, and where it says more than the grammar. */
import type { ContextFreeGrammar } from './context-free.js';

const WIDTH = 118;

/**
 * The lines of the comment, without the marks of any language.
 *
 * @param format the name of the format, for people
 * @param remarks what to know when using it, a paragraph each
 * @param width columns of a line
 */
export function notesOf(
  grammar: ContextFreeGrammar,
  format: string,
  remarks: readonly string[] = [],
  width = WIDTH,
): string[] {
  const { name, startRule, approximations } = grammar;
  const folded = (text: string, bullet = ''): string[] => foldedTo(width, text, bullet);
  const lines = folded(`${oneLine(name)} in ${format}, made from its Peggy grammar; the start rule is ${startRule}.`);
  for (const remark of remarks) lines.push(...folded(remark));
  if (approximations.length === 0) return [...lines, 'It matches the same texts as the grammar.'];
  lines.push('It matches all texts of the grammar, and some more:');
  for (const { code, rule, message } of approximations) lines.push(...folded(`${rule}: ${message} (${code})`, '- '));
  return lines;
}

/** Comment lines with their mark, and a line end behind each. */
export function commented(lines: readonly string[], mark: string): string {
  return lines.map((line) => `${mark} ${line}\n`).join('');
}

/** Whatever a name holds, it stays within its comment. */
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
