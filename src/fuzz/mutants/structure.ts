import type { Random } from '../../text/random.js';
import { lastCharacter, rangesOf } from '../grammar/classes.js';
import type { Expression } from '../grammar/expressions.js';
import type { Derivation, Grammar, PointKind } from '../grammar/grammar.js';

interface Part {
  readonly node: Derivation;
  readonly parent: Derivation | null;
  readonly ancestors: readonly Derivation[];
}

/** The parts of texts by the rule that they match. Parts of the same rule can replace each other. */
export type Donors = ReadonlyMap<string, readonly string[]>;

export type StructuralEdit = (text: string, tree: Derivation, context: StructureContext) => string | null;

interface StructureContext {
  readonly grammar: Grammar;
  readonly random: Random;
  readonly donors: Donors;
}

/** Removes a part, and the delimiter that would be left over. */
export const drop: StructuralEdit = (text, tree, { grammar, random }) => {
  const part = pickPart(tree, random);
  if (part === null) return null;
  const { start, end } = withDelimiter(part, grammar);
  return text.slice(0, start) + text.slice(end);
};

/** Repeats a part, with the delimiter of its list in between. */
export const duplicate: StructuralEdit = (text, tree, { grammar, random }) => {
  const part = pickPart(tree, random);
  if (part === null) return null;
  const { start, end } = part.node;
  const between = delimiterOf(part, grammar, text);
  return text.slice(0, end) + between + text.slice(start, end) + text.slice(end);
};

/** Swaps two parts that do not overlap, preferably of the same list or rule. */
export const swap: StructuralEdit = (text, tree, { grammar, random }) => {
  const parts = partsIn(tree);
  if (parts.length < 2) return null;
  const one = random.pick(parts);
  const others = parts.filter(({ node }) => node.end <= one.node.start || node.start >= one.node.end);
  if (others.length === 0) return null;
  const siblings = others.filter(({ parent, node }) => parent === one.parent && node.point === one.node.point);
  const same = others.filter(({ node }) => nameOf(node, grammar) === nameOf(one.node, grammar));
  const other = random.pick([siblings, same, others].find((list) => list.length > 0)!);
  const [left, right] = one.node.start < other.node.start ? [one.node, other.node] : [other.node, one.node];
  const pieces = [text.slice(0, left.start), text.slice(right.start, right.end), text.slice(left.end, right.start)];
  return [...pieces, text.slice(left.start, left.end), text.slice(right.end)].join('');
};

/** Replaces a part by a part of another text that matches the same rule. */
export const splice: StructuralEdit = (text, tree, { grammar, random, donors }) => {
  const part = pickRule(tree, random, grammar);
  if (part === null) return null;
  const donor = donors.get(nameOf(part.node, grammar));
  if (donor === undefined) return null;
  return text.slice(0, part.node.start) + random.pick(donor) + text.slice(part.node.end);
};

/** Inserts a character just beyond an edge of a character class next to a character that matched it, or in its place. */
export const edge: StructuralEdit = (text, tree, { grammar, random }) => {
  const node = pickPoint(tree, 'character', { grammar, random });
  if (node === null) return null;
  const beyond = neighboursOf(grammar.points.list[node.point]!.node);
  if (beyond.length === 0) return null;
  const { start, end } = node;
  const [from, to] = random.pick([
    [start, end],
    [start, start],
    [end, end],
  ] as const);
  return text.slice(0, from) + String.fromCodePoint(random.pick(beyond)) + text.slice(to);
};

/** Picks a part that matches a rule. Rules that match often are not picked more often than others. */
export function pickByRule(tree: Derivation, context: Pick<StructureContext, 'grammar' | 'random'>): Derivation | null {
  return pickPoint(tree, 'rule', context);
}

/** Replaces a part by a whole that contains it and matches the same rule, so that the nesting grows. */
export const nest: StructuralEdit = (text, tree, { grammar, random }) => {
  const nested = partsIn(tree).flatMap(({ node, ancestors }) => {
    const outer = ancestors.find(
      (one) => one.end - one.start > node.end - node.start && isRule(one, grammar) && one.point === node.point,
    );
    return outer === undefined ? [] : [{ node, outer }];
  });
  if (nested.length === 0) return null;
  const { node, outer } = random.pick(nested);
  let whole = text.slice(outer.start, outer.end);
  for (let turns = random.integer(1, 4); turns > 0; turns--) {
    whole = text.slice(outer.start, node.start) + whole + text.slice(node.end, outer.end);
  }
  return text.slice(0, outer.start) + whole + text.slice(outer.end);
};

