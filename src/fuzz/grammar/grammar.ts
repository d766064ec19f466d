import type { ast, LocationRange } from 'peggy';
import { type Expression, visitExpression } from './expressions.js';

/** The options of {@link compileGrammar}. */
export interface GrammarOptions {
  /** The name for messages and file names. @default "grammar" */
  readonly name?: string | undefined;
  /** The rule that a whole text must match. @default the first rule */
  readonly startRule?: string | undefined;
  /** Options that are passed to the parser's `parse()`, such as a dialect. @default {} */
  readonly parseOptions?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The known outcomes of rules that consist of a predicate, such as `{ lenient: false }`. Alternatives that require a
   * false one can never match and are removed. @default {}
   */
  readonly gates?: Readonly<Record<string, boolean>> | undefined;
  /**
   * Rules in Peggy's notation that are added to the grammar, or replace rules of the same name. They need not build a
   * tree; the grammar then only accepts and rejects. @default none
   */
  readonly overrides?: string | undefined;
}

/** The result of the grammar's own parser. */
export type ParseResult =
  | {
      /** The text was accepted. */
      readonly ok: true;
      /** The result that the grammar's actions built. */
      readonly value: unknown;
    }
  | {
      /** The text was rejected. */
      readonly ok: false;
      /** The thrown value: a syntax error of Peggy, or an error of the grammar's code. */
      readonly error: unknown;
    };

/** One match of a point in the derivation of a text: a parse tree in terms of the grammar. */
export interface Derivation {
  /** The number of the point, an index into {@link Points.list}. */
  readonly point: number;
  /** The start of the match, in UTF-16 code units. */
  readonly start: number;
  /** The end of the match, exclusive. */
  readonly end: number;
  /** The matches inside of this one, in the order of the text. */
  readonly children: readonly Derivation[];
}

/** A compiled grammar, from which sentences are generated and by which coverage is measured. */
export interface Grammar {
  /** The name, from the options. */
  readonly name: string;
  /** The rule that a whole text must match. */
  readonly startRule: string;
  /** The sources as written: the grammar and, if given, the overrides. `location.source` refers to them by name. */
  readonly sources: readonly { readonly source: string; readonly text: string }[];
  /** The syntax tree of Peggy, with overrides and gates applied and without the rules that the start rule does not reach. */
  readonly ast: ast.Grammar;
  /** The points of the grammar. */
  readonly points: Points;
  /** Parses a text with Peggy's own parser of this grammar. Any error that the code of the grammar throws rejects the text. */
  readonly parse: (text: string) => ParseResult;
  /** Returns `true` if the grammar accepts a text. */
  readonly accepts: (text: string) => boolean;
  /** Returns the derivation of a text; null if the grammar rejects it. */
  readonly derive: (text: string) => Derivation | null;
}

/** The kinds of points: places of a grammar that a text can pass. Coverage counts them, and derivations refer to them. */
export type PointKind =
  /** A match of a rule. */
  | 'rule'
  /** One of the alternatives of a choice. */
  | 'alternative'
  /** A character of a class, or any character. */
  | 'character'
  /** An optional part or a repetition as a whole. Its children are the items and the delimiters between them. */
  | 'repetition'
  | 'item'
  | 'delimiter'
  /** The text that a lookahead has read. It is not part of the match. */
  | 'lookahead';

/** A place of a grammar that a text can pass. */
export interface Point {
  /** The index of the point in {@link Points.list}. */
  readonly number: number;
  /** The kind of the point. */
  readonly kind: PointKind;
  /** The rule that contains it. */
  readonly rule: string;
  /** For an alternative, its index in the choice, starting at 0. */
  readonly index?: number;
  /** For an alternative, the number of alternatives in the choice. */
  readonly total?: number;
  /** The expression at this place. */
  readonly node: Expression;
  /** The place in the source of the grammar. */
  readonly location: LocationRange;
}

/** The points of a grammar. */
export interface Points {
  /** All points, in the order of the grammar. */
  readonly list: readonly Point[];
  /**
   * Returns the number of the point of a kind that belongs to a node of the syntax tree; for `rule`, pass the rule
   * itself. One node may have several points of different kinds.
   */
  readonly numberOf: (node: object, kind: PointKind) => number;
}

/** Numbers the points of a grammar. The same grammar always gets the same numbers. */
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
      if (number === undefined) throw new Error(`The node has no point of the kind "${kind}"`);
      return number;
    },
  };
}
