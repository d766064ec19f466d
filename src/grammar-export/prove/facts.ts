import type { Alphabet } from '../automata/alphabet.js';
import { isNullable, nullableRules, type Peg, type PegRules, partsOf, referencesOf } from '../context-free.js';

/** The maximum number of parts of a rule, with all rules that it refers to expanded, up to which it is expanded itself. */
const LARGEST = 250;

export interface Facts {
  readonly nullable: (peg: Peg) => boolean;
  readonly first: (peg: Peg) => ReadonlySet<number>;
  readonly isSingle: (peg: Peg) => boolean;
  /** Returns `true` if no rule within is recursive, and all of it is small enough to be expanded. */
  readonly isRegular: (peg: Peg) => boolean;
}

export function factsOf(rules: PegRules, alphabet: Alphabet): Facts {
  const empty = nullableRules(rules);
  const nullable = (peg: Peg): boolean => isNullable(peg, (name) => empty.has(name));
  const sizes = sizesOf(rules);
  const firsts = firstsOf(rules, nullable, alphabet);
  return {
    nullable,
    first: (peg) => {
      const found = new Set<number>();
      addFirst(peg, found, nullable, alphabet, (name) => firsts.get(name)!);
      return found;
    },
    isSingle: (peg) => isSingle(peg, rules, new Set()),
    isRegular: (peg) => referencesOf(peg).every((name) => sizes.get(name)! <= LARGEST),
  };
}

function isSingle(peg: Peg, rules: PegRules, open: ReadonlySet<string>): boolean {
  switch (peg.kind) {
    case 'set':
      return true;
    case 'literal':
      return peg.text.length === 1;
    case 'choice':
      return peg.items.every((item) => isSingle(item, rules, open));
    case 'rule':
      return !open.has(peg.name) && isSingle(rules.get(peg.name)!, rules, new Set([...open, peg.name]));
    default:
      return false;
  }
}

function firstsOf(
  rules: PegRules,
  nullable: (peg: Peg) => boolean,
  alphabet: Alphabet,
): ReadonlyMap<string, ReadonlySet<number>> {
  const firsts = new Map([...rules.keys()].map((name) => [name, new Set<number>()]));
  for (let changed = true; changed; ) {
    changed = false;
    for (const [name, peg] of rules) {
      const found = firsts.get(name)!;
      const before = found.size;
      addFirst(peg, found, nullable, alphabet, (other) => firsts.get(other)!);
      changed ||= found.size > before;
    }
  }
  return firsts;
}

function addFirst(
  peg: Peg,
  found: Set<number>,
  nullable: (peg: Peg) => boolean,
  alphabet: Alphabet,
  ofRule: (name: string) => ReadonlySet<number>,
): void {
  const add = (part: Peg): void => addFirst(part, found, nullable, alphabet, ofRule);
  switch (peg.kind) {
    case 'set':
      for (const symbol of alphabet.symbolsOf(peg.ranges)) found.add(symbol);
      break;
    case 'literal':
      for (const symbol of alphabet.spelled(peg)[0] ?? []) found.add(symbol);
      break;
    case 'rule':
      for (const symbol of ofRule(peg.name)) found.add(symbol);
      break;
    case 'choice':
      peg.items.forEach(add);
      break;
    case 'repeat':
      if (peg.max !== 0) add(peg.item);
      break;
    case 'sequence':
      for (const item of peg.items) {
        add(item);
        if (!nullable(item)) break;
      }
      break;
    default:
  }
}

function sizesOf(rules: PegRules): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  const open = new Set<string>();
  const ofRule = (name: string): number => {
    if (open.has(name)) return Number.POSITIVE_INFINITY;
    const known = sizes.get(name);
    if (known !== undefined) return known;
    open.add(name);
    const size = ofPeg(rules.get(name)!);
    open.delete(name);
    // A result computed inside of a cycle is right if the computation ended; otherwise the rule is on a cycle, or leads
    // to one.
    sizes.set(name, size);
    return size;
  };
  const ofPeg = (peg: Peg): number => {
    if (peg.kind === 'rule') return 1 + ofRule(peg.name);
    if (peg.kind === 'literal') return 1 + peg.text.length;
    const times = peg.kind === 'repeat' ? Math.max(peg.min, peg.max ?? 1, 1) : 1;
    return 1 + times * partsOf(peg).reduce((sum, part) => sum + ofPeg(part), 0);
  };
  for (const name of rules.keys()) ofRule(name);
  return sizes;
}
