import type { Snippet } from './positions.js';
import type { Violation } from './report.js';

/** The code of an action, a predicate, or of the function that gives the bound of a repetition. */
export interface Block extends Snippet {
  readonly rule: string;
  readonly kind: 'action' | 'predicate' | 'bound';
  /** The labels that it may use. */
  readonly parameters: readonly string[];
}

/** All JavaScript of a grammar. */
export interface GrammarCode {
  /** `{{ ... }}`: run once, with the module. */
  readonly topLevel: readonly Snippet[];
  /** `{ ... }`: run at the start of every parse. */
  readonly perParse: readonly Snippet[];
  readonly blocks: readonly Block[];
  /** Names of functions and objects that are taken to be pure and never to raise; built-ins by path, as `Math.random`. */
  readonly trusted?: readonly string[];
}

/** What running a block does, beyond giving a value. */
export interface Effects {
  /** Changes a variable, or an object held by a variable, of the per-parse initializer. */
  readonly writesState: boolean;
  /** Reads a per-parse variable that some block or function changes after the initializer has run. */
  readonly readsState: boolean;
  /** Changes an object that a label holds, and that another block has made. */
  readonly changesLabels: boolean;
  /**
   * May raise: calls error() or expected(), holds a throw statement, or calls what may raise for some arguments (as
   * BigInt() does), itself or through functions of the grammar. Errors of type, as in `null.x`, and those of trusted
   * functions do not count.
   */
  readonly mayThrow: boolean;
  /** Functions of the grammar that it calls use text(), range(), offset(), location(), error() or expected(). */
  readonly callsForPosition: boolean;
}

export interface Analysis {
  readonly effects: ReadonlyMap<Block, Effects>;
  /** What must not be in a grammar whose code may run twice, or not at all. */
  readonly violations: readonly Violation[];
  /** What the analysis cannot follow; the effects then say nothing. */
  readonly unsupported: readonly Violation[];
}
