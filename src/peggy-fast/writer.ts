/** Lines of code with their indentation. */
export class Writer {
  readonly #lines: string[] = [];
  #depth: number;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  line(text: string): void {
    // Code of the grammar's author may span lines, and keeps its own indentation: a template string may depend on it.
    this.#lines.push('  '.repeat(this.#depth) + text);
  }

  /** How many lines there are. */
  get length(): number {
    return this.#lines.length;
  }

  /** A line that opens a block; `close` ends it. */
  open(text: string): void {
    this.line(`${text} {`);
    this.#depth++;
  }

  close(text = '}'): void {
    this.#depth--;
    this.line(text);
  }

  /** `} else {`, and the like: ends one block and opens another. */
  reopen(text: string): void {
    this.#depth--;
    this.line(`} ${text} {`);
    this.#depth++;
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}
