/** Context-free grammars made smaller, the texts and the names that say something kept. */
import type { Pattern } from '../context-free.js';
import { isEmpty, isNothing, rebuilt, referencesOf } from '../patterns.js';
import { reachedRules } from '../tidy.js';
import { withoutIncluded } from './inclusion.js';
import { shortened } from './shorter.js';
import { tidied } from './tidy-pattern.js';

type Rules = ReadonlyMap<string, Pattern>;

/** What comparing alternatives may cost. */
const MOST_EFFORT = 2_000_000;

/** The same language in fewer rules and alternatives. Only what the start rule reaches is left. */
export function simplify(rules: Rules, startRule: string): Rules {
  const clean = (given: Rules): Rules => settled(given, (some) => withoutTrivial(mapped(some, tidied), startRule));
  // A rule that is another one under a second name: first, what the grammar wrote that way keeps the outer name; what comes
  // down to it, because other alternatives go, is better named by what is left.
  const folded = clean(withoutOnlyUses(reachedRules(clean(rules), startRule), startRule));
  const budget = { left: MOST_EFFORT };
  const fewer = clean(mapped(folded, (pattern) => withoutIncluded(pattern, folded, budget)));
  const unaliased = reachedRules(withoutAliases(fewer, startRule), startRule);
  return reachedRules(clean(shortened(unaliased)), startRule);
}

function mapped(rules: Rules, change: (pattern: Pattern) => Pattern): Rules {
  return new Map([...rules].map(([name, pattern]) => [name, change(pattern)]));
}

/** Does something until it changes nothing. */
function settled(rules: Rules, step: (rules: Rules) => Rules): Rules {
  for (let before = rules; ; ) {
    const after = step(before);
    if (JSON.stringify([...after]) === JSON.stringify([...before])) return after;
    before = after;
  }
}

/** Without references to rules that match the empty text alone, or nothing. */
function withoutTrivial(rules: Rules, startRule: string): Rules {
  const trivial = new Map([...rules].filter(([, pattern]) => isEmpty(pattern) || isNothing(pattern)));
  const kept = [...rules].filter(([name]) => name === startRule || !trivial.has(name));
  return mapped(new Map(kept), (pattern) =>
    rebuilt(pattern, (part) => (part.kind === 'rule' ? (trivial.get(part.name) ?? part) : part)),
  );
}

/** Rules that are nothing but another one which only they use take over what it says. */
function withoutOnlyUses(rules: Rules, startRule: string): Rules {
  const uses = new Map([[startRule, 1]]);
  for (const name of [...rules.values()].flatMap(referencesOf)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const taken = new Map(rules);
  for (const name of rules.keys()) {
    for (let pattern = taken.get(name); pattern?.kind === 'rule'; pattern = taken.get(name)) {
      if (pattern.name === name || uses.get(pattern.name) !== 1) break;
      taken.set(name, taken.get(pattern.name)!);
      taken.delete(pattern.name);
    }
  }
  return taken;
}

/** References to rules that are nothing but another one become references to that. */
function withoutAliases(rules: Rules, startRule: string): Rules {
  const target = (name: string): string => {
    const seen = new Set<string>();
    let at = name;
    for (let pattern = rules.get(at); pattern?.kind === 'rule' && !seen.has(at); pattern = rules.get(at)) {
      seen.add(at);
      at = pattern.name;
    }
    return at;
  };
  const direct = mapped(rules, (pattern) =>
    rebuilt(pattern, (part) => (part.kind === 'rule' ? { kind: 'rule', name: target(part.name) } : part)),
  );
  // The start rule has to be there under its own name.
  const start = direct.get(startRule)!;
  return start.kind === 'rule' && start.name !== startRule
    ? new Map(direct).set(startRule, direct.get(start.name)!)
    : direct;
}
