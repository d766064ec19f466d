import peggy, { type ast } from 'peggy';
import { PegwireError } from '../../text/errors.js';
import { type Expression, PASSES, rulesByName, visitExpression } from './expressions.js';
import type { Derivation, Grammar, GrammarOptions } from './grammar.js';
import { pointsOf } from './grammar.js';
import { derivingParser } from './instrument.js';

/** The error thrown if a grammar cannot be used. The message shows the place in the grammar. */
export class GrammarError extends PegwireError {
  /** Always `GrammarError`. */
  override readonly name: string = 'GrammarError';
  /** The stable code of the error. */
  declare readonly code: 'grammar-syntax' | 'grammar-invalid' | 'grammar-too-deep' | 'unknown-rule';

  constructor(code: GrammarError['code'], message: string, options?: ErrorOptions) {
    super({ code, message }, options);
  }
}

/**
 * Compiles a Peggy grammar for the tools: parses and checks it, and creates the parsers on first use. Parsers execute the
 * code of the grammar, so use only grammars that you trust; they throw a GrammarError if the code cannot be executed.
 *
 * @throws GrammarError if the text is not a valid grammar, imports rules, is nested too deeply, or lacks the start rule
 * @throws TypeError if an option is invalid
 * @example
 * compileGrammar('bits = [01]+').accepts('0110'); // true
 */
export function compileGrammar(text: string, options: GrammarOptions = {}): Grammar {
  if (typeof text !== 'string') throw new TypeError(`text must be a string; got ${typeof text}`);
  const { name = 'grammar', parseOptions = {}, gates, overrides } = options;
  const sources = [
    { source: name, text },
    ...(overrides === undefined ? [] : [{ source: 'overrides', text: overrides }]),
  ];
  return withGrammarErrors(sources, () => {
    let tree = peggy.parser.parse(text, { grammarSource: name, reservedWords: [] }) as ast.Grammar;
    if (tree.imports.length > 0) {
      throw new GrammarError(
        'grammar-invalid',
        `${name} imports rules of another grammar; imports are not supported, so copy the rules`,
      );
    }
    const startRule = options.startRule ?? tree.rules[0]!.name;
    if (overrides !== undefined) tree = withOverrides(tree, overrides);
    if (!tree.rules.some((rule) => rule.name === startRule)) {
      throw new GrammarError('unknown-rule', `${name} has no rule "${startRule}"; startRule must be one of its rules`);
    }
    const compiled = structuredClone(tree);
    const settings: peggy.ParserBuildOptions = { allowedStartRules: [startRule], grammarSource: name };
    // Checks the grammar, and leaves its code to the first parse.
    peggy.compiler.compile(structuredClone(tree), { ...PASSES, generate: [] }, { ...settings, output: 'ast' } as never);
    if (gates !== undefined) tree = withGates(tree, gates);
    tree = withoutUnused(tree, [startRule]);
    const points = pointsOf(tree);
    let parser: peggy.Parser | undefined;
    let deriving: ReturnType<typeof derivingParser> | undefined;

    const parse = (input: string): ReturnType<Grammar['parse']> => {
      parser ??= running(name, sources, () => peggy.compiler.compile(compiled, PASSES, settings));
      try {
        return { ok: true, value: parser.parse(input, { ...parseOptions }) as unknown };
      } catch (error) {
        return { ok: false, error };
      }
    };
    const derive = (input: string): Derivation | null => {
      deriving ??= running(name, sources, () => derivingParser(tree, points, startRule));
      return deriving(input, parseOptions);
    };
    return { name, startRule, sources, ast: tree, points, parse, accepts: (input) => parse(input).ok, derive };
  });
}

/** Creates a parser, which executes the top-level code of the grammar. */
function running<Result>(name: string, sources: Grammar['sources'], create: () => Result): Result {
  return withGrammarErrors(sources, () => {
    try {
      return create();
    } catch (thrown) {
      if (thrown instanceof GrammarError || thrown instanceof peggy.GrammarError || thrown instanceof RangeError)
        throw thrown;
      const message = `The code of ${name} cannot be executed here: ${String(thrown)}. It must be JavaScript without imports`;
      throw new GrammarError('grammar-invalid', message, { cause: thrown });
    }
  });
}

/** Converts Peggy's errors to {@link GrammarError}, with the place in the grammar. */
function withGrammarErrors<Result>(sources: readonly { source: string; text: string }[], work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof peggy.parser.SyntaxError) {
      throw new GrammarError('grammar-syntax', thrown.format([...sources]), { cause: thrown });
    }
    if (thrown instanceof peggy.GrammarError) {
      throw new GrammarError('grammar-invalid', thrown.format([...sources]), { cause: thrown });
    }
    // Peggy traverses grammars recursively.
    if (thrown instanceof RangeError) {
      throw new GrammarError('grammar-too-deep', `The grammar is nested too deeply: ${thrown.message}`, {
        cause: thrown,
      });
    }
    throw thrown;
  }
}

function withOverrides(grammar: ast.Grammar, overrides: string): ast.Grammar {
  const added = peggy.parser.parse(overrides, { grammarSource: 'overrides', reservedWords: [] }) as ast.Grammar;
  const replaced = rulesByName(added);
  const merged = grammar.rules.map((rule) => replaced.get(rule.name) ?? rule);
  const names = new Set(grammar.rules.map(({ name }) => name));
  return { ...grammar, rules: [...merged, ...added.rules.filter(({ name }) => !names.has(name))] };
}

/**
 * Resolves rules that consist of a predicate by their known outcome, and removes the alternatives that can no longer
 * match.
 *
 * @throws TypeError if a gate is not a rule, or if nothing is left
 */
function withGates(grammar: ast.Grammar, gates: Readonly<Record<string, boolean>>): ast.Grammar {
  const rules = rulesByName(grammar);
  const known = new Map<string, boolean>();
  for (const [name, outcome] of Object.entries(gates)) {
    if (!rules.has(name)) throw new TypeError(`gates: the grammar has no rule "${name}"`);
    known.set(name, outcome);
  }
  // A rule that requires a false gate can never match either. Repeat until nothing changes.
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
  const remaining = grammar.rules.flatMap((rule) => {
    const expression = bodies.get(rule.name);
    return expression ? [{ ...rule, expression } as ast.Rule] : [];
  });
  if (remaining.length === 0) throw new TypeError('gates: the grammar no longer matches any text');
  return { ...grammar, rules: remaining };
}

/** Simplifies an expression by the known rules; null if it can never match. */
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
        // A true gate always matches the empty text.
        if (element.type === 'rule_ref' && known.get(element.name) === true) continue;
        const part = resolved(element, known);
        if (part === null) return null;
        elements.push(part);
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

/** An alternative in the place of its choice. The parentheses keep the scope of its labels. */
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
