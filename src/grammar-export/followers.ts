/** Which terminals may stand next to each other. */
import type { Pattern } from './context-free.js';
import { nullableRules } from './non-empty.js';
import { isNullable } from './patterns.js';

export interface Followers {
  /** The terminals, one for each place in the grammar where one stands. */
  readonly terminals: readonly Pattern[];
  /** Places that a text may begin with. */
  readonly first: ReadonlySet<number>;
  /** For each place, those that may come next. */
  readonly next: readonly ReadonlySet<number>[];
}

type Node =
  | { readonly kind: 'terminal'; readonly place: number }
  | { readonly kind: 'rule'; readonly name: string }
  | { readonly kind: 'sequence' | 'choice'; readonly items: readonly Node[]; readonly nullable: boolean }
  | { readonly kind: 'repeat'; readonly item: Node; readonly again: boolean; readonly nullable: boolean };

/** What is known of a rule so far. */
interface Facts {
  readonly first: Set<number>;
  /** What may come behind it. */
  readonly after: Set<number>;
}

/** @param isTerminal which patterns are read at once; not asked about their parts */
export function followersOf(
  rules: ReadonlyMap<string, Pattern>,
  startRule: string,
  isTerminal: (pattern: Pattern) => boolean,
): Followers {
  const nullable = nullableRules(rules);
  const isRuleNullable = (name: string): boolean => nullable.has(name);
  const terminals: Pattern[] = [];
  const next: Set<number>[] = [];

  const nodeOf = (pattern: Pattern): Node => {
    if (isTerminal(pattern)) {
      next.push(new Set());
      return { kind: 'terminal', place: terminals.push(pattern) - 1 };
    }
    const canBeEmpty = isNullable(pattern, isRuleNullable);
    switch (pattern.kind) {
      case 'rule':
        return pattern;
      case 'repeat':
        return { kind: 'repeat', item: nodeOf(pattern.item), again: pattern.max !== 1, nullable: canBeEmpty };
      case 'sequence':
      case 'choice':
        return { kind: pattern.kind, items: pattern.items.map(nodeOf), nullable: canBeEmpty };
      default:
        throw new TypeError(`What is no terminal has to be made of some: ${pattern.kind}`);
    }
  };
  const nodes = new Map(
    [...rules]
      .filter(([name]) => !isTerminal({ kind: 'rule', name }))
      .map(([name, pattern]) => [name, nodeOf(pattern)]),
  );
  const facts = new Map<string, Facts>([...nodes.keys()].map((name) => [name, { first: new Set(), after: new Set() }]));

  const canBeEmpty = (node: Node): boolean =>
    node.kind === 'terminal' ? false : node.kind === 'rule' ? isRuleNullable(node.name) : node.nullable;
  const firstOf = (node: Node): ReadonlySet<number> => {
    switch (node.kind) {
      case 'terminal':
        return new Set([node.place]);
      case 'rule':
        return facts.get(node.name)!.first;
      case 'repeat':
        return firstOf(node.item);
      case 'choice':
        return union(node.items.map(firstOf));
      case 'sequence': {
        const end = node.items.findIndex((item) => !canBeEmpty(item));
        return union(node.items.slice(0, end < 0 ? undefined : end + 1).map(firstOf));
      }
    }
  };
  /** Notes what may come behind each part of a node, when it is known what comes behind the node. */
  const note = (node: Node, after: ReadonlySet<number>): void => {
    switch (node.kind) {
      case 'terminal':
        addAll(next[node.place]!, after);
        break;
      case 'rule':
        addAll(facts.get(node.name)!.after, after);
        break;
      case 'repeat':
        note(node.item, node.again ? union([after, firstOf(node.item)]) : after);
        break;
      case 'choice':
        for (const item of node.items) note(item, after);
        break;
      case 'sequence': {
        let behind = after;
        for (const item of node.items.toReversed()) {
          note(item, behind);
          behind = canBeEmpty(item) ? union([firstOf(item), behind]) : firstOf(item);
        }
      }
    }
  };

  const total = (): number =>
    [...facts.values()].reduce((sum, { first, after }) => sum + first.size + after.size, 0) +
    next.reduce((sum, set) => sum + set.size, 0);
  for (let before = -1; before !== total(); ) {
    before = total();
    for (const [name, node] of nodes) {
      const { first, after } = facts.get(name)!;
      addAll(first, firstOf(node));
      note(node, after);
    }
  }
  const first = nodes.has(startRule) ? facts.get(startRule)!.first : new Set<number>();
  return { terminals, first, next };
}

function union(sets: readonly ReadonlySet<number>[]): ReadonlySet<number> {
  return new Set(sets.flatMap((set) => [...set]));
}

function addAll(target: Set<number>, more: ReadonlySet<number>): void {
  for (const one of more) target.add(one);
}
