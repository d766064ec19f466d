/**
 * Alternatives that can be skipped if nothing is built, because a later one matches the same text: with `word = keyword
 * / name`, finding the end of a word does not require the keywords.
 */

import { isSubset, NONE, type SymbolSet } from './alphabet.js';
import type { Facts } from './facts.js';
import type { Node, Program } from './ir.js';

/** The texts of a node: one or more symbols, and the symbols that cannot follow them. */
interface Lexeme {
  readonly symbols: SymbolSet;
  /** `true` if the lexeme is one longest run of these symbols. */
  readonly isRun: boolean;
  /** The symbols that cannot come next. */
  readonly notNext: SymbolSet;
  readonly isExact: boolean;
}

/** The maximum number of alternatives of a lexeme. */
const MAX_ALTERNATIVES = 64;

export class Lexemes {
  readonly #program: Program;
  readonly #facts: Facts;
  readonly #known = new Map<Node, readonly Lexeme[] | null>();

  constructor(program: Program, facts: Facts) {
    this.#program = program;
    this.#facts = facts;
  }

  /** Returns `true` if `later` matches with the same end wherever `node` does. */
  isCovered(node: Node, later: Node): boolean {
    if (this.#facts.hasEffects(node) || this.#facts.hasEffects(later)) return false;
    const [run, ...others] = this.#lexemesOf(later) ?? [];
    if (!run?.isRun || !run.isExact || others.length > 0) return false;
    const lexemes = this.#lexemesOf(node);
    return (
      lexemes?.every(({ symbols, notNext }) => isSubset(symbols, run.symbols) && isSubset(run.notNext, notNext)) ??
      false
    );
  }

  #lexemesOf(node: Node): readonly Lexeme[] | null {
    const known = this.#known.get(node);
    if (known !== undefined) return known;
    // A rule that is reached again in the meantime is recursive, and so is not a lexeme.
    this.#known.set(node, null);
    const lexemes = this.#worked(node);
    this.#known.set(node, lexemes);
    return lexemes;
  }

  #worked(node: Node): readonly Lexeme[] | null {
    switch (node.type) {
      case 'symbols':
        return [{ symbols: node.set, isRun: false, notNext: NONE, isExact: true }];
      case 'literal': {
        const sets = node.folded ?? node.symbols.map((symbol) => 1n << BigInt(symbol));
        return [{ symbols: sets.reduce((all, set) => all | set, NONE), isRun: false, notNext: NONE, isExact: false }];
      }
      case 'repeat': {
        const single = this.#facts.singleOf(node.item);
        if (single === null || node.delimiter !== null || node.min !== 1 || node.max !== null) return null;
        return [{ symbols: single, isRun: true, notNext: single, isExact: true }];
      }
      case 'choice': {
        const all: Lexeme[] = [];
        for (const alternative of node.alternatives) {
          const lexemes = this.#lexemesOf(alternative);
          if (lexemes === null || all.push(...lexemes) > MAX_ALTERNATIVES) return null;
        }
        return all;
      }
      case 'sequence':
        return this.#sequence(node.elements);
      case 'action':
      case 'named':
      case 'label':
      case 'text':
        return this.#lexemesOf(node.item);
      case 'call':
        return this.#lexemesOf(this.#program.rules.get(node.rule)!.node);
      default:
        return null;
    }
  }

  #sequence(elements: readonly Node[]): readonly Lexeme[] | null {
    let before = null as Lexeme | null;
    for (const element of this.#flat(elements)) {
      if (element.type === 'lookahead' || element.type === 'predicate') {
        const ahead = element.type === 'lookahead' && element.negative ? this.#facts.aheadOf(element.item) : null;
        if (before === null) return null;
        before = { ...before, notNext: before.notNext | (ahead ?? NONE), isExact: before.isExact && ahead !== null };
      } else if (element.type !== 'empty') {
        const lexemes = this.#lexemesOf(element);
        if (lexemes?.length !== 1) return null;
        const next: Lexeme = lexemes[0]!;
        before =
          before === null ? next : { ...next, symbols: before.symbols | next.symbols, isRun: false, isExact: false };
      }
    }
    return before === null ? null : [before];
  }

  /** The elements, with rules that consist of conditions expanded. */
  *#flat(elements: readonly Node[]): Generator<Node> {
    for (const element of elements) {
      const node = element.type === 'call' ? this.#program.rules.get(element.rule)!.node : element;
      if (node.type === 'sequence' && node.elements.every((one) => this.#facts.staysPut(one)))
        yield* this.#flat(node.elements);
      else yield this.#facts.staysPut(element) ? node : element;
    }
  }
}
