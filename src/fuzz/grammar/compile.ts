import peggy, { type ast } from 'peggy';
import { PegwireError } from '../../text/errors.js';
import { type Expression, PASSES, rulesByName, visitExpression } from './expressions.js';
import type { Derivation, Grammar, GrammarOptions } from './grammar.js';
import { pointsOf } from './grammar.js';
import { derivingParser } from './instrument.js';

/** A grammar that cannot be used. The message shows the place. */
export class GrammarError extends PegwireError {
  override readonly name: string = 'GrammarError';
  /** Stable: what a program may go by. */
  declare readonly code: 'grammar-syntax' | 'grammar-invalid' | 'grammar-too-deep' | 'unknown-rule';

  constructor(code: GrammarError['code'], message: string, options?: ErrorOptions) {
    super({ code, message }, options);
  }
}

/**
 * Reads and checks a Peggy grammar, and makes parsers of it, each when it is first asked for. Code of the grammar is run: it has
 * to be trusted like any other program.
 *
 * @throws GrammarError when the text is no grammar, has faults that Peggy refuses, imports rules, is too deep, or lacks the start rule
 */
export function compileGrammar(text: string, options: GrammarOptions = {}): Grammar {
  if (typeof text !== 'string') throw new TypeError(`text is the text of a grammar, not ${typeof text}`);
  const { name = 'grammar', parseOptions = {}, gates, overrides } = options;
  const sources = [
    { source: name, text },
    ...(overrides === undefined ? [] : [{ source: 'overrides', text: overrides }]),
  ];
  return told(sources, () => {
    let tree = peggy.parser.parse(text, { grammarSource: name, reservedWords: [] }) as ast.Grammar;
    if (tree.imports.length > 0) {
      throw new GrammarError('grammar-invalid', `${name} imports rules of another grammar, which is not supported`);
    }
    const startRule = options.startRule ?? tree.rules[0]!.name;
    if (overrides !== undefined) tree = withOverrides(tree, overrides);
    if (!tree.rules.some((rule) => rule.name === startRule)) {
      throw new GrammarError('unknown-rule', `There is no rule "${startRule}" in ${name} to start with`);
    }
    const parser = peggy.compiler.compile(structuredClone(tree), PASSES, {
      allowedStartRules: [startRule],
      grammarSource: name,
    });
    if (gates !== undefined) tree = withGates(tree, gates);
    tree = withoutUnused(tree, [startRule]);
    const points = pointsOf(tree);
    let deriving: ReturnType<typeof derivingParser> | undefined;

    const parse = (input: string): ReturnType<Grammar['parse']> => {
      try {
        return { ok: true, value: parser.parse(input, { ...parseOptions }) as unknown };
      } catch (error) {
        return { ok: false, error };
      }
    };
    const derive = (input: string): Derivation | null => {
      deriving ??= derivingParser(tree, points, startRule);
      return deriving(input, parseOptions);
    };
    return { name, startRule, sources, ast: tree, points, parse, accepts: (input) => parse(input).ok, derive };
  });
}

/** Peggy's own errors, with the place in the grammar. */
function told<Result>(sources: readonly { source: string; text: string }[], work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof peggy.parser.SyntaxError) {
      throw new GrammarError('grammar-syntax', thrown.format([...sources]), { cause: thrown });
    }
    if (thrown instanceof peggy.GrammarError) {
      throw new GrammarError('grammar-invalid', thrown.format([...sources]), { cause: thrown });
    }
    // Peggy goes through a grammar by recursion.
    if (thrown instanceof RangeError) {
      throw new GrammarError('grammar-too-deep', `The grammar is too deep: ${thrown.message}`, { cause: thrown });
    }
    throw thrown;
  }
}

function withOverrides(grammar: ast.Grammar, overrides: string): ast.Grammar {
  const given = peggy.parser.parse(overrides, { grammarSource: 'overrides', reservedWords: [] }) as ast.Grammar;
  const replaced = rulesByName(given);
  const kept = grammar.rules.map((rule) => replaced.get(rule.name) ?? rule);
  const names = new Set(grammar.rules.map(({ name }) => name));
  return { ...grammar, rules: [...kept, ...given.rules.filter(({ name }) => !names.has(name))] };
}

