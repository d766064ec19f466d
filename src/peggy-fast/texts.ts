/** Finds the nodes whose values are text. */
import { NONE, rangesOf, type SymbolSet, setOf } from './alphabet.js';
import type { BlockCode } from './blocks.js';
import type { Block, Node, Program } from './ir.js';

export interface Escapes {
  /** Symbols that stand for themselves. */
  readonly plain: SymbolSet;
  /** The escape character, and those that can follow it. */
  readonly prefix: SymbolSet;
  readonly escaped: SymbolSet;
}

export class Texts {
  readonly #program: Program;
  readonly #codeOf: (block: Block) => BlockCode;
  readonly #whole = new Map<string, boolean>();
  readonly #text = new Map<string, boolean>();

  constructor(program: Program, codeOf: (block: Block) => BlockCode) {
    this.#program = program;
    this.#codeOf = codeOf;
  }

  /** Returns `true` if the value of a node is the text that it matches. */
  isWhole(node: Node): boolean {
    switch (node.type) {
      case 'symbols':
      case 'codePoint':
      case 'literal':
      case 'text':
      case 'empty':
        return true;
      case 'label':
      case 'named':
        return this.isWhole(node.item);
      case 'choice':
        return node.alternatives.every((one) => this.isWhole(one));
      case 'call':
        return this.#ofRule(node.rule, this.#whole, (called) => this.isWhole(called));
      case 'action':
        return this.#codeOf(node.block).returnsMatch;
      default:
        return false;
    }
  }

  /** Returns `true` if the value of a node is always a string. */
  isText(node: Node): boolean {
    switch (node.type) {
      case 'label':
      case 'named':
        return this.isText(node.item);
      case 'choice':
        return node.alternatives.every((one) => this.isText(one));
      case 'sequence':
        return node.picks.length === 1 && this.isText(node.picks[0]!);
      case 'call':
        return this.#ofRule(node.rule, this.#text, (called) => this.isText(called));
      case 'action':
        return this.#codeOf(node.block).returnsString((label) => this.isText(label.item));
      default:
        return this.isWhole(node);
    }
  }

  /** The symbols of items such as `[^\\"] / "\\" @.`: characters of one set, or one character before those of another set. */
  escapesIn(item: Node): Escapes | null {
    let [plain, prefix, escaped] = [NONE, NONE, NONE];
    for (const one of this.#alternativesOf(item)) {
      const run = this.#runOf(one);
      if (run !== null) {
        plain |= run;
        continue;
      }
      const [first, second, ...others] = one.type === 'sequence' ? one.elements : [];
      const [start, end] = [first && this.#symbolOf(first), second && this.#symbolOf(second)];
      if (!start || !end || others.length > 0 || one.type !== 'sequence' || one.picks[0] !== second) return null;
      if (rangesOf(start).length !== 1 || prefix !== NONE) return null;
      [prefix, escaped] = [start, end];
    }
    return prefix === NONE || (plain & prefix) !== NONE ? null : { plain, prefix, escaped };
  }

  #alternativesOf(node: Node): readonly Node[] {
    const inner = this.#inside(node);
    return inner.type === 'choice' ? inner.alternatives.flatMap((one) => this.#alternativesOf(one)) : [inner];
  }

  #runOf(node: Node): SymbolSet | null {
    if (node.type !== 'text') return this.#symbolOf(node);
    const run = this.#inside(node.item);
    if (run.type !== 'repeat' || run.delimiter !== null || run.max !== null || run.min !== 1) return null;
    return this.#symbolOf(run.item);
  }

  #symbolOf(node: Node): SymbolSet | null {
    const inner = this.#inside(node);
    if (inner.type === 'symbols') return inner.set;
    return inner.type === 'literal' && inner.symbols.length === 1 && inner.folded === null && inner.symbols[0]! < 0x80
      ? setOf(inner.symbols[0]!)
      : null;
  }

  /** Returns a node without the labels, names and rules around it. */
  #inside(node: Node): Node {
    if (node.type === 'label' || node.type === 'named') return this.#inside(node.item);
    // Peggy rejects rules that begin with themselves.
    return node.type === 'call' ? this.#inside(this.#program.rules.get(node.rule)!.node) : node;
  }

  #ofRule(rule: string, known: Map<string, boolean>, find: (node: Node) => boolean): boolean {
    let found = known.get(rule);
    if (found === undefined) {
      // A rule that contains itself is not followed.
      known.set(rule, false);
      found = find(this.#program.rules.get(rule)!.node);
      known.set(rule, found);
    }
    return found;
  }
}
