import type { ast, LocationRange } from 'peggy';
import { type Expression, visitExpression } from './expressions.js';

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
  readonly overrides?: string | undefined;
}

/** What the grammar's own parser says of a text. */
export type ParseResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: unknown };

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
  readonly parse: (text: string) => ParseResult;
  readonly accepts: (text: string) => boolean;
  /** How a text is derived; null where it is refused. */
  readonly derive: (text: string) => Derivation | null;
}

/** The places of a grammar that a text can pass: what coverage counts, and what derivations are told in. */
export type PointKind =
  /** A match of a rule. */
  | 'rule'
  /** One of the alternatives of a choice. */
  | 'alternative'
  /** A character of a class, or any character. */
  | 'character'
  /** An optional part or a repetition as a whole: its children are the items, and the delimiters between them. */
  | 'repetition'
  | 'item'
  | 'delimiter'
  /** What a lookahead saw: it takes no part in the text. */
  | 'lookahead';

export interface Point {
  readonly number: number;
  readonly kind: PointKind;
  /** The rule that it stands in. */
  readonly rule: string;
  /** Of an alternative, which one of how many it is, from 0. */
  readonly index?: number;
  readonly total?: number;
  /** What stands there in the grammar. */
  readonly node: Expression;
  readonly location: LocationRange;
}

export interface Points {
  readonly list: readonly Point[];
  /** By nodes of the syntax tree; of a rule, the rule itself. One node may be several points, of different kinds. */
  readonly numberOf: (node: object, kind: PointKind) => number;
}

/** Numbers the points of a grammar. The same grammar always gives the same numbers. */
export function pointsOf(grammar: ast.Grammar): Points {
  const list: Point[] = [];
  const numbers = new Map<object, Map<PointKind, number>>();
  const add = (owner: object, point: Omit<Point, 'number'>): void => {
    const number = list.length;
    list.push({ ...point, number });
    const own = numbers.get(owner) ?? new Map<PointKind, number>();
    numbers.set(owner, own.set(point.kind, number));
  };
  for (const rule of grammar.rules) {
    add(rule, { kind: 'rule', rule: rule.name, node: rule.expression, location: rule.nameLocation });
    visitExpression(rule.expression, (node) => {
      const own = { rule: rule.name, node, location: node.location };
      switch (node.type) {
        case 'choice':
          for (const [index, alternative] of node.alternatives.entries()) {
            const total = node.alternatives.length;
            const { location } = alternative;
            add(alternative, { kind: 'alternative', rule: rule.name, index, total, node: alternative, location });
          }
          break;
        case 'class':
        case 'any':
          add(node, { ...own, kind: 'character' });
          break;
        case 'optional':
        case 'zero_or_more':
        case 'one_or_more':
        case 'repeated':
          add(node, { ...own, kind: 'repetition' });
          add(node, { ...own, kind: 'item' });
          if (node.type === 'repeated' && node.delimiter !== null) {
            const { delimiter } = node;
            add(node, { kind: 'delimiter', rule: rule.name, node: delimiter, location: delimiter.location });
          }
          break;
        case 'simple_and':
        case 'simple_not':
          add(node, { ...own, kind: 'lookahead' });
          break;
      }
    });
  }
  return {
    list,
    numberOf: (node, kind) => {
      const number = numbers.get(node)?.get(kind);
      if (number === undefined) throw new Error(`This node has no point of the kind "${kind}"`);
      return number;
    },
  };
}