export function donorsOf(
  grammar: Grammar,
  sentences: readonly { readonly text: string; readonly derivation: Derivation }[],
  most = 200,
): Donors {
  const donors = new Map<string, Set<string>>();
  for (const { text, derivation } of sentences) {
    for (const { node } of partsIn(derivation)) {
      if (!isRule(node, grammar)) continue;
      const name = nameOf(node, grammar);
      const own = donors.get(name) ?? new Set();
      donors.set(name, own);
      if (own.size < most) own.add(text.slice(node.start, node.end));
    }
  }
  return new Map([...donors].map(([name, texts]) => [name, [...texts]]));
}

function pickPart(tree: Derivation, random: Random): Part | null {
  const parts = partsIn(tree);
  return parts.length === 0 ? null : random.pick(parts);
}

function pickRule(tree: Derivation, random: Random, grammar: Grammar): Part | null {
  const parts = partsIn(tree).filter(({ node }) => isRule(node, grammar));
  return parts.length === 0 ? null : random.pick(parts);
}

/** Picks one of the points of a kind that the text passes, then one of the places where it does. */
function pickPoint(
  tree: Derivation,
  kind: PointKind,
  { grammar, random }: Pick<StructureContext, 'grammar' | 'random'>,
): Derivation | null {
  const places = new Map<number, Derivation[]>();
  const visit = (node: Derivation): void => {
    if (node.end > node.start && grammar.points.list[node.point]!.kind === kind) {
      const own = places.get(node.point);
      if (own === undefined) places.set(node.point, [node]);
      else own.push(node);
    }
    for (const child of node.children) visit(child);
  };
  for (const child of tree.children) visit(child);
  return places.size === 0 ? null : random.pick(random.pick([...places.values()]));
}

function neighboursOf(node: Expression): readonly number[] {
  if (node.type !== 'class') return [];
  const isThere = (code: number): boolean => code >= 0 && code <= lastCharacter(node);
  return rangesOf(node).flatMap(([first, last]) => [first - 1, last + 1].filter(isThere));
}

function partsIn(tree: Derivation): readonly Part[] {
  const found: Part[] = [];
  const visit = (node: Derivation, parent: Derivation | null, ancestors: readonly Derivation[]): void => {
    if (node.end > node.start) found.push({ node, parent, ancestors });
    const inner = [node, ...ancestors];
    for (const child of node.children) visit(child, node, inner);
  };
  for (const child of tree.children) visit(child, tree, [tree]);
  return found;
}

function isRule({ point }: Derivation, grammar: Grammar): boolean {
  return grammar.points.list[point]!.kind === 'rule';
}

function nameOf({ point }: Derivation, grammar: Grammar): string {
  return grammar.points.list[point]!.rule;
}

function withDelimiter({ node, parent }: Part, grammar: Grammar): { start: number; end: number } {
  const siblings = parent?.children ?? [];
  const index = siblings.indexOf(node);
  const isDelimiter = (one: Derivation | undefined): one is Derivation =>
    one !== undefined && grammar.points.list[one.point]!.kind === 'delimiter' && one.end > one.start;
  const [before, after] = [siblings[index - 1], siblings[index + 1]];
  if (isDelimiter(after) && siblings[index + 2] !== undefined) return { start: node.start, end: after.end };
  if (isDelimiter(before)) return { start: before.start, end: node.end };
  return node;
}

function delimiterOf({ node, parent }: Part, grammar: Grammar, text: string): string {
  if (grammar.points.list[node.point]!.kind !== 'item') return '';
  const own = parent?.children.find((child) => grammar.points.list[child.point]!.kind === 'delimiter');
  if (own !== undefined) return text.slice(own.start, own.end);
  const { node: repetition } = grammar.points.list[node.point]!;
  const literal = repetition.type === 'repeated' ? repetition.delimiter : null;
  return literal?.type === 'literal' ? literal.value : '';
}
