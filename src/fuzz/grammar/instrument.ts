/**
 * Creates a parser that records the derivation of a text. Each point of the grammar is surrounded by three predicates
 * that match the empty text: one opens an entry in a log, one closes it, and one discards it on failure. The code of
 * the grammar does not notice, unless it asks for its position in the bounds of a repetition or reads Peggy's internal
 * variables.
 */
import peggy, { type ast } from 'peggy';
import { type Expression, PASSES } from './expressions.js';
import type { Derivation, PointKind, Points } from './grammar.js';

/** The log of the predicates. Each method returns the outcome of its predicate. */
interface Log {
  readonly open: (point: number, at: number) => true;
  readonly close: (at: number) => true;
  readonly fail: () => false;
}

/** The option of `parse()` that passes the log to the predicates. */
const OPTION = 'peg$log';

/** Creates a function that returns the derivation of a text, or null if the grammar rejects it. */
export function derivingParser(
  grammar: ast.Grammar,
  points: Points,
  startRule: string,
): (text: string, options: Readonly<Record<string, unknown>>) => Derivation | null {
  // Peggy has checked the original grammar. The check would fail on the predicates.
  const prepare = PASSES.prepare.filter(({ name }) => name !== 'reportInfiniteRecursion');
  const parser = peggy.compiler.compile(
    // Peggy modifies the tree that it compiles.
    structuredClone(instrumented(grammar, points)),
    { ...PASSES, prepare, check: [], semantic: [] },
    { allowedStartRules: [startRule] },
  );
  return (text, options) => {
    const log = new DerivationLog();
    try {
      parser.parse(text, { ...options, [OPTION]: log });
    } catch {
      // A syntax error, or an error of the grammar's code. Both reject the text.
      return null;
    }
    return log.result();
  };
}

interface OpenDerivation extends Derivation {
  end: number;
  readonly children: Derivation[];
}

class DerivationLog implements Log {
  readonly #open: OpenDerivation[] = [{ point: -1, start: 0, end: 0, children: [] }];

  readonly open = (point: number, start: number): true => {
    this.#open.push({ point, start, end: start, children: [] });
    return true;
  };

  readonly close = (end: number): true => {
    const done = this.#open.pop()!;
    done.end = end;
    this.#open.at(-1)!.children.push(done);
    return true;
  };

  readonly fail = (): false => {
    this.#open.pop();
    return false;
  };

  result(): Derivation {
    return this.#open[0]!.children[0]!;
  }
}

function instrumented(grammar: ast.Grammar, points: Points): ast.Grammar {
  const given = grammar.initializer;
  const initializer = {
    type: 'initializer',
    code: `const peg$log = options.${OPTION};`,
    codeLocation: grammar.location,
    location: grammar.location,
  } as ast.Initializer;
  const initializers = [initializer, ...(given ? [given].flat() : [])];
  const rules = grammar.rules.map((rule) => {
    const { expression } = rule;
    const number = points.numberOf(rule, 'rule');
    const own =
      expression.type === 'named'
        ? { ...expression, expression: marked(number, rewritten(expression.expression, points)) }
        : marked(number, rewritten(expression, points));
    return { ...rule, expression: own } as ast.Rule;
  });
  return {
    ...grammar,
    initializer: initializers as unknown as ast.Initializer,
    rules: [...rules, ...predicateRules(grammar, points)],
  };
}

/**
 * Instruments an expression. Nothing may stand between an action and its sequence, or a sequence and its labels: the
 * code would lose its labels.
 */
function rewritten(node: Expression, points: Points): Expression {
  const at = (kind: PointKind, inner: Expression): Expression => marked(points.numberOf(node, kind), inner);
  switch (node.type) {
    case 'choice': {
      const alternatives = node.alternatives.map((one) =>
        marked(points.numberOf(one, 'alternative'), rewritten(one, points)),
      );
      return { ...node, alternatives } as ast.Choice;
    }
    case 'sequence':
      return { ...node, elements: node.elements.map((one) => rewritten(one, points)) } as ast.Sequence;
    case 'class':
    case 'any':
      return at('character', node);
    case 'optional':
    case 'zero_or_more':
    case 'one_or_more':
      return at('repetition', { ...node, expression: at('item', rewritten(node.expression, points)) } as Expression);
    case 'repeated': {
      const expression = at('item', rewritten(node.expression, points));
      const delimiter = node.delimiter && at('delimiter', rewritten(node.delimiter, points));
      return at('repetition', { ...node, expression, delimiter } as Expression);
    }
    case 'simple_and':
    case 'simple_not':
      return { ...node, expression: at('lookahead', rewritten(node.expression, points)) } as Expression;
    case 'rule_ref':
    case 'library_ref':
    case 'literal':
    case 'semantic_and':
    case 'semantic_not':
      return node;
    default:
      return { ...node, expression: rewritten(node.expression, points) } as Expression;
  }
}

/**
 * `(open @part close / fail)`. The predicates are rules because Peggy would pass all labels in scope to an inline one,
 * which fails in a repetition with a delimiter.
 */
function marked(point: number, part: Expression): Expression {
  const { location } = part;
  const call = (name: string): Expression => ({ type: 'rule_ref', name, location }) as Expression;
  const value = { type: 'labeled', label: null, pick: true, labelLocation: location, expression: part, location };
  const alternatives = [
    { type: 'sequence', elements: [call(opening(point)), value, call(CLOSE)], location },
    call(FAIL),
  ];
  const choice = { type: 'choice', alternatives, location };
  return { type: 'group', expression: choice, location } as unknown as Expression;
}

const CLOSE = 'peg$close';
const FAIL = 'peg$fail';

function opening(point: number): string {
  return `peg$open${point}`;
}

function predicateRules({ location }: ast.Grammar, points: Points): ast.Rule[] {
  const rule = (name: string, code: string): ast.Rule => {
    const expression = { type: 'semantic_and', code: `return peg$log.${code};`, codeLocation: location, location };
    return { type: 'rule', name, nameLocation: location, expression, location } as unknown as ast.Rule;
  };
  return [
    ...points.list.map(({ number }) => rule(opening(number), `open(${number}, peg$currPos)`)),
    rule(CLOSE, 'close(peg$currPos)'),
    rule(FAIL, 'fail()'),
  ];
}
