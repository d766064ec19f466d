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

/** Rules that nest in each other, and in themselves. */
export interface DepthLimit {
  readonly rules: readonly string[];
  /** How many of them, together, may be open at a time; 0 for none at all. */
  readonly max: number;
}

export interface ContextFreeOptions {
  readonly name: string;
  readonly startRule: string;
  /** Rules that may nest only so deep; one limit after the other is applied. @default none */
  readonly depth?: readonly DepthLimit[] | undefined;
  /** Rules whose conditions in code are covered by `depth`. @default none */
  readonly depthChecks?: readonly string[] | undefined;
}

/**
 * Makes a context-free grammar that matches all texts of a Peggy grammar, and no others except as `approximations`
 * says. Actions are taken to refuse nothing unless they call `error` or `expected`, or throw.
 * @throws TypeError if a rule of another grammar is used
 * @throws RangeError on an unknown start rule or an invalid depth limit
 */
export function contextFree(given: ast.Grammar, options: ContextFreeOptions): ContextFreeGrammar {
  const { name, startRule } = options;
  const grammar = withMergedLetters(given);
  const read = readRules(grammar, new Set(options.depthChecks));
  if (!read.rules.has(startRule)) throw new RangeError(`There is no rule ${startRule}`);
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
 * Merges alternatives of one character into classes where Peggy does so and it matters: the literal `"k"i` matches the
 * Kelvin sign (U+212A), the class `[kx]i` does not.
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

/** By the rules of the grammar, each told once; those of rules that are not used are left out. */
function inOrder(
  approximations: readonly Approximation[],
  grammar: ast.Grammar,
  used: PegRules,
): readonly Approximation[] {
  const told = [...new Map(approximations.map((each) => [JSON.stringify(each), each])).values()];
  const names = grammar.rules.map(({ name }) => name).filter((name) => used.has(name));
  return names.flatMap((name) => told.filter(({ rule }) => rule === name));
}

/**
 * Writes nesting rules once for each level: `value` stands outside of all of them, `value_1` inside of one.
 * @throws RangeError on an unknown rule, or a limit that is not an integer from 0 to 100
 */
function limitDepth(
  rules: ReadonlyMap<string, Pattern>,
  startRule: string,
  limit: DepthLimit,
): ReadonlyMap<string, Pattern> {
  if (!Number.isInteger(limit.max) || limit.max < 0 || limit.max > 100) {
    throw new RangeError(`Nesting can be limited to 0 to 100 levels, not to ${limit.max}`);
  }
  const unknown = limit.rules.find((name) => !rules.has(name));
  if (unknown !== undefined) throw new RangeError(`There is no rule ${unknown} of which the nesting could be limited`);

  const nesting = new Set(limit.rules);
  const leading = rulesWhere(rules, (pattern, isFound) => referencesOf(pattern).some(isFound), nesting);
  const nameAt = namesOf(rules, leading);
  const made: [string, Pattern][] = [];
  for (const [name, pattern] of rules) {
    if (!leading.has(name)) made.push([name, pattern]);
    // The whole text is in no rule: to begin with one that nests is to open it.
    else if (nesting.has(name) && name === startRule) made.push([name, at(0)({ kind: 'rule', name })]);
    if (!leading.has(name)) continue;
    // A rule that nests is inside of itself at least.
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
