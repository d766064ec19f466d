import type { SymbolSet } from './alphabet.js';
import type { BlockCode, Conversion } from './blocks.js';
import type { Facts } from './facts.js';
import type { Inlined } from './inline.js';
import type { Block, Bound, Expectation, Label, Node, Program } from './ir.js';
import type { Lexemes } from './lexemes.js';
import type { Names } from './names.js';
import type { Tables } from './tables.js';
import type { Texts } from './texts.js';

export class Writer {
  readonly #lines: string[] = [];
  #depth: number;

  constructor(depth = 0) {
    this.#depth = depth;
  }

  line(text: string): void {
    // The author's code may span lines and keeps its own indentation: a template string may depend on it.
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

  /** Closes one block and opens another, as in `} else {`. */
  reopen(text: string): void {
    this.#depth--;
    this.line(`} ${text} {`);
    this.#depth++;
  }

  toString(): string {
    return this.#lines.join('\n');
  }
}

export type Target = { readonly kind: 'const' | 'let' | 'return'; readonly name: string } | PieceTarget;

/** An item of a text that is joined (`conversions.ts`). Its members are names of variables. */
export interface PieceTarget {
  readonly kind: 'piece';
  /** The text before the current piece. */
  readonly name: string;
  /** The starts of the current piece and of the item. */
  readonly from: string;
  readonly start: string;
  /** `true` unless another alternative is tried before. */
  readonly isFirst: boolean;
}

/**
 * The scan that code is for, and the effect of a failure in it. The first scan is `free`: it runs code, and a failure has no effect. The
 * second scan repeats it without running code: `expect` records the expectations at the furthest place, `silent` must not (inside
 * lookaheads and named rules).
 */
export type Reporting = 'free' | 'expect' | 'silent';

export interface Context {
  readonly target: Target | null;
  readonly reporting: Reporting;
  readonly fail: string;
  /** The set that is known to contain the next symbol. */
  readonly known: SymbolSet | null;
  /** `true` for code that runs once per scan: that of a start rule, outside of its repetitions. */
  readonly once: boolean;
}

export interface Shared {
  readonly program: Program;
  readonly facts: Facts;
  readonly lexemes: Lexemes;
  readonly tables: Tables;
  readonly inlined: Inlined;
  /** Start rules that no other rule calls. */
  readonly uncalled: ReadonlySet<string>;
  readonly texts: Texts;
  /** Labels of which only the number or the joined text is used. */
  readonly converted: ReadonlyMap<Label, Conversion>;
  readonly codeOf: (block: Block) => BlockCode;
  readonly mustRun: (block: Block) => boolean;
  /** Returns `true` for a block whose value the first scan logs. */
  readonly decides: (block: Block) => boolean;
  /** Returns `true` for a block whose value may run code without a call. */
  readonly isOdd: (block: Block) => boolean;
  /** Returns `true` if functions of the grammar that a block calls use the position. */
  readonly callsForPosition: (block: Block) => boolean;
  readonly functionFor: (rule: string, builds: boolean, reporting: Reporting) => string;
  /** The name of the function for code that cannot be inlined. */
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
  /** A target that nested blocks can assign to. */
  shareable(target: Target | null): Target | null;
  positionHere(): string;
  /** A name for a value before it is assigned; the target's own name if it has one. */
  nameFor(target: Target | null, stem: string): string;
  failure(context: Context, expected?: Expectation): string;
  report(reporting: Reporting, expected?: Expectation): void;
  boundOf(bound: Bound): string;
  enter(node: Node, builds: boolean): void;
  /** Returns `true` if code of this weight may be duplicated in this function. */
  mayRepeat(weight: number): boolean;
  /** The node that is inlined in place of a call; null if the call is written. */
  inlinedNode(node: Node): Node | null;
}
