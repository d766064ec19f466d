/** A context-free grammar over code points, without order of alternatives, lookahead or code: the intermediate form of all exports. */
import { PegwireError } from '../text/errors.js';

/** A range of code points from `first` to `last`, both included. */
export type CodePointRange = readonly [first: number, last: number];

export type Pattern =
  | { readonly kind: 'literal'; readonly text: string; readonly ignoreCase: boolean }
  /** One code point. The ranges are ascending and do not touch. */
  | { readonly kind: 'set'; readonly ranges: readonly CodePointRange[] }
  /** Without items, the empty text. */
  | { readonly kind: 'sequence'; readonly items: readonly Pattern[] }
  /** Any of the items; without items, no text at all. */
  | { readonly kind: 'choice'; readonly items: readonly Pattern[] }
  /** `max` is null if there is no upper bound. */
  | { readonly kind: 'repeat'; readonly item: Pattern; readonly min: number; readonly max: number | null }
  | { readonly kind: 'rule'; readonly name: string };

/** A parsing expression with Peggy's semantics: ordered alternatives, greedy repetitions. Every pattern is one. */
export type Peg =
  | Kind<'literal'>
  | Kind<'set'>
  | Kind<'rule'>
  | { readonly kind: 'sequence'; readonly items: readonly Peg[] }
  | { readonly kind: 'choice'; readonly items: readonly Peg[] }
  | { readonly kind: 'repeat'; readonly item: Peg; readonly min: number; readonly max: number | null }
  | { readonly kind: 'lookahead'; readonly negative: boolean; readonly item: Peg }
  /** A condition in code. Nothing is known about it. */
  | { readonly kind: 'code' };

export type PegRules = ReadonlyMap<string, Peg>;

/** A reason that the exported language is larger than that of the grammar. */
export interface Approximation {
  /** The stable code of the reason. */
  readonly code: 'predicate' | 'lookahead' | 'order' | 'depth' | 'repetition' | 'surrogates' | 'case' | 'engine';
  /** The rule of the Peggy grammar. */
  readonly rule: string;
  /** One sentence for people. */
  readonly message: string;
}

export interface ContextFreeGrammar {
  readonly name: string;
  readonly startRule: string;
  /** The rules that the start rule reaches, in the order of the Peggy grammar. */
  readonly rules: ReadonlyMap<string, Pattern>;
  /** Empty if the language is exactly that of the grammar. */
  readonly approximations: readonly Approximation[];
}

export type Kind<K extends Pattern['kind']> = Extract<Pattern, { readonly kind: K }>;

export const EMPTY: Kind<'sequence'> = { kind: 'sequence', items: [] };

/** Matches no text at all. */
export const NOTHING: Kind<'choice'> = { kind: 'choice', items: [] };

export function isEmpty(pattern: Pattern): boolean {
  return pattern.kind === 'sequence' && pattern.items.length === 0;
}

export function isNothing(pattern: Pattern): boolean {
  return pattern.kind === 'choice' && pattern.items.length === 0;
}

/** Concatenates patterns and flattens nested sequences. */
export function sequence(items: readonly Pattern[]): Pattern {
  const flat = items.flatMap((item) => (item.kind === 'sequence' ? item.items : [item]));
  if (flat.some(isNothing)) return NOTHING;
  return flat.length === 1 ? flat[0]! : { kind: 'sequence', items: flat };
}

/** Combines alternatives and flattens nested choices. The empty text among them makes the rest optional. */
export function choice(items: readonly Pattern[]): Pattern {
  const flat = items.flatMap((item) => (item.kind === 'choice' ? item.items : [item]));
  const rest = flat.filter((item) => !isEmpty(item));
  const some: Pattern = rest.length === 1 ? rest[0]! : { kind: 'choice', items: rest };
  return rest.length === flat.length ? some : optional(some);
}

export function repeat(item: Pattern, min: number, max: number | null): Pattern {
  if (max === 0 || isEmpty(item)) return EMPTY;
  if (isNothing(item)) return min === 0 ? EMPTY : NOTHING;
  return min === 1 && max === 1 ? item : { kind: 'repeat', item, min, max };
}

export function optional(item: Pattern): Pattern {
  return repeat(item, 0, 1);
}

export function partsOf(pattern: Pattern): readonly Pattern[];
export function partsOf(peg: Peg): readonly Peg[];
export function partsOf(peg: Peg): readonly Peg[] {
  if (peg.kind === 'repeat' || peg.kind === 'lookahead') return [peg.item];
  return peg.kind === 'sequence' || peg.kind === 'choice' ? peg.items : [];
}

