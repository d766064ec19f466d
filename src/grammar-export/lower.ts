import peggy, { type ast } from 'peggy';
import { alphabetOf } from './automata/alphabet.js';
import { differsAsClass } from './characters.js';
import { toCodePoints } from './code-points.js';
import {
  type Approximation,
  type ContextFreeGrammar,
  nullableRules,
  type Pattern,
  type PegRules,
  referencesOf,
} from './context-free.js';
import { type DepthLimit, limitDepth } from './depth.js';
import { factsOf } from './prove/facts.js';
import { proverOf } from './prove/prover.js';
import { tailsOf } from './prove/tails.js';
import { toPatterns, withRuns } from './prove/to-patterns.js';
import { withoutSimpleLookaheads } from './read/lookaheads.js';
import { readRules } from './read/read.js';
import { simplify } from './simplify.js';

export interface ContextFreeOptions {
  readonly name: string;
  readonly startRule: string;
  /** Rules that may nest only so deep; one limit after the other is applied. @default none */
  readonly depth?: readonly DepthLimit[] | undefined;
  /** Rules whose conditions in code are covered by `depth`. @default none */
  readonly settled?: readonly string[] | undefined;
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
  const read = readRules(grammar, new Set(options.settled));
  const used = reached(read.rules, startRule);
  const empty = nullableRules(used);
  const simple = withoutSimpleLookaheads(used, (rule) => empty.has(rule));
  const judged = judgedRules(reached(simple, startRule), startRule);
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

function reached(rules: PegRules, startRule: string): PegRules {
  const found = new Set<string>();
  const open = [startRule];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const peg = rules.get(name);
    if (peg === undefined) throw new RangeError(`There is no rule ${name}`);
    open.push(...referencesOf(peg));
  }
  return new Map([...rules].filter(([name]) => found.has(name)));
}

/** By the rules of the grammar, each told once; those of rules that are not used are left out. */
function inOrder(
  approximations: readonly Approximation[],
  grammar: ast.Grammar,
  used: PegRules,
): readonly Approximation[] {
  const told = new Map<string, Approximation[]>();
  for (const one of new Map(approximations.map((each) => [JSON.stringify(each), each])).values()) {
    const known = told.get(one.rule);
    if (known === undefined) told.set(one.rule, [one]);
    else known.push(one);
  }
  return grammar.rules.filter((rule) => used.has(rule.name)).flatMap((rule) => told.get(rule.name) ?? []);
}
