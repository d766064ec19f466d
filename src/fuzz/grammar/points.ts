/** The places of a grammar that a text can pass: what coverage counts, and what derivations are told in. */
import type { ast, LocationRange } from 'peggy';
import { type Expression, visitExpression } from './expressions.js';

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
  readonly of?: number;
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
            const of = node.alternatives.length;
            const { location } = alternative;
            add(alternative, { kind: 'alternative', rule: rule.name, index, of, node: alternative, location });
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
