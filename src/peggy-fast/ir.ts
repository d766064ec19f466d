/** The intermediate representation of a grammar: Peggy's syntax tree with names resolved and characters mapped to symbols. */

import type { LocationRange } from 'peggy';
import type { SymbolSet } from './alphabet.js';

export interface Block {
  readonly kind: 'action' | 'predicate' | 'bound';
  readonly rule: string;
  readonly code: string;
  readonly location: LocationRange;
  /** The labels in scope, in the order in which Peggy passes them, each with the node that binds it. */
  readonly scope: ReadonlyMap<string, Label>;
}

export type Expectation =
  | { readonly type: 'literal'; readonly text: string; readonly ignoreCase: boolean }
  | {
      readonly type: 'class';
      readonly parts: readonly unknown[];
      readonly inverted: boolean;
      readonly ignoreCase: boolean;
      readonly unicode: boolean;
    }
  | { readonly type: 'any' }
  | { readonly type: 'other'; readonly description: string };

/** One code unit of a set. Its value is that character. */
export interface Symbols {
  readonly type: 'symbols';
  readonly set: SymbolSet;
  readonly expected: Expectation;
  readonly shown: string;
}

/** One code point of a set. `set` contains the code units that are code points on their own, and all surrogates. */
export interface CodePoint extends Omit<Symbols, 'type'> {
  readonly type: 'codePoint';
  readonly pattern: RegExp;
}

export interface Literal {
  readonly type: 'literal';
  readonly text: string;
  readonly symbols: readonly number[];
  readonly folded: readonly SymbolSet[] | null;
  readonly expected: Expectation;
}

export interface Choice {
  readonly type: 'choice';
  readonly alternatives: readonly Node[];
}

export type Bound = number | Label | Block;

export interface Repeat {
  readonly type: 'repeat';
  readonly item: Node;
  readonly delimiter: Node | null;
  readonly min: Bound;
  readonly max: Bound | null;
}

export interface Predicate {
  readonly type: 'predicate';
  readonly block: Block;
  readonly negative: boolean;
}

export interface Label {
  readonly type: 'label';
  readonly name: string;
  readonly item: Node;
}

export interface RuleCall {
  readonly type: 'call';
  readonly rule: string;
}

export type Node =
  | Symbols
  | CodePoint
  | Literal
  | Choice
  | Repeat
  | Predicate
  | Label
  | RuleCall
  | { readonly type: 'empty' }
  /** `picks` are the elements that make up the value; null for an array of all elements. */
  | { readonly type: 'sequence'; readonly elements: readonly Node[]; readonly picks: readonly Node[] }
  | { readonly type: 'optional'; readonly item: Node }
  /** `isWord` is `true` if the text is interned. */
  | { readonly type: 'text'; readonly item: Node; readonly isWord: boolean }
  | { readonly type: 'lookahead'; readonly item: Node; readonly negative: boolean }
  | { readonly type: 'action'; readonly item: Node; readonly block: Block }
  /** A rule with a display name. Failures inside it count as one, at its start. */
  | { readonly type: 'named'; readonly item: Node; readonly expected: Expectation };

export interface Rule {
  readonly name: string;
  readonly node: Node;
}

export interface Program {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly startRules: readonly string[];
  readonly blocks: readonly Block[];
}

export function childrenOf(node: Node): readonly Node[] {
  if (node.type === 'sequence') return node.elements;
  if (node.type === 'choice') return node.alternatives;
  if (node.type === 'repeat' && node.delimiter !== null) return [node.item, node.delimiter];
  return 'item' in node ? [node.item] : [];
}

export function blocksOf(node: Node): readonly Block[] {
  if (node.type === 'action' || node.type === 'predicate') return [node.block];
  if (node.type === 'repeat') return [node.min, node.max].filter(isBlock);
  return [];
}

export function isBlock(bound: Bound | null): bound is Block {
  return typeof bound === 'object' && bound !== null && 'code' in bound;
}

/** A node and all below it. */
export function nodesOf(node: Node): readonly Node[] {
  const found = [node];
  // The list grows while it is read.
  for (const one of found) found.push(...childrenOf(one));
  return found;
}

/** The error thrown if this back end does not support a grammar, which is then left to Peggy's own code. */
export class Unsupported extends Error {}
