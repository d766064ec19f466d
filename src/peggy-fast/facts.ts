/** Facts about a node that are known without running it: its possible first symbols and its effects. */

import { NONE, type SymbolSet, setOf, without } from './alphabet.js';
import { type Block, blocksOf, childrenOf, type Node, nodesOf, type Program, type Repeat } from './ir.js';

export interface Start {
  readonly first: SymbolSet;
  readonly nullable: boolean;
  readonly effects: boolean;
  /** `true` if it begins with a constant condition. */
  readonly isGated: boolean;
}

const UNKNOWN: Start = { first: NONE, nullable: false, effects: false, isGated: false };

/** The weight of a grammar that counts as large: about 300 lines. */
const LARGE = 600;

export class Facts {
  /** `true` if the code of a scanner should be small rather than fast. */
  readonly isLarge: boolean;
  readonly #program: Program;
  readonly #mustRun: (block: Block) => boolean;
  readonly #rules = new Map<string, Start>();
  readonly #starts = new Map<Node, Start>();
  readonly #singles = new Map<string, SymbolSet | null>();
  readonly #decisive = new Map<string, boolean>();
  readonly #aheads = new Map<string, SymbolSet | null>();
  readonly #effectful = new Set<string>();
  readonly #effects = new Map<Node, boolean>();

  constructor(program: Program, mustRun: (block: Block) => boolean) {
    this.#program = program;
    this.isLarge = [...program.rules.values()].reduce((sum, { node }) => sum + weightOf(node), 0) > LARGE;
    this.#mustRun = mustRun;
    this.#findEffectfulRules();
    this.#findStarts();
  }

  startOf(node: Node): Start {
    const known = this.#starts.get(node);
    if (known !== undefined) return known;
    const start = this.#start(node);
    this.#starts.set(node, start);
    return start;
  }

  /** Returns `true` if any code inside a node, or inside the rules that it calls, must run. */
  hasEffects(node: Node): boolean {
    const known = this.#effects.get(node);
    if (known !== undefined) return known;
    const found =
      this.#runs(node) ||
      (node.type === 'call' && this.#effectful.has(node.rule)) ||
      childrenOf(node).some((child) => this.hasEffects(child));
    this.#effects.set(node, found);
    return found;
  }

  /** Returns `true` if a node itself runs code that must run, or repeats as often as code has computed. */
  #runs(node: Node): boolean {
    const isComputed =
      node.type === 'repeat' && (typeof node.min === 'object' || (node.max !== null && typeof node.max === 'object'));
    return isComputed || blocksOf(node).some(this.#mustRun);
  }

  /** The symbol set of a node that matches exactly one symbol and has no effects; null for others. Labels are ignored. */
  singleOf(node: Node): SymbolSet | null {
    switch (node.type) {
      case 'symbols':
        return node.set;
      case 'literal': {
        const [symbol] = node.symbols;
        if (node.symbols.length !== 1) return null;
        return node.folded?.[0] ?? setOf(symbol!);
      }
      case 'choice':
        return this.#singleChoice(node.alternatives);
      case 'sequence':
        return this.#singleSequence(node.elements);
      case 'named':
      case 'label':
      case 'text':
        return this.singleOf(node.item);
      case 'action':
        return this.#mustRun(node.block) ? null : this.singleOf(node.item);
      case 'call':
        return this.#ofRule(node.rule, this.#singles, null, (called) => this.singleOf(called));
      default:
        return null;
    }
  }

  staysPut(node: Node): boolean {
    switch (node.type) {
      case 'empty':
      case 'lookahead':
      case 'predicate':
        return true;
      case 'label':
      case 'action':
        return this.staysPut(node.item);
      case 'call': {
        const called = this.#program.rules.get(node.rule)!.node;
        return called.type !== 'call' && this.staysPut(called);
      }
      default:
        return false;
    }
  }

  aheadOf(node: Node): SymbolSet | null {
    const single = this.singleOf(node);
    if (single !== null) return single;
    if (isSome(node)) return this.aheadOf(node.item);
    if (node.type === 'named' || node.type === 'text' || node.type === 'label') return this.aheadOf(node.item);
    if (node.type !== 'call') return null;
    return this.#ofRule(node.rule, this.#aheads, null, (called) => this.aheadOf(called));
  }

  /** Returns `true` if a node can fail only at its first symbol, before it consumes anything. */
  failsAtStart(node: Node): boolean {
    if (this.singleOf(node) !== null || node.type === 'literal') return true;
    if (node.type === 'repeat') return node.delimiter === null && isSome(node) && this.failsAtStart(node.item);
    if (node.type === 'text' || node.type === 'label' || node.type === 'named') return this.failsAtStart(node.item);
    if (node.type !== 'call') return false;
    return this.#ofRule(node.rule, this.#decisive, false, (called) => this.failsAtStart(called));
  }

  /** Computes a fact about a rule once; `inProgress` is the value for a recursive call. */
  #ofRule<T>(name: string, known: Map<string, T>, inProgress: T, find: (node: Node) => T): T {
    if (!known.has(name)) {
      known.set(name, inProgress);
      known.set(name, find(this.#program.rules.get(name)!.node));
    }
    return known.get(name) as T;
  }

  #singleChoice(alternatives: readonly Node[]): SymbolSet | null {
    let set = NONE;
    for (const alternative of alternatives) {
      const single = this.singleOf(alternative);
      if (single === null) return null;
      set |= single;
    }
    return set;
  }

  /** `!x y` and `&x y`, if both parts match one symbol. */
  #singleSequence(elements: readonly Node[]): SymbolSet | null {
    const last = elements.at(-1);
    let set = last === undefined ? null : this.singleOf(last);
    if (set === null) return null;
    for (const element of elements.slice(0, -1)) {
      if (element.type !== 'lookahead') return null;
      const ahead = this.aheadOf(element.item);
      if (ahead === null) return null;
      set = element.negative ? without(set, ahead) : set & ahead;
    }
    return set;
  }