/**
 * Resolves rules that are only a predicate by their known outcome; what needs a false one leaves its choices.
 * @throws TypeError if a gate is not a rule, or nothing is left
 */
function withGates(grammar: ast.Grammar, gates: Readonly<Record<string, boolean>>): ast.Grammar {
  const rules = rulesByName(grammar);
  const known = new Map<string, boolean>();
  for (const [name, outcome] of Object.entries(gates)) {
    if (!rules.has(name)) throw new TypeError(`There is no rule "${name}" in the grammar to be a gate`);
    known.set(name, outcome);
  }
  // A rule that needs a false one can never match either: until nothing new comes up.
  let bodies = new Map<string, Expression | null>();
  for (let changed = true; changed; ) {
    changed = false;
    bodies = new Map();
    for (const { name, expression } of grammar.rules) {
      if (known.has(name)) continue;
      const body = resolved(expression, known);
      bodies.set(name, body);
      if (body === null) {
        known.set(name, false);
        changed = true;
      }
    }
  }
  const kept = grammar.rules.flatMap((rule) => {
    const expression = bodies.get(rule.name);
    return expression ? [{ ...rule, expression } as ast.Rule] : [];
  });
  if (kept.length === 0) throw new TypeError('With these gates, the grammar matches nothing');
  return { ...grammar, rules: kept };
}

/** An expression without what depends on the known rules; null where it can never match. */
function resolved(node: Expression, known: ReadonlyMap<string, boolean>): Expression | null {
  switch (node.type) {
    case 'rule_ref':
      return known.get(node.name) === false ? null : node;
    case 'choice': {
      const alternatives = node.alternatives.flatMap((one) => resolved(one, known) ?? []);
      const [only] = alternatives;
      if (only === undefined) return null;
      return alternatives.length === 1 ? asElement(only) : ({ ...node, alternatives } as ast.Choice);
    }
    case 'sequence': {
      const elements: Expression[] = [];
      for (const element of node.elements) {
        // A true one matches nothing, and always.
        if (element.type === 'rule_ref' && known.get(element.name) === true) continue;
        const kept = resolved(element, known);
        if (kept === null) return null;
        elements.push(kept);
      }
      const [only] = elements;
      if (elements.length === 1 && only?.type !== 'labeled') return only!;
      return { ...node, elements } as ast.Sequence;
    }
    case 'simple_not': {
      const expression = resolved(node.expression, known);
      return expression === null ? emptyText(node) : ({ ...node, expression } as ast.Expression);
    }
    case 'optional':
    case 'zero_or_more': {
      const expression = resolved(node.expression, known);
      return expression === null ? emptyText(node) : ({ ...node, expression } as ast.Expression);
    }
    case 'repeated': {
      const expression = resolved(node.expression, known);
      const delimiter = node.delimiter && resolved(node.delimiter, known);
      return expression === null ? null : ({ ...node, expression, delimiter } as ast.Expression);
    }
    case 'library_ref':
    case 'literal':
    case 'class':
    case 'any':
    case 'semantic_and':
    case 'semantic_not':
      return node;
    default: {
      const expression = resolved(node.expression, known);
      return expression === null ? null : ({ ...node, expression } as Expression);
    }
  }
}

/** An alternative that takes the place of its choice. In parentheses, its labels stay its own. */
function asElement(node: Expression): Expression {
  return { type: 'group', expression: node, location: node.location } as ast.Group;
}

function emptyText({ location }: Expression): Expression {
  return { type: 'literal', value: '', ignoreCase: false, location } as ast.Literal;
}

function withoutUnused(grammar: ast.Grammar, startRules: readonly string[]): ast.Grammar {
  const rules = rulesByName(grammar);
  const reached = new Set<string>();
  const reach = (name: string): void => {
    const rule = rules.get(name);
    if (rule === undefined || reached.has(name)) return;
    reached.add(name);
    visitExpression(rule.expression, (node) => {
      if (node.type === 'rule_ref') reach(node.name);
    });
  };
  for (const name of startRules) reach(name);
  return { ...grammar, rules: grammar.rules.filter(({ name }) => reached.has(name)) };
}
