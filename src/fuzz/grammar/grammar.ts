/** A Peggy grammar made ready for tools: read, narrowed, checked, and with a parser that tells how it has read a text. */
import type { ast } from 'peggy';
import type { Points } from './points.js';

/** How a grammar is taken. */
export interface GrammarOptions {
  /** For messages and file names. @default "grammar" */
  readonly name?: string | undefined;
  /** @default the first rule */
  readonly startRule?: string | undefined;
  /** Options for the parser's `parse()`, such as a dialect. @default {} */
  readonly parseOptions?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Rules that are nothing but a predicate whose outcome is known under `parseOptions`, such as `{ lenient: false }`: what a
   * false one stands before can never match, and is left out. @default {}
   */
  readonly gates?: Readonly<Record<string, boolean>> | undefined;
  /**
   * Rules in Peggy's notation that replace those of the same name, or are new. They may build no trees: such a grammar is for
   * telling valid texts from others. @default none
   */
  readonly overlay?: string | undefined;
}

/** What the grammar's own parser says of a text. */
export type Verdict = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

/** One match of a rule or of a part of it, in the derivation of a text. */
export interface Derivation {
  /** Number of the point of the grammar; see `points.ts`. */
  readonly point: number;
  /** In UTF-16 code units, `end` excluded. */
  readonly start: number;
  readonly end: number;
  readonly children: readonly Derivation[];
}

export interface Grammar {
  readonly name: string;
  readonly startRule: string;
  /** What it was made of, as written: the grammar and, where there is one, the overlay. `location.source` names them. */
  readonly sources: readonly { readonly source: string; readonly text: string }[];
  /** The Peggy syntax tree: overlay and gates applied, rules that the start rule does not reach left out. */
  readonly ast: ast.Grammar;
  readonly points: Points;
  /** Reads a text with Peggy's own parser of this grammar. Whatever code of the grammar throws is a refusal, too. */
  readonly parse: (text: string) => Verdict;
  readonly accepts: (text: string) => boolean;
  /** How a text is derived; null where it is refused. */
  readonly derive: (text: string) => Derivation | null;
}