  /** A rule has effects if it runs code, or calls a rule that has. */
  #findEffectfulRules(): void {
    const calls = new Map<string, readonly string[]>();
    for (const { name, node } of this.#program.rules.values()) {
      calls.set(name, callsIn(node));
      for (const one of nodesOf(node)) if (this.#runs(one)) this.#effectful.add(name);
    }
    for (let before = -1; before !== this.#effectful.size; ) {
      before = this.#effectful.size;
      for (const [name, called] of calls) if (called.some((one) => this.#effectful.has(one))) this.#effectful.add(name);
    }
  }

  /** Rules may be mutually recursive: repeats until nothing changes. */
  #findStarts(): void {
    for (let changed = true; changed; ) {
      changed = false;
      for (const { name, node } of this.#program.rules.values()) {
        const before = this.#rules.get(name) ?? UNKNOWN;
        const now = this.#start(node);
        changed ||= now.first !== before.first || now.nullable !== before.nullable;
        changed ||= now.effects !== before.effects || now.isGated !== before.isGated;
        this.#rules.set(name, now);
      }
    }
  }

  #start(node: Node): Start {
    switch (node.type) {
      case 'symbols':
      case 'codePoint':
        return { ...UNKNOWN, first: node.set };
      case 'literal':
        return { ...UNKNOWN, first: node.folded?.[0] ?? setOf(node.symbols[0]!) };
      case 'empty':
        return { ...UNKNOWN, nullable: true };
      case 'predicate':
        return { ...UNKNOWN, nullable: true, effects: this.#mustRun(node.block) };
      case 'lookahead':
        return { ...UNKNOWN, nullable: true, effects: this.hasEffects(node.item) };
      case 'choice':
        return this.#startOfChoice(node.alternatives);
      case 'sequence':
        return this.#startOfSequence(node.elements, 0);
      case 'repeat':
        return this.#startOfRepeat(node);
      case 'optional':
        return { ...this.#start(node.item), nullable: true };
      case 'action': {
        const start = this.#start(node.item);
        return { ...start, effects: start.effects || (start.nullable && this.#mustRun(node.block)) };
      }
      case 'named':
      case 'text':
      case 'label':
        return this.#start(node.item);
      case 'call':
        return this.#rules.get(node.rule) ?? UNKNOWN;
      default:
        return node satisfies never;
    }
  }

  #startOfChoice(alternatives: readonly Node[]): Start {
    const starts = alternatives.map((one) => this.#start(one));
    return {
      first: starts.reduce((set, { first }) => set | first, NONE),
      nullable: starts.some(({ nullable }) => nullable),
      effects: starts.some(({ effects }) => effects),
      isGated: false,
    };
  }

  #startOfSequence(elements: readonly Node[], index: number): Start {
    const element = elements[index];
    if (element === undefined) return { ...UNKNOWN, nullable: true };
    const start = this.#start(element);
    if (!start.nullable) return start;
    const rest = this.#startOfSequence(elements, index + 1);
    const plain = element.type === 'label' ? element.item : element;
    return {
      first: plain.type === 'lookahead' ? this.#restricted(rest, plain.item, plain.negative) : start.first | rest.first,
      nullable: rest.nullable,
      effects: start.effects || rest.effects,
      isGated: this.#isGate(plain),
    };
  }

  #isGate(node: Node): boolean {
    if (node.type === 'call') return this.#isGate(this.#program.rules.get(node.rule)!.node);
    return node.type === 'predicate' && !this.#mustRun(node.block);
  }

  #restricted(rest: Start, ahead: Node, negative: boolean): SymbolSet {
    if (negative) {
      const set = this.aheadOf(ahead);
      return set === null ? rest.first : without(rest.first, set);
    }
    const { first, nullable } = this.#start(ahead);
    return nullable ? rest.first : rest.first & first;
  }

  #startOfRepeat(node: Node & { readonly type: 'repeat' }): Start {
    const item = this.#start(node.item);
    const delimiter = node.delimiter === null || !item.nullable ? null : this.#start(node.delimiter);
    const several = typeof node.min === 'number' && node.min > 0;
    return {
      first: item.first | (delimiter?.first ?? NONE),
      nullable: item.nullable || !several,
      effects: item.effects || delimiter?.effects === true || this.#runs(node),
      isGated: false,
    };
  }
}

/** Returns `true` for a repetition that matches if one item matches. A computed maximum may be zero. */
function isSome(node: Node): node is Repeat {
  return node.type === 'repeat' && node.min === 1 && (node.max === null || typeof node.max === 'number');
}

export function callsIn(node: Node): readonly string[] {
  const calls: string[] = [];
  for (const one of nodesOf(node)) if (one.type === 'call') calls.push(one.rule);
  return calls;
}

export function weightOf(node: Node): number {
  return childrenOf(node).reduce((sum, child) => sum + weightOf(child), 1);
}
