/** `compileGrammar`: from the text of a Peggy grammar to what all tools work with. */
import peggy, { type ast } from 'peggy';
import { PegwireError } from '../../text/errors.js';
import type { Derivation, Grammar, GrammarOptions } from './grammar.js';
import { PASSES } from './halved-choices.js';
import { derivingParser } from './instrument.js';
import { withGates, withOverlay, withoutUnused } from './narrow.js';
import { pointsOf } from './points.js';

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
  const { name = 'grammar', parseOptions = {}, gates, overlay } = options;
  const sources = [{ source: name, text }, ...(overlay === undefined ? [] : [{ source: 'overlay', text: overlay }])];
  return told(sources, () => {
    let tree = peggy.parser.parse(text, { grammarSource: name, reservedWords: [] }) as ast.Grammar;
    if (tree.imports.length > 0) {
      throw new GrammarError('grammar-invalid', `${name} imports rules of another grammar, which is not supported`);
    }
    const startRule = options.startRule ?? tree.rules[0]!.name;
    if (overlay !== undefined) tree = withOverlay(tree, overlay);
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
