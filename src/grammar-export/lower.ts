import peggy, { type ast } from 'peggy';
import { alphabetOf } from './automata/alphabet.js';
import { differsAsClass } from './characters.js';
import { toCodePoints } from './code-points.js';
import {
  type Approximation,
  type ContextFreeGrammar,
  NOTHING,
  nullableRules,
  type Pattern,
  type PegRules,
  rebuilt,
  referencesOf,
  rulesWhere,
} from './context-free.js';
import { factsOf } from './prove/facts.js';
import { proverOf } from './prove/prover.js';
import { tailsOf } from './prove/tails.js';
import { toPatterns, withRuns } from './prove/to-patterns.js';
import { withoutSimpleLookaheads } from './read/lookaheads.js';
import { readRules } from './read/read.js';
import { simplify } from './simplify.js';
import { reachedRules } from './tidy.js';

/** A nesting limit for rules that contain each other or themselves. */
export interface DepthLimit {
  readonly rules: readonly string[];
  /** The maximum number of these rules that may be open at the same time, together; 0 to exclude them. */
  readonly max: number;
}

export interface ContextFreeOptions {
  readonly name: string;
  readonly startRule: string;
  /** Nesting limits, applied one after the other. @default none */
  readonly depth?: readonly DepthLimit[] | undefined;
  /** Rules whose conditions in code the `depth` limits replace. @default none */
  readonly depthChecks?: readonly string[] | undefined;
}

/**
 * Makes a context-free grammar that matches all texts of a Peggy grammar, and no others except by its `approximations`.
 * An action is assumed to accept unless it calls `error` or `expected`, or throws.
 *
 * @throws TypeError if a rule of another grammar is used
 * @throws RangeError if the start rule is unknown or a depth limit is invalid
 */
export function contextFree(given: ast.Grammar, options: ContextFreeOptions): ContextFreeGrammar {
  const { name, startRule } = options;
  const grammar = withMergedLetters(given);
  const read = readRules(grammar, new Set(options.depthChecks));
  if (!read.rules.has(startRule)) throw new RangeError(`startRule must be a rule of the grammar; got ${startRule}`);
  const used = reachedRules(read.rules, startRule);
  const empty = nullableRules(used);
  const simple = withoutSimpleLookaheads(used, (rule) => empty.has(rule));
  const judged = judgedRules(reachedRules(simple, startRule), startRule);
  const characters = toCodePoints(judged.rules, startRule);
  let patterns = characters.rules;
  for (const limit of options.depth ?? []) patterns = limitDepth(patterns, startRule, limit);
  const rules = simplify(patterns, startRule);
  const approximations = [...read.approximations, ...judged.approximations, ...characters.approximations];
  return { name, startRule, rules, approximations: inOrder(approximations, grammar, used) };
}

/**
 * Merges alternatives of one character into classes where Peggy does so and the result differs: the literal `"k"i`
 * matches the Kelvin sign (U+212A), the class `[kx]i` does not.
 */
function withMergedLetters(grammar: ast.Grammar): ast.Grammar {
  let differs = false;
  JSON.stringify(grammar.rules, (_key, node: unknown) => {
    const { type, value, ignoreCase } = (node ?? {}) as Partial<ast.Literal>;
    if (type === 'literal' && ignoreCase === true && [...value!].length === 1) differs ||= differsAsClass(value!);
    return node;
  });
  const merge = peggy.compiler.passes.transform.find((pass) => pass.name === 'mergeCharacterClasses');
  if (!differs || merge === undefined) return grammar;
  const merged = structuredClone(grammar);
  merge(merged, {} as never, { info() {} } as never);
  return merged;
}

function judgedRules(
  given: PegRules,
  startRule: string,
): { readonly rules: ReadonlyMap<string, Pattern>; readonly approximations: readonly Approximation[] } {
  const alphabet = alphabetOf(given.values(), 'code-unit');
  const rules = withRuns(given, factsOf(given, alphabet).isRegular);
  const facts = factsOf(rules, alphabet);
  const prover = proverOf(rules, facts, alphabet, tailsOf(rules, startRule, facts, alphabet));
  return toPatterns(rules, startRule, prover, facts, alphabet);
}

/** Sorts approximations by the rules of the grammar and removes duplicates and those of unused rules. */
function inOrder(
  approximations: readonly Approximation[],
  grammar: ast.Grammar,
  used: PegRules,
): readonly Approximation[] {
  const unique = [...new Map(approximations.map((each) => [JSON.stringify(each), each])).values()];
  const names = grammar.rules.map(({ name }) => name).filter((name) => used.has(name));
  return names.flatMap((name) => unique.filter(({ rule }) => rule === name));
}

/**
 * Expands nesting rules into one copy for each level: `value` is outside of all of them, `value_1` inside of one.
 *
 * @throws RangeError if a rule is unknown, or a limit is not an integer from 0 to 100
 */
function limitDepth(
  rules: ReadonlyMap<string, Pattern>,
  startRule: string,
  limit: DepthLimit,
): ReadonlyMap<string, Pattern> {
  if (!Number.isInteger(limit.max) || limit.max < 0 || limit.max > 100) {
    throw new RangeError(`depth.max must be an integer from 0 to 100; got ${limit.max}`);
  }
  const unknown = limit.rules.find((name) => !rules.has(name));
  if (unknown !== undefined) throw new RangeError(`depth.rules must be rules of the grammar; got ${unknown}`);

  const nesting = new Set(limit.rules);
  const leading = rulesWhere(rules, (pattern, isFound) => referencesOf(pattern).some(isFound), nesting);
  const nameAt = namesOf(rules, leading);
  const made: [string, Pattern][] = [];
  for (const [name, pattern] of rules) {
    if (!leading.has(name)) made.push([name, pattern]);
    // The whole text is outside of all rules: a start rule that nests opens the first level.
    else if (nesting.has(name) && name === startRule) made.push([name, at(0)({ kind: 'rule', name })]);
    if (!leading.has(name)) continue;
    // A rule that nests is at least inside of itself.
    for (let level = nesting.has(name) ? 1 : 0; level <= limit.max; level++) {
      made.push([nameAt(name, level), at(level)(pattern)]);
    }
  }
  return new Map(made);

  function at(level: number): (pattern: Pattern) => Pattern {
    return (pattern) =>
      rebuilt(pattern, (part) => {
        if (part.kind !== 'rule' || !leading.has(part.name)) return part;
        if (!nesting.has(part.name)) return { kind: 'rule', name: nameAt(part.name, level) };
        return level === limit.max ? NOTHING : { kind: 'rule', name: nameAt(part.name, level + 1) };
      });
  }
}

function namesOf(
  rules: ReadonlyMap<string, Pattern>,
  leading: ReadonlySet<string>,
): (name: string, level: number) => string {
  let mark = '_';
  const numbered = /^\d+$/;
  const clashes = (): boolean =>
    [...leading].some((name) =>
      [...rules.keys()].some(
        (other) => other.startsWith(name + mark) && numbered.test(other.slice(name.length + mark.length)),
      ),
    );
  while (clashes()) mark += '_';
  return (name, level) => (level === 0 ? name : `${name}${mark}${level}`);
}