/** Drops the lookaheads and the code of an expression. */
export function withoutConditions(peg: Peg): Pattern {
  switch (peg.kind) {
    case 'sequence':
      return sequence(peg.items.map(withoutConditions));
    case 'choice':
      return choice(peg.items.map(withoutConditions));
    case 'repeat':
      return repeat(withoutConditions(peg.item), peg.min, peg.max);
    case 'lookahead':
    case 'code':
      return EMPTY;
    default:
      return peg;
  }
}

/** Rebuilds a pattern from the inside out. `change` gets each part after its own parts have changed. */
export function rebuilt(pattern: Pattern, change: (part: Pattern) => Pattern): Pattern {
  switch (pattern.kind) {
    case 'sequence':
      return change(sequence(pattern.items.map((item) => rebuilt(item, change))));
    case 'choice':
      return change(choice(pattern.items.map((item) => rebuilt(item, change))));
    case 'repeat':
      return change(repeat(rebuilt(pattern.item, change), pattern.min, pattern.max));
    default:
      return change(pattern);
  }
}

/** The rules that an expression refers to, including references in lookaheads. */
export function referencesOf(peg: Peg): string[] {
  return peg.kind === 'rule' ? [peg.name] : partsOf(peg).flatMap(referencesOf);
}

/** Returns `true` if an expression can match the empty text, assuming that lookaheads and code succeed. */
export function isNullable(peg: Peg, isRuleNullable: (name: string) => boolean): boolean {
  switch (peg.kind) {
    case 'literal':
      return peg.text === '';
    case 'set':
      return false;
    case 'rule':
      return isRuleNullable(peg.name);
    case 'sequence':
      return peg.items.every((item) => isNullable(item, isRuleNullable));
    case 'choice':
      return peg.items.some((item) => isNullable(item, isRuleNullable));
    case 'repeat':
      return peg.min === 0 || isNullable(peg.item, isRuleNullable);
    default:
      return true;
  }
}

/** The least set of rules that contains `start` and each rule for which `holds` is true, given the rules found so far. */
export function rulesWhere<P extends Peg>(
  rules: ReadonlyMap<string, P>,
  holds: (peg: P, isFound: (name: string) => boolean) => boolean,
  start: Iterable<string> = [],
): ReadonlySet<string> {
  const found = new Set(start);
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [name, peg] of rules) if (holds(peg, (other) => found.has(other))) found.add(name);
  }
  return found;
}

export function nullableRules(rules: PegRules): ReadonlySet<string> {
  return rulesWhere(rules, isNullable);
}

export function mapRules<P, Q>(rules: ReadonlyMap<string, P>, change: (rule: P) => Q): ReadonlyMap<string, Q> {
  return new Map([...rules].map(([name, rule]) => [name, change(rule)]));
}

export function recursiveRule(rules: ReadonlyMap<string, Pattern>): string | null {
  for (const name of rules.keys()) if (reachedFrom(name, rules).has(name)) return name;
  return null;
}

export function regularRules(rules: ReadonlyMap<string, Pattern>): ReadonlySet<string> {
  const isRecursive = (name: string): boolean => reachedFrom(name, rules).has(name);
  const recursive = new Set([...rules.keys()].filter(isRecursive));
  const others = rulesWhere(rules, (pattern, isFound) => referencesOf(pattern).some(isFound), recursive);
  return new Set([...rules.keys()].filter((name) => !others.has(name)));
}

/** The rules that a rule refers to, directly or through others. */
function reachedFrom(start: string, rules: ReadonlyMap<string, Pattern>): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = referencesOf(rules.get(start)!);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    open.push(...referencesOf(rules.get(name)!));
  }
  return reached;
}

/** The error thrown if a format cannot express a grammar. */
export class ExportError extends PegwireError {
  /** Always `ExportError`. */
  override readonly name: string = 'ExportError';
  /** The stable code of the error. */
  declare readonly code: 'not-context-free' | 'not-regular' | 'too-large' | 'ambiguous' | 'empty-language';
  /** The rule that causes the error; null if it is the grammar as a whole. */
  readonly rule: string | null;

  constructor(code: ExportError['code'], message: string, rule: string | null = null) {
    super({ code, message });
    this.rule = rule;
  }
}
