import type { SymbolSet } from './alphabet.js';
import type { BlockCode, NumberFunction } from './blocks.js';
import type { Facts } from './facts.js';
import type { Inlined } from './inline.js';
import type { Block, Bound, Expectation, Label, Node, Predicate, Program } from './ir.js';
import type { Lexemes } from './lexemes.js';
import type { Names } from './names.js';
import type { Tables } from './tables.js';

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

  get length(): number {
    return this.#lines.length;
  }

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

export interface Target {
  readonly kind: 'const' | 'let' | 'return';
  readonly name: string;
}

/**
 * What a failure does besides failing: `free` nothing; `report` keeps the furthest failure; `expect` also keeps what
 * was expected there; `silent` must not touch it (inside lookaheads and named rules).
 */
export type Reporting = 'free' | 'report' | 'silent' | 'expect';

export interface Context {
  readonly target: Target | null;
  readonly reporting: Reporting;
  readonly fail: string;
  /** What the next symbol is known to be in. */
  readonly known: SymbolSet | null;
  /** Whether this is code that runs once in a scan: that of a start rule, outside of its lists. */
  readonly once: boolean;
}

export interface Shared {
  readonly program: Program;
  readonly facts: Facts;
  readonly lexemes: Lexemes;
  readonly tables: Tables;
  readonly inlined: Inlined;
  /** Rules that are only started with, never called. */
  readonly uncalled: ReadonlySet<string>;
  /** Labels of which only the number is wanted. */
  readonly numbers: ReadonlyMap<Label, NumberFunction>;
  readonly codeOf: (block: Block) => BlockCode;
  readonly mustRun: (block: Block) => boolean;
  /** Whether functions of the grammar that a block calls ask for the position. */
  readonly callsForPosition: (block: Block) => boolean;
  readonly functionFor: (rule: string, builds: boolean, reporting: Reporting) => string;
  /** The name of the function for code that cannot be written out in place. */
  readonly functionForBlock: (code: BlockCode) => string;
  readonly numberOf: (expectation: Expectation) => number;
  readonly mark: (block: Block, code: string, start?: number) => string;
}

export interface FunctionWriter {
  readonly shared: Shared;
  readonly names: Names;
  readonly out: Writer;
  write(node: Node, context: Context): void;
  put(target: Target | null, value: string): void;
  /** A target that blocks inside can give a value to. */
  shareable(target: Target | null): Target | null;
  positionHere(): string;
  /** A name for a value before it goes where it belongs; the target's own, where it has one. */
  nameFor(target: Target | null, stem: string): string;
  failure(context: Context, expected?: Expectation): string;
  report(reporting: Reporting, expected?: Expectation): void;
  reportIf(predicate: Predicate): void;
  boundOf(bound: Bound): string;
  enter(node: Node, builds: boolean): void;
  /** Whether code of so much weight may be written again, in this function. */
  mayRepeat(weight: number): boolean;
  /** What is written in place of a call, if it is not a call that is written. */
  writtenOut(node: Node): Node | null;
}
