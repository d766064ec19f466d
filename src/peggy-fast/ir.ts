/** The intermediate form of a grammar: Peggy's syntax tree with names resolved and characters turned into symbols. */

import type { LocationRange } from 'peggy';
import type { SymbolSet } from './alphabet.js';

export interface Block {
  readonly kind: 'action' | 'predicate' | 'bound';
  readonly rule: string;
  readonly code: string;
  readonly location: LocationRange;
  /** Labels in scope, in the order in which Peggy passes them, each with the node that binds it. */
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

/** One code unit out of a set. Its value is that character. */
export interface Symbols {
  readonly type: 'symbols';
  readonly set: SymbolSet;
  readonly expected: Expectation;
  readonly shown: string;
}

/** One code point out of a set of which `set` holds the code units that stand alone; others are left to Peggy's code. */
export interface CodePoint {
  readonly type: 'codePoint';
  readonly set: SymbolSet;
  readonly expected: Expectation;
  readonly shown: string;
}

export interface Literal {
  readonly type: 'literal';
  readonly text: string;
  readonly symbols: readonly number[];
  readonly folded: readonly SymbolSet[] | null;
  readonly expected: Expectation;
}

interface Empty {
  readonly type: 'empty';
}

/** `picks` are the elements that make up the value; without them it is an array of all. */
interface Sequence {
  readonly type: 'sequence';
  readonly elements: readonly Node[];
  readonly picks: readonly Node[];
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

interface Optional {
  readonly type: 'optional';
  readonly item: Node;
}

interface Text {
  readonly type: 'text';
  readonly item: Node;
  /** Whether it is one of a few that come again and again, and is kept for the next time. */
  readonly isWord: boolean;
}

interface Lookahead {
  readonly type: 'lookahead';
  readonly item: Node;
  readonly negative: boolean;
}

export interface Predicate {
  readonly type: 'predicate';
  readonly block: Block;
  readonly negative: boolean;
}

interface Action {
  readonly type: 'action';
  readonly item: Node;
  readonly block: Block;
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

/** A rule with a display name: failures inside it count as one, at its start. */
interface Named {
  readonly type: 'named';
  readonly item: Node;
  readonly expected: Expectation;
}

export type Node =
  | Symbols
  | CodePoint
  | Literal
  | Empty
  | Sequence
  | Choice
  | Repeat
  | Optional
  | Text
  | Lookahead
  | Predicate
  | Action
  | Label
  | RuleCall
  | Named;

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
  switch (node.type) {
    case 'sequence':
      return node.elements;
    case 'choice':
      return node.alternatives;
    case 'repeat':
      return node.delimiter === null ? [node.item] : [node.item, node.delimiter];
    case 'optional':
    case 'text':
    case 'lookahead':
    case 'action':
    case 'label':
    case 'named':
      return [node.item];
    case 'symbols':
    case 'codePoint':
    case 'literal':
    case 'empty':
    case 'predicate':
    case 'call':
      return [];
    default:
      return node satisfies never;
  }
}

export function blocksOf(node: Node): readonly Block[] {
  if (node.type === 'action' || node.type === 'predicate') return [node.block];
  if (node.type === 'repeat') return [node.min, node.max].filter(isBlock);
  return [];
}

export function isBlock(bound: Bound | null): bound is Block {
  return typeof bound === 'object' && bound !== null && 'code' in bound;
}

export function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const child of childrenOf(node)) yield* nodesOf(child);
}

/** Something that this back end leaves to Peggy's own code: the grammar works as before, only not faster. */
export class Unsupported extends Error {}
