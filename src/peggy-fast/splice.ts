/** Splices the scanner into the parser that Peggy generated, as source nodes that keep their origin. */

import type { ast } from 'peggy';
import { type Block, Unsupported } from './ir.js';

/** Peggy's node of generated code with its origin. Its class is private to Peggy. */
export type SourceNode = NonNullable<ast.Grammar['code']>;

/** Private-use characters that mark the author's code until it becomes a node of its own. */
const OPEN = '\uE000';
const BETWEEN = '\uE001';
const CLOSE = '\uE002';
const MARKED = new RegExp(`${OPEN}(\\d+):(\\d+)${BETWEEN}([^${CLOSE}]*)${CLOSE}`, 'g');

export class Marks {
  readonly #blocks: Block[] = [];

  /** Marks the same code in the same way, so that functions made of the same pieces have the same text. */
  readonly mark = (block: Block, code: string, start = 0): string => {
    let index = this.#blocks.indexOf(block);
    if (index < 0) index = this.#blocks.push(block) - 1;
    return `${OPEN}${index}:${start}${BETWEEN}${code}${CLOSE}`;
  };

  pieces(text: string, makeNode: (block: Block, code: string, start: number) => SourceNode): (string | SourceNode)[] {
    const pieces: (string | SourceNode)[] = [];
    let from = 0;
    for (const match of text.matchAll(MARKED)) {
      pieces.push(text.slice(from, match.index));
      pieces.push(makeNode(this.#blocks[Number(match[1])]!, match[3]!, Number(match[2])));
      from = match.index + match[0].length;
    }
    pieces.push(text.slice(from));
    return pieces;
  }
}

/**
 * Splices code in place of Peggy's parse function and error class, and adds names to the exports.
 *
 * @throws Unsupported if Peggy's output has an unexpected form, as another plugin may give it
 */
export function replaceParser(
  parser: SourceNode,
  code: readonly (string | SourceNode)[],
  exported: readonly Export[],
): void {
  const errors = exported.includes(TRY_PARSE) ? `${ERROR_CLASS}${QUIET_ERROR}` : ERROR_CLASS;
  let found = 0;
  // The error class moves to the end, where a compressor finds the same text in the next parser.
  const visit = (node: SourceNode): void => {
    const { children } = node as unknown as { children: (string | SourceNode)[] };
    const holds =
      (text: string) =>
      (child: string | SourceNode): boolean =>
        typeof child === 'string' && child.includes(text);
    if (children.some(holds(PARSE))) {
      const error = children.findIndex(holds(PEGGY_ERROR));
      if (error < 0) return;
      found++;
      children.splice(error, children.length, ...code, '\n', errors);
    } else for (const child of children) if (typeof child !== 'string') visit(child);
  };
  visit(parser);
  if (found !== 1) throw new Unsupported('its parse function has another form than that of Peggy 5.1');
  addExports(parser, exported);
}

/** Splices code before Peggy's parse function, which is renamed to `peg$parseSlow`, and adds names to the exports. */
export function wrapParser(parser: SourceNode, code: string, exported: readonly Export[]): void {
  const visit = (node: SourceNode): void => {
    const { children } = node as unknown as { children: (string | SourceNode)[] };
    const at = children.findIndex((child) => typeof child === 'string' && child.includes(PARSE));
    if (at >= 0) children[at] = (children[at] as string).replace(PARSE, () => `${code}\n${SLOW_PARSE}`);
    else for (const child of children) if (typeof child !== 'string') visit(child);
  };
  visit(parser);
  addExports(parser, exported);
}

function addExports(node: SourceNode, exported: readonly Export[]): void {
  const { children } = node as unknown as { children: (string | SourceNode)[] };
  children.forEach((child, index) => {
    if (typeof child === 'string') children[index] = withExports(child, exported);
    else addExports(child, exported);
  });
}

export interface Export {
  readonly local: string;
  readonly name: string;
}

export const RECOGNIZE: Export = { local: 'peg$recognize', name: 'recognize' };
export const TRY_PARSE: Export = { local: 'peg$tryParse', name: 'tryParse' };

const PARSE = 'function peg$parse(input, options) {';
const PEGGY_ERROR = 'class peg$SyntaxError extends SyntaxError {';
const SLOW_PARSE = 'function peg$parseSlow(input, options) {';

function withExports(code: string, exported: readonly Export[]): string {
  return exported.reduce(
    (text, { local, name }) =>
      text
        .replace(/^( *)peg\$parse as parse(?=,?$)/m, `$1peg$$parse as parse,\n$1${dollars(local)} as ${name}`)
        .replace(/^( *)parse: peg\$parse,$/m, `$1parse: peg$$parse,\n$1${name}: ${dollars(local)},`),
    code,
  );
}

function dollars(name: string): string {
  return name.replaceAll('$', '$$$$');
}

export function holdsMarks(code: string): boolean {
  return /[\uE000-\uE002]/.test(code);
}

/** The error class. Messages and reports are Peggy's, in less code. */
const ERROR_CLASS = `class peg$SyntaxError extends SyntaxError {
  constructor(message, expected, found, location) {
    super(message);
    this.expected = expected;
    this.found = found;
    this.location = location;
    this.name = "SyntaxError";
  }

  // Formats the message, with the line that it refers to if its text is among the sources.
  format(sources) {
    let report = \`Error: \${this.message}\`;
    if (this.location) {
      const { source, start, end } = this.location;
      const known = sources.find((one) => one.source === source);
      const shown = source && typeof source.offset === "function" ? source.offset(start) : start;
      const place = \`\${source}:\${shown.line}:\${shown.column}\`;
      if (known) {
        const line = known.text.split(/\\r\\n|\\n|\\r/g)[start.line - 1];
        const margin = "".padEnd(String(shown.line).length);
        const width = (start.line === end.line ? end.column : line.length + 1) - start.column || 1;
        const carets = "".padEnd(start.column - 1) + "".padEnd(width, "^");
        report += \`\\n --> \${place}\\n\${margin} |\\n\${shown.line} | \${line}\\n\${margin} | \${carets}\`;
      } else report += \`\\n at \${place}\`;
    }
    return report;
  }

  static buildMessage(expected, found) {
    const phrases = [...new Set(expected.map(peg$phrase))].sort();
    const count = phrases.length;
    const list = count < 3 && count > 0 ? phrases.join(" or ") : \`\${phrases.slice(0, -1).join(", ")}, or \${phrases[count - 1]}\`;
    return \`Expected \${list} but \${found ? peg$quoted(found) : "end of input"} found.\`;
  }
}

function peg$phrase({ type, text, parts, inverted, unicode, description }) {
  if (type === "literal") return peg$quoted(text);
  if (type === "any") return "any character";
  if (type === "end") return "end of input";
  if (type === "other") return \`\${description}\`;
  const inside = parts.map((part) => [].concat(part).map(peg$inClass).join("-"));
  return \`[\${inverted ? "^" : ""}\${inside.join("")}]\${unicode ? "u" : ""}\`;
}

function peg$quoted(text) {
  return \`"\${text.replace(/[\\\\"\\p{C}\\p{Mn}\\p{Mc}]/gu, peg$visible)}"\`;
}

function peg$inClass(text) {
  return text.replace(/[\\\\\\]^\\-\\p{C}\\p{Mn}\\p{Mc}]/gu, peg$visible);
}

function peg$visible(character) {
  const code = character.codePointAt(0);
  const named = { 0: "\\\\0", 9: "\\\\t", 10: "\\\\n", 13: "\\\\r" }[code];
  if (named !== undefined) return named;
  const hex = code.toString(16).toUpperCase();
  if (code < 32 || (code > 126 && code < 160)) return \`\\\\x\${hex.padStart(2, "0")}\`;
  return code < 127 ? \`\\\\\${character}\` : \`\\\\u{\${hex}}\`;
}
`;

/** The errors of `tryParse`. */
const QUIET_ERROR = `
// An error without a stack trace, because capturing one takes longer than parsing.
function peg$QuietError(expected, found, location) {
  this.expected = expected;
  this.found = found;
  this.location = location;
  this.name = "SyntaxError";
}
peg$QuietError.prototype = Object.create(peg$SyntaxError.prototype, { message: peg$message });
`;
